package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"ripc/graph"
	"ripc/importer"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/internal/stop"
	"ripc/ir"
)

// interpretedWork is the cost of an element of an interpreted node, in steps of a loop here.
const interpretedWork = 8

// maxExact is the greatest integer up to which f32 holds all.
const maxExact = 1 << 24

// interpret computes n, an op on constants alone, by running the graph that it becomes in a
// network. So constants have no arithmetic of their own.
func (b *builder) interpret(n *node) []*tensor {
	dt := n.interpretable()
	s := b.newEvaluation()
	defer func() { b.mem = s.mem }()
	of := &node{NodeProto: n.NodeProto, b: s, op: n.op, label: n.label, base: n.base, opset: n.opset, attrs: n.attrs,
		in: slices.Clone(n.in)}
	s.n = of
	var inputs [][]float32
	for i, t := range n.in {
		if i > 0 && !n.op.mixed || t == nil || !t.konst.dt.float() && i > 0 {
			continue
		}
		n.failIf(t.konst.len() == 0, "", "its operand %q has shape %v and is empty", n.Input[i], t.shape)
		s.mem.take(t.konst.len(), 4)
		in := &graph.Value{Name: fmt.Sprintf("in%d", i), Shape: t.shape}
		if len(t.shape) == 0 {
			in.Shape = []int{1}
		}
		in.Layout = graph.LayoutOf(in.Shape)
		s.g.Input(in)
		of.in[i], inputs = &tensor{shape: t.shape, value: in}, append(inputs, t.konst.floats())
	}
	return s.run(of, n.op.results(of), inputs, dt)
}

// newEvaluation returns a builder of a graph of its own. Its constants count as those of b.
func (b *builder) newEvaluation() *builder {
	s := newBuilder(b.mem.ctx, b.file, &pb.ModelProto{Graph: &pb.GraphProto{}}, b.open, importer.Options{}, 0)
	s.mem, s.eval, s.scalars, s.batchStatistics = b.mem, b.eval, true, true
	s.wanted, s.readers, s.counts = b.wanted, b.readers, b.counts
	return s
}

// interpretable is the type of n's first operand. All elements of the operand must be numbers of
// f32.
func (n *node) interpretable() dtype {
	a := n.in[0].konst
	if a.dt.float() {
		return a.dt
	}
	n.failIf(!n.op.moves && !n.op.picks,
		"put Cast to float before it", "its operand is a constant %s; this op computes with floats", a.dt)
	for k := range a.len() {
		if v := a.integer(k); v < -maxExact || v > maxExact {
			panic(n.fail("", "its operand is a constant %s with element %d; want -2^24 to 2^24", a.dt, v))
		}
	}
	return a.dt
}

// run computes outs, which b's graph makes of inputs for n, as constants: floats and elements that
// were moved are of type dt.
func (b *builder) run(n *node, outs []*tensor, inputs [][]float32, dt dtype) []*tensor {
	types := make([]dtype, len(outs))
	for i, t := range outs {
		if t == nil || t.konst != nil {
			continue
		}
		types[i] = dt
		switch {
		case t.integers != nil:
			panic(n.fail("", "it makes integers of constants alone, which is not supported"))
		case t.cond != nil || t.truth:
			types[i] = dtBool
			t = b.pipe(b.truths(t), "dequantize")
		case t.value.Whole:
			types[i] = dtInt64
			t = b.pipe(t, "dequantize")
		}
		t.truth = false
		b.output(fmt.Sprintf("out%d", i), t)
	}
	var results [][]float32
	if g := b.g.Graph(); len(g.Outputs) > 0 {
		b.g.Prune()
		var e *ir.Error
		if err := stop.Try(func() { results = b.evaluateGraph(g, inputs) }); errors.As(err, &e) {
			panic(n.fail(e.Help, "%s", e.Msg))
		} else {
			stop.Check(err)
		}
	}
	made := slices.Clone(outs)
	for i, t := range outs {
		if t == nil || t.konst != nil {
			continue
		}
		a := b.mem.newArray(types[i], t.shape)
		for k, v := range results[0] {
			a.set(k, float64(v))
		}
		made[i], results = &tensor{shape: a.shape, konst: a}, results[1:]
	}
	return made
}

// evaluateGraph runs g. The work counts as work on constants.
func (b *builder) evaluateGraph(g *graph.Graph, inputs [][]float32) [][]float32 {
	for _, n := range g.Nodes {
		work := g.Value(n.Output).Elems()
		for _, name := range n.Inputs {
			work = max(work, g.Value(name).Elems())
		}
		if w := n.Weights["w"]; w != nil {
			work = max(work,
				int(min(int64(work)*int64(w.Data.Len())/int64(max(1, w.Shape[len(w.Shape)-1])), math.MaxInt32)))
		}
		b.mem.spend(interpretedWork * work)
	}
	return stop.Must(b.eval(b.mem.ctx, g, inputs))
}
