package ops

import "ripc/ir"

// storeMean adds the nests of the mean of the floats of all positions, summed as GlobalAvgPool
// does: row by row, from 0. All nests have blocks of channels, so that a block needs only its own
// part of the sums and of the floats.
func (c *conv) storeMean(acc ir.Buffer) ir.Buffer {
	words := c.o / WordBits
	fl := allocBuffer(ir.RolePosition, "fl", ir.F32, c.batch, c.oh, c.ow, words, WordBits)
	m := allocBuffer(ir.RoleMean, "m", ir.F32, c.batch, words, WordBits)
	y := buf("y", ir.F32, c.batch, c.Out)
	c.bufs = append(c.bufs, fl, m)

	values, i := pixels("fl.", c.sumShape(), loop(ir.Word, "q", words), loop(ir.Bit, "l", WordBits))
	o := channel{index: add(mul(i[3], ir.Int(WordBits)), i[4]), word: i[3], bit: i[4]}
	v := c.start(acc, []ir.Expr{i[0], i[1], i[2], o.index})
	c.nests = append(c.nests, ir.Nest(values, storeLinks(fl, c.links(i[:3], o), v, i)))

	sums := loops("m.", loop(ir.Batch, "b", c.batch), loop(ir.Word, "q", words), loop(ir.Bit, "l", WordBits))
	s := vars(sums)
	positions := loops("m.", loop(ir.TapRow, "h", c.oh), loop(ir.TapCol, "w", c.ow))
	p := vars(positions)
	step := update(ir.AddTo, m, ir.At(fl, s[0], p[0], p[1], s[1], s[2]), s...)
	c.nests = append(c.nests, ir.Nest(sums, ir.Seq(set(m, ir.Float(0), s...), ir.Nest(positions, step))))

	b, q := ir.V("b"), ir.V("q")
	mean := func(name string, n int) ir.Stmt {
		l := ir.V(name)
		div := ir.Bin(ir.Div, ir.At(m, b, q, l), ir.Float(float32(c.oh*c.ow)))
		return ir.Nest(loops("", loop(ir.Bit, name, n)), set(y, div, b, add(mul(q, ir.Int(WordBits)), l)))
	}
	body := mean("l", WordBits)
	if rest := c.Out % WordBits; rest > 0 { // also for a single word, since its filters are computed as a whole
		body = &ir.If{Cond: ir.Bin(ir.Lt, q, ir.Int(c.Out/WordBits)), Then: body, Else: mean("r", rest)}
	}
	c.nests = append(c.nests, ir.Nest(loops("", loop(ir.Batch, "b", c.batch), loop(ir.Word, "q", words)), body))
	return y
}
