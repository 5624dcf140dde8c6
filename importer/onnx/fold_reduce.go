package onnx

import (
	"slices"
)

// foldReduce combines the elements along axes.
func foldReduce(start float64, f func(acc, v float64) float64, mean bool) foldFunc {
	return func(n *node, in []*array) []*array {
		x := in[0]
		axes, keep := n.reduced(len(x.shape))
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
			acc[o] = f(acc[o], x.at(k))
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
