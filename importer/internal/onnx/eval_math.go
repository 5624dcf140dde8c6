package onnx

import (
	"math"
	"slices"

	"ripc/internal/stop"
)

// foldFunc computes the outputs of a node from constants. Inputs that are left out are nil.
type foldFunc func(n *node, in []*array) []*array

// lowerFunc makes graph nodes.
type lowerFunc func(n *node) *tensor

func addOf(a, b float64) float64 { return a + b }

// foldBinary applies f to two broadcast arrays of one type, rounding to it; integers, which f64
// need not hold, go through i.
func foldBinary(f func(a, b float64) float64, i func(a, b int64) int64) foldFunc {
	return func(n *node, in []*array) []*array { return n.zip(in[0], in[1], in[0].dt, f, i) }
}

// foldCompare applies a predicate.
func foldCompare(f func(a, b float64) bool, i func(a, b int64) bool) foldFunc {
	one := func(v bool) int64 {
		if v {
			return 1
		}
		return 0
	}
	return func(n *node, in []*array) []*array {
		return n.zip(in[0], in[1], dtBool, func(a, b float64) float64 { return float64(one(f(a, b))) },
			func(a, b int64) int64 { return one(i(a, b)) })
	}
}

func (n *node) zip(x, y *array, to dtype, f func(a, b float64) float64, i func(a, b int64) int64) []*array {
	n.failIf(x.dt != y.dt, "", "operands are %s and %s, want one type", x.dt, y.dt)
	shape := stop.Must(broadcastShape(x.shape, y.shape))
	out := n.b.mem.newArray(to, shape)
	if out.len() == 0 {
		return []*array{out}
	}
	ys := strideWalk(y, shape)
	eachOffset(shape, 0, broadcastSteps(x.shape, shape), func(k, o int) {
		j := ys()
		switch {
		case !x.dt.float() && i != nil && !out.dt.float():
			out.setInteger(k, i(x.integer(o), y.integer(j)))
		default:
			out.set(k, f(x.number(o), y.number(j)))
		}
	})
	return []*array{out}
}

// strideWalk yields the offsets of a, broadcast to shape, one for each call.
func strideWalk(a *array, shape []int) func() int {
	return walk(shape, 0, broadcastSteps(a.shape, shape))
}

// foldUnary applies f to every element.
func foldUnary(f func(v float64) float64) foldFunc {
	return func(n *node, in []*array) []*array {
		out := n.b.mem.newArray(in[0].dt, in[0].shape)
		for k := range out.len() {
			if !out.dt.float() {
				out.setInteger(k, truncate(f(in[0].number(k))))
				continue
			}
			out.set(k, f(in[0].number(k)))
		}
		return []*array{out}
	}
}

// foldMany reduces any number of operands by f, two at a time.
func foldMany(f func(a, b float64) float64, i func(a, b int64) int64) foldFunc {
	return func(n *node, in []*array) []*array {
		acc := []*array{in[0]}
		for _, x := range in[1:] {
			n.failIf(x == nil, "", "an input is left out")
			acc = n.zip(acc[0], x, acc[0].dt, f, i)
		}
		return acc
	}
}

func divide(a, b int64) int64 {
	if b == 0 || b == -1 {
		return -a * (b * b) // by 0 there is no result: 0
	}
	return a / b
}

// foldMod has the sign of the divisor, or of the dividend where fmod is set.
func foldMod(n *node, in []*array) []*array {
	fmod := n.intAttr("fmod", 0)
	floats := math.Mod
	if fmod == 0 {
		floats = func(a, b float64) float64 {
			r := math.Mod(a, b)
			if r != 0 && (r < 0) != (b < 0) {
				r += b
			}
			return r
		}
	}
	return n.zip(in[0], in[1], in[0].dt, floats, func(a, b int64) int64 {
		if b == 0 || b == -1 {
			return 0
		}
		r := a % b
		if fmod == 0 && r != 0 && (r < 0) != (b < 0) {
			r += b
		}
		return r
	})
}

func foldClip(n *node, in []*array) []*array {
	lo, hi := clipBounds(n)
	return foldUnary(func(v float64) float64 { return math.Min(math.Max(v, lo), hi) })(n, in[:1])
}

func foldNot(n *node, in []*array) []*array {
	n.failIf(in[0].dt != dtBool, "", "its operand is %s, want bool", in[0].dt)
	return foldUnary(func(v float64) float64 { return 1 - v })(n, in)
}

// foldWhere chooses between two arrays element by element.
func foldWhere(n *node, in []*array) []*array {
	c, x, y := in[0], in[1], in[2]
	n.failIf(x.dt != y.dt || c.dt != dtBool,
		"", "operands are %s, %s and %s, want bool and twice the same type", c.dt, x.dt, y.dt)
	shape := stop.Must(broadcastShape(stop.Must(broadcastShape(x.shape, y.shape)), c.shape))
	out := n.b.mem.newArray(x.dt, shape)
	if out.len() == 0 {
		return []*array{out}
	}
	xs, ys := strideWalk(x, shape), strideWalk(y, shape)
	eachOffset(shape, 0, broadcastSteps(c.shape, shape), func(k, o int) {
		i, j := xs(), ys()
		if c.number(o) != 0 {
			out.copyFrom(k, x, i)
		} else {
			out.copyFrom(k, y, j)
		}
	})
	return []*array{out}
}

// foldReduce combines the elements along axes.
func foldReduce(start float64, f func(acc, v float64) float64, mean bool) foldFunc {
	return func(n *node, in []*array) []*array {
		x := in[0]
		axes, keep := n.readReduction(len(x.shape))
		shape, full, count := []int{}, append([]int{}, x.shape...), 1
		for _, d := range axes {
			count *= full[d]
			full[d] = 1
		}
		for d, e := range full {
			if keep || e == x.shape[d] && !slices.Contains(axes, d) {
				shape = append(shape, e)
			}
		}
		out := n.b.mem.newArray(x.dt, shape)
		n.b.mem.take(out.len(), 8)
		n.b.mem.spend(x.len())
		acc := make([]float64, out.len())
		for k := range acc {
			acc[k] = start
		}
		to := strideWalk(&array{shape: full}, x.shape)
		for k := range x.len() {
			o := to()
			acc[o] = f(acc[o], x.number(k))
		}
		for k, v := range acc {
			if mean {
				v /= float64(count)
			}
			out.set(k, v)
		}
		return []*array{out}
	}
}
