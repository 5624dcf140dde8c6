package ops

import (
	"cmp"
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/lists"
	"ripc/ir"
	"ripc/lower/layout"
)

// epilogue adds the nest that turns accumulators into the output, and the parameters it needs.
func (c *conv) epilogue(acc ir.Buffer, slice Slice) ir.Buffer {
	e := c.Epilogue
	switch {
	case c.Mean:
		return c.storeMean(acc)
	case c.To == layout.Floats, c.To.Integers():
		return c.storeNumbers(acc, slice)
	case c.To.Bytewise():
		return c.storeBytes(acc, slice)
	}
	y, outer := c.packed(slice)
	i := vars(outer)
	o := add(mul(i[3], ir.Int(WordBits)), ir.V("l"))
	var bits []ir.Expr
	switch {
	case e.Thresholds != nil:
		threshold, reached := c.sums.thresholds(i, o)
		bits = levelBits(e.OutBits, threshold, func(t ir.Expr) ir.Expr {
			return ir.Bin(reached, c.accumulated(acc, i[0], i[1], i[2], o), t)
		})
	case e.Shift != nil:
		bits = bitsOf(c.shiftLevel(c.accumulated(acc, i[0], i[1], i[2], o), o), e.OutBits)
	case e.Scale != nil:
		bits = c.cut(bitsOf(ir.At(c.scaled(acc), i[0], i[1], i[2], o), e.OutBits), o)
	default:
		bits = c.floatBits(acc, i[:3], channel{o, i[3], ir.V("l")})
	}
	if e.OutEnc == ir.BipolarInv {
		for n, bit := range bits {
			bits[n] = ir.Bin(ir.Xor, bit, ir.Const(ir.Bool, 1))
			if c.o != c.Out {
				bits[n] = ir.Bin(ir.And, bits[n], ir.Bin(ir.Lt, o, ir.Int(c.Out)))
			}
		}
	}
	zero, or := packBits(y, nil, bits, i[:3], add(i[3], ir.Int(slice.Offset)), ir.V("l"))
	body := ir.Seq(append(zero, ir.Nest(loops("", loop(ir.Bit, "l", layout.Block(c.Out))), ir.Seq(or...)))...)
	c.nests = append(c.nests, ir.Nest(outer, body))
	return y
}

// packed returns the output in planes, and the loops over its words.
func (c *conv) packed(slice Slice) (y ir.Buffer, outer []ir.Loop) {
	y = widenBuffer(BitBuffer("y", c.Epilogue.OutBits, []int{c.batch, c.ph, c.pw, c.Out}, c.Epilogue.OutEnc), slice)
	outer, _ = pixels("", c.outputShape(), loop(ir.Word, "q", Words(c.Out)))
	return y, outer
}

