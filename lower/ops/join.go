package ops

import (
	"fmt"
	"slices"

	"ripc/ir"
	"ripc/lower/layout"
)

// channel is an output channel, and the word of packed levels and the bit in it that it has, nil where these are not at hand.
type channel struct{ index, word, bit ir.Expr }

// links are the float steps and joins of channel o at position at.
func (c *conv) links(at []ir.Expr, o channel) []link {
	vec := c.vectors(append(slices.Clone(at), o.index))
	all := stepLinks(c.Epilogue.Steps, vec)
	for k, j := range c.Epilogue.Joins {
		all = append(all, link{1, func(v ir.Expr) ir.Expr {
			if j.Reverse {
				return j.Function.Expr(c.other(k, at, o), v)
			}
			return j.Function.Expr(v, c.other(k, at, o))
		}})
		all = append(all, stepLinks(j.Steps, vec)...)
	}
	return all
}

// otherBuffer is the parameter of the tensor that join k meets.
func (c *conv) otherBuffer(k int) ir.Buffer {
	v := c.Others[k]
	return tensorBuffer(fmt.Sprintf("r%d", k), v, v.Shape)
}

// other is the number that join k meets.
func (c *conv) other(k int, at []ir.Expr, o channel) ir.Expr {
	v, pos := c.Others[k], c.positionOf(k, at)
	switch {
	case v.Channels() == 1:
		o = channel{ir.Int(0), ir.Int(0), ir.Int(0)}
	case v.Form == layout.Planes && o.word == nil, v.Form != layout.Planes && c.o != c.Out:
		return ir.At(c.widened(k), append(slices.Clone(at), o.index)...)
	}
	return c.otherAt(k, pos, o)
}

// otherAt is the number of the tensor that join k meets at a position and channel of its own.
func (c *conv) otherAt(k int, pos []ir.Expr, o channel) ir.Expr {
	x, v := c.otherBuffer(k), c.Others[k]
	real := func(level ir.Expr) ir.Expr { return v.FloatExpr(ir.CastTo(ir.F32, integer(level, v.LevelType))) }
	switch at := ir.At(x, append(slices.Clone(pos), o.index)...); {
	case v.Form == layout.Planes:
		return real(levelIn(x, pos, o.word, o.bit))
	case v.Form.Bytewise():
		return real(byteLevel(at, v.Stored()))
	default:
		x := number(at)
		for _, s := range v.UnitSteps() {
			x = s.Expr(x, func() ir.Expr { return ir.At(c.shared(fmt.Sprintf("u%d", k), s.A), ir.Int(0)) })
		}
		return x
	}
}

// positionOf is where the tensor that join k meets has what stands at position at.
func (c *conv) positionOf(k int, at []ir.Expr) []ir.Expr {
	pos := slices.Clone(at)
	for d := range pos {
		if c.Others[k].Shape[d] == 1 {
			pos[d] = ir.Int(0)
		}
	}
	return pos
}

// elementOf is what the tensor that join k meets has in memory for position at and channel o, a number.
func (c *conv) elementOf(k int, at []ir.Expr, o ir.Expr) ir.Expr {
	if c.Others[k].Channels() == 1 {
		o = ir.Int(0)
	}
	return ir.At(c.otherBuffer(k), append(c.positionOf(k, at), o)...)
}

// widened is a nest that copies what join k meets as f32, its padding channels like the last one. So lanes read one by one there
// only, and not whatever is computed of it.
func (c *conv) widened(k int) ir.Buffer {
	y := made(ir.RoleValue, fmt.Sprintf("w%d", k), ir.F32, c.batch, c.ph, c.pw, c.o)
	if slices.ContainsFunc(c.bufs, func(b ir.Buffer) bool { return b.Name == y.Name }) {
		return y
	}
	outer := loops(y.Name+".", over(ir.Batch, "b", c.batch), over(ir.Row, "h", c.ph), over(ir.Col, "w", c.pw), over(ir.Channel, "o", c.o))
	i := vars(outer)
	pos, o := c.positionOf(k, i[:3]), i[3]
	if c.o != c.Out {
		o = ir.Bin(ir.Min, o, ir.Int(c.Out-1))
	}
	from := channel{o, ir.Bin(ir.Div, o, ir.Int(WordBits)), ir.Bin(ir.Mod, o, ir.Int(WordBits))}
	c.bufs = append(c.bufs, y)
	c.nests = append(c.nests, ir.Nest(outer, set(y, c.otherAt(k, pos, from), i...)))
	return y
}
