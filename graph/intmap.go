package graph

import (
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"ripc/graph/scalar"
	"ripc/internal/human"
	"ripc/ir"
)

// IntMapAttrs belongs to int_map, which maps each level of 8 bits to a level of 8 bits of another
// type by a table. It changes a tensor's scale, or computes a function of one quantized number.
type IntMapAttrs struct {
	scalar.LevelType
	// Table has a level for each level of the input, from the lowest on.
	Table []int
}

// IntMapOf is the int_map from levels of type x to levels of type y: function real of the level's
// real value, then quantizer y.
func IntMapOf(x scalar.LevelType, y *scalar.Quantizer, real func(v float32) float32) *IntMapAttrs {
	a := &IntMapAttrs{LevelType: y.LevelType, Table: make([]int, x.Top()+1)}
	for l := range a.Table {
		a.Table[l] = y.Eval(real(x.Float(l)))
	}
	return a
}

// Formula returns float steps and a quantizer that equal a's table. The steps work on the integers
// of the input's levels, of type x, in a tensor of n channels: a product with a number, and another
// for integers below 0. ok is false if the table is no such function; every level is checked.
func (a *IntMapAttrs) Formula(x scalar.LevelType, channels int) (steps []scalar.Step, q *scalar.Quantizer, ok bool) {
	below, above := a.factors(x, -1), a.factors(x, 1)
	both := interval{max(below.low, above.low), min(below.high, above.high)}
	step := func(kind scalar.Kind, by float32) scalar.Step {
		return scalar.Step{Kind: kind, A: slices.Repeat([]float32{by}, channels)}
	}
	q = &scalar.Quantizer{LevelType: scalar.LevelType{Enc: a.Enc, Bits: a.Bits, Scale: 1, Zero: a.Zero},
		Rounding: scalar.HalfEven}
	// Both are tried, since a half that the only factor of both signs makes rounds to the even
	// neighbour, which may be another level.
	one := []scalar.Step{step(scalar.Mul, both.middle())}
	two := []scalar.Step{step(scalar.Mul, above.middle()), step(scalar.PRelu, below.middle()/above.middle())}
	for _, steps := range [][]scalar.Step{one, two} {
		if a.matches(steps, q, x) {
			return steps, q, true
		}
	}
	return nil, nil, false
}

// matches reports whether steps on the integers of levels of type x, and q, make a's table.
func (a *IntMapAttrs) matches(steps []scalar.Step, q *scalar.Quantizer, x scalar.LevelType) bool {
	for l, to := range a.Table {
		if q.Eval(scalar.EvalSteps(steps, 0, float32(x.Integer(l)))) != to {
			return false
		}
	}
	return true
}

// interval are the numbers from low to high.
type interval struct{ low, high float64 }

// middle is an f32 number of the interval, if there is one.
func (i interval) middle() float32 {
	if math.IsInf(i.high, 1) {
		return float32(2 * i.low)
	}
	return float32((i.low + i.high) / 2)
}

// factors returns the interval of factors that map the integers of one sign, rounded to the
// nearest, to the levels of a's table.
func (a *IntMapAttrs) factors(x scalar.LevelType, sign int) interval {
	by := interval{0, math.Inf(1)}
	for l, to := range a.Table {
		i, v := float64(sign*x.Integer(l)), float64(sign*(to-a.Zero))
		if i <= 0 {
			continue
		}
		end := 0
		if sign > 0 {
			end = a.Top()
		}
		if to != a.Top()-end {
			by.low = max(by.low, (v-0.5)/i)
		}
		if to != end {
			by.high = min(by.high, (v+0.5)/i)
		}
	}
	return by
}

func inferIntMap(g *Graph, n *Node, x *Value, a *IntMapAttrs) *Value {
	g.needLevels(n, x)
	g.failIf(len(a.Table) != x.Top()+1, n, "", "table of %s, want one for each of %d",
		human.Count(len(a.Table), "level"), x.Top()+1)
	low, high := math.MaxInt, 0
	for _, to := range a.Table {
		low, high = min(low, to), max(high, to)
	}
	g.checkResult(n, a.LevelType, low, high)
	return &Value{Shape: x.Shape, Layout: x.Layout, LevelType: a.LevelType}
}

// needLevels checks that x are levels as ops of two tensors of integers, and int_map, read them.
func (g *Graph) needLevels(n *Node, x *Value) {
	g.failIf(x.Enc != ir.Unipolar || x.Bits != 8 || x.Offset != 0, n, "quantize it to 8 bits",
		"input %q is %s, want unipolar or affine levels of 8 bits", x.Name, x.LevelType)
}

func printIntMap(_ *Node, a *IntMapAttrs) string {
	bytes := make([]byte, len(a.Table))
	low, high := a.Top(), 0
	for l, to := range a.Table {
		bytes[l], low, high = byte(to), min(low, to), max(high, to)
	}
	return fmt.Sprintf("%s table=%08x", resultString(a.LevelType, low, high), crc32.ChecksumIEEE(bytes))
}
