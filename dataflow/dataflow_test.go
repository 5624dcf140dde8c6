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
	for _, pattern := range []string{"architectures/*.onnx", "qonnx/*.onnx", "twin/*.json", "fpga/*.json"} {
		files, err := filepath.Glob("../testdata/" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, f := range files {
			name, _ := filepath.Rel("../testdata", f)
			s, err := dataflow.NewSegment(fused(t, name))
			if none := (*dataflow.NoSegmentError)(nil); errors.As(err, &none) {
				fmt.Fprintf(&b, "%s: none%s\n", name, reasons(none.Refusals))
				continue
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
	golden.Check(t, "testdata/coverage.txt", []byte(b.String()))
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
		"architectures/bnn.onnx", "twin/bipolar2.json", "architectures/finn_mlp4_w1a1.onnx"} {
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
		r, err := engine.Interpret(p, d, nil).Run(t.Context(), []engine.Job{job})
		if err != nil {
			t.Fatal(err)
		}
		levels := map[string][]int64{}
		for i, tensor := range names {
			for _, b := range r[0].Outputs[i] {
				levels[tensor] = append(levels[tensor], dataflow.Ascending(g.Value(tensor).LevelType, int64(b)))
			}
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

// TestMutants: a change of any word of a memory that some sum shows is found by the proof.
func TestMutants(t *testing.T) {
	const mutants = 150
	random := rand.New(rand.NewPCG(1, 2))
	found := 0
	for _, name := range []string{"fpga/every.json", "architectures/finn_mlp4_w1a2.onnx"} {
		d := design(t, name)
		var with []*dataflow.Unit
		for _, u := range d.Units {
			if len(u.ROMs) > 0 {
				with = append(with, u)
			}
		}
		for range mutants {
			u := with[random.IntN(len(with))]
			r := u.ROMs[random.IntN(len(u.ROMs))]
			w := r.Words[random.IntN(len(r.Words))]
			k := random.IntN(len(w.Fields))
			old := w.Fields[k]
			w.Fields[k] ^= 1 << random.IntN(w.Width)
			sums, err := d.Prove()
			// The mutant is the same engine if every sum becomes the same level: an offset moved between two sums.
			if err != nil {
				found++
				if wrong := (*dataflow.ProofError)(nil); !errors.As(err, &wrong) || wrong.Layer != u.Layer {
					t.Errorf("%s, %s%s: %v after %d sums", name, u.Name, r.Suffix, err, sums)
				}
			} else if r.Suffix == u.ROMs[0].Suffix {
				t.Errorf("%s: a weight of %s was changed, and is proved", name, u.Name)
			}
			w.Fields[k] = old
		}
	}
	if found < 2*mutants*9/10 {
		t.Errorf("%d of %d changes are found", found, 2*mutants)
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
