package ops

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/internal/lists"
	"ripc/ir"
	"ripc/lower/layout"
)

// Const is the contents of a Func's constant parameter: its elements, a slice of numbers.
type Const struct {
	Param string
	Data  func() any // a slice of numbers, which is made when it is asked for: weights may be most of all memory
}

// constantData is data that there is already.
func constantData(data any) func() any { return func() any { return data } }

// Conv returns the Func of a fused convolution or dense layer over x of logical shape [B, H, W,
// In], and the constants of its parameters before y, in order. x comes first, then the joined
// tensors r0, r1 and so on.
//
// By accumulation:
//
//	Counts     P[b,h,w,o] = sum over planes n (weight 2^n), kh, kw and words of popcount(x_n ^ w);
//	           planes go from the top down and double the accumulator in between (Horner)
//	Tables     the same counts, from partial-sum tables
//	FloatSums  a chain of fma in the order kh, kw, c, from the bias; levels become f32 integers in the copy
//	Dots       sums of products of bytes, a step of channels at once; levels become bytes in the copy
//
// With layout.Parts the result of WindowBytes is the last parameter before y. slice is the part of
// a concatenated output that this layer writes. Beside levels z0, z1 and so on are outputs after y.
// With Mean, y is [B, Out].
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
	c := &conv{Conv: l, batch: l.X.Shape[0], h: l.X.Shape[1], w: l.X.Shape[2], shape: l.X.Shape}
	c.oh, c.ow = l.OutSize(c.h, c.w)
	c.sums = newAccumulation(c, l.Accumulation)
	return c
}

// Slice is the part of a wider output that a layer writes: channels (or words) Offset.. of Total;
// Total 0 is all of it.
type Slice struct{ Offset, Total int }

type conv struct {
	*layout.Conv
	batch, h, w, o int // o: output channels including padding
	oh, ow, ph, pw int
	params         []ir.Param
	consts         []Const
	bufs           []ir.Buffer
	nests          []ir.Stmt
	sums           accumulation
	shape          []int // of the input's parameter
}

// outputShape is the shape of the output as an image, padding channels included.
func (c *conv) outputShape() []int { return []int{c.batch, c.ph, c.pw, c.o} }

// sumShape is the shape of the sums, before a pool.
func (c *conv) sumShape() []int { return []int{c.batch, c.oh, c.ow, c.o} }

// value adds a buffer of the layer's output at all positions and channels, and the nest of fill.
func (c *conv) value(b ir.Buffer, fill func(i []ir.Expr) ir.Stmt) ir.Buffer {
	ls, i := image(b.Name+".", c.outputShape(), "o")
	b.Role = ir.RoleValue
	c.bufs = append(c.bufs, b)
	body := fill(i)
	c.nests = append(c.nests, ir.Nest(ls, body))
	return b
}

// param adds a constant parameter.
func (c *conv) param(b ir.Buffer, data func() any) ir.Buffer {
	c.params = append(c.params, inParam(b))
	c.consts = append(c.consts, Const{b.Name, data})
	return b
}

// fill adds a buffer and the loops that fill it.
func (c *conv) fill(b ir.Buffer, ls []ir.Loop, body ir.Stmt) {
	c.bufs = append(c.bufs, b)
	c.nests = append(c.nests, ir.Nest(ls, body))
}

// constant adds a parameter with one row of c.o numbers for each row of Out in data, filled up with
// fill, and gives it; the same one if there is one of that name.
func constant[T element](c *conv, name string, t ir.Type, data []T, fill T, outer ...int) ir.Buffer {
	return weights(c, name, t, func() []T { return data }, fill, outer...)
}

type element interface {
	float32 | int32 | int16 | uint32 | uint16 | uint8
}

// weights is constant of data that is made when it is asked for.
func weights[T element](c *conv, name string, t ir.Type, data func() []T, fill T, outer ...int) ir.Buffer {
	for _, p := range c.params {
		if p.Name == name {
			return p.Buffer
		}
	}
	return c.param(buf(name, t, append(outer, c.o)...), func() any { return padLast(data(), c.Out, c.o, fill) })
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
	x := tensorBuffer("x", c.read(), c.shape)
	c.params = append(c.params, inParam(x))
	for k := range c.Others {
		c.params = append(c.params, inParam(c.otherBuffer(k)))
	}
	y := c.sums.output(x, slice)
	if c.Window != nil {
		c.params = append(c.params, inParam(c.windows()))
	}
	if c.Accumulation.WeightParts() != nil {
		c.params = append(c.params, inParam(c.windowBytes()))
	}
	c.params = append(c.params, outParam(y))
	for _, z := range c.levelsBeside() {
		c.params = append(c.params, outParam(z))
	}
	for _, b := range c.bufs {
		if b.Role == ir.NoRole {
			panic("BUG: buffer " + b.Name + " has no role, which strategies read")
		}
	}
	size := fmt.Sprintf("%dx%ds%d_%dx%dx%d_%d", c.KH, c.KW, c.SH, c.h, c.w, c.In, c.Out)
	if c.Mean {
		size += "_mean"
	}
	return &ir.Func{Name: c.sums.name(size), Params: c.params, Body: allocs(c.bufs, ir.Seq(c.nests...))}
}

