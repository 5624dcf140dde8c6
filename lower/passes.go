package lower

import (
	"context"

	"ripc/graph"
	"ripc/internal/passorder"
	"ripc/lower/layout"
	"ripc/targets"
)

// pass is a decision about the stages of a graph: which nodes share one, and the layout of tensors
// between them. It changes no node; the rules of ops read its notes in the lowering.
type pass = passorder.Pass[*lowering]

// passes lists the passes in the order in which they run, before nodes become stages.
func passes() []pass {
	return []pass{
		{Name: "byte_outputs", Doc: "a quantizer writes the caller's bytes, with a transpose behind it",
			Run: each((*lowering).planOutputs)},
		{Name: "requantize", Doc: "levels that are read as floats alone stay floats, rounded",
			Run: each((*lowering).planRequantized)},
		{Name: "bytes", Doc: "levels lie as bytes where all that make and read them can",
			Run: each((*lowering).planForms)},
		{Name: "transposes", Doc: "a stage that makes floats of bytes reads them in another order of axes",
			Run: each((*lowering).planTransposes)},
		{Name: "steps_behind", Doc: "a stage that makes floats of levels does the float steps behind it",
			Run: each((*lowering).planStepsBehind)},
		{Name: "steps_before", Doc: "a quantizer does the float steps before it",
			Run: each((*lowering).planStepsBefore)},
		{Name: "beside", Doc: "a layer writes levels beside its floats, where others read these too",
			Run: each((*lowering).planBeside)},
		{Name: "means", Doc: "a layer writes the mean over all positions in place of its floats",
			Run: each((*lowering).planMeans)},
		{Name: "multiples", Doc: "floats that are multiples of a unit lie as integers",
			Run: each((*lowering).planMultiples)},
		{Name: "inputs", Doc: "the caller's tensors get buffers, and stages that pack them",
			Run: each((*lowering).inputs)},
		{Name: "concats", Doc: "layers write their parts of concatenations in place",
			Run: each((*lowering).planConcats)},
	}
}

// order says which pass must run before which, and why.
func order() [][3]string {
	return [][3]string{
		{"byte_outputs", "bytes", "levels that the caller alone reads have no form"},
		{"requantize", "bytes", "levels that stay floats have no form"},
		{"bytes", "transposes", "only bytes are read in another order of axes"},
		{"transposes", "steps_behind", "the stage that reads bytes does the steps"},
		{"requantize", "steps_behind", "the stage that rounds does the steps"},
		{"steps_behind", "steps_before", "steps that have a stage already stay there"},
		{"steps_before", "beside", "a layer's levels come of the steps that quantizers do"},
		{"byte_outputs", "beside", "a quantizer that writes the caller's bytes has a stage"},
		{"means", "multiples", "means are floats"},
		{"bytes", "multiples", "forms of levels are decided by levels alone"},
		{"multiples", "inputs", "inputs are packed where nodes read bits"},
		{"inputs", "concats", "buffers of inputs come first"},
		{"means", "concats", "a mean in a layer's stage is no part of its own"},
		{"multiples", "concats", "parts lie as the whole does"},
	}
}

// each is a pass that looks at all nodes at once, and cannot fail.
func each(plan func(*lowering)) func(context.Context, *lowering) error {
	return func(_ context.Context, l *lowering) error {
		plan(l)
		return nil
	}
}

// plans are the decisions of passes.
type plans struct {
	// of levels that are stored as bytes, and of floats that are stored as integers
	forms     map[string]layout.Form
	multiples map[string]layout.Multiples // floats that lie in memory as integers
	// by levels that lie as bytes in another order of axes: the transpose, which changes nothing
	// else
	transposed  map[string]*graph.Node
	dequantized map[string]*graph.Node // by float steps: the dequantize before them that their stage does too
	// by quantize and the dequantize nodes behind it, which alone read its levels: the quantize
	requantized map[string]*graph.Node
	// by quantize, or transpose behind it: the node that makes the caller's bytes
	byteOutputs map[string]*graph.Node
	before      map[string]*graph.Node // by quantizer: the float steps before it that its stage does too
	// by fused layer that makes floats: the quantizers of these that its stage does too
	beside map[string][]*graph.Node
	// by fused layer that makes floats: the mean of them that its stage makes in their place
	means map[string]*graph.Node
	done  map[string]bool // nodes that the stage of another does
}

func newLowering(g *graph.Graph, t targets.Target, choices map[string]layout.Choice) *lowering {
	return &lowering{
		Index: graph.NewIndex(g), g: g, target: t, choices: choices,
		at: map[string]place{}, bits: map[string]string{}, consts: map[string]string{}, funcs: map[string]string{},
		versions: map[string]int{}, buffers: map[string]int{},
		plans: plans{
			forms: map[string]layout.Form{}, multiples: map[string]layout.Multiples{},
			transposed: map[string]*graph.Node{}, dequantized: map[string]*graph.Node{},
			requantized: map[string]*graph.Node{}, byteOutputs: map[string]*graph.Node{},
			before: map[string]*graph.Node{}, beside: map[string][]*graph.Node{}, done: map[string]bool{},
		},
	}
}
