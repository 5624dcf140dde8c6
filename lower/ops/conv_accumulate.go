package ops

import (
	"fmt"
	"math"
	"slices"

	"ripc/ir"
)

func (c *conv) accumulate(x, wt ir.Buffer) ir.Buffer {
	if c.Dots != nil {
		return c.dots(x, wt)
	}
	k, t := c.Counts, c.sumType()
	acc := buf("acc", t, c.batch, c.oh, c.ow, c.o)
	c.bufs = append(c.bufs, acc)
	outer := loops("acc.", over(ir.Batch, "b", c.batch), over(ir.Row, "h", c.oh), over(ir.Col, "w", c.ow), over(ir.Channel, "o", c.o))
	i := vars(outer)
	rows, cols := c.KH, c.KW
	if k != nil {
		rows, cols = k.Rows, k.Cols
	}
	channel, ch := c.channel(i[3])
	red := loops("acc.", over(ir.TapRow, "kh", rows), over(ir.TapCol, "kw", cols), over(ir.Reduce, ch, c.terms()))
	h, w := c.pixel(i[1], i[2], ir.V("acc.kh"), ir.V("acc.kw"))
	at := []ir.Expr{i[0], h, w, channel}
	wi := vars(red)
	if c.weightPlanes() > 1 {
		red = append(red, ir.Loop{Var: "acc.m", Extent: c.weightPlanes(), Axis: ir.WeightPlane})
		wi = append(wi, ir.V("acc.m"))
	}
	var wv ir.Expr
	if k == nil && c.Sums.Packed != nil {
		wv = c.unpackedWeight(wt, wi, i[3])
	} else {
		wv = ir.At(wt, append(wi, i[3])...)
	}
	if k == nil {
		var start ir.Expr = ir.Float(0)
		if c.Sums.Bias != nil {
			start = ir.At(constant(c, "bias", ir.F32, c.Sums.Bias, 0), i[3])
		}
		step := set(acc, &ir.Fma{A: ir.At(x, at...), B: wv, C: ir.At(acc, i...)}, i...)
		c.nests = append(c.nests, ir.Nest(outer, ir.Seq(set(acc, start, i...), ir.Nest(red, step))))
		return acc
	}
	plane := sub(ir.Int(k.Planes-1), ir.V("acc.n"))
	xv := c.windowWord(plane, i, ir.V("acc.kh"), ir.V("acc.kw"), ir.V("acc."+ch))
	differ := ir.Bin(ir.Xor, xv, wv)
	if k.Ones {
		differ = ir.Bin(ir.And, xv, wv)
	}
	bits := c.times(ir.CastTo(t, ir.Un(ir.Popcount, differ)))
	body := ir.Nest(red, update(ir.AddTo, acc, bits, i...))
	if k.Planes > 1 {
		double := set(acc, add(ir.At(acc, i...), ir.At(acc, i...)), i...)
		body = ir.Nest(loops("acc.", over(ir.Plane, "n", k.Planes)), ir.Seq(double, body))
	} else {
		body = ir.SubstStmt(body, map[string]ir.Expr{"acc.n": ir.Int(0)})
	}
	c.nests = append(c.nests, ir.Nest(outer, ir.Seq(set(acc, ir.Const(t, 0), i...), body)))
	return acc
}

// sumType is the type of the sums of a layer. Products of bytes have 16 bits where these are proved to hold them. Those of bytes that are looked up, and of narrow words, have the
// narrowest that holds them and one more, with which thresholds say that they are always reached; across positions one of two.
func (c *conv) sumType() ir.Type {
	most := math.MaxInt32
	switch {
	case c.Dots != nil && c.Dots.Short:
		return ir.I16
	case c.Dots != nil:
		return ir.I32
	case c.Counts == nil:
		return ir.F32
	case c.Tables != nil:
		most = c.Tables.Largest(c.FusedConv)
	case c.Counts.Most > 0:
		most = c.Counts.Most
	}
	inRegisters := c.Tables != nil && c.Tables.Across != nil // bytes, and what is in memory is wider
	switch {
	case most < math.MaxUint8 && !inRegisters:
		return ir.U8
	case most < math.MaxUint16:
		return ir.U16
	}
	return ir.I32
}

