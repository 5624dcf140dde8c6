package features

import (
	"testing"

	"ripc/ir"
	"ripc/targets"
)

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
