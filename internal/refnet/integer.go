package refnet

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/internal/f32"
)

// intLayer is int_conv2d, or int_dense with a 1x1 kernel: ws are the shape of its weights.
func intLayer(l *layer, a *graph.Conv2DAttrs, ws []int) {
	w, q := l.weight("w"), a.Integer
	dil, perGroup := a.Dilation(), ws[3]/a.GroupCount()
	number := func(key string, o int) float64 {
		t := l.n.Weights[key]
		if t == nil {
			return 0
		}
		return t.Data.Exact(o % t.Data.Len())
	}
	l.y.each(func(b, oh, ow, o int, e *float32) {
		sum := int64(number("bias", o))
		for i := range ws[0] {
			for j := range ws[1] {
				for c := range ws[2] {
					if p := l.x.atOrNil(b, oh*a.Strides[0]+i*dil[0]-a.Pad.Top, ow*a.Strides[1]+j*dil[1]-a.Pad.Left,
						o/perGroup*ws[2]+c); p != nil {
						sum += int64(*p) * int64(w[((i*ws[1]+j)*ws[2]+c)*ws[3]+o])
					}
				}
			}
		}
		switch q.Form {
		case graph.NoRequantization:
			*e = float32(sum)
		case graph.FloatRequantization:
			*e = inRange(q.Low-q.Zero, q.High-q.Zero,
				int64(f32.RoundEven(f32.Mul(float32(sum), float32(number("multiplier", o))))))
		case graph.FixedRequantization:
			*e = inRange(q.Low-q.Zero, q.High-q.Zero, byMultiplier(int32(sum), number("multiplier", o), q.Coarse))
		case graph.MeanRequantization:
			half := int64(q.Count / 2)
			if sum <= 0 {
				half = -half
			}
			*e = inRange(q.Low-q.Zero, q.High-q.Zero, (sum+half)/int64(q.Count)-callerNumber(l.out, 0))
		}
	})
}

// inRange is the nearest integer to v from low to high.
func inRange(low, high int, v int64) float32 { return float32(max(int64(low), min(v, int64(high)))) }

// callerNumber is the number that the caller sees where v's integer is i.
func callerNumber(v *graph.Value, i int64) int64 {
	if i += int64(v.Zero); v.Signed {
		i -= 128
	}
	return i
}

// byMultiplier is TFLite's MultiplyByQuantizedMultiplier, as gemmlowp's fixedpoint.h has its parts,
// by m in 31 bits, or in 30.
func byMultiplier(x int32, m float64, coarse bool) int64 {
	fraction, shift := math.Frexp(m)
	q := int64(math.Round(fraction * (1 << 31)))
	if q == 1<<31 {
		q, shift = 1<<30, shift+1
	}
	if q == 0 || shift < -31 {
		return 0
	}
	if coarse {
		q, shift = q/2, shift+1
	}
	left, right := max(0, shift), max(0, -shift)
	product := int64(x*(1<<left)) * q
	nudge := int64(1 << 30)
	if product < 0 {
		nudge = 1 - nudge
	}
	high := int32((product + nudge) / (1 << 31)) // towards zero, as in C
	mask := int32(int64(1)<<right - 1)
	threshold := mask >> 1
	if high < 0 {
		threshold++
	}
	out := int64(high >> right)
	if high&mask > threshold {
		out++
	}
	return out
}

// intAdd is the sum of two tensors of levels; axes of extent 1 are repeated.
func intAdd(l *layer, a *graph.IntAddAttrs) {
	for i := range l.y.F {
		p, q := l.operand(0, i), l.operand(1, i)
		if a.Form == graph.FloatRequantization {
			p, q = callerNumber(l.g.Value(l.n.Inputs[0]), p), callerNumber(l.g.Value(l.n.Inputs[1]), q)
			sum := f32.Fma(float32(p), float32(a.A), f32.Fma(float32(q), float32(a.B), float32(a.C)))
			l.y.F[i] = inRange(a.Low-a.Zero, a.High-a.Zero, int64(f32.RoundEven(sum))-callerNumber(l.out, 0))
			continue
		}
		s, t := byMultiplier(int32(p)<<20, a.A, false), byMultiplier(int32(q)<<20, a.B, false)
		if a.Sub {
			t = -t
		}
		l.y.F[i] = inRange(a.Low-a.Zero, a.High-a.Zero, byMultiplier(int32(s+t), a.C, false))
	}
}

// intMul is the product of two tensors of levels; axes of extent 1 are repeated.
func intMul(l *layer, a *graph.IntMulAttrs) {
	for i := range l.y.F {
		product := l.operand(0, i) * l.operand(1, i)
		if a.Form == graph.FloatRequantization {
			sum := f32.Mul(float32(product), float32(a.By)) + float32(callerNumber(l.out, 0))
			l.y.F[i] = inRange(a.Low-a.Zero, a.High-a.Zero, int64(f32.RoundEven(sum))-callerNumber(l.out, 0))
			continue
		}
		l.y.F[i] = inRange(a.Low-a.Zero, a.High-a.Zero, byMultiplier(int32(product), a.By, false))
	}
}

// intMap gives each level the one that a has for it.
func intMap(l *layer, a *graph.IntMapAttrs) {
	l.each(func(_ int, e float32) float32 { return float32(a.Table[int(e)+l.v.Zero] - a.Zero) })
}

// intPool is the mean of real values, quantized.
func intPool(l *layer, a *graph.IntPoolAttrs) {
	real := *l.x
	real.F = make([]float32, len(l.x.F))
	for i, e := range l.x.F {
		real.F[i] = f32.Mul(e, float32(l.v.Scale))
	}
	refPool("avg_pool", &real, l.y, &a.PoolAttrs)
	zero := callerNumber(l.out, 0)
	for i, e := range l.y.F {
		v := int64(f32.RoundEven(f32.Add(f32.Div(e, float32(a.Scale)), float32(zero))))
		l.y.F[i] = inRange(-a.Zero, a.Top()-a.Zero, v-zero)
	}
}

// intSoftmax is softmax of rows of levels by a table of exponentials.
func intSoftmax(l *layer, a *graph.IntSoftmaxAttrs) {
	n := l.x.shape[len(l.x.shape)-1]
	exps := a.Exponentials(l.v.LevelType, n)
	for row := 0; row < len(l.x.F); row += n {
		x, sum := l.x.F[row:row+n], float32(0)
		top := slices.Max(x)
		for _, e := range x {
			sum = f32.Add(sum, exps[int(top-e)])
		}
		for c, e := range x {
			v := f32.RoundEven(f32.Div(f32.Mul(exps[int(top-e)], a.Steps()), sum))
			l.y.F[row+c] = inRange(-a.Zero, a.Top()-a.Zero, int64(v))
		}
	}
}

// operand is the integer of input k that element i of the result is made of.
func (l *layer) operand(k, i int) int64 {
	return int64(l.vals[l.n.Inputs[k]].repeated(i, l.y.shape))
}
