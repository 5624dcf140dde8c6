package ops

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/ir"
	"ripc/lower/layout"
)

// Const is the contents of a Func's constant parameter: its elements, a slice of numbers.
type Const struct {
	Param string
	Data  any
}

// Conv is the Func of a fused convolution or dense layer over x of logical shape [B, H, W, In], and the constants of its
// parameters before y, in order; x and the tensors that it joins, called r0, r1 and so on, stand before these.
//
// With Counts: P[b,h,w,o] = sum over planes n (weight 2^n), kh, kw and words of popcount(x_n ^ w); planes are added from the
// top one down, doubling the accumulator in between (Horner), so that the plane weights cost nothing. With Tables: the same
// counts, looked up. With Levels: no counts, but the levels that a constant has of each window; with Split,
// what two constants have of its parts. With Sums: a chain of
// fma in the order kh, kw, c, starting from the bias; levels are made f32 integers before, in the copy of the input. With Dots: sums of
// products of bytes, a step of channels together; levels are made bytes before, likewise; where weights have layout.Parts, what WindowBytes gives
// is the last parameter before y. slice is the part of a concatenated output
// that this layer writes. Levels beside the floats, z0, z1 and so on, are outputs behind y. With Mean, y is [B, Out].
func Conv(l *layout.Conv, slice Slice) (*ir.Func, []Const) {
	c := newConv(l)
	c.ph, c.pw = c.oh, c.ow
	if l.Pool != nil {
		c.ph = (c.oh-l.Pool.Kernel[0])/l.Pool.Strides[0] + 1
		c.pw = (c.ow-l.Pool.Kernel[1])/l.Pool.Strides[1] + 1
	}
	switch c.o = l.Out; {
	case l.Mean:
		c.o = Words(l.Out) * WordBits // padding channels exist so that blocks of channels are computed
	case l.To == layout.Planes:
		c.o = Words(l.Out) * layout.Block(l.Out) // and whole words are written
	}
	return c.build(slice), c.consts
}

// newConv is l with the sizes of its input and of its sums.
func newConv(l *layout.Conv) *conv {
	c := &conv{Conv: l, batch: l.X.Shape[0], h: l.X.Shape[1], w: l.X.Shape[2]}
	c.oh, c.ow = l.OutSize(c.h, c.w)
	return c
}

// Slice is the part of a wider output that a layer writes: channels (or words) Offset.. of Total; Total 0 is all of it.
type Slice struct{ Offset, Total int }

type conv struct {
	*layout.Conv
	batch, h, w, o int // o: output channels including padding
	oh, ow, ph, pw int
	params         []ir.Param
	consts         []Const
	bufs           []ir.Buffer
	nests          []ir.Stmt
	words          ir.Buffer // of words that are counted, or looked up
}

// name says what is computed, and of which size.
func (c *conv) name() string {
	size := fmt.Sprintf("%dx%ds%d_%dx%dx%d_%d", c.KH, c.KW, c.SH, c.h, c.w, c.In, c.Out)
	if c.Mean {
		size += "_mean"
	}
	switch {
	case c.Levels != nil:
		return fmt.Sprintf("tconv2d_a%dw%d_%s", c.Counts.Planes, c.Levels.Bits, size)
	case c.Split != nil:
		return fmt.Sprintf("tconv2d_a%dw%dw%d_%s", c.Counts.Planes, c.Split.Bits[0], c.Split.Bits[1], size)
	case c.Tables != nil:
		reach := ""
		switch {
		case c.Tables.Halves:
			reach = "h"
		case c.Tables.Across != nil:
			reach = "x"
		}
		return fmt.Sprintf("tconv2d_a%dt%d%s_%s", c.Counts.Planes, c.Tables.Bits, reach, size)
	case c.Counts != nil && c.Counts.Counted.Window != layout.Pixels:
		return fmt.Sprintf("bconv2d_a%dw%d_%s_%s", c.Counts.Planes, len(c.Counts.Coefs), size, c.Counts.Counted)
	case c.Counts != nil:
		return fmt.Sprintf("bconv2d_a%dw%d_%s", c.Counts.Planes, len(c.Counts.Coefs), size)
	case c.Dots != nil:
		return fmt.Sprintf("dconv2d_a%d_%s", c.X.Bits, size)
	case c.X.Encoded():
		return fmt.Sprintf("fconv2d_a%d_%s", c.X.Bits, size)
	case c.Sums.Packed != nil:
		return fmt.Sprintf("fconv2d_w%d_%s", c.Sums.Packed.Bits, size)
	}
	return "fconv2d_" + size
}

