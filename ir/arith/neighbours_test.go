package arith_test

import (
	"testing"

	"ripc/ir"
	"ripc/ir/arith"
)

// TestNeighbours: an index of the last dimension goes on by one element, one of a dimension before that by all behind it. Loads may leave
// elements out.
func TestNeighbours(t *testing.T) {
	l, other := ir.V("l"), ir.V("k")
	twice := ir.Bin(ir.Mul, l, ir.Int(2))
	for _, c := range []struct {
		what  string
		shape []int
		idx   []ir.Expr
		load  bool
		store bool
	}{
		{"the last dimension", []int{4, 8}, []ir.Expr{other, ir.Bin(ir.Add, l, ir.Int(1))}, true, true},
		{"none", []int{4, 8}, []ir.Expr{other, other}, true, true},
		{"the last but one, of one element each", []int{8, 1}, []ir.Expr{l, ir.Int(0)}, true, true},
		{"the last but one", []int{4, 8}, []ir.Expr{l, other}, false, false},
		{"every third element", []int{4, 8}, []ir.Expr{other, ir.Bin(ir.Mul, l, ir.Int(3))}, false, false},
		{"every other element", []int{4, 8}, []ir.Expr{other, twice}, true, false},
		{"a part of the variable", []int{4, 8}, []ir.Expr{other, ir.Bin(ir.Mod, l, ir.Int(4))}, false, false},
	} {
		x, y := ir.Buffer{Name: "x", Type: ir.U32, Shape: c.shape}, ir.Buffer{Name: "y", Type: ir.U32, Shape: []int{8}}
		bufs := map[string]ir.Buffer{"x": x, "y": y}
		read := &ir.Store{Buf: "y", Idx: []ir.Expr{l}, Val: ir.At(x, c.idx...)}
		write := &ir.Store{Buf: "x", Idx: c.idx, Val: ir.Const(ir.U32, 0)}
		if got := arith.Neighbours(&ir.For{Var: "l", Extent: 4, Body: read}, bufs); got != c.load {
			t.Errorf("%s, loaded: %v", c.what, got)
		}
		if got := arith.Neighbours(&ir.For{Var: "l", Extent: 4, Body: write}, bufs); got != c.store {
			t.Errorf("%s, stored: %v", c.what, got)
		}
	}
}
