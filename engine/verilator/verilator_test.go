package verilator_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ripc/compile"
	"ripc/dataflow"
	"ripc/dataflow/fold"
	"ripc/engine/verilator"
	"ripc/graph"
	"ripc/internal/models"
	"ripc/internal/randnet"
	"ripc/internal/tools"
	"ripc/targets/fpga"
)

// networks are those of make test; make fpga takes all of testdata (RIPC_REQUIRE_FPGA).
func networks(t *testing.T) []string {
	if os.Getenv("RIPC_REQUIRE_FPGA") == "" {
		return []string{"architectures/finn_mlp4_w1a2.onnx", "twin/shortcuts.json"}
	}
	var all []string
	for _, pattern := range []string{"*/*.onnx", "*/*.tflite", "twin/*.json"} {
		found, err := filepath.Glob("../../testdata/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			rel, _ := filepath.Rel("../../testdata", f)
			all = append(all, rel)
		}
	}
	return all
}

// TestStreams: under every mix of stalls, every stream has the definition's elements, none are left, and a picture takes the
// cycles of the formula. Networks without a layer for hardware are logged.
func TestStreams(t *testing.T) {
	inHardware := 0
	for _, name := range networks(t) {
		t.Run(name, func(t *testing.T) {
			if d := design(t, "../../testdata/"+name); d != nil {
				inHardware++
				simulate(t, name, d, 12)
			}
		})
	}
	if t.Logf("%d networks have a part in hardware", inHardware); inHardware == 0 {
		t.Error("there should be some")
	}
}

// TestRandomNetworks is TestStreams of random networks, those that have a part in hardware. Their engines are proved.
func TestRandomNetworks(t *testing.T) {
	wanted := 1
	if os.Getenv("RIPC_REQUIRE_FPGA") != "" {
		wanted = 100
	}
	for seed, most := uint64(0), uint64(20*wanted); wanted > 0; seed++ {
		if seed == most {
			t.Fatalf("%d more were wanted of %d", wanted, most)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "n.json")
			text := randnet.Join([]map[string]any{randnet.Model(rand.New(rand.NewPCG(seed, 80)), "")}, 1)
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			wanted--
			d := design(t, path)
			if d == nil {
				wanted++
				return
			}
			if _, err := d.Prove(); err != nil {
				t.Error(err)
			}
			simulate(t, path, d, 40)
		})
	}
}

// design is the design of a network with twice the least cycles; nil, with a log, if no part of it is in hardware.
func design(t *testing.T, path string) *dataflow.Design {
	board, _ := fpga.Lookup("pynq-z2")
	load := func(ctx context.Context) (*graph.Graph, error) {
		return models.Load(ctx, path, compile.Options{})
	}
	g, err := compile.Fused(t.Context(), load, compile.Options{})
	if err != nil {
		t.Logf("%s: %v", path, err)
		return nil
	}
	s, err := dataflow.NewSegment(g)
	if none := (*dataflow.NoSegmentError)(nil); errors.As(err, &none) {
		t.Logf("%s: %v", path, err)
		return nil
	}
	least, _ := fold.Least(s)
	p, err := fold.FindWithin(s, 2*least, board)
	if err != nil {
		t.Fatal(err)
	}
	return dataflow.Build(s, p.Folds)
}

// TestFIFOs: with one beat in any one of the FIFOs that the proof asks for, a network gets stuck or slower. A FIFO before an
// engine that is not the slowest has slack, and is left out.
func TestFIFOs(t *testing.T) {
	if os.Getenv("RIPC_REQUIRE_FPGA") == "" {
		t.Skip("make fpga runs it")
	}
	for _, name := range []string{"twin/shortcuts.json", "qonnx/fire_concat_w1_a2.onnx", "fpga/every.json"} {
		d := design(t, "../../testdata/"+name)
		for _, u := range d.Units {
			if u.Module != "fifo" {
				continue
			}
			depth := u.Params[1].Value
			u.Params[1].Value = 1
			_, err := d.Prove()
			wrong := (*dataflow.ProofError)(nil)
			if errors.As(err, &wrong) && !slices.ContainsFunc(d.Units, func(e *dataflow.Unit) bool {
				return e.Layer == wrong.Layer && e.Module == "mvu" && e.Cycles < d.Cycles
			}) {
				t.Run(name+"/"+u.Name, func(t *testing.T) { loses(t, d, wrong) })
			}
			u.Params[1].Value = depth
		}
	}
}

// loses checks that d, which has a fault, gets stuck or takes more cycles than the formula.
func loses(t *testing.T, d *dataflow.Design, fault error) {
	sim, err := verilator.New(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	r, err := sim.Run(t.Context(), slices.Repeat([][]int64{make([]int64, d.First.Elems())}, 12), verilator.Mix{},
		verilator.LastStream)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Stuck && r.Cycles() <= float64(d.Cycles) {
		t.Errorf("%v: %+v", fault, r.Stats)
	}
}

// simulate plays pictures under every mix, and compares every stream with its definition.
func simulate(t *testing.T, name string, d *dataflow.Design, count int) {
	sim, err := verilator.New(t.Context(), d)
	if missing := (*tools.MissingError)(nil); errors.As(err, &missing) && os.Getenv("RIPC_REQUIRE_FPGA") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	defer sim.Close()
	random := rand.New(rand.NewPCG(1, 2))
	var pictures [][]int64
	want := map[string][]int64{}
	for range count {
		p := make([]int64, d.First.Elems())
		for i := range p {
			p[i] = random.Int64N(1 << d.First.Bits)
		}
		pictures = append(pictures, p)
		for tensor, v := range d.Eval(p) {
			want[tensor] = append(want[tensor], v...)
		}
	}
	for _, m := range verilator.Mixes() {
		r, err := sim.Run(t.Context(), pictures, m, verilator.AllStreams)
		if err != nil {
			t.Fatal(err)
		}
		for s, got := range r.Streams {
			w := want[s.Tensor]
			if sums := d.SumsLeave(); s.Signed && sums != nil {
				w = sums.Raw(w)
			}
			if !slices.Equal(got, w) {
				t.Errorf("%s, %s: stream %s of %q differs (%d elements, want %d)", name, m, s.Name, s.Tensor, len(got), len(w))
			}
		}
		if r.Extra > 0 || r.Stuck {
			t.Errorf("%s, %s: %+v", name, m, r.Stats)
		}
		if m.In+m.Out == 0 && r.Cycles() != float64(d.Cycles) {
			t.Errorf("%s: %v cycles a picture, by formula %d", name, r.Cycles(), d.Cycles)
		}
	}
}