// fill adds a buffer and the loops that fill it.
func (c *conv) fill(b ir.Buffer, ls []ir.Loop, body ir.Stmt) {
	c.bufs = append(c.bufs, b)
	c.nests = append(c.nests, ir.Nest(ls, body))
}

// constant adds a parameter with one row of c.o numbers for each row of Out in data, filled up with fill, and gives it; the
// same one if there is one of that name.
func constant[T float32 | int32 | int16 | uint32 | uint16 | uint8](c *conv, name string, t ir.Type, data []T, fill T, outer ...int) ir.Buffer {
	for _, p := range c.params {
		if p.Name == name {
			return p.Buffer
		}
	}
	b := buf(name, t, append(outer, c.o)...)
	c.params = append(c.params, in(b))
	c.consts = append(c.consts, Const{name, padLast(data, c.Out, c.o, fill)})
	return b
}

// padLast widens rows of length from to length to.
func padLast[T any](v []T, from, to int, fill T) []T {
	if from == to {
		return v
	}
	out := make([]T, 0, len(v)/from*to)
	for i := 0; i < len(v); i += from {
		out = append(out, v[i:i+from]...)
		for range to - from {
			out = append(out, fill)
		}
	}
	return out
}

func (c *conv) build(slice Slice) *ir.Func {
	x := tensorBuffer("x", c.read(), c.X.Shape)
	if c.From.Bytewise() && c.Dots != nil && c.Dots.Runs { // a row of pixels is one of bytes, since a row of taps is a run of them
		x.Shape = []int{c.batch, c.h, 1, c.w * c.In}
	}
	c.params = append(c.params, in(x))
	for k := range c.Others {
		c.params = append(c.params, in(c.otherBuffer(k)))
	}
	y := c.output(x, slice)
	if c.Window != nil {
		c.params = append(c.params, in(c.windows()))
	}
	if c.Parts() != nil {
		c.params = append(c.params, in(c.windowBytes()))
	}
	c.params = append(c.params, out(y))
	for _, z := range c.levelsBeside() {
		c.params = append(c.params, out(z))
	}
	return &ir.Func{Name: c.name(), Params: c.params, Body: allocs(c.bufs, ir.Seq(c.nests...))}
}

// output adds the nests that make the output of x, and the parameters that they need.
func (c *conv) output(x ir.Buffer, slice Slice) ir.Buffer {
	if c.Levels != nil {
		return c.windowLevels(x, slice)
	}
	if c.Split != nil {
		return c.splitLevels(x, slice)
	}
	w := c.weights()
	var acc ir.Buffer
	switch {
	case c.Tables != nil && c.Tables.Across != nil:
		acc = c.across(x, w)
	case c.Tables != nil:
		acc = c.lookUps(c.tables(c.input(x)), w)
	default:
		acc = c.accumulate(c.input(x), w)
	}
	if c.Pool != nil {
		acc = c.pool(acc)
	}
	return c.epilogue(acc, slice)
}

// weights adds the parameter of the weights.
func (c *conv) weights() ir.Buffer {
	k := c.Counts
	switch {
	case c.Tables != nil && c.Tables.Across != nil:
		return constant(c, "wt", ir.U32, c.Tables.Words, 0, (c.KH*c.KW+layout.TapsPerWord-1)/layout.TapsPerWord, c.Tables.Each)
	case c.Tables != nil:
		return constant(c, "wt", ir.U8, c.Tables.Weights, 0, c.KH, c.KW, c.Tables.Each)
	case c.Dots != nil:
		return c.byteWeights()
	case k == nil && c.Sums.Packed != nil:
		p := c.Sums.Packed
		return constant(c, "wt", ir.U32, p.Words, 0, len(p.Words)/c.Out)
	case k == nil:
		return constant(c, "wt", ir.F32, c.Sums.Weights, 0, c.KH, c.KW, c.GroupIn())
	case k.Counted.Bits == 8:
		return constant(c, "wt", ir.U8, narrowed[uint8](k.Weights), 0, k.Rows, k.Cols, k.Words)
	case k.Counted.Bits == 16:
		return constant(c, "wt", ir.U16, narrowed[uint16](k.Weights), 0, k.Rows, k.Cols, k.Words)
	case c.weightPlanes() > 1:
		return constant(c, "wt", ir.U32, k.Weights, 0, k.Rows, k.Cols, k.Words, c.weightPlanes())
	}
	return constant(c, "wt", ir.U32, k.Weights, 0, k.Rows, k.Cols, k.Words)
}

// narrowed are numbers, which fit T.
func narrowed[T uint8 | uint16 | int8 | int16, F uint32 | int64](v []F) []T {
	out := make([]T, len(v))
	for i, x := range v {
		out[i] = T(x)
	}
	return out
}

