package refnet

import (
	"cmp"
	"math"
	"sync"

	"ripc/graph"
	"ripc/internal/f32"
)

// layer is a node at work: x its first input, of type v, and y its result, of type out.
type layer struct {
	g      *graph.Graph
	n      *graph.Node
	v, out *graph.Value
	x, y   *Tensor
	vals   map[string]*Tensor
	// node is Node, for rules that compute other layers.
	node func(g *graph.Graph, n *graph.Node, vals map[string]*Tensor) *Tensor
}

func (l *layer) each(f func(c int, x float32) float32) {
	l.x.each(func(b, h, w, c int, e *float32) { *l.y.at(b, h, w, c) = f(c, *e) })
}

func (l *layer) weight(key string) []float32 { return l.n.Weights[key].Data.Floats() }

// Node computes one layer of the graph as imported.
func Node(g *graph.Graph, n *graph.Node, vals map[string]*Tensor) *Tensor {
	l := &layer{g: g, n: n, out: g.Value(n.Output), vals: vals, node: Node}
	l.y = New(l.out)
	if len(n.Inputs) > 0 {
		l.v, l.x = g.Value(n.Inputs[0]), vals[n.Inputs[0]]
		l.y.Loose = l.x.Loose
	}
	rule, ok := rules()[n.Op]
	if !ok {
		panic("BUG: no reference for " + n.Op)
	}
	rule(l)
	return l.y
}

