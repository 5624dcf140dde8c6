package ops

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// AddLevels adds the levels of two packed tensors up, or takes the second from the first
// (scalar.SumOf); axes of extent 1 are repeated. It is an adder in words: plane after plane, 32
// channels at once, with the carries of all in a word. Parameters: x0, x1, y.
func AddLevels(x, y *graph.Value, minus bool) *ir.Func {
	sum, _ := scalar.SumOf(x.LevelType, y.LevelType, minus) // checked by inference
	s, operands, repeated := broadcast(x.Shape, y.Shape)
	dst := BitBuffer("y", sum.Type.Bits, s, sum.Type.Enc)
	a := &adder{y: dst, channels: s[3], terms: [2]scalar.Term{sum.X, sum.Y}}
	f := &ir.Func{Name: fmt.Sprintf("%s_%d_%dx%dx%d%s", map[bool]string{false: "add", true: "sub"}[minus],
		sum.Type.Bits, s[1], s[2], s[3], repeated)}
	outer, i := pixels("", s)
	for k, t := range [2]scalar.LevelType{x.LevelType, y.LevelType} {
		o := operands[k]
		a.x[k], a.at[k], a.one[k] = BitBuffer(fmt.Sprintf("x%d", k), t.Bits, o.size, t.Enc), o.pixel(i), o.single(s)
		f.Params = append(f.Params, inParam(a.x[k]))
	}
	f.Params = append(f.Params, outParam(dst))
	carry := buf("carry", ir.U32, dst.Shape[4])
	words := ir.Nest(loops("", loop(ir.Word, "c", dst.Shape[4])), ir.Seq(a.word(i, carry, ir.V("c"))...))
	f.Body = ir.Nest(outer, allocs([]ir.Buffer{carry}, words))
	return f
}

// adder adds two operands to y.
type adder struct {
	x        [2]ir.Buffer
	at       [2][]ir.Expr // where a pixel of y reads them
	one      [2]bool      // has one channel, where y has more
	terms    [2]scalar.Term
	y        ir.Buffer
	channels int
}

// bit returns word c of plane n of operand k's term, or nil if that plane is 0.
func (a *adder) bit(k, n int, c ir.Expr) ir.Expr {
	n -= a.terms[k].Shift
	if n < 0 || n >= a.x[k].Shape[0] {
		return nil
	}
	q := c
	if a.one[k] {
		q = ir.Int(0)
	}
	v := ir.At(a.x[k], slices.Concat([]ir.Expr{ir.Int(n)}, a.at[k], []ir.Expr{q})...)
	var e ir.Expr = v
	if a.one[k] {
		e = ir.Bin(ir.And, sub(ir.Const(ir.U32, 0), v), onesWord(a.channels, c))
	}
	if a.terms[k].Flipped { // bits beyond the channels stay 0
		e = ir.Bin(ir.Xor, e, onesWord(a.channels, c))
	}
	return e
}

// word adds word c of pixel i.
func (a *adder) word(i []ir.Expr, carry ir.Buffer, c ir.Expr) []ir.Stmt {
	and := func(a, b ir.Expr) ir.Expr { return ir.Bin(ir.And, a, b) }
	xor := func(a, b ir.Expr) ir.Expr { return ir.Bin(ir.Xor, a, b) }
	var body []ir.Stmt
	carried := false
	for n := range a.y.Shape[0] {
		p, q, at := a.bit(0, n, c), a.bit(1, n, c), slices.Concat([]ir.Expr{ir.Int(n)}, i, []ir.Expr{c})
		if p == nil {
			p, q = q, nil
		}
		old := ir.At(carry, c)
		switch {
		case p == nil && !carried:
			body = append(body, set(a.y, ir.Const(ir.U32, 0), at...))
		case p == nil:
			body = append(body, set(a.y, old, at...))
			carried = false
		case q == nil && !carried:
			body = append(body, set(a.y, p, at...))
		case q == nil:
			body = append(body, set(a.y, xor(p, old), at...), set(carry, and(p, old), c))
		case !carried:
			body = append(body, set(a.y, xor(p, q), at...), set(carry, and(p, q), c))
			carried = true
		default:
			differ := xor(p, q)
			body = append(body, set(a.y, xor(differ, old), at...),
				set(carry, ir.Bin(ir.Or, and(p, q), and(differ, old)), c))
		}
	}
	return body
}