// weightPlanes is the number of bit planes of the weights, 0 if these are floats.
func (c *conv) weightPlanes() int {
	if c.Counts == nil {
		return 0
	}
	return len(c.Counts.Coefs)
}

// input makes the copy of the input that the windows read, padded or of another form, or gives the input itself.
func (c *conv) input(x ir.Buffer) ir.Buffer {
	switch {
	case c.From.Bytewise() && c.Dots != nil:
		return c.copied(x)
	case c.From.Bytewise():
		return c.unpackedBytes(x)
	case c.Counts != nil:
		c.words = c.windowWords(x)
		return c.words
	case c.Dots != nil:
		return c.bytes(x)
	case c.X.Encoded():
		return c.unpacked(x)
	}
	return c.padded(x)
}

// padded is x with its padding, or x itself where it has none.
func (c *conv) padded(x ir.Buffer) ir.Buffer {
	p := c.Pad
	if !p.Any() {
		return x
	}
	xp := x
	xp.Name, xp.Enc = "xp", ir.Encoding{}
	xp.Shape = slices.Clone(x.Shape)
	lead := len(xp.Shape) - 4 // 1 with a plane axis
	xp.Shape[lead+1], xp.Shape[lead+2] = c.h+p.Top+p.Bottom, c.w+p.Left+p.Right
	ls := loops("xp.", overAll(xp.Shape)...)
	idx := vars(ls)
	from := slices.Clone(idx)
	from[lead+1], from[lead+2] = sub(idx[lead+1], ir.Int(p.Top)), sub(idx[lead+2], ir.Int(p.Left))
	var outside ir.Expr
	if c.Counts != nil {
		outside = levelWord(c.In, c.Counts.Planes, c.Counts.PadLevel, idx[0], idx[len(idx)-1])
	} else {
		outside = ir.Float(c.Sums.Pad)
	}
	v := &ir.Select{Cond: c.inside(idx[lead+1], idx[lead+2]), A: ir.At(x, from...), B: outside}
	c.fill(xp, ls, set(xp, v, idx...))
	return xp
}

// inside is the condition that row h and column w of the padded copy are positions of the image.
func (c *conv) inside(h, w ir.Expr) ir.Expr {
	p := c.Pad
	return all(append(inside(h, p.Top, c.h, c.h+p.Top+p.Bottom), c.columns(w)...)...)
}

// columns are the conditions that column w of the padded copy is one of the image.
func (c *conv) columns(w ir.Expr) []ir.Expr {
	return inside(w, c.Pad.Left, c.w, c.w+c.Pad.Left+c.Pad.Right)
}

// unpacked is the copy of packed levels as the f32 integers that they stand for: words of channels by loops q and l, the
// channels of a last word that they do not fill by loop r, as in packWords.
func (c *conv) unpacked(x ir.Buffer) ir.Buffer {
	xp := c.reals()
	ls := loops("xp.", overAll(xp.Shape)[:3]...)
	i := vars(ls)
	store := func(q, bit ir.Expr) ir.Stmt {
		return set(xp, c.real(levelIn(x, c.source(i), q, bit), i), append(slices.Clone(i), add(mul(q, ir.Int(WordBits)), bit))...)
	}
	var body []ir.Stmt
	if n := c.In / WordBits; n > 0 {
		word := loops("xp.", over(ir.Word, "q", n), over(ir.Bit, "l", WordBits))
		body = append(body, ir.Nest(word, store(ir.V("xp.q"), ir.V("xp.l"))))
	}
	if n := c.In % WordBits; n > 0 {
		body = append(body, ir.Nest(loops("xp.", over(ir.Bit, "r", n)), store(ir.Int(c.In/WordBits), ir.V("xp.r"))))
	}
	c.fill(xp, ls, ir.Seq(body...))
	return xp
}

// unpackedBytes is unpacked of levels that lie as bytes.
func (c *conv) unpackedBytes(x ir.Buffer) ir.Buffer {
	xp := c.reals()
	ls := loops("xp.", overAll(xp.Shape)...)
	i := vars(ls)
	level := byteLevel(ir.At(x, append(c.source(i), i[3])...), c.read().Stored())
	c.fill(xp, ls, set(xp, c.real(level, i), i...))
	return xp
}

// reals is the buffer of a copy of levels, with padding, as the f32 integers that they stand for.
func (c *conv) reals() ir.Buffer {
	p := c.Pad
	return buf("xp", ir.F32, c.batch, c.h+p.Top+p.Bottom, c.w+p.Left+p.Right, c.In)
}

