// Package refnet computes networks layer by layer as the model states them, in plain arithmetic on
// integers and rounded floats. It knows no bit planes, thresholds or popcounts, and is the
// compiler's reference.
package refnet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"ripc/graph"
	"ripc/ir"
)

// Tensor is a tensor of the graph as its author sees it: floats, or the integers that levels stand
// for.
type Tensor struct {
	shape []int
	F     []float32
	// loose marks results of a softmax: they are compared with a tolerance.
	loose bool
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

// levelOf is the inverse of IntegerOf.
func levelOf(v *graph.Value, integer int) int {
	for l := range 1 << v.Bits {
		if IntegerOf(v, l) == integer {
			return l
		}
	}
	panic(fmt.Sprintf("BUG: %d is no integer of %s", integer, v))
}

// Bytes is x at the interface.
func (x *Tensor) Bytes(v *graph.Value) []byte {
	var b bytes.Buffer
	switch {
	case v.Whole:
		for _, f := range x.F {
			_ = binary.Write(&b, binary.LittleEndian, int32(f))
		}
	case !v.Encoded():
		_ = binary.Write(&b, binary.LittleEndian, x.F)
	case v.View == graph.Bytes:
		for _, f := range x.F {
			l := levelOf(v, int(f))
			if v.Signed {
				l -= 128
			}
			b.WriteByte(byte(l))
		}
	default:
		c := v.Channels()
		for n := range v.Bits {
			for row := 0; row < len(x.F); row += c {
				words := make([]uint32, (c+31)/32)
				for k := range c {
					words[k/32] |= uint32(levelOf(v, int(x.F[row+k]))>>n&1) << (k % 32)
				}
				_ = binary.Write(&b, binary.LittleEndian, words)
			}
		}
	}
	return b.Bytes()
}

// Near allows for zeros of the other sign, and for the polynomials of softmax and log_softmax.
func (x *Tensor) Near(v *graph.Value, got []byte) bool {
	if v.Encoded() || v.Whole || len(got) != 4*len(x.F) {
		return false
	}
	for i, want := range x.F {
		f := math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:]))
		if f != want && !(x.loose && math.Abs(float64(f-want)) <= 1e-4*math.Abs(float64(want))+1e-6) &&
			(f == f || want == want) {
			return false
		}
	}
	return true
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
