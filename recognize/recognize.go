// Package recognize finds the binary and N-bit layers in a graph of plain ops, and turns them into
// bitserial ones. Importers of other programs' files make such graphs. In them a quantizer is a
// quantize or threshold node followed by a dequantize, which stands for the file's f32 tensor.
// Convolutions have f32 weights. The verdict of a layer that stays float names the reason.
//
// Recognition keeps the function of the file: levels keep their values, and sums in f32 become
// exact, with one rounding at the end. Recognizing a recognized graph changes nothing.
package recognize

import (
	"context"
	"slices"

	"ripc/graph"
	"ripc/internal/passorder"
)

// Pass is a pass over a copy of the graph.
type Pass = passorder.Pass[*rewriter]

// Passes lists the passes in the order in which they run.
func Passes() []Pass {
	each := passorder.VisitNodes[*rewriter, *graph.Node]
	return []Pass{
		{Name: "merge_pads", Doc: "pads of zeros move into convolutions behind them", Run: each(mergePads)},
		{Name: "fold_weights", Doc: "nearly few-bit weights become few-bit", Run: each(foldWeights)},
		{Name: "cancel_terms", Doc: "a sum with cancelling terms becomes its levels", Run: each(cancelTerms)},
		{Name: "requantize", Doc: "quantizers that do not change levels are removed", Run: each(requantize)},
		{Name: "fold_scales", Doc: "channel scales before a layer fold into weights", Run: each(foldScales)},
		{Name: "row_scales", Doc: "row scales of inputs move to the sums", Run: each(moveRowScales)},
		{Name: "bitserial", Doc: "few-bit layers of levels become bitserial", Run: bitserial},
		{Name: "fake_quant", Doc: "levels that only float layers read stay floats", Run: each(fakeQuants)},
		{Name: "dead", Doc: "layers without readers are dropped", Run: dropDead},
	}
}

// order lists pairs of passes, the first before the second, with the reason; Run checks the table
// above.
func order() [][3]string {
	return [][3]string{
		{"merge_pads", "bitserial", "bipolar levels have no zero to pad with, but their convolutions can"},
		{"fold_weights", "bitserial", "layers are bitserial by the weights that they get"},
		{"fold_scales", "bitserial", "scales of channels are no levels"},
		{"cancel_terms", "row_scales", "scaled levels reach a layer through sums after the other terms cancelled"},
		{"row_scales", "bitserial", "scaled levels are no levels"},
		{"requantize", "bitserial", "levels reach a convolution through quantizers that change nothing"},
		{"bitserial", "fake_quant", "only then is known which levels have no readers"},
		{"bitserial", "dead", "it leaves float nodes without readers"},
		{"fake_quant", "dead", "it leaves the quantizer without readers"},
	}
}

// Run returns g with its bitserial layers recognized. g itself is not changed. Errors are
// *ir.Error, or that of ctx.
func Run(ctx context.Context, g *graph.Graph, o Options) (*graph.Graph, error) {
	r := newRewriter(g)
	r.options = o
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return r.g, nil
}

func (r *rewriter) run(ctx context.Context) (err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case abort:
			err = e.err
		default:
			panic(e)
		}
	}()
	for r.changed = true; r.changed; { // a new fake_quant may tell more about its values
		r.changed = false
		clear(r.levels)
		r.forget()
		if err := passorder.Run(ctx, Passes(), order(), r, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// rewriter holds a copy of the graph with nodes and values that may be changed. Attributes and
// weights are shared with the original: they are replaced, never written to.
type rewriter struct {
	*graph.Builder
	g          *graph.Graph
	options    Options
	sources    map[string]origin         // f32 tensor -> its levels
	starts     map[string]string         // f32 tensor -> the tensor from which ops of one input compute it
	levels     map[string]string         // f32 tensor -> its tensor of levels
	quantizers map[string]*stepQuantizer // f32 tensor -> the quantizer that the ops before it form, or nil
	// f32 tensor -> the quantizer of its few values, to be put behind it, or nil
	valueQuantizers map[string]*stepQuantizer
	uneven          map[string]unevenness
	sums            map[*graph.Node]*sums
	knownValues     map[string][]float32           // f32 tensor -> its possible values, if few
	knownStrands    map[place][]strand             // channel -> its strands, during one call of domainOf
	nearWeights     map[*graph.Node]*graph.FewBits // few-bit weights that ExactFloats refuses
	planes          map[string][]string            // f32 tensor of uneven levels -> the planes that add up to it
	// nearSums has the bits of the levels that sums would be if ExactFloats let their terms cancel.
	nearSums map[string]int
	// changed is set by each rewrite.
	changed bool
}

func newRewriter(g *graph.Graph) *rewriter {
	c := g.Clone()
	r := &rewriter{Builder: graph.NewBuilder(c), g: c, levels: map[string]string{}, knownStrands: map[place][]strand{},
		nearWeights: map[*graph.Node]*graph.FewBits{}, nearSums: map[string]int{}}
	r.forget()
	return r
}

// forget drops all that is known of tensors and layers, after a change of the graph.
func (r *rewriter) forget() {
	r.sources, r.starts = map[string]origin{}, map[string]string{}
	r.quantizers, r.valueQuantizers = map[string]*stepQuantizer{}, map[string]*stepQuantizer{}
	r.knownValues, r.uneven = map[string][]float32{}, map[string]unevenness{}
	r.planes, r.sums = map[string][]string{}, map[*graph.Node]*sums{}
}

// abort carries an error out of a pass.
type abort struct{ err error }

// insert puts n, with the output tensor out, behind node after, and infers the tensor's type.
func (r *rewriter) insert(after, n *graph.Node, out string) {
	r.changed = true
	n.Name, n.Output, n.Pos = r.NodeName(n.Name), out, after.Pos
	if _, err := r.InsertAfter(after, n); err != nil {
		panic(abort{err})
	}
}

// retype infers the type of n's output again.
func (r *rewriter) retype(n *graph.Node) {
	if err := r.Retype(n); err != nil {
		panic(abort{err})
	}
}

// inserter returns a function that puts nodes one behind the other, the first behind n. They and
// their tensors are named after n, with a suffix.
func (r *rewriter) inserter(n *graph.Node) func(m *graph.Node, suffix string) (out string) {
	after, name, tensor := n, n.Name, n.Output
	return func(m *graph.Node, suffix string) string {
		m.Name = name + suffix
		out := r.TensorName(tensor + suffix)
		r.insert(after, m, out)
		after = m
		return out
	}
}

// withConstant returns a node that combines tensor in with a constant.
func withConstant(name, op, in string, constant *graph.Tensor) *graph.Node {
	return &graph.Node{Name: name, Op: op, Attrs: &graph.BinaryOpAttrs{}, Inputs: []string{in},
		Weights: map[string]*graph.Tensor{"b": constant}}
}

// scalarTensor returns a constant for all channels.
func scalarTensor(v float32) *graph.Tensor {
	return &graph.Tensor{Shape: []int{1}, Data: graph.NumbersOf([]float32{v})}
}

// pairwise combines neighbours of list until one value is left.
func pairwise[T any](list []T, combine func(a, b T) T) T {
	for len(list) > 1 {
		var next []T
		for pair := range slices.Chunk(list, 2) {
			if len(pair) == 2 {
				pair[0] = combine(pair[0], pair[1])
			}
			next = append(next, pair[0])
		}
		list = next
	}
	return list[0]
}

// dropDead removes tensors without readers, and their nodes.
func dropDead(_ context.Context, r *rewriter) error {
	r.Prune()
	return nil
}