// source is the position of the input that stands at position i of a copy with padding.
func (c *conv) source(i []ir.Expr) []ir.Expr {
	return []ir.Expr{i[0], sub(i[1], ir.Int(c.Pad.Top)), sub(i[2], ir.Int(c.Pad.Left))}
}

// real is the number of reals that level stands for at position i, or that of padding.
func (c *conv) real(level ir.Expr, i []ir.Expr) ir.Expr {
	v := ir.CastTo(ir.F32, integer(level, c.X.LevelType))
	if !c.Pad.Any() {
		return v
	}
	return &ir.Select{Cond: c.inside(i[1], i[2]), A: v, B: ir.Float(c.Sums.Pad)}
}

// onesWord is word q of a pixel whose channels are all 1 bits.
func onesWord(channels int, q ir.Expr) ir.Expr {
	full := ir.Const(ir.U32, 0xffffffff)
	if channels%WordBits == 0 {
		return full
	}
	last := ir.Const(ir.U32, int64(1)<<(channels%WordBits)-1)
	return &ir.Select{Cond: ir.Bin(ir.Lt, q, ir.Int(Words(channels)-1)), A: full, B: last}
}

// raw is the accumulator at a position, corrected where padding stands for exact zeros.
func (c *conv) raw(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr {
	var p ir.Expr = ir.At(acc, b, h, w, o)
	switch t := c.Tables; {
	case t == nil:
	case t.Across != nil:
		p = c.sumAcross(acc, b, h, w, o)
	case t.Halves:
		p = ir.At(acc, b, h, ir.Bin(ir.Mod, w, ir.Int(c.half())), ir.Bin(ir.Div, w, ir.Int(c.half())), o)
	}
	k := c.Line()
	if k != nil && (k.Padding != nil || c.Pool != nil) {
		p = ir.CastTo(ir.I32, p)
	}
	if c.Parts() != nil {
		p = c.joined(p, b, h, w, o)
	}
	switch {
	case k == nil && c.Sums.Border == nil, k != nil && k.Padding == nil:
		return p
	case k == nil:
		return add(p, classed(c, "border", ir.F32, c.Sums.Border, c.Sums.Rows, c.Sums.Cols, h, w, o))
	case k.Padding.Twice:
		p = add(p, p)
		fallthrough
	default:
		return sub(p, classed(c, "corr", ir.I32, k.Padding.Sums, k.Padding.Rows, k.Padding.Cols, h, w, o))
	}
}

// classed is the element, for channel o at row h and column w, of a constant that has a row for each class of positions.
func classed[T float32 | int32](c *conv, name string, t ir.Type, data []T, rows, cols graph.Classes, h, w, o ir.Expr) ir.Expr {
	return ir.At(constant(c, name, t, data, 0, rows.Count(), cols.Count()), class(h, rows), class(w, cols), o)
}

// class is the class of position i.
func class(i ir.Expr, cl graph.Classes) ir.Expr {
	k := ir.Bin(ir.Min, i, ir.Int(cl.First))
	for j := range cl.Last { // each comparison is 0 or 1 whatever a guarded tail makes of i
		k = add(k, ir.CastTo(ir.I64, ir.Bin(ir.Ge, i, ir.Int(cl.Size-cl.Last+j))))
	}
	return k
}

// pool takes the largest sum of each window, that is the smallest count where counts fall with the sums.
func (c *conv) pool(acc ir.Buffer) ir.Buffer {
	p, best := c.Pool, ir.MaxTo
	if k := c.Line(); k != nil && !k.Rising {
		best = ir.MinTo
	}
	pl := buf("pl", c.raw(acc, ir.Int(0), ir.Int(0), ir.Int(0), ir.Int(0)).Type(), c.batch, c.ph, c.pw, c.o)
	c.bufs = append(c.bufs, pl)
	outer := loops("pl.", over(ir.Batch, "b", c.batch), over(ir.Row, "h", c.ph), over(ir.Col, "w", c.pw), over(ir.Channel, "o", c.o))
	i := vars(outer)
	at := func(dh, dw ir.Expr) ir.Expr {
		return c.raw(acc, i[0], add(mul(i[1], ir.Int(p.Strides[0])), dh), add(mul(i[2], ir.Int(p.Strides[1])), dw), i[3])
	}
	win := loops("pl.", over(ir.TapRow, "i", p.Kernel[0]), over(ir.TapCol, "j", p.Kernel[1]))
	first := set(pl, at(ir.Int(0), ir.Int(0)), i...)
	rest := ir.Nest(win, update(best, pl, at(ir.V("pl.i"), ir.V("pl.j")), i...))
	c.nests = append(c.nests, ir.Nest(outer, ir.Seq(first, rest)))
	return pl
}
