package onnx

import (
	"cmp"
	"fmt"
	"slices"
)

// foldMatMul multiplies two constant matrices, summing in float64.
func foldMatMul(n *node, in []*array) ([]*array, error) {
	x, y := in[0], in[1]
	if len(x.shape) != 2 || len(y.shape) != 2 || x.shape[1] != y.shape[0] || x.dt != y.dt {
		return nil, fmt.Errorf("a product of constants of shapes %v and %v is not supported", x.shape, y.shape)
	}
	m, k, c := x.shape[0], x.shape[1], y.shape[1]
	if m*c > 0 {
		if err := n.b.mem.spend(int(min(int64(k), maxWork/int64(m*c)+1)) * m * c); err != nil {
			return nil, err
		}
	}
	out, err := n.b.mem.newArray(x.dt, []int{m, c})
	if err != nil {
		return nil, err
	}
	for i := range m {
		for j := range c {
			sum := 0.0
			for l := range k {
				sum += x.at(i*k+l) * y.at(l*c+j)
			}
			out.set(i*c+j, sum)
		}
	}
	return []*array{out}, nil
}

// foldReduce combines the elements along axes.
func foldReduce(start float64, f func(acc, v float64) float64, mean bool) foldFunc {
	return func(n *node, in []*array) ([]*array, error) {
		x := in[0]
		axes, keep, err := n.reduced(len(x.shape))
		if err != nil {
			return nil, err
		}
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
		out, err := n.b.mem.newArray(x.dt, shape)
		if err != nil {
			return nil, err
		}
		if err := cmp.Or(n.b.mem.take(out.len(), 8), n.b.mem.spend(x.len())); err != nil {
			return nil, err
		}
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
		return []*array{out}, nil
	}
}