// narrowed are numbers, which fit T.
func narrowed[T uint8 | uint16 | int8 | int16, F uint32 | int64](v []F) []T {
	return lists.Map(v, func(x F) T { return T(x) })
}

// padInput is x with its padding, which is outside(i) at position i, or x itself where it has none.
func (c *conv) padInput(x ir.Buffer, outside func(i []ir.Expr) ir.Expr) ir.Buffer {
	p := c.Pad
	if !p.Any() {
		return x
	}
	xp := x
	xp.Name, xp.Enc, xp.Role = "xp", ir.Encoding{}, ir.RolePad
	xp.Shape = slices.Clone(x.Shape)
	lead := len(xp.Shape) - 4 // 1 with a plane axis
	xp.Shape[lead+1], xp.Shape[lead+2] = c.h+p.Top+p.Bottom, c.w+p.Left+p.Right
	ls := loops("xp.", overAll(xp.Shape)...)
	idx := vars(ls)
	from := slices.Clone(idx)
	from[lead+1], from[lead+2] = sub(idx[lead+1], ir.Int(p.Top)), sub(idx[lead+2], ir.Int(p.Left))
	v := &ir.Select{Cond: c.insideImage(idx[lead+1], idx[lead+2]), A: ir.At(x, from...), B: outside(idx)}
	c.fill(xp, ls, set(xp, v, idx...))
	return xp
}

// insideImage is the condition that row h and column w of the padded copy are positions of the
// image.
func (c *conv) insideImage(h, w ir.Expr) ir.Expr {
	p := c.Pad
	return all(append(rangeChecks(h, p.Top, c.h, c.h+p.Top+p.Bottom), c.columns(w)...)...)
}

// sumsPerRow is the number of sums of a row that are read: a pool may leave the last ones out.
func (c *conv) sumsPerRow() int {
	if c.Pool == nil {
		return c.ow
	}
	return (c.pw-1)*c.Pool.Strides[1] + c.Pool.Kernel[1]
}

// read is the input as it lies in memory.
func (c *conv) read() layout.Tensor { return layout.Tensor{Value: c.X, Form: c.From} }

// columns are the conditions that column w of the padded copy is one of the image.
func (c *conv) columns(w ir.Expr) []ir.Expr {
	return rangeChecks(w, c.Pad.Left, c.w, c.w+c.Pad.Left+c.Pad.Right)
}

// source is the position of the input that stands at position i of a copy with padding.
func (c *conv) source(i []ir.Expr) []ir.Expr {
	return []ir.Expr{i[0], sub(i[1], ir.Int(c.Pad.Top)), sub(i[2], ir.Int(c.Pad.Left))}
}

// onesWord returns word q of a pixel with 1 in all channels.
func onesWord(channels int, q ir.Expr) ir.Expr {
	full := ir.Const(ir.U32, 0xffffffff)
	if channels%WordBits == 0 {
		return full
	}
	last := ir.Const(ir.U32, int64(1)<<(channels%WordBits)-1)
	return &ir.Select{Cond: ir.Bin(ir.Lt, q, ir.Int(Words(channels)-1)), A: full, B: last}
}

// classed is the element, for channel o at row h and column w, of a constant that has a row for
// each class of positions.
func classed[T float32 | int32](c *conv, name string, t ir.Type, data []T, rows, cols graph.Classes, h, w,
	o ir.Expr) ir.Expr {
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

// pool takes the largest sum of each window, that is the smallest count where counts fall with the
// sums.
func (c *conv) pool(acc ir.Buffer) ir.Buffer {
	p := c.Pool
	pl := allocBuffer(ir.RoleWindow, "pl", c.sums.raw(acc, ir.Int(0), ir.Int(0), ir.Int(0), ir.Int(0)).Type(), c.batch,
		c.ph,
		c.pw, c.o)
	outer, i := image("pl.", c.outputShape(), "o")
	at := func(dh, dw ir.Expr) ir.Expr {
		return c.sums.raw(acc, i[0], add(mul(i[1], ir.Int(p.Strides[0])), dh), add(mul(i[2], ir.Int(p.Strides[1])), dw),
			i[3])
	}
	win := loops("pl.", loop(ir.TapRow, "i", p.Kernel[0]), loop(ir.TapCol, "j", p.Kernel[1]))
	first := set(pl, at(ir.Int(0), ir.Int(0)), i...)
	rest := ir.Nest(win, update(c.sums.largest(), pl, at(ir.V("pl.i"), ir.V("pl.j")), i...))
	c.fill(pl, outer, ir.Seq(first, rest))
	return pl
}
