package emit

import (
	"fmt"
	"strings"

	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/value"

	"ripc/codegen/llvm/isa"
	"ripc/ir"
	"ripc/ir/arith"
)

// matchHighProduct recognizes upper halves of products, as fixed-point multiplication has them: a
// product that loses its 31 lower bits, rounded, and the upper half of a product plus a third
// number:
//
//	cast<i32>(cast<i64>(a) * cast<i64>(b) + (1 << 30) >> 31)
//	cast<i32>(cast<i64>(a) * cast<i64>(b) + c >> 32)
//
// c is nil in the first case.
func matchHighProduct(x *ir.Cast) (a, b, c ir.Expr, ok bool) {
	shift, isShift := x.A.(*ir.Binary)
	if x.T != ir.I32 || !isShift || shift.Op != ir.Shr {
		return nil, nil, nil, false
	}
	is := func(e ir.Expr, n int64) bool {
		i, ok := e.(*ir.IntImm)
		return ok && i.V == n
	}
	for _, t := range addends(shift.A) { // in any order
		if p, isProduct := t.(*ir.Binary); isProduct && p.Op == ir.Mul && a == nil && unwiden(p.A) != nil &&
			unwiden(p.B) != nil {
			a, b = unwiden(p.A), unwiden(p.B)
		} else if c == nil {
			c = t
		} else {
			c = ir.Bin(ir.Add, c, t)
		}
	}
	if is(shift.B, 31) && c != nil && is(c, 1<<30) {
		return a, b, nil, a != nil
	}
	return a, b, c, a != nil && c != nil && is(shift.B, 32)
}

// addends returns the addends of e, a sum.
func addends(e ir.Expr) []ir.Expr {
	if s, ok := e.(*ir.Binary); ok && s.Op == ir.Add {
		return append(addends(s.A), addends(s.B)...)
	}
	return []ir.Expr{e}
}

// unwiden returns the i32 expression that e widens to i64, nil if there is none.
func unwiden(e ir.Expr) ir.Expr {
	if c, ok := e.(*ir.Cast); ok && c.T == ir.I64 && c.A.Type() == ir.I32 {
		return c.A
	}
	return nil
}

// highKind identifies a function behind emitHighProduct: its number of lanes, and whether it adds a
// third number.
type highKind struct {
	lanes int
	added bool
}

func (k highKind) name() string {
	if k.added {
		return fmt.Sprintf("ripc_high_sum_x%d", k.lanes)
	}
	return fmt.Sprintf("ripc_high_product_x%d", k.lanes)
}

// emitHighProduct emits a high product of vectors. LLVM itself would widen all lanes and narrow the
// products again. A rounding instruction (Facts.HighProduct) saturates if both operands are the
// least i32, so one of them must be proved not to be. Without it, the function multiplies even and
// odd lanes separately to 64-bit products.
func (e *emitter) emitHighProduct(x *ir.Cast) (val, bool) {
	a, b, c, ok := matchHighProduct(x)
	if !ok || e.lanes < 4 || e.lanes%4 != 0 || !e.varies(a) && !e.varies(b) {
		return val{}, false
	}
	rounding := e.facts.HighProduct
	switch {
	case rounding != "" && (c != nil || !isAboveLeast(a) && !isAboveLeast(b)):
		return val{}, false
	case rounding == "" && !e.facts.EvenProducts:
		return val{}, false
	}
	kind := highKind{e.lanes, c != nil}
	e.require(helper{kind: highHelper, name: kind.name()}, func() isa.Function { return kind.function(rounding) })
	vt := e.typeOf(ir.I32, true)
	f := llir.NewFunc(kind.name(), vt, llir.NewParam("", vt), llir.NewParam("", vt))
	args := []value.Value{e.splat(e.eval(a)).v, e.splat(e.eval(b)).v}
	if c != nil {
		f.Params = append(f.Params, llir.NewParam("", e.typeOf(ir.I64, true)))
		args = append(args, e.splat(e.eval(c)).v)
	}
	return val{v: e.b().NewCall(f, args...), t: ir.I32, wide: true}, true
}

