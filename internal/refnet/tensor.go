// Package refnet computes networks layer by layer as the model states them, in plain arithmetic on
// integers and rounded floats. It knows no bit planes, thresholds or popcounts, and is the
// compiler's reference.
package refnet

import (
	"ripc/graph"
	"ripc/ir"
)

// Tensor is a tensor of the graph as its author sees it: floats, or the integers that levels stand
// for.
type Tensor struct {
	shape []int
	F     []float32
	// Loose marks results of a softmax: they are compared with a tolerance.
	Loose bool
}

// New is a tensor of zeros for v.
func New(v *graph.Value) *Tensor {
	n := 1
	for _, d := range v.Shape {
		n *= d
	}
	return &Tensor{shape: v.Shape, F: make([]float32, n)}
}

// IntegerOf is the integer that a level of v's encoding stands for.
func IntegerOf(v *graph.Value, level int) int {
	m := 1<<v.Bits - 1
	switch v.Enc {
	case ir.Bipolar:
		return 2*level - m
	case ir.BipolarInv:
		return m - 2*level
	}
	return level - v.Zero
}

func (x *Tensor) dims() (b, h, w, c int) {
	if len(x.shape) == 4 {
		return x.shape[0], x.shape[1], x.shape[2], x.shape[3]
	}
	c = x.shape[len(x.shape)-1]
	return len(x.F) / c, 1, 1, c // others are rows of channels
}

func (x *Tensor) at(b, h, w, c int) *float32 {
	_, hh, ww, cc := x.dims()
	return &x.F[((b*hh+h)*ww+w)*cc+c]
}

// atOrNil is at, or nil outside the image.
func (x *Tensor) atOrNil(b, h, w, c int) *float32 {
	if _, hh, ww, _ := x.dims(); h < 0 || w < 0 || h >= hh || w >= ww {
		return nil
	}
	return x.at(b, h, w, c)
}

// each calls f for every element of x in order.
func (x *Tensor) each(f func(b, h, w, c int, v *float32)) {
	bb, hh, ww, cc := x.dims()
	for b := range bb {
		for h := range hh {
			for w := range ww {
				for c := range cc {
					f(b, h, w, c, x.at(b, h, w, c))
				}
			}
		}
	}
}
