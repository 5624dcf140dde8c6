package zoo

import (
	"ripc/graph"
	"ripc/internal/f32"
	"ripc/internal/refnet"
)

// conv is a convolution or a dense layer at work; a dense layer has one pixel.
type conv struct {
	n       *graph.Node
	a       *graph.Conv2DAttrs
	x, y    *graph.Value
	h, w    int // of the input
	oh, ow  int
	kh, kw  int
	in, out int // channels; of one group, and of all
	groups  int
	plain   []float32 // weights: real ones, or integers
	scale   []float32 // of the sums of integers
	outside float32   // integer that padding stands for
}

// products makes the rule of a layer that multiplies. Sums of floats are in the order of the
// definition, one rounding for each operation; those of integers are exact.
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
		if u.Min < 0 && b.PadValue == graph.PadOnes {
			c.outside = float32(u.Max)
		}
	}
	return func(vals map[string]*refnet.Tensor) *refnet.Tensor {
		out := refnet.New(y)
		c.sum(vals[n.Inputs[0]].F, out.F)
		for i := range out.F {
			if c.scale != nil {
				out.F[i] = f32.Mul(out.F[i], c.scale[i%c.out])
			}
		}
		return out
	}, nil
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
