package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"

	"ripc/graph"
)

// value is one picture's tensor. Exactly one of f (floats) and q (levels, or accumulators of a bitserial op) is set.
type value struct {
	h, w, c int
	f       []float32
	q       []int32
	conv    *graph.Node // the bitserial op whose accumulators q holds
}

// pictures are random pixels, in [0, 1) or bytes, which are integers in f32.
func pictures(n int, seed uint64, bytes bool) []*value {
	var out []*value
	for i := range n {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		v := &value{h: 224, w: 224, c: 3, f: make([]float32, 224*224*3)}
		for j := range v.f {
			if v.f[j] = rng.Float32(); bytes {
				v.f[j] = float32(int(256 * v.f[j]))
			}
		}
		out = append(out, v)
	}
	return out
}

// levels are random levels of so many bits.
func levels(n int, h, w, c, bits int) []*value {
	var out []*value
	for i := range n {
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		v := &value{h: h, w: w, c: c, q: make([]int32, h*w*c)}
		for j := range v.q {
			v.q[j] = rng.Int32N(1 << bits)
		}
		out = append(out, v)
	}
	return out
}

// forward computes every tensor for every picture, by plain loops in the order of the definition. visit, if not nil,
// sees each node and its first input before the node is computed, and may set the node's weights.
func forward(g *graph.Graph, in []*value, visit func(n *graph.Node, x []*value) error) (map[string][]*value, error) {
	all := map[string][]*value{g.Inputs[0]: in}
	for _, n := range g.Nodes {
		if visit != nil {
			if err := visit(n, all[n.Inputs[0]]); err != nil {
				return nil, err
			}
		}
		out := make([]*value, len(in))
		errs := make([]error, len(in))
		var wg sync.WaitGroup
		slots := make(chan struct{}, runtime.GOMAXPROCS(0))
		for i := range in {
			wg.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				var xs []*value
				for _, name := range n.Inputs {
					xs = append(xs, all[name][i])
				}
				out[i], errs[i] = apply(g, n, xs)
			})
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		all[n.Output] = out
	}
	return all, nil
}

// apply computes one node for one picture.
func apply(g *graph.Graph, n *graph.Node, xs []*value) (*value, error) {
	x := xs[0]
	switch a := n.Attrs.(type) {
	case *graph.Conv2DAttrs:
		o := g.Value(n.Output).Shape
		y := &value{h: o[1], w: o[2], c: o[3]}
		if a.Binary != nil {
			y.q, y.conv = conv(x, y, n.Weights["w"].Shape, x.q, signs(n.Weights["w"].Data), a), n
		} else {
			y.f = conv(x, y, n.Weights["w"].Shape, x.f, n.Weights["w"].Data, a)
		}
		return y, nil
	case *graph.PoolAttrs:
		o := g.Value(n.Output).Shape
		return maxPool(x, o[1], o[2], a), nil
	case *graph.ConcatAttrs:
		return concat(xs), nil
	case *graph.BatchNormAttrs:
		return batchNorm(x, n, a), nil
	case *graph.QuantizeAttrs:
		return quantize(x, a), nil
	case *graph.ShiftNormAttrs:
		return shiftNorm(x, n, a)
	}
	switch n.Op {
	case "relu":
		return mapped(x, func(v float32) float32 { return max(v, 0) }), nil
	case "global_avg_pool":
		return globalMean(g, x), nil
	case "bitpack":
		return x, nil
	case "softmax":
		return softmax(x), nil
	}
	return nil, fmt.Errorf("node %q: op %s is not needed by these networks", n.Name, n.Op)
}

// conv sums x*w over the window and the channels; positions outside count 0.
func conv[T int32 | float32](x, y *value, shape []int, xd, wd []T, a *graph.Conv2DAttrs) []T {
	kh, kw, ci, co := shape[0], shape[1], shape[2], shape[3]
	out := make([]T, y.h*y.w*co)
	for oy := range y.h {
		for ox := range y.w {
			acc := out[(oy*y.w+ox)*co:][:co]
			for dy := range kh {
				for dx := range kw {
					iy, ix := oy*a.Strides[0]+dy-a.Pad.Top, ox*a.Strides[1]+dx-a.Pad.Left
					if iy < 0 || iy >= x.h || ix < 0 || ix >= x.w {
						continue
					}
					for c, v := range xd[(iy*x.w+ix)*ci:][:ci] {
						if v == 0 {
							continue
						}
						for o, wv := range wd[((dy*kw+dx)*ci+c)*co:][:co] {
							acc[o] += T(v * wv) // the conversion forbids a fused multiply-add
						}
					}
				}
			}
		}
	}
	return out
}

// signs are the bits of binary weights: w >= 0 is +1.
func signs(w []float32) []int32 {
	out := make([]int32, len(w))
	for i, x := range w {
		out[i] = 1
		if x < 0 {
			out[i] = -1
		}
	}
	return out
}
