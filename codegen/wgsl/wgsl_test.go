package wgsl_test

import (
	"strings"
	"testing"

	"ripc/codegen/wgsl"
	"ripc/ir"
	"ripc/targets"
)

// kernel is y[i] = value of x[i], with a shared copy of x before it.
func kernel(t ir.Type, elems int, value ir.Expr) *ir.Func {
	x := ir.Buffer{Name: "x", Type: t, Shape: []int{elems}}
	y, s, i := ir.Buffer{Name: "y", Type: value.Type(), Shape: []int{4}}, x, ir.V("i")
	s.Name, s.Space = "s", ir.Shared
	threads := func(name string, n int, body ir.Stmt) ir.Stmt {
		return &ir.For{Var: name, Extent: n, Kind: ir.Threads, Body: body}
	}
	store := func(buf string, at, v ir.Expr) ir.Stmt { return &ir.Store{Buf: buf, Idx: []ir.Expr{at}, Val: v} }
	n := min(elems, 256)
	copied := &ir.For{Var: "k", Extent: elems / n, Body: threads("j", n, store("s", ir.Bin(ir.Add, ir.Bin(ir.Mul, ir.V("k"), ir.Int(n)), ir.V("j")),
		ir.At(x, ir.Bin(ir.Add, ir.Bin(ir.Mul, ir.V("k"), ir.Int(n)), ir.V("j")))))}
	return &ir.Func{Name: "f", Params: []ir.Param{{Buffer: x}, {Buffer: y, Out: true}}, Body: &ir.For{Var: "b", Extent: 1, Kind: ir.Blocks,
		Body: &ir.Alloc{Buf: s, Body: ir.Seq(copied, &ir.Barrier{}, threads("i", 4, store("y", i, value)))}}}
}

// withOwn is f with an array of a thread's own.
func withOwn(f *ir.Func, elems int) *ir.Func {
	own := ir.Buffer{Name: "own", Type: ir.U32, Shape: []int{elems}}
	return f.WithBody(ir.MapStmt(f.Body, func(s ir.Stmt) ir.Stmt {
		if l, ok := s.(*ir.For); ok && l.Var == "i" {
			return l.WithBody(&ir.Alloc{Buf: own, Body: l.Body})
		}
		return s
	}, nil))
}

// TestKernel: memory is atomic where bytes are stored. Integers of 64 bits, and more shared memory than there is with a word
// for each byte, are refused with a way out.
func TestKernel(t *testing.T) {
	m, err := targets.Lookup("webgpu")
	if err != nil {
		t.Fatal(err)
	}
	at := func(t ir.Type) ir.Expr { return &ir.Load{Buf: "s", T: t, Idx: []ir.Expr{ir.V("i")}} }
	wide := ir.CastTo(ir.I32, ir.Bin(ir.Shr, ir.Bin(ir.Mul, ir.CastTo(ir.I64, at(ir.I32)), ir.CastTo(ir.I64, at(ir.I32))), ir.Int(31)))
	for _, c := range []struct {
		f    *ir.Func
		want string // of the kernel or the error
	}{
		{kernel(ir.U32, 4, at(ir.U32)), "  memory[v_y + v_i] = f_0_v_s[v_i];"},
		{kernel(ir.U8, 4, at(ir.U8)), "  rc_shared_store(v_y + v_i, 255u, bitcast<u32>(f_0_v_s[v_i]));"},
		{kernel(ir.I32, 4, wide), "it takes integers of 64 bits, and WGSL has 32"},
		{kernel(ir.U8, 8192, at(ir.U8)), "a block takes 32768 bytes of shared memory, and webgpu has 16384"},
		{kernel(ir.U32, 4096, at(ir.U32)), "var<workgroup> f_0_v_s: array<u32, 4096>;"},
		{withOwn(kernel(ir.U32, 4, at(ir.U32)), 2048), "var v_own: array<u32, 2048>;"},
		{withOwn(kernel(ir.U32, 4, at(ir.U32)), 2049), "a thread takes 8196 bytes of its own, and a function of WGSL has 8192"},
	} {
		k, err := wgsl.Backend{}.Kernel(c.f, "f", m, nil)
		got := string(k.Text)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("no %q in\n%s", c.want, got)
		}
		if limit := (wgsl.Backend{}).Limit(c.f, m); (limit == nil) != (err == nil) {
			t.Errorf("the limit is %v, and the kernel %v", limit, err)
		}
	}
}
