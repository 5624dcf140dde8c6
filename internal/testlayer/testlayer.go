// Package testlayer makes Funcs of fused layers for tests of the stages behind lowering.
package testlayer

import (
	"errors"
	"math/rand/v2"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// Integers is the Func of a for target t, a layer of +-1 weights over levels [batch, h, w, a.In]
// with the given bits. It sets a's weights, but for their values, and pads with the level 0 or,
// bipolar, with the highest. If it makes floats, it also writes levels for those readers that are
// quantizers, where it can. If the only reader is a mean of all positions, it writes the mean.
func Integers(a *graph.FusedConv, t targets.Target, by layout.Algorithm, enc ir.EncodingKind, bits, batch, h, w int,
	slice ops.Slice, readers ...*graph.Node) *ir.Func {
	return conv(integers(a, t, by, enc, bits, batch, h, w), by, slice, readers)
}

// Bytes is Integers by products of bytes where levels lie in memory as bytes.
func Bytes(a *graph.FusedConv, t targets.Target, enc ir.EncodingKind, bits, batch, h, w int,
	readers ...*graph.Node) *ir.Func {
	l := integers(a, t, layout.Dot, enc, bits, batch, h, w)
	l.From = layout.Bytes
	if l.To == layout.Planes {
		l.To = layout.Bytes
	}
	return conv(l, layout.Dot, ops.Slice{}, readers)
}

func integers(a *graph.FusedConv, t targets.Target, by layout.Algorithm, enc ir.EncodingKind,
	bits, batch, h, w int) *layout.Conv {
	x := graph.Value{Name: "x", LevelType: scalar.LevelType{Enc: enc, Bits: bits}, Shape: []int{batch, h, w, a.In}}
	a.X, a.W = graph.IntegersOf(x.LevelType), graph.Integers{Min: -1, Max: 1, Step: 2}
	if enc != ir.Unipolar {
		a.PadValue = a.X.Max
	}
	return layout.NewConv(a, x, t, by, joinTensors(a, batch, h, w)...)
}

// conv is l's Func, with the levels or mean that it can make for readers.
func conv(l *layout.Conv, by layout.Algorithm, slice ops.Slice, readers []*graph.Node) *ir.Func {
	if len(readers) == 1 && readers[0].Op == "global_avg_pool" && layout.Means(l.FusedConv) {
		l.Mean, slice = true, ops.Slice{}
	}
	for _, n := range readers {
		if b, ok := layout.BesideOf(l.FusedConv, n); ok {
			l.Beside = append(l.Beside, b)
		}
	}
	f, _ := ops.Conv(l, slice)
	return f
}

// joinTensors are tensors for the joins of a: numbers, levels and one number a channel, in turn.
func joinTensors(a *graph.FusedConv, batch, h, w int) []layout.Tensor {
	oh, ow := a.OutSize(h, w)
	var out []layout.Tensor
	for k := range a.Epilogue.Joins {
		v := graph.Value{Shape: []int{batch, oh, ow, a.Out}}
		switch (k + a.Out) % 3 {
		case 1:
			v.LevelType = scalar.LevelType{Enc: ir.Bipolar, Bits: 2, Scale: 0.5}
		case 2:
			v.Shape[1], v.Shape[2] = 1, 1
		}
		out = append(out, layout.Tensor{Value: v, Form: layout.FormOf(&v)})
	}
	return out
}

// Reals is the Func of a, a layer over real numbers.
func Reals(a *graph.FusedConv, batch, h, w int, slice ops.Slice, readers ...*graph.Node) *ir.Func {
	return conv(layout.NewConv(a, graph.Value{Name: "x", Shape: []int{batch, h, w, a.In}}, targets.Target{},
		layout.Float, joinTensors(a, batch, h, w)...), layout.Float, slice, readers)
}

// Random is the schedule of f at a point that is drawn: any strategy, any values. Where none of
// many can be built, it is the plainest.
func Random(f *ir.Func, t targets.Target, r *rand.Rand) (strategy.Choice, error) {
	const draws = 1000
	l := strategy.LayerOf(f, t)
	all := strategy.For(l)
	if len(all) == 0 {
		return strategy.Choice{}, errors.New("no strategy applies to " + f.Name)
	}
	for range draws {
		s := all[r.IntN(len(all))]
		if c, err := s.Build(l, s.Random(l, r)); err == nil {
			return c, nil
		}
	}
	return strategy.Plainest(f, t, 0, nil)
}
