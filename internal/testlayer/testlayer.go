// Package testlayer makes Funcs of fused layers for tests of what comes behind lowering.
package testlayer

import (
	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

// Integers is the Func of a, a layer of +-1 weights over levels [batch, h, w, a.In] of so many bits. It sets a's weights,
// but for their values, and pads with the level 0 or, bipolar, with the highest.
func Integers(a *graph.FusedConv, by layout.Algorithm, enc ir.EncodingKind, bits, batch, h, w int, slice ops.Slice) *ir.Func {
	x := graph.Value{Name: "x", LevelType: scalar.LevelType{Enc: enc, Bits: bits}, Shape: []int{batch, h, w, a.In}}
	a.X, a.W = graph.IntegersOf(x.LevelType), graph.Integers{Min: -1, Max: 1, Step: 2}
	if enc != ir.Unipolar {
		a.PadValue = a.X.Max
	}
	f, _ := ops.Conv(layout.NewConv(a, x, by), slice)
	return f
}

// Reals is the Func of a, a layer over real numbers.
func Reals(a *graph.FusedConv, batch, h, w int, slice ops.Slice) *ir.Func {
	f, _ := ops.Conv(layout.NewConv(a, graph.Value{Name: "x", Shape: []int{batch, h, w, a.In}}, layout.Float), slice)
	return f
}
