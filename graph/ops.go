package graph

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"ripc/graph/scalar"
	"ripc/internal/human"
)

// Op is a row of the table of ops: all that this package knows of one. Packages that do something
// of their own with each op (reading and writing models, lowering, reference arithmetic) have
// tables by the same names, which tests hold to this one.
type Op struct {
	Name string
	// NewAttrs makes attributes of the op's type.
	NewAttrs func() any
	// Weights are those that the op may have; all but those of Infinite ops are finite.
	Weights  []string
	Infinite bool
	// Fused ops are made by fusedglue, never by an importer; they have no inference.
	Fused bool
	// Moves says that each element of the output is one of an input's, or padding: of levels it
	// makes no others.
	Moves bool

	whole    bool // it reads i32 integers as well
	infer    func(g *Graph, n *Node, in []*Value) *Value
	print    func(n *Node) string // n's attributes as text, with a space before each; printFields where nil is given
	steps    func(g *Graph, n *Node) []scalar.Step
	function *scalar.Function // the function of single elements of its operands, nil for other ops
}

// Ops lists the rows, in the order in which the schema of models has them.
func Ops() []*Op { return slices.Clone(table().rows) }

// PlainOps names the ops that are float steps without attributes and weights, such as relu.
func PlainOps() []string {
	var names []string
	for _, o := range table().rows {
		if _, none := o.NewAttrs().(*NoAttrs); none && o.Stepped() {
			names = append(names, o.Name)
		}
	}
	return names
}

// OpNamed finds a row, nil if there is none.
func OpNamed(name string) *Op { return table().byName[name] }

type opTable struct {
	rows   []*Op
	byName map[string]*Op
}

var table = sync.OnceValue(func() opTable {
	t := opTable{opRows(), map[string]*Op{}}
	for _, o := range t.rows {
		t.byName[o.Name] = o
	}
	return t
})

