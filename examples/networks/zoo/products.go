package zoo

import (
	"math/bits"

	"ripc/graph"
	"ripc/internal/f32"
	"ripc/internal/refnet"
)

// conv is a convolution or a dense layer at work; a dense layer has one pixel.
type conv struct {
	n          *graph.Node
	a          *graph.Conv2DAttrs
	x, y       *graph.Value
	h, w       int // of the input
	oh, ow     int
	kh, kw     int
	in, out    int // channels; of one group, and of all
	groups     int
	plain      []float32 // weights: real ones, or integers
	ints       *planes   // weights of few bits; nil where floats are summed
	scale      []float32 // of the sums of integers
	outside    float32   // integer that padding stands for
	xmin, step int       // of the input's integers
}

// planes are integers base + stride*level, as bits of the levels: for each row, of each plane,
// words of 64 columns.
type planes struct {
	base, stride int
	bits, words  int
	data         []uint64
	sums         []int // of the levels of each row
}

func newPlanes(base, stride, bits, rows, columns int) *planes {
	words := (columns + 63) / 64
	return &planes{base: base, stride: stride, bits: bits, words: words, data: make([]uint64, rows*bits*words),
		sums: make([]int, rows)}
}

// set gives column c of a row an integer.
func (p *planes) set(row, c int, integer float32) {
	level := (int(integer) - p.base) / p.stride
	p.sums[row] += level
	for n := range p.bits {
		p.data[(row*p.bits+n)*p.words+c/64] |= uint64(level>>n&1) << (c % 64)
	}
}

// common is the sum of products of levels: row i of p times row j of q.
func (p *planes) common(i int, q *planes, j int) int {
	all := 0
	for m := range p.bits {
		a := p.data[(i*p.bits+m)*p.words:][:p.words]
		for n := range q.bits {
			b := q.data[(j*q.bits+n)*q.words:][:len(a)]
			sum := 0
			for k, v := range a {
				sum += bits.OnesCount64(v & b[k])
			}
			all += sum << (m + n)
		}
	}
	return all
}

// products makes the rule of a layer that multiplies. Sums of floats are in the order of the
// definition, one rounding for each operation; those of integers are exact, and counted in bits
// where the channels are enough.
func (e *evaluator) products(n *graph.Node, a *graph.Conv2DAttrs,
	ws []int) (func(map[string]*refnet.Tensor) *refnet.Tensor, error) {
	x, y := e.g.Value(n.Inputs[0]), e.g.Value(n.Output)
	c := &conv{n: n, a: a, x: x, y: y, h: 1, w: 1, oh: 1, ow: 1, kh: ws[0], kw: ws[1], in: ws[2], out: ws[3],
		groups: a.GroupCount(), plain: n.Weights["w"].Data.Floats()}
	if len(x.Shape) == 4 {
		c.h, c.w, c.oh, c.ow = x.Shape[1], x.Shape[2], y.Shape[1], y.Shape[2]
	}
	switch b := a.Binary; {
	case b != nil:
		ints, alpha := refnet.Weights(n, b, ws)
		u := graph.IntegersOf(x.LevelType)
		e.units[n.Output] = &unit{step: x.Scale, largest: float64(u.Largest()), alpha: alpha}
		c.plain = nil
		for _, v := range ints {
			c.plain = append(c.plain, float32(v))
		}
		for _, v := range alpha {
			c.scale = append(c.scale, float32(x.Scale*v))
		}
		if c.xmin, c.step = u.Min, u.Step; u.Min < 0 && b.PadValue == graph.PadOnes {
			c.outside = float32(u.Max)
		}
		if c.groups == 1 && c.in >= 8 {
			c.pack(b.Integers())
		}
	}
	return func(vals map[string]*refnet.Tensor) *refnet.Tensor {
		out := refnet.New(y)
		in := vals[n.Inputs[0]].F
		if c.ints != nil {
			c.count(in, out.F)
		} else {
			c.sum(in, out.F)
		}
		for i := range out.F {
			if c.scale != nil {
				out.F[i] = f32.Mul(out.F[i], c.scale[i%c.out])
			}
		}
		return out
	}, nil
}

// pack makes planes of the weights, a row for each output channel and tap.
func (c *conv) pack(set graph.Integers) {
	c.ints = newPlanes(set.Min, set.Step, set.Bits(), c.out*c.kh*c.kw, c.in)
	for i, v := range c.plain {
		o, k, tap := i%c.out, i/c.out%c.in, i/c.out/c.in
		c.ints.set(o*c.kh*c.kw+tap, k, v)
	}
}

// taps calls f for each tap of an output pixel: with the input's pixel, or -1 for one outside.
func (c *conv) taps(oy, ox int, f func(tap, pixel int)) {
	dil := c.a.Dilation()
	for dy := range c.kh {
		for dx := range c.kw {
			iy, ix := oy*c.a.Strides[0]+dy*dil[0]-c.a.Pad.Top, ox*c.a.Strides[1]+dx*dil[1]-c.a.Pad.Left
			pixel := iy*c.w + ix
			if iy < 0 || iy >= c.h || ix < 0 || ix >= c.w {
				pixel = -1
			}
			f(dy*c.kw+dx, pixel)
		}
	}
}

// count computes sums of integers in bits.
func (c *conv) count(in, out []float32) {
	x := newPlanes(c.xmin, c.step, c.x.Bits, c.h*c.w, c.in)
	for i, v := range in {
		x.set(i/c.in, i%c.in, v)
	}
	w, taps := c.ints, c.kh*c.kw
	for p := range c.oh * c.ow {
		pixels := make([]int, taps)
		c.taps(p/c.ow, p%c.ow, func(tap, pixel int) { pixels[tap] = pixel })
		for o := range c.out {
			sum := 0
			for tap, pixel := range pixels {
				row := o*taps + tap
				weights := w.base*c.in + w.stride*w.sums[row]
				if pixel < 0 {
					sum += int(c.outside) * weights
					continue
				}
				sum += x.base*weights + x.stride*(w.base*x.sums[pixel]+w.stride*w.common(row, x, pixel))
			}
			out[p*c.out+o] = float32(sum)
		}
	}
}

// sum computes sums of floats, or of integers in floats, which hold them exactly.
func (c *conv) sum(in, out []float32) {
	perGroup, channels := c.out/c.groups, c.in*c.groups
	for p := range c.oh * c.ow {
		acc := out[p*c.out:][:c.out]
		c.taps(p/c.ow, p%c.ow, func(tap, pixel int) {
			if pixel < 0 && c.outside == 0 {
				return
			}
			for g := range c.groups {
				for k := range c.in {
					v := c.outside
					if pixel >= 0 {
						v = in[pixel*channels+g*c.in+k]
					}
					if v == 0 {
						continue
					}
					w := c.plain[(tap*c.in+k)*c.out+g*perGroup:][:perGroup]
					for o, wv := range w {
						acc[g*perGroup+o] += float32(v * wv) // the conversion forbids a fused multiply-add
					}
				}
			}
		})
	}
}
