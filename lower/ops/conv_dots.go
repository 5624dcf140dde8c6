package ops

import (
	"fmt"

	"ripc/ir"
	"ripc/lower/layout"
)

// dots adds up products of bytes.
type dots struct {
	integers
	d *layout.Dots
}

func newDots(c *conv, d *layout.Dots) *dots {
	if c.From.Bytewise() && d.Runs { // a row of pixels is one of bytes, since a row of taps is a run of them
		c.shape = []int{c.batch, c.h, 1, c.w * c.In}
	}
	return &dots{integers{conv: c, line: &d.Line}, d}
}

func (c *dots) name(size string) string { return fmt.Sprintf("dconv2d_a%d_%s", c.X.Bits, size) }

// sumType has 16 bits where these are proved to hold the sums.
func (c *dots) sumType() ir.Type {
	if c.d.Short {
		return ir.I16
	}
	return ir.I32
}

func (c *dots) raw(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr {
	p := c.widen(c.element(acc, b, h, w, o))
	if c.d.Parts != nil {
		p = c.joinParts(p, b, h, w, o)
	}
	return c.correct(p, h, w, o)
}

// input makes the copy of the input's bytes that the windows read, or gives the input itself.
func (c *dots) input(x ir.Buffer) ir.Buffer {
	if c.From.Bytewise() {
		return c.copied(x)
	}
	return c.bytes(x)
}

// byteWeights adds the parameter of the weights that bytes of levels are multiplied by, a step of
// channels innermost.
func (c *dots) byteWeights() ir.Buffer {
	d, cols := c.d, c.KW
	if d.Runs {
		cols = 1
	}
	b := buf("wt", ir.I8, c.KH, cols, d.Steps, c.o, d.Step)
	data := func() any { return padLast(d.Weights(), c.Out*d.Step, c.o*d.Step, 0) }
	if d.Wide {
		b.Type, data = ir.I16, func() any { return padLast(d.WideWeights(), c.Out*d.Step, c.o*d.Step, 0) }
	}
	b.Range = d.Within
	return c.param(b, data)
}

// byteChannels is the number of channels of a pixel of the copy of the input: whole steps, and one
// for each output channel that reads the channel of its number.
func (c *dots) byteChannels() int {
	if c.d.Band {
		return c.o + 2*c.leadingChannels()
	}
	return max(c.In, c.GroupCount()/c.d.Groups*c.d.Steps*c.d.Step)
}

// leadingChannels is how many channels of a copy of the input come before those of the input.
func (c *dots) leadingChannels() int {
	if c.d.Band {
		return c.GroupIn() - 1
	}
	return 0
}

// dotType is the type of the bytes that are multiplied.
func (c *dots) dotType() ir.Type {
	if c.d.Signed {
		return ir.I8
	}
	return ir.U8
}

// bytesTo returns a buffer of multiplied bytes, with the range of the levels.
func (c *dots) bytesTo(shape ...int) ir.Buffer {
	xp := allocBuffer(ir.RolePad, "xp", c.dotType(), shape...)
	if r := (ir.Range{From: -int64(c.d.Offset), To: int64(c.X.Top() - c.d.Offset)}); !r.Has(xp.Type.Limits()) {
		xp.Range = r
	}
	return xp
}

// byteOf is the byte of an i32 level.
func (c *dots) byteOf(level ir.Expr) ir.Expr {
	if c.d.Offset > 0 {
		level = sub(level, ir.Const(ir.I32, int64(c.d.Offset)))
	}
	return ir.CastTo(c.dotType(), level)
}

// sameBytes reports whether the input's bytes are those that are multiplied.
func (c *dots) sameBytes() bool {
	return c.X.Bits == ir.U8.Bits() && c.read().Element() == c.dotType() &&
		(c.From == layout.SignedBytes) == (c.d.Offset > 0)
}

// multiplied is the byte that is multiplied, of byte v of the input.
func (c *dots) multiplied(v ir.Expr) ir.Expr {
	if c.sameBytes() {
		return v
	}
	return c.byteOf(byteLevel(v, c.read().StoredType()))
}

// copied is the copy of the input's bytes, as bytes makes it of planes; none where the input itself
// can be read.
func (c *dots) copied(x ir.Buffer) ir.Buffer {
	d, p := c.d, c.Pad
	xp := c.bytesTo(c.batch, c.h+p.Top+p.Bottom, c.w+p.Left+p.Right, c.byteChannels())
	left, width := c.leadingChannels(), c.In
	if d.Runs {
		n := (c.sumsPerRow()-1)*c.SW*c.In + d.Steps*d.Step
		left = min(p.Left*c.In, n)
		width = min(c.w*c.In, n-left)
		xp.Shape[2], xp.Shape[3] = 1, n
	}
	if !p.Any() && c.sameBytes() && c.leadingChannels() == 0 && xp.Shape[3] <= x.Shape[3] {
		return x
	}
	ls, i := pixels("xp.", xp.Shape)
	pad := ir.Const(xp.Type, int64(d.PadLevel-d.Offset))
	var row []ir.Stmt
	store := func(name string, first, n int, v func(o ir.Expr) ir.Expr) {
		if o := ir.V("xp." + name); n > 0 {
			row = append(row, ir.Nest(loops("xp.", loop(ir.Channel, name, n)),
				set(xp, v(o), i[0], i[1], i[2], add(o, ir.Int(first)))))
		}
	}
	padding := func(ir.Expr) ir.Expr { return pad }
	store("z", 0, left, padding)
	store("c", left, width, func(o ir.Expr) ir.Expr {
		w, inside := sub(i[2], ir.Int(p.Left)), rangeChecks(i[1], p.Top, c.h, xp.Shape[1])
		if d.Runs {
			w = i[2]
		} else {
			inside = append(inside, c.columns(i[2])...)
		}
		v := c.multiplied(ir.At(x, i[0], sub(i[1], ir.Int(p.Top)), w, o))
		if len(inside) == 0 {
			return v
		}
		return &ir.Select{Cond: all(inside...), A: v, B: pad}
	})
	store("e", left+width, xp.Shape[3]-left-width, padding)
	c.fill(xp, ls, ir.Seq(row...))
	return xp
}

// bytes is the copy of the levels as bytes, with padding: [B, H, W, C], or, where a row of taps is
// one run of bytes, [B, H, 1, W*C] as far as the last step of the last window reaches.
func (c *dots) bytes(x ir.Buffer) ir.Buffer {
	d, p := c.d, c.Pad
	hp, wp, cp := c.h+p.Top+p.Bottom, c.w+p.Left+p.Right, c.byteChannels()
	xp := c.bytesTo(c.batch, hp, wp, cp)
	before := c.leadingChannels()
	at := func(b, h, w, o ir.Expr) []ir.Expr { return []ir.Expr{b, h, w, add(o, ir.Int(before))} }
	rest := 0 // bytes behind the last pixel that is needed as a whole
	if d.Runs {
		n := (c.sumsPerRow()-1)*c.SW*c.In + d.Steps*d.Step
		cp, wp = c.In, min(wp, n/c.In)
		rest = n - wp*c.In
		xp.Shape = []int{c.batch, hp, 1, n}
		at = func(b, h, w, o ir.Expr) []ir.Expr { return []ir.Expr{b, h, ir.Int(0), add(mul(w, ir.Int(c.In)), o)} }
	}
	pad := ir.Const(xp.Type, int64(d.PadLevel-d.Offset))
	rows := loops("xp.", loop(ir.Batch, "b", c.batch), loop(ir.Row, "h", hp))
	b, h := ir.V("xp.b"), ir.V("xp.h")
	store := func(w, q, bit, o ir.Expr) ir.Stmt {
		v := c.byteOf(levelIn(x, []ir.Expr{b, sub(h, ir.Int(p.Top)), sub(w, ir.Int(p.Left))}, q, bit))
		if p.Any() {
			v = &ir.Select{Cond: c.insideImage(h, w), A: v, B: pad}
		}
		return set(xp, v, at(b, h, w, o)...)
	}
	w := ir.V("xp.w")
	var pixel []ir.Stmt
	if n := c.In / WordBits; n > 0 {
		q, l := ir.V("xp.q"), ir.V("xp.l")
		word := loops("xp.", loop(ir.Word, "q", n), loop(ir.Bit, "l", WordBits))
		pixel = append(pixel, ir.Nest(word, store(w, q, l, add(mul(q, ir.Int(WordBits)), l))))
	}
	if n := c.In % WordBits; n > 0 {
		r := ir.V("xp.r")
		pixel = append(pixel, ir.Nest(loops("xp.", loop(ir.Bit, "r", n)),
			store(w, ir.Int(c.In/WordBits), r, add(ir.Int(c.In-n), r))))
	}
	outside := func(name string, first, n int) {
		if n > 0 {
			pixel = append(pixel, ir.Nest(loops("xp.", loop(ir.Channel, name, n)),
				set(xp, pad, at(b, h, w, add(ir.V("xp."+name), ir.Int(first)))...)))
		}
	}
	outside("y", -before, before)      // before the first channel
	outside("z", c.In, cp-c.In-before) // behind the last one
	var row []ir.Stmt
	if wp > 0 {
		row = append(row, ir.Nest(loops("xp.", loop(ir.Col, "w", wp)), ir.Seq(pixel...)))
	}
	if e := ir.V("xp.e"); rest > 0 {
		tail := set(xp, pad, at(b, h, ir.Int(wp), e)...)
		if wp < c.w+p.Left+p.Right { // of the next pixel, which has more
			tail = store(ir.Int(wp), ir.Bin(ir.Div, e, ir.Int(WordBits)), ir.Bin(ir.Mod, e, ir.Int(WordBits)), e)
		}
		row = append(row, ir.Nest(loops("xp.", loop(ir.Channel, "e", rest)), tail))
	}
	c.fill(xp, rows, ir.Seq(row...))
	return xp
}

// accumulate is the nest of the sums of products of the input's bytes and the weights.
func (c *dots) accumulate(x ir.Buffer) ir.Buffer {
	d, w := c.d, c.byteWeights()
	x = c.input(x)
	t := c.sumType()
	acc := allocBuffer(ir.RoleSum, "acc", t, c.batch, c.oh, c.sumsPerRow(), c.o)
	c.bufs = append(c.bufs, acc)
	outer, i := image("acc.", acc.Shape, "o")
	dh, dw := c.Dilation()
	cols := w.Shape[1]
	red := loops("acc.", loop(ir.TapRow, "kh", c.KH), loop(ir.TapCol, "kw", cols), loop(ir.Reduce, "c", d.Steps),
		loop(ir.Part, "k", d.Step))
	kh, kw, step, k := ir.V("acc.kh"), ir.V("acc.kw"), ir.V("acc.c"), ir.V("acc.k")
	run := func(step ir.Expr) ir.Expr { return add(mul(step, ir.Int(d.Step)), k) }
	row := add(mul(i[1], ir.Int(c.SH)), mul(kh, ir.Int(dh)))
	at := []ir.Expr{i[0], row, add(mul(i[2], ir.Int(c.SW)), mul(kw, ir.Int(dw))), run(step)}
	wi := []ir.Expr{kh, kw, step, i[3], k}
	switch {
	case d.Runs:
		at[2], at[3] = ir.Int(0), add(mul(i[2], ir.Int(c.SW*c.In)), run(step))
	case d.Band:
		at[3] = add(i[3], run(step))
	case c.GroupCount() > d.Groups:
		at[3] = add(mul(c.groupOf(i[3], d.Groups), ir.Int(d.Groups*c.GroupIn())), run(step))
	}
	if d.Step == 1 { // no loop over parts
		red = red[:3]
		zero := map[string]ir.Expr{"acc.k": ir.Int(0)}
		for j := range at {
			at[j] = ir.Subst(at[j], zero)
		}
		wi[4] = ir.Int(0)
	}
	product := mul(ir.CastTo(t, ir.At(x, at...)), ir.CastTo(t, ir.At(w, wi...)))
	c.nests = append(c.nests, ir.Nest(outer, ir.Seq(set(acc, ir.Const(t, 0), i...),
		ir.Nest(red, update(ir.AddTo, acc, product, i...)))))
	return acc
}
