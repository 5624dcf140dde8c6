package graph

import (
	"math"

	"ripc/graph/scalar"
)

// IntSoftmaxAttrs belongs to int_softmax: softmax over the last axis of levels of 8 bits, as levels
// of 8 bits of another type. e is the entry of Exponentials for the distance of a level below its
// row's greatest. sum is the f32 sum of a row's e in their order. The level is
//
//	clip(round(f32(f32(e * Steps) / sum)) + t), half to even
//
// as onnxruntime computes QLinearSoftmax. t is the caller's value of the level that stands for 0.
type IntSoftmaxAttrs struct{ scalar.LevelType }

// Steps is the number of levels that make 1, a whole number. A scale that f32 rounds up, as it does
// 1/255, has one less.
func (a *IntSoftmaxAttrs) Steps() float32 {
	return float32(math.Floor(float64(1 / float32(a.Scale))))
}

// Exponentials holds e to the power of -i times x's scale, for each distance i between two levels
// of x. A common factor makes sums of n entries as large as f32 allows, with some bits spare.
func (a *IntSoftmaxAttrs) Exponentials(x scalar.LevelType, n int) []float32 {
	const spare = 5 // in the exponent, so that e * Steps is finite
	scale := float64(float32(x.Scale))
	most := math.Log(float64(math.MaxFloat32 / float32(n)))
	shift := max(0, most-spare) / scale
	table := make([]float32, x.Top()+1)
	for i := range table {
		if e := float32(math.Exp((shift - float64(i)) * scale)); e >= smallestNormal {
			table[i] = e
		}
	}
	return table
}

// smallestNormal is the least normal f32 number. Subnormals count as 0.
const smallestNormal = 0x1p-126

// Finite reports whether no e * Steps of rows of n levels of x exceeds f32. Rows of one or two
// levels and a small scale of the result do.
func (a *IntSoftmaxAttrs) Finite(x scalar.LevelType, n int) bool {
	return !math.IsInf(float64(a.Exponentials(x, n)[0]*a.Steps()), 0)
}

func inferIntSoftmax(g *Graph, n *Node, x *Value, a *IntSoftmaxAttrs) *Value {
	g.needLevels(n, x)
	g.checkResult(n, a.LevelType, 0, a.Top())
	g.failIf(!a.Finite(x.LevelType, x.Channels()), n,
		"take a larger scale of the result, or dequantize, softmax and quantize",
		"%g levels that make 1 are too many for rows of %d", a.Steps(), x.Channels())
	return &Value{Shape: x.Shape, Layout: x.Layout, LevelType: a.LevelType}
}

func printIntSoftmax(_ *Node, a *IntSoftmaxAttrs) string {
	return resultString(a.LevelType, 0, a.Top())
}