// accumulated returns the accumulator that the epilogue reads; pooled ones are corrected for
// padding already.
func (c *conv) accumulated(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr {
	if c.Pool != nil {
		return ir.At(acc, b, h, w, o)
	}
	return c.sums.raw(acc, b, h, w, o)
}

// packBits returns the stores of bits, one for each plane of y, at bit l of word q of a pixel:
// those that clear the words, and those that set the bits. Planes 0, 1 and so on have the bits if
// planes is nil.
func packBits(y ir.Buffer, planes, bits, pixel []ir.Expr, q, l ir.Expr) (zero, or []ir.Stmt) {
	for n, bit := range bits {
		idx := append(append([]ir.Expr{ir.Int(n)}, pixel...), q)
		if planes != nil {
			idx[0] = planes[n]
		}
		zero = append(zero, set(y, ir.Const(ir.U32, 0), idx...))
		or = append(or, update(ir.OrTo, y, ir.Bin(ir.Shl, ir.CastTo(ir.U32, bit), ir.CastTo(ir.U32, l)), idx...))
	}
	return zero, or
}

// levelBits returns the bits of a level, the lowest first. The level is at least j+1 if the value
// reaches threshold j, j = 0..2^n-2. Up to searchedBits bits are searched for (ir.Search).
// Otherwise bit k flips at every multiple of 2^k.
func levelBits(bits int, threshold func(j int) ir.Expr, reaches func(t ir.Expr) ir.Expr) []ir.Expr {
	if bits <= searchedBits {
		return ir.Search(bits, threshold, reaches)
	}
	out := make([]ir.Expr, bits)
	for k := range out {
		for level := 1 << k; level < 1<<bits; level += 1 << k {
			if r := reaches(threshold(level - 1)); out[k] == nil {
				out[k] = r
			} else {
				out[k] = ir.Bin(ir.Xor, out[k], r)
			}
		}
	}
	return out
}

// searchedBits is the largest number of bits that are searched for: the expression of each bit
// repeats those of all higher bits.
const searchedBits = 3

// storeBytes adds the nest that stores levels as bytes.
func (c *conv) storeBytes(acc ir.Buffer, slice Slice) ir.Buffer {
	e := c.Epilogue
	t := scalar.LevelType{Enc: e.OutEnc, Bits: e.OutBits, Signed: c.To == layout.SignedBytes}
	y := c.numbers(byteType(t), slice)
	outer, i := image("", c.outputShape(), "o")
	var v ir.Expr
	switch {
	case e.Thresholds != nil:
		threshold, reached := c.sums.thresholds(i, i[3])
		v = countReached(e.OutBits, threshold, func(t ir.Expr) ir.Expr {
			return ir.Bin(reached, c.accumulated(acc, i[0], i[1], i[2], i[3]), t)
		})
	case e.Shift != nil:
		v = c.shiftLevel(c.accumulated(acc, i[0], i[1], i[2], i[3]), i[3])
	case e.Scale != nil:
		v = ir.At(c.scaled(acc), i...)
	case e.Quantizer != nil:
		v = ir.At(c.quantized(acc), i...)
	default:
		v = countReached(e.OutBits, c.levels(i[3]), atLeast(c.floats(acc, i[:3], channel{index: i[3]}, 1<<e.OutBits-1)))
	}
	if e.OutEnc == ir.BipolarInv {
		v = sub(ir.Const(ir.I32, int64(t.Top())), v)
	}
	c.nests = append(c.nests, ir.Nest(outer, set(y, byteOf(v, t), i[0], i[1], i[2], add(i[3], ir.Int(slice.Offset)))))
	return y
}

// numbers returns the output of unpacked numbers, with slice.Total channels if it is a slice.
func (c *conv) numbers(t ir.Type, slice Slice) ir.Buffer {
	y := buf("y", t, c.outputShape()...)
	y.Shape[3] = cmp.Or(slice.Total, c.o)
	return y
}

// countReached returns the number (i32) of reached thresholds of a level with the given bits.
func countReached(bits int, threshold func(j int) ir.Expr, reaches func(t ir.Expr) ir.Expr) ir.Expr {
	n := ir.CastTo(ir.I32, reaches(threshold(0)))
	for j := 1; j < 1<<bits-1; j++ {
		n = add(n, ir.CastTo(ir.I32, reaches(threshold(j))))
	}
	return n
}

// atLeast returns the test whether v reaches a threshold.
func atLeast(v ir.Expr) func(t ir.Expr) ir.Expr {
	return func(t ir.Expr) ir.Expr { return ir.Bin(ir.Ge, v, t) }
}

// shiftLevel returns the level of accumulator p after add, shift and clip.
func (c *conv) shiftLevel(p, o ir.Expr) ir.Expr {
	at := func(name string, data []int32, fill int32) ir.Expr {
		return ir.At(constant(c, name, ir.I32, data, fill), o)
	}
	// Padding channels have sums from 0 down: (0 - 1) >> r is negative, level 0.
	return shifted(c.Epilogue.Shift, c.sums.sum(p, o), c.Epilogue.OutBits, at)
}

// shifted returns the level of the i32 integer v by s. at returns a list's entry for the channel;
// fill stands for padding channels.
func shifted(s *graph.ShiftAdd, v ir.Expr, bits int, at func(name string, data []int32, fill int32) ir.Expr) ir.Expr {
	if s.Left != nil {
		v = ir.Bin(ir.Shl, v, at("left", s.Left, 0))
	}
	v = ir.Bin(ir.Shr, add(v, at("add", s.Add, -1)), at("right", s.Right, 0))
	var low ir.Expr = ir.Const(ir.I32, 0)
	if s.Low != nil {
		low = at("low", s.Low, 0)
	}
	return ir.Bin(ir.Max, ir.Bin(ir.Min, v, ir.Const(ir.I32, int64(1)<<bits-1)), low)
}

// bitsOf returns the bits of an i32 level, least significant first.
func bitsOf(level ir.Expr, bits int) []ir.Expr {
	var out []ir.Expr
	for n := range bits {
		b := ir.Bin(ir.And, level, ir.Const(ir.I32, int64(1)<<n))
		out = append(out, ir.Bin(ir.Ne, b, ir.Const(ir.I32, 0)))
	}
	return out
}

func (c *conv) floatBits(acc ir.Buffer, at []ir.Expr, o channel) []ir.Expr {
	e := c.Epilogue
	var bits []ir.Expr
	if e.Quantizer != nil {
		bits = bitsOf(ir.At(c.quantized(acc), append(slices.Clone(at), o.index)...), e.OutBits)
	} else {
		bits = levelBits(e.OutBits, c.levels(o.index), atLeast(c.floats(acc, at, o, 1<<e.OutBits-1)))
	}
	return c.cut(bits, o.index)
}

// cut clears the bits of padding channels.
func (c *conv) cut(bits []ir.Expr, o ir.Expr) []ir.Expr {
	if c.o != c.Out {
		for i := range bits {
			bits[i] = ir.Bin(ir.And, bits[i], ir.Bin(ir.Lt, o, ir.Int(c.Out)))
		}
	}
	return bits
}

// levels returns the float thresholds of channel o.
func (c *conv) levels(o ir.Expr) func(j int) ir.Expr {
	e := c.Epilogue
	if e.LevelRows == nil {
		return func(j int) ir.Expr { return ir.Float(e.Levels[j]) }
	}
	rows := constant(c, "lv", ir.F32, slices.Concat(e.LevelRows...), 0, len(e.LevelRows))
	return func(j int) ir.Expr { return ir.At(rows, ir.Int(j), o) }
}

// quantized adds the nest of the levels of the epilogue's quantizer, which are cut into bits later.
func (c *conv) quantized(acc ir.Buffer) ir.Buffer {
	y := allocBuffer(ir.RoleValue, "qu", ir.I32, c.outputShape()...)
	outer, i := image("qu.", c.outputShape(), "o")
	v := c.Epilogue.Quantizer.Expr(c.floats(acc, i[:3], channel{index: i[3]}, 1))
	c.fill(y, outer, set(y, v, i...))
	return y
}

// scaled adds the nest of the levels of scaled or divided sums, which are cut into bits later.
func (c *conv) scaled(acc ir.Buffer) ir.Buffer {
	y := allocBuffer(ir.RoleValue, "qu", ir.I32, c.outputShape()...)
	outer, i := image("qu.", c.outputShape(), "o")
	s, sum := c.Epilogue.Scale, c.sums.sum(c.accumulated(acc, i[0], i[1], i[2], i[3]), i[3])
	c.bufs = append(c.bufs, y)
	var body ir.Stmt
	switch {
	case s.Low == s.High: // the sums are read, though of no use: schedules need a reader
		body = ir.Seq(set(y, sum, i...), set(y, ir.Const(ir.I32, int64(s.Low)), i...))
	case s.By == nil:
		body = set(y, clipped(s, quotient(sum, s.Count)), i...)
	default:
		at := func(name string, of func(f graph.FixedPoint) int32) ir.Expr {
			return ir.At(constant(c, name, ir.I32, lists.Map(s.By, of), 0), i[3])
		}
		factor := fixedFactor(at, s.By...)
		factor.multiplier = ir.Bin(ir.Max, factor.multiplier, ir.Const(ir.I32, 0)) // it is; this tells back ends
		factor.cut = s.Low >= s.Zero
		if v := factor.once(sum); v != nil && c.Once {
			body = set(y, clipped(s, v), i...)
		} else {
			high := set(y, factor.high(sum), i...)
			body = ir.Seq(high, set(y, clipped(s, factor.shifted(ir.At(y, i...))), i...))
		}
	}
	c.nests = append(c.nests, ir.Nest(outer, body))
	return y
}

// clipped returns the level of v, an integer relative to the level s.Zero.
func clipped(s *graph.ScaleSums, v ir.Expr) ir.Expr {
	most := ir.Bin(ir.Min, add(v, ir.Const(ir.I32, int64(s.Zero))), ir.Const(ir.I32, int64(s.High)))
	return ir.Bin(ir.Max, most, ir.Const(ir.I32, int64(s.Low)))
}

// start returns the first value of the float steps, at position and channel i.
func (c *conv) start(acc ir.Buffer, i []ir.Expr) ir.Expr {
	o := i[3]
	v := c.sums.real(c.accumulated(acc, i[0], i[1], i[2], o), o)
	if c.Window == nil {
		return v
	}
	window := ir.At(c.windows(), i[0], i[1], i[2], ir.Int(0))
	if c.GroupCount() > 1 {
		window = ir.At(c.spreadWindows(), i...)
	}
	scale, offset := constant(c, "scale", ir.F32, c.Window.Scale, 0), constant(c, "offset", ir.F32, c.Window.Offset, 0)
	return &ir.Fma{A: window, B: ir.At(offset, i[3]), C: mul(v, ir.At(scale, i[3]))}
}

// spreadWindows adds the nest that copies each group's windows to its output channels. Expressions
// read the copy several times, and neighbouring channels read scattered addresses without it.
func (c *conv) spreadWindows() ir.Buffer {
	b := buf("wn", ir.F32, c.outputShape()...)
	return c.value(b, func(i []ir.Expr) ir.Stmt {
		return set(b, ir.At(c.windows(), i[0], i[1], i[2], c.groupOf(i[3], 1)), i...)
	})
}

// windows returns the parameter of the sums of the input's integers in each window.
func (c *conv) windows() ir.Buffer {
	return buf("window", ir.F32, c.batch, c.oh, c.ow, c.GroupCount())
}

// vectors returns the operands of the float steps at position and channel i, in order, as
// parameters s0, s1, ...
func (c *conv) vectors(i []ir.Expr) func() ir.Expr {
	all, n := vectorsOf(c.Epilogue.Floats()), -1
	return func() ir.Expr {
		n++
		name := fmt.Sprintf("s%d", n)
		if len(all[n]) == 1 && c.Out > 1 {
			return ir.At(c.scalarParam(name, all[n]), ir.Int(0))
		}
		if len(all[n]) > c.Out {
			rows, cols := c.Borders(c.h, c.w)
			return classed(c, name, ir.F32, all[n], rows, cols, i[1], i[2], i[3])
		}
		return ir.At(constant(c, name, ir.F32, all[n], 0), i[3])
	}
}

// scalarParam adds a parameter of one number for all channels.
func (c *conv) scalarParam(name string, v []float32) ir.Buffer {
	b := buf(name, ir.F32, 1)
	if slices.ContainsFunc(c.params, func(p ir.Param) bool { return p.Name == name }) {
		return b
	}
	return c.param(b, constantData(v))
}

// maxJoined is the largest number of links in all comparisons of a value that joins other tensors.
const maxJoined = 16

// floats returns the value that becomes levels, and is read in the given number of places. A nest
// computes it if its expression would become large, or would read other tensors again and again.
func (c *conv) floats(acc ir.Buffer, at []ir.Expr, o channel, places int) ir.Expr {
	links := c.links(at, o)
	few := len(c.Others) == 0 || places*len(links) <= maxJoined
	if !large(links) && few {
		v := c.start(acc, append(slices.Clone(at), o.index))
		for _, l := range links {
			v = l.apply(v)
		}
		return v
	}
	return ir.At(c.values(acc), append(slices.Clone(at), o.index)...)
}

// values adds the nest of the layer's numbers: floats, or integers in the unit of c.Made.
func (c *conv) values(acc ir.Buffer) ir.Buffer {
	y := buf("fl", c.outputTensor().Number(), c.outputShape()...)
	return c.value(y, func(i []ir.Expr) ir.Stmt { return c.storeNumber(acc, y, i, i) })
}

// storeNumbers adds the nest that stores floats, or integers in the unit of c.Made.
func (c *conv) storeNumbers(acc ir.Buffer, slice Slice) ir.Buffer {
	y := c.numbers(c.outputTensor().Number(), slice)
	if len(c.Beside) > 0 {
		c.storeBeside(acc, y, slice.Offset)
		return y
	}
	outer, i := image("", c.outputShape(), "o")
	at := []ir.Expr{i[0], i[1], i[2], add(i[3], ir.Int(slice.Offset))}
	c.nests = append(c.nests, ir.Nest(outer, c.storeNumber(acc, y, i, at)))
	return y
}

// outputTensor returns the layout of the output in memory.
func (c *conv) outputTensor() layout.Tensor { return layout.Tensor{Form: c.To, Multiples: c.Made} }

// storeNumber stores the number of the sum at position and channel i at position at of y.
func (c *conv) storeNumber(acc, y ir.Buffer, i, at []ir.Expr) ir.Stmt {
	if !c.To.Integers() {
		return storeLinks(y, c.links(i[:3], channel{index: i[3]}), c.start(acc, i), at)
	}
	v := c.sums.sum(c.accumulated(acc, i[0], i[1], i[2], i[3]), i[3])
	for k := range c.Others {
		v = add(v, ir.CastTo(ir.I32, c.elementOf(k, i[:3], i[3])))
	}
	return set(y, ir.CastTo(y.Type, v), at...)
}
