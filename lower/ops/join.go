package ops

import (
	"fmt"
	"slices"

	"ripc/ir"
	"ripc/lower/layout"
)

// channel is an output channel, with its word of packed levels and its bit in it, or nil where they
// are unknown.
type channel struct{ index, word, bit ir.Expr }

// links returns the float steps and joins of channel o at position at.
func (c *conv) links(at []ir.Expr, o channel) []link {
	vec := c.vectors(append(slices.Clone(at), o.index))
	all := stepLinks(c.Epilogue.Steps, vec)
	for k, j := range c.Epilogue.Joins {
		all = append(all, link{1, func(v ir.Expr) ir.Expr {
			if j.Reverse {
				return j.Function.Expr(c.joinOperand(k, at, o), v)
			}
			return j.Function.Expr(v, c.joinOperand(k, at, o))
		}})
		all = append(all, stepLinks(j.Steps, vec)...)
	}
	return all
}

// otherBuffer returns the parameter of joined tensor k.
func (c *conv) otherBuffer(k int) ir.Buffer {
	v := c.Others[k]
	return tensorBuffer(fmt.Sprintf("r%d", k), v, v.Shape)
}

// joinOperand returns the number that join k reads.
func (c *conv) joinOperand(k int, at []ir.Expr, o channel) ir.Expr {
	v, pos := c.Others[k], c.positionOf(k, at)
	switch {
	case v.Channels() == 1:
		o = channel{ir.Int(0), ir.Int(0), ir.Int(0)}
	case v.Form == layout.Planes && o.word == nil, v.Form != layout.Planes && c.o != c.Out:
		return ir.At(c.widenJoined(k), append(slices.Clone(at), o.index)...)
	}
	return c.otherAt(k, pos, o)
}

// otherAt returns the number of joined tensor k at its own position and channel.
func (c *conv) otherAt(k int, pos []ir.Expr, o channel) ir.Expr {
	x, v := c.otherBuffer(k), c.Others[k]
	real := func(level ir.Expr) ir.Expr { return v.FloatExpr(ir.CastTo(ir.F32, integer(level, v.LevelType))) }
	switch at := ir.At(x, append(slices.Clone(pos), o.index)...); {
	case v.Form == layout.Planes:
		return real(levelIn(x, pos, o.word, o.bit))
	case v.Form.Bytewise():
		return real(byteLevel(at, v.StoredType()))
	default:
		x := number(at)
		for _, s := range v.UnitSteps() {
			x = s.Expr(x, func() ir.Expr { return ir.At(c.scalarParam(fmt.Sprintf("u%d", k), s.A), ir.Int(0)) })
		}
		return x
	}
}

// positionOf returns the position of joined tensor k that position at of the output reads.
func (c *conv) positionOf(k int, at []ir.Expr) []ir.Expr {
	pos := slices.Clone(at)
	for d := range pos {
		if c.Others[k].Shape[d] == 1 {
			pos[d] = ir.Int(0)
		}
	}
	return pos
}

// elementOf returns the stored number of joined tensor k for position at and channel o.
func (c *conv) elementOf(k int, at []ir.Expr, o ir.Expr) ir.Expr {
	if c.Others[k].Channels() == 1 {
		o = ir.Int(0)
	}
	return ir.At(c.otherBuffer(k), append(c.positionOf(k, at), o)...)
}

// widenJoined adds the nest that copies joined tensor k as f32, with the last channel repeated in
// padding channels. Only this nest reads lane by lane; later steps are vectors.
func (c *conv) widenJoined(k int) ir.Buffer {
	y := allocBuffer(ir.RoleValue, fmt.Sprintf("w%d", k), ir.F32, c.outputShape()...)
	if slices.ContainsFunc(c.bufs, func(b ir.Buffer) bool { return b.Name == y.Name }) {
		return y
	}
	return c.value(y, func(i []ir.Expr) ir.Stmt {
		o := i[3]
		if c.o != c.Out {
			o = ir.Bin(ir.Min, o, ir.Int(c.Out-1))
		}
		from := channel{o, ir.Bin(ir.Div, o, ir.Int(WordBits)), ir.Bin(ir.Mod, o, ir.Int(WordBits))}
		return set(y, c.otherAt(k, c.positionOf(k, i[:3]), from), i...)
	})
}
