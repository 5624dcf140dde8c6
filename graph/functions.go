package graph

import (
	"fmt"
	"slices"

	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/internal/human"
	"ripc/ir"
)

// Operand is an argument of an op on single elements: a tensor that the node reads or, if Weight is
// not nil, one of its weights, [C] or [1].
type Operand struct {
	Input  int // of the node
	Weight *Tensor
	Key    string // of the weight
}

// FunctionOf returns the function that n computes of single elements of its operands, in order. ok
// is false where n is no op on single elements of several tensors. Elements of levels are truth
// values.
func FunctionOf(n *Node) (f scalar.Function, operands []Operand, ok bool) {
	o := OpNamed(n.Op)
	if o == nil || o.function == nil {
		return 0, nil, false
	}
	for i := range n.Inputs {
		operands = append(operands, Operand{Input: i})
	}
	switch a := n.Attrs.(type) {
	case *BinaryOpAttrs:
		if b := n.Weights["b"]; b != nil {
			operands = append(operands, Operand{Weight: b, Key: "b"})
		}
		if a.Reverse {
			slices.Reverse(operands)
		}
	case *WhereAttrs:
		for i, key := range []string{"a", "b"} {
			if w := n.Weights[key]; w != nil {
				operands = slices.Insert(operands, min(1+i, len(operands)), Operand{Weight: w, Key: key})
			}
		}
	}
	return *o.function, operands, true
}

// ElementFunction returns the function of n's output element in channel o, of x, one element of
// each input. It is nil if n is no op on single elements. It is n's definition: the arithmetic is
// that of the interpreter, to the bit. Levels are given and returned as their real values, so that
// dequantize changes nothing.
//
// Every op on single elements has one: those of Steps and of FunctionOf, b / x, quantize, threshold
// and dequantize. So a pass can follow any graph of such nodes by value.
func ElementFunction(g *Graph, n *Node) func(o int, x []float32) float32 {
	if f, operands, ok := FunctionOf(n); ok {
		exact := func(v float32) float32 { return v }
		if OfLevels(g, n) {
			t := g.Value(n.Output).LevelType
			exact = func(v float32) float32 {
				level, _ := t.Level(float64(v))
				return t.Float(level)
			}
		}
		return func(o int, x []float32) float32 {
			args := make([]float32, len(operands))
			for i, op := range operands {
				if args[i] = 0; op.Weight == nil {
					args[i] = x[op.Input]
				} else {
					args[i] = op.Weight.Data.At(o % op.Weight.Data.Len())
				}
			}
			return exact(f.Eval(args...))
		}
	}
	if steps := Steps(g, n); len(steps) > 0 {
		return func(o int, x []float32) float32 { return scalar.EvalSteps(steps, o, x[0]) }
	}
	switch a := n.Attrs.(type) {
	case *QuantizeAttrs:
		return func(_ int, x []float32) float32 { return a.Float(a.StoredLevel(a.Eval(x[0]))) }
	case *ThresholdAttrs:
		t := n.Weights["thresholds"]
		return func(o int, x []float32) float32 { return a.Float(a.StoredLevel(a.Level(t, o, x[0]))) }
	}
	if n.Op == "dequantize" {
		return func(_ int, x []float32) float32 { return x[0] }
	}
	return nil
}

// Reaches reports whether x counts threshold t.
func (a *ThresholdAttrs) Reaches(x, t float32) bool {
	x, t = f32.Flush(x), f32.Flush(t)
	return x >= t || a.NotLess && !(x < t)
}

// Level is the level of x in channel o by thresholds, the weight; of bipolar_inv that which bipolar
// has.
func (a *ThresholdAttrs) Level(thresholds *Tensor, o int, x float32) int {
	n, c := 0, thresholds.Shape[1]
	for i := range thresholds.Shape[0] {
		if a.Reaches(x, thresholds.Data.At(i*c+o%c)) {
			n++
		}
	}
	return n
}

// Truths is the type of truth values.
func Truths() scalar.LevelType { return scalar.LevelType{Enc: ir.Unipolar, Bits: 1, Scale: 1} }

// broadcastShape is the common shape of tensors of one rank, where axes of extent 1 are repeated.
func (g *Graph) broadcastShape(n *Node, in []*Value) []int {
	shape := slices.Clone(in[0].Shape)
	for _, y := range in[1:] {
		ok := len(y.Shape) == len(shape)
		for d := 0; ok && d < len(shape); d++ {
			ok = shape[d] == y.Shape[d] || shape[d] == 1 || y.Shape[d] == 1
			shape[d] = max(shape[d], y.Shape[d])
		}
		g.failIf(!ok, n, "only axes of extent 1 are repeated; reshape the input with fewer axes",
			"inputs have shapes %s, want equal ones", shapesOf(in))
	}
	return shape
}

// shapesOf lists the shapes of tensors.
func shapesOf(in []*Value) string {
	s := ""
	for i, x := range in {
		switch {
		case i > 0 && i == len(in)-1:
			s += " and "
		case i > 0:
			s += ", "
		}
		s += fmt.Sprint(x.Shape)
	}
	return s
}

// inferFunction infers n; in, its inputs, are the first operands of f.
func (g *Graph) inferFunction(n *Node, in []*Value, f scalar.Function) *Value {
	_, truths := f.Arguments()
	for i, x := range in {
		if i < truths {
			g.failIf(x.Enc != ir.Unipolar || x.Bits != 1, n, "make truth values with a comparison, or with quantize",
				"input %q is %s, want truth values: unipolar levels of 1 bit", x.Name, x.LevelType)
		} else {
			g.needFloat(n, x)
		}
	}
	out := &Value{Shape: g.broadcastShape(n, in), Layout: in[0].Layout}
	if f.Truth() {
		out.LevelType = Truths()
	}
	return out
}

func inferLogic(g *Graph, n *Node, in []*Value, _ *NoAttrs, f scalar.Function) *Value {
	want, _ := f.Arguments()
	g.failIf(len(in) != want, n, "", "has %s, want %d", human.Count(len(in), "input"), want)
	return g.inferFunction(n, in, f)
}

func inferWhere(g *Graph, n *Node, in []*Value, _ *WhereAttrs, f scalar.Function) *Value {
	const help = "the inputs are the condition, a and b; weights \"a\" and \"b\" take the places of the last two"
	g.failIf(len(in)+len(n.Weights) != 3, n, help, "has %s and %s, want 3 in all",
		human.Count(len(in), "input"), human.Count(len(n.Weights), "weight"))
	out := g.inferFunction(n, in, f)
	for _, key := range []string{"a", "b"} {
		if n.Weights[key] != nil {
			g.needVector(n, key, out.Channels())
		}
	}
	return out
}