func opRows() []*Op {
	return []*Op{
		row("conv2d", inferConv, nil).weights("w", "b"),
		row("bitserial_conv2d", inferConv, nil).weights("w", "scale", "offset"),
		row("conv_transpose2d", inferConvTranspose, nil).weights("w", "b"),
		row("bitserial_conv_transpose2d", inferConvTranspose, nil).weights("w", "scale"),
		row("dense", inferDense, nil).weights("w", "b"),
		row("bitserial_dense", inferDense, nil).weights("w", "scale", "offset"),
		row("int_conv2d", inferIntConv, nil).weights("w", "bias", "multiplier"),
		row("int_dense", inferIntDense, nil).weights("w", "bias", "multiplier"),
		rowOf("int_add", inferIntAdd, printIntAdd),
		rowOf("int_mul", inferIntMul, printIntMul),
		row("int_map", inferIntMap, printIntMap),
		row("int_avg_pool", inferIntPool, printIntPool),
		row("int_softmax", inferIntSoftmax, printIntSoftmax),
		withSteps(row("batch_norm", inferBatchNorm, nil), batchNormSteps).weights("gamma", "beta", "mean", "var"),
		row("shift_norm", inferShiftNorm, nil).weights("mean", "var"),
		withSteps(row("relu", inferMap, nil), oneStep(scalar.Relu)),
		withSteps(row("relu6", inferMap, nil), oneStep(scalar.Relu6)),
		withSteps(row("hard_tanh", inferMap, nil), oneStep(scalar.HardTanh)),
		withSteps(row("sign", inferMap, nil), oneStep(scalar.Sign)),
		withSteps(row("abs", inferMap, nil), oneStep(scalar.Abs)),
		withSteps(row("sigmoid", inferMap, nil), oneStep(scalar.Sigmoid)),
		withSteps(row("tanh", inferMap, nil), oneStep(scalar.Tanh)),
		withSteps(row("hard_sigmoid", inferHardSigmoid, nil), hardSigmoidSteps),
		withSteps(row("hard_swish", inferMap, nil), oneStep(scalar.HardSwish)),
		withSteps(row("silu", inferMap, nil), oneStep(scalar.Silu)),
		withSteps(row("exp", inferMap, nil), oneStep(scalar.Exp)),
		withSteps(row("log", inferMap, nil), oneStep(scalar.Log)),
		withSteps(row("sqrt", inferMap, nil), oneStep(scalar.Sqrt)),
		withSteps(row("erf", inferMap, nil), oneStep(scalar.Erf)),
		withSteps(row("elu", inferElu, nil), eluSteps),
		withSteps(row("clip", inferClip, nil), clipSteps),
		withSteps(row("round", inferRound, nil), roundSteps),
		withSteps(row("prelu", inferPRelu, nil), preluSteps).weights("alpha"),
		binaryRow(scalar.Plus), binaryRow(scalar.Minus), binaryRow(scalar.Times), binaryRow(scalar.Over),
		binaryRow(scalar.Minimum), binaryRow(scalar.Maximum),
		binaryRow(scalar.Greater), binaryRow(scalar.GreaterEqual), binaryRow(scalar.Less),
		binaryRow(scalar.LessEqual), binaryRow(scalar.Equal), binaryRow(scalar.NotEqual),
		logicRow(scalar.Not), logicRow(scalar.And), logicRow(scalar.Or), logicRow(scalar.Xor),
		functionRow(scalar.Where, inferWhere, printWhere).weights("a", "b").allowInfinite(),
		row("pad", inferPad, nil).setMoves(),
		row("slice", inferSlice, nil).setMoves().readWhole(),
		row("reshape", inferReshape, nil).setMoves().readWhole(),
		rowOf("matmul", inferMatMul, nil),
		row("transpose", inferTranspose, nil).setMoves().readWhole(),
		row("depth_to_space", inferDepthToSpace, nil).setMoves(),
		row("space_to_depth", inferSpaceToDepth, nil).setMoves(),
		row("resize", inferResize, nil).setMoves(),
		row("gather", inferGather, nil).setMoves(),
		row("interpolate", inferInterpolate, nil),
		rowOf("constant", inferConstant, nil).weights("value").allowInfinite(),
		row("max_pool", inferPool, nil).setMoves(),
		row("avg_pool", inferPool, nil),
		row("global_avg_pool", inferGlobalPool, nil),
		rowOf("concat", inferConcat, nil).setMoves(),
		row("softmax", inferMap, nil),
		row("log_softmax", inferMap, nil),
		row("argmax", inferArg, nil), row("argmin", inferArg, nil),
		row("top_k", inferTopK, nil), row("top_k_indices", inferTopKIndices, nil),
		row("flatten", inferFlatten, nil).setMoves().readWhole(),
		row("quantize", inferQuantize, printQuantize),
		row("threshold", inferThreshold, printThreshold).weights("thresholds").allowInfinite(),
		withSteps(row("fake_quant", inferFakeQuant, printFakeQuant), fakeQuantSteps).weights("scale", "zero_point"),
		row("dequantize", inferDequantize, nil).readWhole(),
		row("bitpack", inferBitpack, nil).setMoves(),
		row("unpack", inferUnpack, nil),

		fusedRow("eltwise", printElementwise),
		fusedRow("bconv2d", printFusedConv),
		fusedRow("window_sum", printFusedConv),
		fusedRow("fconv2d", printFusedConv),
		fusedRow[ShiftLevels]("shift_levels", nil),
		fusedRow[LevelThresholds]("level_thresholds", nil),
	}
}

// row is an op of one input with attributes of type A.
func row[A any](name string, infer func(g *Graph, n *Node, x *Value, a *A) *Value,
	print func(n *Node, a *A) string) *Op {
	one := func(g *Graph, n *Node, in []*Value, a *A) *Value {
		g.failIf(len(in) != 1, n, "", "has %s, want 1", human.Count(len(in), "input"))
		return infer(g, n, in[0], a)
	}
	return rowOf(name, one, print)
}

// rowOf is an op that says itself how many inputs it has.
func rowOf[A any](name string, infer func(g *Graph, n *Node, in []*Value, a *A) *Value,
	print func(n *Node, a *A) string) *Op {
	o := fusedRow(name, print)
	o.Fused = false
	o.infer = func(g *Graph, n *Node, in []*Value) *Value { return infer(g, n, in, n.Attrs.(*A)) }
	return o
}

