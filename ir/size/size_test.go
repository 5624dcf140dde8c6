package size_test

import (
	"testing"

	"ripc/ir"
	"ripc/ir/size"
)

// TestOf: loops that are written out count as often as they run, vectors once, and nothing overflows.
func TestOf(t *testing.T) {
	y, x := ir.Buffer{Name: "y", Type: ir.I32, Shape: []int{8}}, ir.Buffer{Name: "x", Type: ir.I32, Shape: []int{8}}
	body := ir.Stmt(&ir.Store{Buf: y.Name, Idx: []ir.Expr{ir.V("i")}, Val: ir.At(x, ir.V("i"))})
	loop := func(kind ir.LoopKind, n int, s ir.Stmt) ir.Stmt {
		return &ir.For{Var: "i", Extent: n, Kind: kind, Body: s}
	}
	one := size.Of(body)
	for _, c := range []struct {
		name string
		s    ir.Stmt
		want int
	}{
		{"serial", loop(ir.Serial, 8, body), one},
		{"parallel", loop(ir.Parallel, 8, body), one},
		{"vectorize", loop(ir.Vectorize, 8, body), one},
		{"unroll", loop(ir.Unroll, 8, body), 8 * one},
		{"twice", ir.Seq(body, body), 2 * one},
		{"unroll unrolled", loop(ir.Unroll, 8, loop(ir.Unroll, 4, body)), 32 * one},
	} {
		if n := size.Of(c.s); n != c.want {
			t.Errorf("%s: %d, want %d", c.name, n, c.want)
		}
	}
	for bits, want := range map[int]int{128: 4 * 2 * one, 256: 4 * one, 512: 4 * one} {
		if n := size.Written(loop(ir.Unroll, 4, loop(ir.Vectorize, 8, body)), bits); n != want {
			t.Errorf("in vectors of %d bits %d, want %d", bits, n, want)
		}
	}
	// lanes that go one by one compute where each reads
	at := func(x ir.Buffer, i ir.Expr) ir.Stmt {
		return loop(ir.Vectorize, 8, &ir.Store{Buf: y.Name, Idx: []ir.Expr{ir.V("i")}, Val: ir.At(x, i)})
	}
	if n := size.Of(at(x, &ir.Binary{Op: ir.Add, A: &ir.Binary{Op: ir.Mul, A: ir.V("i"), B: ir.Int(2)}, B: ir.V("k")})); n != one {
		t.Errorf("a vector counts as %d, want %d", n, one)
	}
	if n := size.Of(at(x, &ir.Binary{Op: ir.Div, A: ir.V("i"), B: ir.Int(3)})); n != 8*(one+2) {
		t.Errorf("lanes that divide count as %d, want %d", n, 8*(one+2))
	}
	// what stands in an expression twice counts once, however many operations it has
	for n := 1; n < 100; n += 7 {
		var sum ir.Expr = ir.V("i")
		for k := range n {
			sum = &ir.Binary{Op: ir.Add, A: sum, B: ir.At(x, ir.Int(k))}
		}
		value := &ir.Binary{Op: ir.Mul, A: sum, B: sum}
		if got, want := size.Of(&ir.Store{Buf: y.Name, Val: value}), 2+1+n*(1+3); got != want {
			t.Errorf("the square of a sum of %d loads counts as %d, want %d", n, got, want)
		}
	}
	under := func(i ir.Expr) ir.Stmt {
		return loop(ir.Vectorize, 8, &ir.If{Cond: ir.Bin(ir.Lt, i, ir.Int(5)), Then: body})
	}
	if same, differ := size.Of(under(ir.V("k"))), size.Of(under(ir.V("i"))); differ != 8*same {
		t.Errorf("lanes that differ in a condition count as %d, want %d", differ, 8*same)
	}
	s := body
	for range 10 {
		s = loop(ir.Unroll, 1<<20, ir.Seq(s, s))
	}
	if n := size.Of(s); n < size.Max || n > 1<<30 {
		t.Errorf("a func of 2^200 instructions counts as %d", n)
	}
}
