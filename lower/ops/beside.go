package ops

import (
	"fmt"
	"slices"

	"ripc/graph/scalar"
	"ripc/ir"
)

// levelsBeside are the buffers of the levels that are written beside the floats, z0, z1 and so on.
func (c *conv) levelsBeside() []ir.Buffer {
	var out []ir.Buffer
	for k, b := range c.Beside {
		bits, enc := b.Levels()
		z := BitBuffer(fmt.Sprintf("z%d", k), bits, []int{c.batch, c.ph, c.pw, c.Out}, enc)
		if b.Total > 0 {
			z.Shape[4], z.Enc.Channels = b.Total, b.Total*WordBits
		}
		out = append(out, z)
	}
	return out
}

// storeBeside adds the nest that stores floats in y, from channel offset on, and the levels of them
// beside, a word of channels after the other.
func (c *conv) storeBeside(acc, y ir.Buffer, offset int) {
	v := c.values(acc)
	outer, i := pixels("", c.outputShape(), loop(ir.Word, "q", Words(c.Out)))
	o := add(mul(i[3], ir.Int(WordBits)), ir.V("l"))
	at := append(slices.Clone(i[:3]), o)
	to := append(slices.Clone(i[:3]), add(o, ir.Int(offset)))
	var zero []ir.Stmt
	lane := []ir.Stmt{set(y, ir.At(v, at...), to...)}
	for k, z := range c.levelsBeside() {
		clear, or := packBits(z, nil, c.besideBits(k, v, at), i[:3], add(i[3], ir.Int(c.Beside[k].Offset)), ir.V("l"))
		zero, lane = append(zero, clear...), append(lane, or...)
	}
	word := ir.Nest(loops("", loop(ir.Bit, "l", min(c.Out, WordBits))), ir.Seq(lane...))
	c.nests = append(c.nests, ir.Nest(outer, ir.Seq(append(zero, word)...)))
}

// besideSteps adds the nest of the numbers v after steps, for beside level k.
func (c *conv) besideSteps(k int, v ir.Buffer, steps []scalar.Step) ir.Buffer {
	y, all, n := buf(fmt.Sprintf("v%d", k), ir.F32, v.Shape...), vectorsOf(steps), 0
	return c.value(y, func(i []ir.Expr) ir.Stmt {
		vec := func() ir.Expr {
			p, o := buf(fmt.Sprintf("z%ds%d", k, n), ir.F32, c.Out), i[3]
			if len(all[n]) == 1 {
				p.Shape, o = []int{1}, ir.Int(0)
			}
			n++
			return ir.At(c.param(p, constantData(all[n-1])), o)
		}
		return storeLinks(y, stepLinks(steps, vec), number(ir.At(v, i...)), i)
	})
}

// besideBits returns the bits of beside level k of v, at a position and channel.
func (c *conv) besideBits(k int, v ir.Buffer, at []ir.Expr) []ir.Expr {
	b := c.Beside[k]
	if b.Steps == nil && b.Formula == nil && c.To.Integers() {
		return c.integerBits(k, v, at)
	}
	steps := c.outputTensor().UnitSteps()
	if b.Steps != nil {
		steps = slices.Concat(steps, b.Steps.Steps)
	}
	if len(steps) > 0 {
		v = c.besideSteps(k, v, steps)
	}
	if b.Formula != nil {
		n := buf(fmt.Sprintf("n%d", k), ir.I32, v.Shape...)
		c.value(n, func(i []ir.Expr) ir.Stmt { return set(n, levelOf(b.Formula, number(ir.At(v, i...))), i...) })
		return bitsOf(ir.At(n, at...), b.Formula.Bits)
	}
	t := c.param(buf(fmt.Sprintf("zt%d", k), ir.F32, b.Thresholds.Shape...), constantData(b.Thresholds.Data.Floats()))
	bits := levelBits(b.Threshold.Bits, func(j int) ir.Expr { return thresholdAt(t, ir.Int(j), at[3]) },
		func(t ir.Expr) ir.Expr { return reaches(b.Threshold, number(ir.At(v, at...)), t) })
	return inverted(bits, b.Threshold.Enc)
}

// integerBits returns the bits of beside level k if v holds integers of an exact unit. The
// thresholds are integers as well.
func (c *conv) integerBits(k int, v ir.Buffer, at []ir.Expr) []ir.Expr {
	b := c.Beside[k]
	data := integersOf(v.Type, c.Made.Thresholds(b.Threshold, b.Thresholds.Data.Floats()))
	t := c.param(buf(fmt.Sprintf("zt%d", k), v.Type, b.Thresholds.Shape...), constantData(data))
	bits := levelBits(b.Threshold.Bits, func(j int) ir.Expr {
		return thresholdAt(t, ir.Int(j), at[3])
	}, atLeast(ir.At(v, at...)))
	return inverted(bits, b.Threshold.Enc)
}

// integersOf are numbers of type t, i8 or i16.
func integersOf(t ir.Type, v []int64) any {
	if t == ir.I8 {
		return narrowed[int8](v)
	}
	return narrowed[int16](v)
}
