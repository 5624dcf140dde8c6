package accelerator_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"ripc/accelerator"
	"ripc/compile"
	"ripc/dataflow/fold"
	"ripc/graph"
	"ripc/internal/golden"
	"ripc/internal/models"
	"ripc/internal/tools"
	"ripc/targets/fpga"
)

// load is the accelerator of a network of testdata with the least cycles, times a factor.
func load(t *testing.T, name, board string, factor int) *accelerator.Accelerator {
	t.Helper()
	read := func(ctx context.Context) (*graph.Graph, error) {
		return models.Load(ctx, "../testdata/"+name, compile.Options{})
	}
	g, err := compile.Fused(t.Context(), read, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := fpga.Lookup(board)
	_, err = accelerator.New(g, b, accelerator.FoldOptions{Cycles: 1}, compile.Options{})
	o := accelerator.FoldOptions{Cycles: 1}
	if budget := (*fold.BudgetError)(nil); errors.As(err, &budget) {
		o.Cycles = factor * budget.Least
	}
	a, err := accelerator.New(g, b, o, compile.Options{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return a
}

// TestVerify: whole networks, with a head and a tail on the processor, and every stream.
func TestVerify(t *testing.T) {
	names := []string{"fpga/every.json"}
	if os.Getenv("RIPC_REQUIRE_FPGA") != "" {
		names = append(names, "architectures/bnn.onnx", "architectures/dorefa_w1a2.onnx", "architectures/lsq_w2a2.onnx",
			"architectures/har.onnx", "architectures/bipointnet.onnx", "architectures/meliusnet.onnx",
			"architectures/reactnet_plain.onnx", "architectures/keywords.onnx", "twin/bipolar2.json", "twin/unipolar3.json",
			"integers/tfl_block_s8.tflite", "integers/tfl_depthwise_u8.tflite", "qonnx/digits_w1a2.onnx")
	}
	for _, name := range names {
		a := load(t, name, "pynq-z2", 3)
		r, err := a.Verify(t.Context(), 1, func(int, int, string) {})
		if missing := (*tools.MissingError)(nil); errors.As(err, &missing) && os.Getenv("RIPC_REQUIRE_FPGA") == "" {
			t.Skip(err)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !r.OK || r.Mixes[0].Cycles != float64(a.Design.Cycles) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestWrongMemory: a memory that was changed is found by the proof and in the simulation, in its stream.
func TestWrongMemory(t *testing.T) {
	if os.Getenv("RIPC_REQUIRE_FPGA") == "" {
		t.Skip("make fpga runs it")
	}
	a := load(t, "fpga/every.json", "pynq-z2", 3)
	for _, u := range a.Design.Units {
		if u.Layer == "groups" && len(u.ROMs) > 0 {
			for i := range u.ROMs[0].Words[0].Fields {
				u.ROMs[0].Words[0].Fields[i] ^= 1
			}
		}
	}
	r, err := a.Verify(t.Context(), 1, func(int, int, string) {})
	if err != nil {
		t.Fatal(err)
	}
	if r.OK || !strings.Contains(r.Proof, "layer groups: weight 0 of row") {
		t.Errorf("%+v", r)
	}
	wrong := map[string]bool{}
	for _, s := range r.Streams {
		wrong[s.Tensor] = !s.OK
		if s.Tensor == "groups_q" && !s.OK && !strings.Contains(s.Differs[0], "picture 0, row ") {
			t.Errorf("%+v", s)
		}
	}
	if wrong["conv_q"] || !wrong["groups_q"] {
		t.Errorf("wrong streams: %v", wrong)
	}
}

// TestHeader: the header of sums and of beats.
func TestHeader(t *testing.T) {
	golden.Check(t, "testdata/every.h", load(t, "fpga/every.json", "arty-a7", 1).Header())
}
