package graph

import (
	"fmt"

	"ripc/graph/scalar"
)

// IntPoolAttrs belongs to int_avg_pool: the means of windows of levels of 8 bits, as levels of 8
// bits of another type. A mean is that of real values in f32, added row by row, over positions
// inside the image. Its level is
//
//	clip(round(f32(mean / Scale) + t)), half to even
//
// as onnxruntime computes QLinearAveragePool. t is the caller's value of the level that stands for
// 0. Sums of integers would give other levels near halves.
type IntPoolAttrs struct {
	PoolAttrs
	scalar.LevelType
}

// Quantizer makes levels of means.
func (a *IntPoolAttrs) Quantizer() *scalar.Quantizer {
	low := -CallerZero(a.LevelType)
	return &scalar.Quantizer{LevelType: a.LevelType, Rounding: scalar.HalfEven,
		Range: &scalar.Range{Min: low, Max: low + a.Top()}}
}

func inferIntPool(g *Graph, n *Node, x *Value, a *IntPoolAttrs) *Value {
	g.needLevels(n, x)
	g.checkResult(n, a.LevelType, 0, a.Top())
	y := inferPool(g, n, x, &a.PoolAttrs)
	return &Value{Shape: y.Shape, Layout: y.Layout, LevelType: a.LevelType}
}

func printIntPool(_ *Node, a *IntPoolAttrs) string {
	return fmt.Sprint(printFields(&a.PoolAttrs), resultString(a.LevelType, 0, a.Top()))
}
