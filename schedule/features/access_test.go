package features

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"ripc/ir"
	"ripc/targets"
)

// TestDistinct: loads that unrolled loops have in common are counted once, and so are their casts.
func TestDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, of ...int) int { return rapid.SampledFrom(of).Draw(t, name) }
		taps, positions, rows := draw("taps", 1, 2, 3, 5), draw("positions", 1, 2, 7, 9), draw("rows", 1, 3)
		step := draw("unit", 1, 2)
		dilation := step * draw("times", 1, 2, 3, 4)
		if taps <= 2 && rapid.Bool().Draw(t, "odd") { // such steps are taken for distinct, which those of more taps are not
			step, dilation = 3, 2
		}
		if rapid.Bool().Draw(t, "swapped") {
			step, dilation = dilation, step
		}
		met := map[int]bool{}
		for p := range positions {
			for k := range taps {
				met[p*step+k*dilation] = true
			}
		}
		x := ir.Buffer{Name: "x", Type: ir.U8, Shape: []int{8, 100}}
		y := ir.Buffer{Name: "y", Type: ir.I16, Shape: []int{rows, positions}}
		at := ir.Bin(ir.Add, ir.Bin(ir.Mul, ir.V("p"), ir.Int(step)), ir.Bin(ir.Mul, ir.V("k"), ir.Int(dilation)))
		load := &ir.Load{Buf: "x", T: ir.U8, Idx: []ir.Expr{ir.V("r"), at}}
		var body ir.Stmt = &ir.Store{Buf: "y", Idx: []ir.Expr{ir.V("r"), ir.V("p")}, Val: &ir.Cast{T: ir.I16, A: load}, Op: ir.AddTo}
		body = &ir.For{Var: "p", Extent: positions, Kind: ir.Unroll, Body: body}
		body = &ir.For{Var: "k", Extent: taps, Kind: ir.Unroll, Body: body}
		body = &ir.For{Var: "r", Extent: rows, Body: body}
		k := newKernel(&ir.Func{Name: "f", Params: []ir.Param{{Buffer: x}, {Buffer: y, Out: true}}, Body: body}, &Describer{target: targets.Target{VectorBits: 128}}, true)
		want := float64(rows * len(met))
		if got := k.ops[opCast][w16]; math.Abs(got-want) > 1e-6 {
			t.Errorf("%v casts, want %v", got, want)
		}
		if got := k.memory[one].loads; math.Abs(got-want-float64(rows*positions)) > 1e-6 {
			t.Errorf("%v loads, want %v and those of sums", got, want)
		}
	})
}

// TestAddresses: operations of addresses beside sums and multiples are counted, and so are loads that move by pages.
func TestAddresses(t *testing.T) {
	const rows, lanes = 6, 4
	v, k := ir.V("v"), ir.V("k")
	for name, c := range map[string]struct {
		width        int // elements of a row of x
		at           ir.Expr
		addresses    float64
		pieces       float64
		far, aliased float64
	}{
		"neighbours":      {100, v, 0, 0, 0, 0},
		"strided":         {100, ir.Bin(ir.Mul, v, ir.Int(3)), 0, 0, 0, 0},
		"in groups":       {100, ir.Bin(ir.Div, v, ir.Int(3)), rows * lanes, rows * lanes, 0, 0},
		"in even groups":  {100, ir.Bin(ir.Div, v, ir.Int(6)), rows * lanes, rows * lanes / 2, 0, 0},
		"capped":          {100, ir.Bin(ir.Min, ir.Bin(ir.Div, v, ir.Int(3)), ir.Int(1)), 2 * rows * lanes, rows * lanes, 0, 0},
		"rows of a page":  {1024, v, 0, 0, 0, rows},
		"rows of 3 pages": {3072, v, 0, 0, 0, rows},
		"longer rows":     {1500, v, 0, 0, rows, 0},
	} {
		x := ir.Buffer{Name: "x", Type: ir.U32, Shape: []int{rows, c.width}}
		y := ir.Buffer{Name: "y", Type: ir.U32, Shape: []int{lanes}}
		load := &ir.Load{Buf: "x", T: ir.U32, Idx: []ir.Expr{k, c.at}}
		body := &ir.For{Var: "k", Extent: rows, Body: &ir.For{Var: "v", Extent: lanes, Kind: ir.Vectorize, Body: &ir.Store{Buf: "y", Idx: []ir.Expr{v}, Val: load, Op: ir.AddTo}}}
		f := &ir.Func{Name: "f", Params: []ir.Param{{Buffer: x}, {Buffer: y, Out: true}}, Body: body}
		k := newKernel(f, &Describer{target: targets.Target{VectorBits: 128}}, true)
		if got := k.memory; k.indexed != c.addresses || got[pieces].loads != c.pieces || got[far].loads != c.far || got[aliased].loads != c.aliased {
			t.Errorf("%s: %v operations, %v pieces, %v far, %v aliased; want %v, %v, %v, %v", name, k.indexed, got[pieces].loads, got[far].loads, got[aliased].loads, c.addresses, c.pieces, c.far, c.aliased)
		}
	}
}