// fusedRow is an op that fusedglue makes.
func fusedRow[A any](name string, print func(n *Node, a *A) string) *Op {
	o := &Op{Name: name, Fused: true, NewAttrs: func() any { return new(A) },
		print: func(n *Node) string { return printFields(n.Attrs) }}
	if print != nil {
		o.print = func(n *Node) string { return print(n, n.Attrs.(*A)) }
	}
	return o
}

// binaryRow is an op of two tensors, or of a tensor and a weight.
func binaryRow(f scalar.Function) *Op {
	return withSteps(functionRow(f, inferBinaryOp, printBinaryOp), binarySteps).weights("b").allowInfinite()
}

// logicRow is an op of truth values.
func logicRow(f scalar.Function) *Op { return functionRow(f, inferLogic, nil) }

// functionRow is an op that computes f of single elements.
func functionRow[A any](f scalar.Function,
	infer func(g *Graph, n *Node, in []*Value, a *A, f scalar.Function) *Value,
	print func(n *Node, a *A) string) *Op {
	o := rowOf(f.String(), func(g *Graph, n *Node, in []*Value, a *A) *Value {
		return infer(g, n, in, a, f)
	}, print)
	o.function = &f
	return o
}

func (o *Op) weights(keys ...string) *Op {
	o.Weights = keys
	return o
}

// setMoves sets Moves.
func (o *Op) setMoves() *Op {
	o.Moves = true
	return o
}

// readWhole says that the op reads i32 integers as well.
func (o *Op) readWhole() *Op {
	o.whole = true
	return o
}

func (o *Op) allowInfinite() *Op {
	o.Infinite = true
	return o
}

// Function is the function that the op computes of single elements of its operands (FunctionOf); ok
// is false if it is no such op.
func (o *Op) Function() (f scalar.Function, ok bool) {
	if o.function == nil {
		return 0, false
	}
	return *o.function, true
}

// withSteps says that the op is a chain of float steps. vector gives one value for all channels as
// one for each.
func withSteps[A any](o *Op, steps func(n *Node, a *A, vector func(v []float32) []float32) []scalar.Step) *Op {
	o.steps = func(g *Graph, n *Node) []scalar.Step {
		return steps(n, n.Attrs.(*A), func(v []float32) []float32 {
			if c := g.Value(n.Inputs[0]).Channels(); len(v) == 1 && c > 1 {
				return slices.Repeat(v, c)
			}
			return v
		})
	}
	return o
}

// Products reports whether an op sums products of its input and weights: a convolution or a dense
// layer.
func Products(op string) bool {
	o := OpNamed(op)
	return o != nil && slices.Contains(o.Weights, "w")
}

// Bitserial reports whether an op sums products of levels and weights of few bits.
func Bitserial(op string) bool { return Products(op) && slices.Contains(OpNamed(op).Weights, "scale") }

// Moves reports whether each element that n makes is one of an input's, or padding.
func (n *Node) Moves() bool {
	o := OpNamed(n.Op)
	return o != nil && o.Moves
}

// Stepped reports whether the op is a chain of float steps; of ops that may join two tensors, only
// with a weight for the second.
func (o *Op) Stepped() bool { return o.steps != nil }

// oneStep is for an op that is a step without operands.
func oneStep(kind scalar.Kind) func(*Node, *NoAttrs, func([]float32) []float32) []scalar.Step {
	return func(*Node, *NoAttrs, func([]float32) []float32) []scalar.Step { return []scalar.Step{{Kind: kind}} }
}

// rowFor finds n's row, or fails where there is none, or where n's attributes are those of another
// op.
func (g *Graph) rowFor(n *Node) (*Op, error) {
	o := OpNamed(n.Op)
	if o == nil {
		return nil, g.Errorf(n, "", "unknown op")
	}
	if reflect.TypeOf(n.Attrs) != reflect.TypeOf(o.NewAttrs()) || reflect.ValueOf(n.Attrs).IsNil() {
		return nil, g.Errorf(n, "", "no layer of a model has this op with attributes %T", n.Attrs)
	}
	return o, nil
}

// attrString prints n's attributes, with a space before each.
func attrString(n *Node) string {
	if o, err := (&Graph{}).rowFor(n); err == nil {
		return o.print(n)
	}
	return fmt.Sprintf(" attributes=%T", n.Attrs)
}