// channel is the input channel of what output channel o multiplies in step "acc."+loop of its reduction. The loop is called gc
// where its addresses differ from lane to lane.
func (c *conv) channel(o ir.Expr) (index ir.Expr, loop string) {
	if c.GroupCount() == 1 || c.Counts != nil {
		return ir.V("acc.c"), "c"
	}
	if c.Depthwise() && c.o == c.Out {
		return add(o, ir.V("acc.c")), "c"
	}
	first := mul(c.groupOf(o, 1), ir.Int(c.GroupIn()))
	return ir.Bin(ir.Min, add(first, ir.V("acc.gc")), ir.Int(c.In-1)), "gc"
}

// times is a popcount times the factor of weight plane acc.m.
func (c *conv) times(bits ir.Expr) ir.Expr {
	coefs := c.Counts.Coefs
	powers := func(cs []int32) bool {
		for m, v := range cs {
			if v != 1<<m {
				return false
			}
		}
		return true
	}
	m := ir.V("acc.m")
	last := len(coefs) - 1
	switch {
	case !slices.ContainsFunc(coefs, func(v int32) bool { return v != 1 }):
		return bits
	case powers(coefs):
		return ir.Bin(ir.Shl, bits, ir.CastTo(ir.I32, m))
	case powers(coefs[:last]):
		f := &ir.Select{Cond: ir.Bin(ir.Lt, m, ir.Int(last)), A: ir.Bin(ir.Shl, ir.Const(ir.I32, 1), ir.CastTo(ir.I32, ir.Bin(ir.Min, m, ir.Int(last-1)))), B: ir.Const(ir.I32, int64(coefs[last]))}
		return mul(bits, f)
	}
	panic(fmt.Sprintf("BUG: weight planes with factors %v", coefs))
}

// terms is the number of channels, words or groups of a position that an output channel reads.
func (c *conv) terms() int {
	if c.Tables != nil {
		return c.Tables.Each
	}
	if c.Counts != nil {
		return c.Counts.Words
	}
	return c.GroupIn()
}

// unpackedWeight is the float that packed weight at [kh, kw, c] of output channel o stands for.
func (c *conv) unpackedWeight(w ir.Buffer, at []ir.Expr, o ir.Expr) ir.Expr {
	p := c.Sums.Packed
	k := add(mul(add(mul(at[0], ir.Int(c.KW)), at[1]), ir.Int(c.GroupIn())), at[2])
	word := ir.At(w, ir.Bin(ir.Div, k, ir.Int(p.PerWord())), o)
	first := ir.CastTo(ir.U32, mul(ir.Bin(ir.Mod, k, ir.Int(p.PerWord())), ir.Int(p.Bits)))
	if p.Bits == 1 {
		bit := ir.Bin(ir.And, word, ir.Bin(ir.Shl, ir.Const(ir.U32, 1), first))
		zero, one := constant(c, "zero", ir.F32, p.Values[0], 0), constant(c, "one", ir.F32, p.Values[1], 0)
		return &ir.Select{Cond: ir.Bin(ir.Ne, bit, ir.Const(ir.U32, 0)), A: ir.At(one, o), B: ir.At(zero, o)}
	}
	number := ir.CastTo(ir.I32, ir.Bin(ir.And, ir.Bin(ir.Shr, word, first), ir.Const(ir.U32, 1<<p.Bits-1)))
	integer := add(mul(number, ir.Const(ir.I32, int64(p.Step))), ir.Const(ir.I32, int64(p.Min)))
	return mul(ir.CastTo(ir.F32, integer), ir.At(constant(c, "scale", ir.F32, p.Scale, 0), o))
}
