package onnx

import (
	"fmt"

	"ripc/graph"
)

// foldQuant computes Quant on constants, in f32 and in numpy's order of operations.
func foldQuant(n *node, in []*array) ([]*array, error) {
	q, err := n.readQuant()
	if err != nil {
		return nil, err
	}
	lo, hi := quantRange(q.signed, q.narrow, q.bits)
	return n.b.fold3(in[0], q.scale, q.zero, func(x, s, z float32) float32 {
		y := float32(x/s) + z
		if q.bipolar() {
			if y >= 0 {
				y = 1
			} else {
				y = -1
			}
		} else {
			if y > hi {
				y = hi
			}
			if y < lo {
				y = lo
			}
			y = q.mode.eval(y)
		}
		return float32(y-z) * s
	})
}

// foldBipolar computes BipolarQuant on constants.
func foldBipolar(n *node, in []*array) ([]*array, error) {
	return n.b.fold3(in[0], in[1], in[1], func(x, s, _ float32) float32 {
		if x >= 0 {
			return s
		}
		return -s
	})
}

// fold3 applies f to every element of x with its scale and zero point; the result has x's shape.
func (b *builder) fold3(x, s, z *array, f func(x, s, z float32) float32) ([]*array, error) {
	out, err := b.mem.newArray(dtFloat, x.shape)
	if err != nil {
		return nil, err
	}
	for _, p := range []*array{s, z} {
		if shape, err := broadcastShape(x.shape, p.shape); err != nil || graph.Elems(shape) != graph.Elems(x.shape) {
			return nil, fmt.Errorf("a scale or zero point of shape %v does not fit shape %v", p.shape, x.shape)
		}
	}
	so, zo := make([]int32, 0), make([]int32, 0)
	if s.len() > 1 || z.len() > 1 {
		if err := b.mem.take(x.len(), 8); err != nil {
			return nil, err
		}
		so, zo = offsets(s, x.shape), offsets(z, x.shape)
	}
	for k := range out.f {
		i, j := int32(0), int32(0)
		if len(so) > 0 {
			i, j = so[k], zo[k]
		}
		out.f[k] = f(float32(x.at(k)), float32(s.at(int(i))), float32(z.at(int(j))))
	}
	return []*array{out}, nil
}

// offsets are the places in a, broadcast to a shape, of that shape's elements.
func offsets(a *array, shape []int) []int32 {
	out := make([]int32, graph.Elems(shape))
	for len(a.shape) > len(shape) { // leading extents of 1
		a = a.view(a.shape[1:])
	}
	eachOffset(shape, 0, broadcastSteps(a.shape, shape), func(k, o int) { out[k] = int32(o) })
	return out
}
