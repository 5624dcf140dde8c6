package dataflow_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc/codegen"
	"ripc/compile"
	"ripc/dataflow"
	"ripc/dataflow/fold"
	"ripc/engine"
	"ripc/graph"
	"ripc/internal/golden"
	"ripc/internal/models"
	"ripc/runtime"
	"ripc/targets/fpga"
)

// fused is the fused graph of a network in testdata.
func fused(t testing.TB, name string) *graph.Graph {
	t.Helper()
	load := func(ctx context.Context) (*graph.Graph, error) {
		return models.Load(ctx, "../testdata/"+name, compile.Options{})
	}
	g, err := compile.Fused(t.Context(), load, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// design is the design of a network with twice the least cycles.
func design(t testing.TB, name string) *dataflow.Design {
	t.Helper()
	s, err := dataflow.NewSegment(fused(t, name))
	if err != nil {
		t.Fatal(err)
	}
	board, _ := fpga.Lookup("pynq-z2")
	least, _ := fold.Least(s)
	p, err := fold.FindWithin(s, 2*least, board)
	if err != nil {
		t.Fatal(err)
	}
	return dataflow.Build(s, p.Folds)
}

// TestCoverage lists how much of each network lies in hardware, and why the rest does not. All engines are proved.
func TestCoverage(t *testing.T) {
	var b strings.Builder
	networks, whole := 0, 0
	for _, pattern := range []string{"architectures/*.onnx", "qonnx/*.onnx", "twin/*.json", "fpga/*.json", "integers/*.onnx", "integers/*.tflite"} {
		files, err := filepath.Glob("../testdata/" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, f := range files {
			name, _ := filepath.Rel("../testdata", f)
			networks++
			s, err := dataflow.NewSegment(fused(t, name))
			if none := (*dataflow.NoSegmentError)(nil); errors.As(err, &none) {
				fmt.Fprintf(&b, "%s: none%s\n", name, reasons(none.Refusals))
				continue
			}
			if s.Work == s.Total {
				whole++
			}
			d := design(t, name)
			sums, err := d.Prove()
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			fmt.Fprintf(&b, "%s: %d layers, %d of %d products, %d sums%s\n", name, len(s.MVUs()), s.Work, s.Total, sums,
				reasons(s.Refusals))
		}
	}
	summary := fmt.Sprintf("Of %d networks of testdata, %d have all products in hardware.\n", networks, whole)
	golden.Check(t, "testdata/coverage.txt", []byte(summary+b.String()))
}

// reasons counts refusals by their text.
func reasons(refusals []dataflow.Refusal) string {
	count := map[string]int{}
	var order []string
	for _, r := range refusals {
		if count[r.Why]++; count[r.Why] == 1 {
			order = append(order, r.Why)
		}
	}
	text := ""
	for _, why := range order {
		text += fmt.Sprintf("\n    %d x %s", count[why], why)
	}
	return text
}

// TestDefinition: the definition of each stream is the interpreter's tensor.
func TestDefinition(t *testing.T) {
	for _, name := range []string{"fpga/every.json", "qonnx/digits_w1a2.onnx", "architectures/lsq_w2a2.onnx",
		"architectures/bnn.onnx", "twin/shortcuts.json", "architectures/spelled_where.onnx", "twin/bipolar2.json", "architectures/finn_mlp4_w1a1.onnx", "integers/tfl_block_s8.tflite",
		"integers/qlinear_fire_s8.onnx", "fewbits/mean_2x2.onnx", "fpga/joins.json", "integers/qdq_average_s8.onnx"} {
		s, err := dataflow.NewSegment(fused(t, name))
		if err != nil {
			t.Fatal(err)
		}
		g, names := s.Observed()
		p, err := compile.DefinitionOfFused(t.Context(), g, compile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := codegen.Describe(codegen.Input{Program: p})
		job := engine.Job{Last: len(d.Stages), Outputs: true}
		for i, in := range d.Inputs {
			data, err := runtime.FillRandom(in, 1, i)
			if err != nil {
				t.Fatal(err)
			}
			job.Inputs = append(job.Inputs, data)
		}
		levels := map[string][]int64{}
		see := func(tensor string, data []byte) {
			for _, b := range data {
				if g.Value(tensor).Signed {
					b ^= 128
				}
				levels[tensor] = append(levels[tensor], dataflow.Ascending(g.Value(tensor).LevelType, int64(b)))
			}
		}
		if i := slices.Index(g.Inputs, s.In); i >= 0 {
			see(s.In, job.Inputs[i])
		}
		r, err := engine.Interpret(p, d, nil).Run(t.Context(), []engine.Job{job})
		if err != nil {
			t.Fatal(err)
		}
		for i, tensor := range names {
			see(tensor, r[0].Outputs[i])
		}
		if levels[s.In] == nil {
			t.Fatalf("%s: the interpreter does not show %q", name, s.In)
		}
		all := s.Eval(levels[s.In])
		for _, tensor := range names {
			if !slices.Equal(all[tensor], levels[tensor]) {
				t.Errorf("%s: tensor %q differs", name, tensor)
			}
		}
	}
}

// TestMutants: the proof finds every change of a threshold, a start, a weight, a width, a bit of a memory or the depth of a FIFO.
// Of starts and thresholds only those count that change the level of a sum.
func TestMutants(t *testing.T) {
	const each, most = 50, 10000
	random := rand.New(rand.NewPCG(1, 2))
	var designs []*dataflow.Design
	for _, name := range []string{"fpga/every.json", "twin/shortcuts.json", "architectures/spelled_where.onnx",
		"tflite/twice_read_inner.tflite"} {
		designs = append(designs, design(t, name))
	}
	for _, kind := range []string{"weight", "start", "threshold", "bit", "width", "FIFO"} {
		found, unseen := 0, 0
		for found < each && unseen < most {
			m := designs[random.IntN(len(designs))].Mutants()[kind](random)
			_, err := m.Prove()
			wrong := (*dataflow.ProofError)(nil)
			switch {
			case !m.Matters():
				unseen++
			case errors.As(err, &wrong) && (m.Layer == "" || m.Layer == wrong.Layer):
				found++
			default:
				t.Fatalf("a %s of layer %q: %v", kind, m.Layer, err)
			}
			m.Undo()
		}
		if t.Logf("%s: %d changes are found, %d others matter to no sum", kind, found, unseen); found < each {
			t.Errorf("%s: %d changes that matter", kind, found)
		}
	}
}

// TestRefusals: networks without a layer for hardware say why.
func TestRefusals(t *testing.T) {
	g := fused(t, "architectures/bwn.onnx")
	_, err := dataflow.NewSegment(g)
	none := (*dataflow.NoSegmentError)(nil)
	if !errors.As(err, &none) || !none.BadInput() || !strings.Contains(err.Error(), "floats") {
		t.Errorf("%v", err)
	}
}
