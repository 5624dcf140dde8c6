package network

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"ripc/compile"
	"ripc/core"
	"ripc/dataflow"
	"ripc/engine/verilator"
	"ripc/graph"
	"ripc/internal/models"
	"ripc/internal/tools"
	"ripc/targets/fpga"
)

func segment(t *testing.T, name string) *dataflow.Segment {
	t.Helper()
	s, err := load(t, name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// load is the part in hardware of a network of testdata.
func load(t *testing.T, name string) (*dataflow.Segment, error) {
	t.Helper()
	read := func(ctx context.Context) (*graph.Graph, error) {
		return models.Load(ctx, "../../testdata/"+name, compile.Options{})
	}
	g, err := compile.Fused(t.Context(), read, compile.Options{})
	if err != nil {
		return nil, err
	}
	return dataflow.NewSegment(g)
}

// check runs a network in the model, and in a simulation if it says so, and compares every tensor
// with its definition. It returns the number of cycles.
func check(t *testing.T, n *Network, verilog bool) (cycles int) {
	t.Helper()
	s, r := n.Segment, rand.New(rand.NewPCG(1, 2))
	want, err := n.Program.Cycles(Latency)
	if err != nil {
		t.Fatal(err)
	}
	picture := make([]int64, s.InShape().Elems())
	for i := range picture {
		picture[i] = r.Int64N(1 << s.InType().Bits)
	}
	p := n.Program
	p.Memory = n.Memory(picture)
	memories := [][]uint32{p.Run()}
	if verilog {
		sim, err := verilator.NewCore(t.Context(), &n.Program, Latency, n.Words())
		if missing := (*tools.MissingError)(nil); errors.As(err, &missing) && os.Getenv("RIPC_REQUIRE_FPGA") == "" {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer sim.Close()
		out, cycles, err := sim.Run(t.Context(), p.Memory)
		if err != nil {
			t.Fatal(err)
		}
		if cycles != want {
			t.Errorf("%d cycles in the simulation, %d in the model", cycles, want)
		}
		memories = append(memories, out)
	}
	for k, memory := range memories {
		for name, elements := range s.Eval(picture) {
			got := n.Tensor(memory, name)
			for i, v := range elements {
				if got[i] != v {
					t.Errorf("run %d: element %d of %s is %d, want %d", k, i, name, got[i], v)
					break
				}
			}
		}
	}
	return want
}

// TestTuned: the search makes programs at least ten times as fast, and the Verilog runs them.
func TestTuned(t *testing.T) {
	names := []string{"fpga/shortcuts.json"}
	if os.Getenv("RIPC_REQUIRE_FPGA") != "" {
		names = append(names, "qonnx/digits_w1a2.onnx", "fpga/cnv8.json")
	}
	for _, name := range names {
		t.Run(path.Base(name), func(t *testing.T) {
			s := segment(t, name)
			plain := 0
			for _, tune := range []bool{false, true} {
				n, err := New(t.Context(), s, core.Default(), tune)
				if err != nil {
					t.Fatal(err)
				}
				cycles := check(t, n, tune)
				t.Logf("%s: %d instructions, %d cycles", name, len(n.Program.Instrs), cycles)
				if plain = max(plain, cycles); tune && cycles > plain/10 {
					t.Errorf("%s: %d cycles with plain schedules, %d with tuned ones", name, plain, cycles)
				}
			}
		})
	}
}

// TestFront: the design with the fewest steps computes the network.
func TestFront(t *testing.T) {
	target, _ := fpga.Lookup("pynq-z2")
	s := segment(t, "fpga/shortcuts.json")
	front, err := Front(t.Context(), s, target)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range front {
		t.Log(p.Design, p.Steps)
	}
	n, err := New(t.Context(), s, front[len(front)-1].Config, false)
	if err != nil {
		t.Fatal(err)
	}
	check(t, n, false)
}

// TestNetworks: networks of all kinds, under plain schedules, in the model. A layer that the core
// does not compute is named.
func TestNetworks(t *testing.T) {
	names := []string{"fpga/cnv4.json", "fpga/shortcuts.json", "twin/unipolar3.json", "qonnx/conv_w1_a2_depthwise.onnx",
		"qonnx/fire_concat_w1_a2.onnx", "qonnx/residual_add_same_scale.onnx", "architectures/bipointnet.onnx",
		"architectures/dorefa_w2a2.onnx", "lce/bconv_int8_valid_c64.tflite"}
	if os.Getenv("RIPC_REQUIRE_FPGA") != "" {
		for _, pattern := range []string{"*/*.json", "*/*.onnx", "*/*.tflite"} {
			files, err := filepath.Glob("../../testdata/" + pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				names = append(names, strings.TrimPrefix(filepath.ToSlash(f), "../../testdata/"))
			}
		}
	}
	designs := []core.Config{core.Default()} // of words of one vector, of several, and of many
	for _, sizes := range [][2]int{{8, 32}, {32, 32}, {8, 256}} {
		c := core.Config{Rows: sizes[0], Lanes: sizes[1], AccBits: 24, Bytes: true, Inputs: 11, Weights: 10, Tables: 10,
			Sums: 11}
		designs = append(designs, c)
	}
	whole, refused := 0, 0
	for _, name := range names {
		s, err := load(t, name)
		if err != nil {
			continue
		}
		for _, c := range designs {
			n, err := New(t.Context(), s, c, false)
			refusal, space := (*RefusalError)(nil), (*SpaceError)(nil)
			switch {
			case errors.As(err, &refusal) || errors.As(err, &space):
				refused++
				t.Logf("%s on %s: %v", name, c, err)
			case err != nil:
				t.Errorf("%s on %s: %v", name, c, err)
			default:
				whole++
				check(t, n, false)
			}
		}
	}
	t.Logf("%d computed, %d refused", whole, refused)
	if refused > whole/6 {
		t.Errorf("%d computed, %d refused", whole, refused)
	}
}