// rules has the arithmetic of every op that importers make.
var rules = sync.OnceValue(func() map[string]func(l *layer) {
	all := map[string]func(l *layer){
		"conv2d": conv, "bitserial_conv2d": conv, "dense": dense, "bitserial_dense": dense,
		"int_conv2d": withAttrs(func(l *layer, a *graph.Conv2DAttrs) { intLayer(l, a, l.n.Weights["w"].Shape) }),
		"int_dense": withAttrs(func(l *layer, a *graph.DenseAttrs) {
			w := l.n.Weights["w"].Shape
			intLayer(l, &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Integer: a.Integer}, []int{1, 1, w[0], w[1]})
		}),
		"int_add":  withAttrs(intAdd),
		"int_mul":  withAttrs(intMul),
		"int_map":  withAttrs(intMap),
		"max_pool": withAttrs(func(l *layer, a *graph.PoolAttrs) { refPool(l.n.Op, l.x, l.y, a) }),
		"avg_pool": withAttrs(func(l *layer, a *graph.PoolAttrs) { refPool(l.n.Op, l.x, l.y, a) }),
		"batch_norm": withAttrs(func(l *layer, a *graph.BatchNormAttrs) {
			l.each(func(c int, e float32) float32 {
				s := float32(float64(l.weight("gamma")[c]) / math.Sqrt(float64(l.weight("var")[c])+a.Epsilon))
				return f32.Fma(e, s, float32(float64(l.weight("beta")[c])-float64(l.weight("mean")[c])*float64(s)))
			})
		}),
		"prelu": func(l *layer) {
			l.each(func(c int, e float32) float32 {
				if e < 0 {
					return f32.Mul(e, l.weight("alpha")[c])
				}
				return e
			})
		},
		"clip": withAttrs(func(l *layer, a *graph.ClipAttrs) {
			l.each(func(_ int, e float32) float32 { return min(max(e, float32(a.Min)), float32(a.Max)) })
		}),
		"round": withAttrs(func(l *layer, a *graph.RoundAttrs) {
			l.each(func(_ int, e float32) float32 { return a.Mode.Eval(e) })
		}),
		"fake_quant": withAttrs(func(l *layer, a *graph.FakeQuantAttrs) {
			l.each(func(c int, e float32) float32 { return refFakeQuant(a, l.n.Weights, c, e) })
		}),
		"quantize": withAttrs(func(l *layer, a *graph.QuantizeAttrs) {
			l.each(func(_ int, e float32) float32 { return float32(refQuantize(a, l.out, e)) })
		}),
		"threshold": withAttrs(func(l *layer, a *graph.ThresholdAttrs) {
			l.each(func(c int, e float32) float32 {
				return float32(refThreshold(a, l.n.Weights["thresholds"], l.out, c, e))
			})
		}),
		"shift_norm": withAttrs(refShiftNorm),

		"int_avg_pool": withAttrs(intPool),
		"int_softmax":  withAttrs(intSoftmax),

		"matmul":           withAttrs(func(l *layer, _ *graph.NoAttrs) { matmul(l) }),
		"conv_transpose2d": withAttrs(convTranspose), "bitserial_conv_transpose2d": withAttrs(convTranspose),
		"depth_to_space": withAttrs(depthToSpace), "space_to_depth": withAttrs(spaceToDepth),
		"resize": withAttrs(resize), "gather": withAttrs(gather), "interpolate": withAttrs(interpolate),

		"transpose": withAttrs(transpose), "pad": withAttrs(pad), "slice": withAttrs(slice),
		"reshape": copyInput, "flatten": copyInput, "bitpack": copyInput, "unpack": copyInput,
		"constant":  func(l *layer) { l.y.F = l.weight("value") },
		"concat":    concat,
		"relu":      func(l *layer) { l.each(func(_ int, e float32) float32 { return max(e, 0) }) },
		"relu6":     func(l *layer) { l.each(func(_ int, e float32) float32 { return min(max(e, 0), 6) }) },
		"hard_tanh": func(l *layer) { l.each(func(_ int, e float32) float32 { return min(max(e, -1), 1) }) },
		"sign":      func(l *layer) { l.each(func(_ int, e float32) float32 { return float32(cmp.Compare(e, 0)) }) },
		"dequantize": func(l *layer) {
			l.each(func(_ int, e float32) float32 {
				if l.v.Whole {
					return e
				}
				return f32.Add(f32.Mul(e, float32(l.v.Scale)), float32(l.v.Offset))
			})
		},
		"global_avg_pool": globalPool,
		"softmax":         func(l *layer) { softmax(l, func(e, sum float64) float64 { return math.Exp(e) / sum }) },
		"log_softmax":     func(l *layer) { softmax(l, func(e, sum float64) float64 { return e - math.Log(sum) }) },
		"argmax":          withAttrs(func(l *layer, a *graph.ArgAttrs) { refArg(l, a.Last, 1) }),
		"argmin":          withAttrs(func(l *layer, a *graph.ArgAttrs) { refArg(l, a.Last, -1) }),
		"top_k":           withAttrs(refTopK),
		"top_k_indices":   withAttrs(refTopK),
		"exp":             func(l *layer) { approximate(l, math.Exp) },
		"log":             func(l *layer) { approximate(l, math.Log) },
		"sqrt":            func(l *layer) { l.each(func(_ int, e float32) float32 { return f32.Sqrt(e) }) },
		"erf":             func(l *layer) { approximate(l, math.Erf) },
		"sigmoid":         func(l *layer) { l.each(func(_ int, e float32) float32 { return sigmoidOf(e) }) },
		"tanh":            func(l *layer) { l.each(func(_ int, e float32) float32 { return tanhOf(e) }) },
		"silu": func(l *layer) {
			l.each(func(_ int, e float32) float32 { return f32.Mul(e, sigmoidOf(e)) })
		},
		"elu": withAttrs(func(l *layer, a *graph.EluAttrs) {
			l.each(func(_ int, e float32) float32 { return eluOf(e, float32(a.Alpha)) })
		}),
		"hard_sigmoid": withAttrs(func(l *layer, a *graph.HardSigmoidAttrs) {
			l.each(func(_ int, e float32) float32 {
				return min(max(f32.Add(f32.Mul(e, float32(a.Alpha)), float32(a.Beta)), 0), 1)
			})
		}),
		"hard_swish": func(l *layer) {
			l.each(func(_ int, e float32) float32 {
				return f32.Mul(e, min(max(f32.Add(f32.Mul(e, 1.0/6), 0.5), 0), 1))
			})
		},
		"abs": func(l *layer) { l.each(func(_ int, e float32) float32 { return float32(math.Abs(float64(e))) }) },
	}
	for op := range functions() {
		all[op] = func(l *layer) {
			if _, binary := l.n.Attrs.(*graph.BinaryOpAttrs); binary && l.v.Encoded() {
				refLevels(l.g, l.n, l.vals, l.out, l.y)
				return
			}
			refFunction(l.n, l.vals, l.y)
		}
	}
	return all
})

