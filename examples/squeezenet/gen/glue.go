package main

import (
	"fmt"
	"math"

	"ripc/graph"
)

// log2AP2 is the exponent of the power of two nearest to x (Riptide's approximate power of two).
func log2AP2(x float64) int { return int(math.RoundToEven(math.Log2(x))) }

// weightBits is wb = -log2 AP2(mean|W_k|) of every filter k.
func weightBits(conv *graph.Node) []int {
	w := conv.Weights["w"]
	co := w.Shape[3]
	sum := make([]float64, co)
	for i, x := range w.Data {
		sum[i%co] += math.Abs(float64(x))
	}
	out := make([]int, co)
	for k := range out {
		out[k] = -log2AP2(sum[k] * float64(co) / float64(len(w.Data)))
	}
	return out
}

// fixedPoint is one channel of Riptide's glue: level = clip((a + round - m) >> t, 0, 2^N-1).
type fixedPoint struct {
	m, round int32
	t        int
	clip     float64 // |mean|/S; above 1 the mean is clipped
}

func newFixedPoint(mean, variance float32, wb int, a *graph.ShiftNormAttrs) (fixedPoint, error) {
	top := float64(int(1)<<a.Bits - 1)
	t := wb + log2AP2(math.Sqrt(float64(variance)+a.Epsilon))
	if wb < 0 || t < 0 || t > 24 {
		return fixedPoint{}, fmt.Errorf("weight bits %d, shift %d", wb, t)
	}
	s := 1 + (1-math.Ldexp(1, -wb))/top
	m := math.RoundToEven(min(max(float64(mean), -s), s) * top * math.Ldexp(1, wb))
	f := fixedPoint{m: int32(m), t: t, clip: math.Abs(float64(mean)) / s}
	if wb > 0 {
		f.round = 1 << (wb - 1)
	}
	return f, nil
}

func shiftNorm(x *value, n *graph.Node, a *graph.ShiftNormAttrs) (*value, error) {
	if x.conv == nil {
		return nil, fmt.Errorf("node %q: no bitserial op before it", n.Name)
	}
	y := &value{h: x.h, w: x.w, c: x.c, q: make([]int32, len(x.q))}
	wb := weightBits(x.conv)
	fps := make([]fixedPoint, x.c)
	for k := range fps {
		var err error
		if fps[k], err = newFixedPoint(n.Weights["mean"].Data[k], n.Weights["var"].Data[k], wb[k], a); err != nil {
			return nil, fmt.Errorf("node %q, channel %d: %w", n.Name, k, err)
		}
	}
	for i, acc := range x.q {
		f := fps[i%x.c]
		y.q[i] = min(max((acc+f.round-f.m)>>f.t, 0), 1<<a.Bits-1)
	}
	return y, nil
}

func quantize(x *value, a *graph.QuantizeAttrs) *value {
	y := &value{h: x.h, w: x.w, c: x.c, q: make([]int32, len(x.f))}
	top := float64(int(1)<<a.Bits - 1)
	for i, v := range x.f {
		y.q[i] = int32(math.RoundToEven(min(max(float64(v)/a.Scale, 0), top)))
	}
	return y
}

func batchNorm(x *value, n *graph.Node, a *graph.BatchNormAttrs) *value {
	s, b := make([]float32, x.c), make([]float32, x.c)
	for k := range s {
		scale := float64(n.Weights["gamma"].Data[k]) / math.Sqrt(float64(n.Weights["var"].Data[k])+a.Epsilon)
		s[k] = float32(scale)
		b[k] = float32(float64(n.Weights["beta"].Data[k]) - float64(n.Weights["mean"].Data[k])*scale)
	}
	y := &value{h: x.h, w: x.w, c: x.c, f: make([]float32, len(x.f))}
	for i, v := range x.f {
		y.f[i] = float32(v*s[i%x.c]) + b[i%x.c]
	}
	return y
}

func maxPool(x *value, h, w int, a *graph.PoolAttrs) *value {
	y := &value{h: h, w: w, c: x.c, conv: x.conv}
	if x.f != nil {
		y.f = windowMax(x, y, x.f, a)
	} else {
		y.q = windowMax(x, y, x.q, a)
	}
	return y
}

func windowMax[T int32 | float32](x, y *value, data []T, a *graph.PoolAttrs) []T {
	out := make([]T, y.h*y.w*y.c)
	for i := range out {
		c, ox, oy := i%y.c, i/y.c%y.w, i/y.c/y.w
		first := true
		for dy := range a.Kernel[0] {
			for dx := range a.Kernel[1] {
				iy, ix := oy*a.Strides[0]+dy-a.Pad.Top, ox*a.Strides[1]+dx-a.Pad.Left
				if iy < 0 || iy >= x.h || ix < 0 || ix >= x.w {
					continue
				}
				if v := data[(iy*x.w+ix)*x.c+c]; first || v > out[i] {
					out[i], first = v, false
				}
			}
		}
	}
	return out
}

func concat(xs []*value) *value {
	y := &value{h: xs[0].h, w: xs[0].w}
	for _, x := range xs {
		y.c += x.c
	}
	for p := range y.h * y.w {
		for _, x := range xs {
			if x.f != nil {
				y.f = append(y.f, x.f[p*x.c:][:x.c]...)
			} else {
				y.q = append(y.q, x.q[p*x.c:][:x.c]...)
			}
		}
	}
	return y
}

func mapped(x *value, f func(float32) float32) *value {
	y := &value{h: x.h, w: x.w, c: x.c, f: make([]float32, len(x.f))}
	for i, v := range x.f {
		y.f[i] = f(v)
	}
	return y
}

// globalMean averages real values: accumulators times the scales of activations and weights.
func globalMean(g *graph.Graph, x *value) *value {
	y := &value{h: 1, w: 1, c: x.c, f: make([]float32, x.c)}
	scale := make([]float64, x.c)
	for k := range scale {
		scale[k] = 1
	}
	if x.conv != nil {
		w := x.conv.Weights["w"]
		clear(scale)
		for i, v := range w.Data {
			scale[i%x.c] += math.Abs(float64(v)) * float64(x.c) / float64(len(w.Data)) * g.Value(x.conv.Inputs[0]).Scale
		}
	}
	sum := make([]float64, x.c)
	for i := range x.h * x.w * x.c {
		if x.f != nil {
			sum[i%x.c] += float64(x.f[i])
		} else {
			sum[i%x.c] += float64(x.q[i])
		}
	}
	for k := range y.f {
		y.f[k] = float32(sum[k] * scale[k] / float64(x.h*x.w))
	}
	return y
}

func softmax(x *value) *value {
	top, sum := x.f[0], 0.0
	for _, v := range x.f {
		top = max(top, v)
	}
	for _, v := range x.f {
		sum += math.Exp(float64(v - top))
	}
	return mapped(x, func(v float32) float32 { return float32(math.Exp(float64(v-top)) / sum) })
}