// isAboveLeast reports whether a is provably never the least i32.
func isAboveLeast(a ir.Expr) bool {
	iv, ok := arith.Bounds(a, nil)
	return ok && iv.Lo > -1<<31
}

// function returns the function behind emitHighProduct, by a rounding intrinsic if there is one.
func (k highKind) function(intrinsic string) isa.Function {
	lanes, added := k.lanes, ""
	if k.added {
		added = fmt.Sprintf(", <%d x i64> %%c", lanes)
	}
	head := fmt.Sprintf("define internal <%[1]d x i32> @%[2]s(<%[1]d x i32> %%a, <%[1]d x i32> %%b%[3]s) "+
		"alwaysinline nounwind {\n", lanes, k.name(), added)
	if intrinsic == "" {
		return isa.Function{Text: head + k.evenAndOdd()}
	}
	var b strings.Builder
	p := linesOf(&b)
	b.WriteString(head)
	const one = "<4 x i32>"
	whole := p.joinRegisters(lanes, 4, "i32", "w", func(at int) string {
		return isa.Shuffle(at, func(i int) int { return min(i, 3) })
	}, func(at int) string {
		p(`  %%a%[2]d = shufflevector <%[1]d x i32> %%a, <%[1]d x i32> poison, %[3]s
  %%b%[2]d = shufflevector <%[1]d x i32> %%b, <%[1]d x i32> poison, %[3]s
  %%p%[2]d = call <4 x i32> @%[4]s(<4 x i32> %%a%[2]d, <4 x i32> %%b%[2]d)`, lanes, at,
			isa.ShuffleRun(at, 4, 4), intrinsic)
		return fmt.Sprintf("%%p%d", at)
	})
	p("  ret <%d x i32> %s\n}", lanes, whole)
	return isa.Function{Calls: []isa.Declaration{{Result: one, Name: intrinsic, Params: one + ", " + one}},
		Text: b.String()}
}

// evenAndOdd multiplies even lanes, then odd ones, to 64-bit lanes, and interleaves the upper
// halves. A third number's even and odd lanes are separated first, outside of loops that do not
// change it.
func (k highKind) evenAndOdd() string {
	half := func(odd int) string { return isa.Shuffle(k.lanes/2, func(i int) int { return 2*i + odd }) }
	results, even := `  %s0 = add LONG %p0, splat (i64 1073741824)
  %s1 = add LONG %p1, splat (i64 1073741824)
  %r0 = lshr LONG %s0, splat (i64 31)
  %r1 = shl LONG %s1, splat (i64 1)
`, 0
	if k.added {
		results, even = `  %c0 = shufflevector ALL %c, ALL poison, EVEN
  %c1 = shufflevector ALL %c, ALL poison, ODD
  %r0 = add LONG %p0, %c0
  %r1 = add LONG %p1, %c1
`, 1 // the upper half
	}
	blend := isa.Shuffle(k.lanes, func(i int) int {
		if i%2 == 0 {
			return i + even
		}
		return i + k.lanes
	})
	return strings.NewReplacer("LONG", fmt.Sprintf("<%d x i64>", k.lanes/2), "ALL", fmt.Sprintf("<%d x i64>", k.lanes),
		"INT", fmt.Sprintf("<%d x i32>", k.lanes),
		"BLEND", blend, "EVEN", half(0), "ODD", half(1)).Replace(`  %x = bitcast INT %a to LONG
  %y = bitcast INT %b to LONG
  %xl = shl LONG %x, splat (i64 32)
  %yl = shl LONG %y, splat (i64 32)
  %x0 = ashr LONG %xl, splat (i64 32)
  %y0 = ashr LONG %yl, splat (i64 32)
  %x1 = ashr LONG %x, splat (i64 32)
  %y1 = ashr LONG %y, splat (i64 32)
  %p0 = mul LONG %x0, %y0
  %p1 = mul LONG %x1, %y1
` + results + `  %even = bitcast LONG %r0 to INT
  %odd = bitcast LONG %r1 to INT
  %r = shufflevector INT %even, INT %odd, BLEND
  ret INT %r
}
`)
}
