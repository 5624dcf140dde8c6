package emit

import (
	"fmt"
	"strings"

	llir "github.com/llir/llvm/ir"

	"ripc/codegen/llvm/isa"
	"ripc/ir"
	"ripc/ir/arith"
)

// highProduct recognizes i32 numbers whose product, rounded, loses its 31 lower bits, as fixed-point factors have it:
//
//	cast<i32>(cast<i64>(a) * cast<i64>(b) + (1 << 30) >> 31)
func highProduct(x *ir.Cast) (a, b ir.Expr, ok bool) {
	binary := func(e ir.Expr, op ir.BinOp) (a, b ir.Expr) {
		if e, ok := e.(*ir.Binary); ok && e.Op == op {
			return e.A, e.B
		}
		return nil, nil
	}
	is := func(e ir.Expr, n int64) bool {
		i, ok := e.(*ir.IntImm)
		return ok && i.V == n
	}
	number := func(e ir.Expr) ir.Expr {
		if c, ok := e.(*ir.Cast); ok && c.T == ir.I64 && c.A.Type() == ir.I32 {
			return c.A
		}
		return nil
	}
	sum, shift := binary(x.A, ir.Shr)
	product, half := binary(sum, ir.Add)
	a, b = binary(product, ir.Mul)
	a, b = number(a), number(b)
	return a, b, x.T == ir.I32 && a != nil && b != nil && is(shift, 31) && is(half, 1<<30)
}

// high emits a highProduct of vectors. LLVM itself widens all lanes and narrows the products again. NEON has an instruction, which saturates
// where both numbers are the least: one of them must be known to be another. Elsewhere products of 64 bits are made of even and of odd lanes
// where these stand.
func (e *emitter) high(x *ir.Cast) (val, bool) {
	a, b, ok := highProduct(x)
	if !ok || e.lanes < 4 || e.lanes%4 != 0 || !e.varies(a) && !e.varies(b) {
		return val{}, false
	}
	switch neon := e.target.Has("neon"); {
	case neon && !above(a) && !above(b):
		return val{}, false
	case !neon && !e.target.Has("sse4.1"):
		return val{}, false
	}
	e.highs[e.lanes] = true
	vt := e.typeOf(ir.I32, true)
	f := llir.NewFunc(fmt.Sprintf("ripc_high_product_x%d", e.lanes), vt, llir.NewParam("", vt), llir.NewParam("", vt))
	return val{v: e.b().NewCall(f, e.splat(e.eval(a)).v, e.splat(e.eval(b)).v), t: ir.I32, wide: true}, true
}

// above reports whether a is never the least i32.
func above(a ir.Expr) bool {
	iv, ok := arith.Bounds(a, nil)
	return ok && iv.Lo > -1<<31
}

// highText is the function behind high.
func highText(lanes int, arch string) isa.Function {
	head := fmt.Sprintf("define internal <%[1]d x i32> @ripc_high_product_x%[1]d(<%[1]d x i32> %%a, <%[1]d x i32> %%b) alwaysinline nounwind {\n", lanes)
	if arch == "x86_64" {
		return isa.Function{Text: head + evenAndOdd(lanes)}
	}
	intrinsic := map[string]string{"aarch64": "llvm.aarch64.neon.sqrdmulh.v4i32", "arm": "llvm.arm.neon.vqrdmulh.v4i32"}[arch]
	var b strings.Builder
	b.WriteString(head)
	one := "<4 x i32>"
	whole := ""
	for at := 0; at < lanes; at += 4 {
		fmt.Fprintf(&b, `  %%a%[2]d = shufflevector <%[1]d x i32> %%a, <%[1]d x i32> poison, %[3]s
  %%b%[2]d = shufflevector <%[1]d x i32> %%b, <%[1]d x i32> poison, %[3]s
  %%p%[2]d = call <4 x i32> @%[4]s(<4 x i32> %%a%[2]d, <4 x i32> %%b%[2]d)
`, lanes, at, isa.ShuffleRun(at, 4, 4), intrinsic)
		if at == 0 {
			whole = "%p0"
			continue
		}
		// Both sides of a shuffle have the same length: the new lanes are stretched first.
		fmt.Fprintf(&b, "  %%w%[1]d = shufflevector <4 x i32> %%p%[1]d, <4 x i32> poison, %[2]s\n", at, isa.Shuffle(at, func(i int) int { return min(i, 3) }))
		fmt.Fprintf(&b, "  %%t%[1]d = shufflevector <%[1]d x i32> %[2]s, <%[1]d x i32> %%w%[1]d, %[3]s\n", at, whole, isa.ShuffleRun(0, at+4, at+4))
		whole = fmt.Sprintf("%%t%d", at)
	}
	fmt.Fprintf(&b, "  ret <%d x i32> %s\n}\n", lanes, whole)
	return isa.Function{Calls: []isa.Declaration{{Result: one, Name: intrinsic, Params: one + ", " + one}}, Text: b.String()}
}

// evenAndOdd multiplies even lanes, then odd ones, as lanes of 64 bits, and puts the results where these stood.
func evenAndOdd(lanes int) string {
	blend := isa.Shuffle(lanes, func(i int) int { return i + i%2*lanes })
	return strings.NewReplacer("LONG", fmt.Sprintf("<%d x i64>", lanes/2), "INT", fmt.Sprintf("<%d x i32>", lanes), "BLEND", blend).Replace(`  %x = bitcast INT %a to LONG
  %y = bitcast INT %b to LONG
  %xl = shl LONG %x, splat (i64 32)
  %yl = shl LONG %y, splat (i64 32)
  %x0 = ashr LONG %xl, splat (i64 32)
  %y0 = ashr LONG %yl, splat (i64 32)
  %x1 = ashr LONG %x, splat (i64 32)
  %y1 = ashr LONG %y, splat (i64 32)
  %p0 = mul LONG %x0, %y0
  %p1 = mul LONG %x1, %y1
  %s0 = add LONG %p0, splat (i64 1073741824)
  %s1 = add LONG %p1, splat (i64 1073741824)
  %r0 = lshr LONG %s0, splat (i64 31)
  %r1 = shl LONG %s1, splat (i64 1)
  %even = bitcast LONG %r0 to INT
  %odd = bitcast LONG %r1 to INT
  %r = shufflevector INT %even, INT %odd, BLEND
  ret INT %r
}
`)
}