// withAttrs is a rule that looks at the attributes.
func withAttrs[A any](f func(l *layer, a *A)) func(l *layer) {
	return func(l *layer) { f(l, l.n.Attrs.(*A)) }
}

// approximate is a function that the compiler computes to a few ulp.
func approximate(l *layer, f func(x float64) float64) {
	l.each(func(_ int, e float32) float32 { return float32(f(float64(e))) })
	l.y.Loose = true
}

func copyInput(l *layer) { copy(l.y.F, l.x.F) }

func conv(l *layer) {
	refConv(l.n, l.v, l.x, l.y, l.n.Attrs.(*graph.Conv2DAttrs), l.n.Weights["w"].Shape)
}

func dense(l *layer) {
	w := l.n.Weights["w"].Shape
	refConv(l.n, l.v, l.x, l.y, &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Binary: l.n.Attrs.(*graph.DenseAttrs).Binary},
		[]int{1, 1, w[0], w[1]})
}

func transpose(l *layer, a *graph.TransposeAttrs) {
	for i := range l.y.F {
		p, q := position(i, l.y.shape), make([]int, len(l.y.shape))
		for d := range p {
			q[a.Perm[d]] = p[d]
		}
		l.y.F[i] = l.x.F[index(q, l.x.shape)]
	}
}

func pad(l *layer, a *graph.SpatialPadAttrs) {
	l.y.each(func(b, h, w, c int, e *float32) {
		if p := l.x.atOrNil(b, h-a.Pad.Top, w-a.Pad.Left, c); p != nil {
			*e = *p
		} else if *e = float32(a.Value); l.v.Encoded() {
			*e = float32(math.Round((a.Value - l.v.Offset) / l.v.Scale))
		}
	})
}

func slice(l *layer, a *graph.SliceAttrs) {
	for i := range l.y.F {
		p := position(i, l.y.shape)
		for d := range p {
			p[d] = a.Begin[d] + p[d]*a.Stride[d]
		}
		l.y.F[i] = l.x.F[index(p, l.x.shape)]
	}
}

func concat(l *layer) {
	off := 0
	for _, name := range l.n.Inputs {
		z := l.vals[name]
		z.each(func(b, h, w, c int, e *float32) { *l.y.at(b, h, w, off+c) = *e })
		off += z.shape[len(z.shape)-1]
	}
}

func globalPool(l *layer) {
	x, y := l.x, l.y
	x.each(func(b, h, w, c int, e *float32) { y.F[b*y.shape[1]+c] = f32.Add(y.F[b*y.shape[1]+c], *e) })
	for i := range y.F {
		y.F[i] = f32.Div(y.F[i], float32(x.shape[1]*x.shape[2]))
	}
}

func refPool(op string, x, y *Tensor, a *graph.PoolAttrs) {
	y.each(func(b, h, w, c int, e *float32) {
		n, best := 0, float32(math.Inf(-1))
		for i := range a.Kernel[0] {
			for j := range a.Kernel[1] {
				if p := x.atOrNil(b, h*a.Strides[0]+i-a.Pad.Top, w*a.Strides[1]+j-a.Pad.Left, c); p != nil {
					n++
					*e, best = f32.Add(*e, *p), max(best, *p)
				}
			}
		}
		if *e = f32.Div(*e, float32(n)); op == "max_pool" {
			*e = best
		}
	})
}
