package ops

import (
	"fmt"
	"slices"

	"ripc/ir"
)

func (c *conv) accumulate(x, w ir.Buffer) ir.Buffer {
	a := c.a
	t := ir.F32
	if c.binary {
		t = ir.I32
	}
	acc := buf("acc", t, c.batch, c.oh, c.ow, c.o)
	c.bufs = append(c.bufs, acc)
	outer := loops("acc.", over(ir.Batch, "b", c.batch), over(ir.Row, "h", c.oh), over(ir.Col, "w", c.ow), over(ir.Channel, "o", c.o))
	i := vars(outer)
	dh, dw := a.Dilation()
	window := func(coord ir.Expr, stride, dilation int, k string) ir.Expr {
		return add(mul(coord, ir.Int(stride)), mul(ir.V(k), ir.Int(dilation)))
	}
	channel, ch := c.channel(i[3])
	at := []ir.Expr{i[0], window(i[1], a.SH, dh, "acc.kh"), window(i[2], a.SW, dw, "acc.kw"), channel}
	red := loops("acc.", over(ir.TapRow, "kh", a.KH), over(ir.TapCol, "kw", a.KW), over(ir.Reduce, ch, w.Shape[2]))
	wi := vars(red)
	if len(w.Shape) == 5 {
		red = append(red, ir.Loop{Var: "acc.m", Extent: w.Shape[3], Axis: ir.WeightPlane})
		wi = append(wi, ir.V("acc.m"))
	}
	wv := ir.At(w, append(wi, i[3])...)
	if !c.binary {
		var start ir.Expr = ir.Float(0)
		if a.Bias != nil {
			b := buf("bias", ir.F32, c.o)
			c.params = append(c.params, in(b))
			start = ir.At(b, i[3])
		}
		step := set(acc, &ir.Fma{A: ir.At(x, at...), B: wv, C: ir.At(acc, i...)}, i...)
		c.nests = append(c.nests, ir.Nest(outer, ir.Seq(set(acc, start, i...), ir.Nest(red, step))))
		return acc
	}
	plane := sub(ir.Int(a.Planes-1), ir.V("acc.n"))
	xv := ir.At(x, append([]ir.Expr{plane}, at...)...)
	differ := ir.Bin(ir.Xor, xv, wv)
	if a.Masked() {
		mask := buf("wm", ir.U32, w.Shape[2], c.o)
		c.params = append(c.params, in(mask))
		differ = ir.Bin(ir.And, differ, ir.At(mask, ir.V("acc."+ch), i[3]))
	}
	bits := c.times(ir.CastTo(ir.I32, ir.Un(ir.Popcount, differ)))
	body := ir.Nest(red, update(ir.AddTo, acc, bits, i...))
	if a.Planes > 1 {
		double := set(acc, add(ir.At(acc, i...), ir.At(acc, i...)), i...)
		body = ir.Nest(loops("acc.", over(ir.Plane, "n", a.Planes)), ir.Seq(double, body))
	} else {
		body = ir.SubstStmt(body, map[string]ir.Expr{"acc.n": ir.Int(0)})
	}
	c.nests = append(c.nests, ir.Nest(outer, ir.Seq(set(acc, ir.Const(ir.I32, 0), i...), body)))
	return acc
}

// channel is the index, in channels or words, of what output channel o reads in step "acc."+loop of its reduction. The loop
// is called gc where its addresses differ from lane to lane: templates then keep the body small.
func (c *conv) channel(o ir.Expr) (index ir.Expr, loop string) {
	a := c.a
	if a.GroupCount() == 1 {
		return ir.V("acc.c"), "c"
	}
	if !c.binary && a.GroupIn() == 1 && a.GroupOut() == 1 && c.o == a.Out {
		return add(o, ir.V("acc.c")), "c"
	}
	if c.o != a.Out {
		o = ir.Bin(ir.Min, o, ir.Int(a.Out-1)) // padding channels read what the last one reads
	}
	first := mul(ir.Bin(ir.Div, o, ir.Int(a.GroupOut())), ir.Int(a.GroupIn()))
	last := a.In - 1
	if c.binary {
		if last = Words(a.In) - 1; a.GroupIn()%WordBits == 0 {
			first = mul(ir.Bin(ir.Div, o, ir.Int(a.GroupOut())), ir.Int(a.GroupIn()/WordBits))
		} else {
			first = ir.Bin(ir.Div, first, ir.Int(WordBits))
		}
	}
	return ir.Bin(ir.Min, add(first, ir.V("acc.gc")), ir.Int(last)), "gc"
}

// times is a popcount times the factor of weight plane acc.m.
func (c *conv) times(bits ir.Expr) ir.Expr {
	coefs := c.a.Coefs()
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
		f := &ir.Select{Cond: ir.Bin(ir.Lt, m, ir.Int(last)), A: ir.Bin(ir.Shl, ir.Const(ir.I32, 1), ir.CastTo(ir.I32, ir.Bin(ir.Min, m, ir.Int(last)))), B: ir.Const(ir.I32, int64(coefs[last]))}
		return mul(bits, f)
	}
	panic(fmt.Sprintf("BUG: weight planes with factors %v", coefs))
}
