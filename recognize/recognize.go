// Package recognize finds the binary and N-bit layers in a graph of plain ops, as the importers of
// other people's files make it, and turns them into bitserial ones. There a quantizer is a quantize
// or threshold node with a dequantize behind it, whose f32 tensor stands for the file's, and
// convolutions have f32 weights. What stays float says why in its verdict.
//
// Recognition keeps the function that the file asks for: levels stay what they are, and sums that
// were added up in f32 become exact, with one rounding at the end. A graph that was recognized is
// left as it is.
package recognize

import (
	"context"
	"ripc/graph"
	"ripc/internal/passorder"
)

// Pass is a pass over a copy of the graph.
type Pass = passorder.Pass[*rewriter]

// Passes lists the passes in the order in which they run.
func Passes() []Pass {
	return []Pass{
		{Name: "merge_pads", Doc: "a pad of zeros moves into the padding of the convolutions behind it", Required: true, Run: mergePads},
		{Name: "fold_weights", Doc: "weights that have few bits but for roundings become those, unless the options refuse it", Required: true, Run: foldWeights},
		{Name: "cancel_terms", Doc: "a sum whose other terms cancel is the levels that are left, unless the options refuse it", Required: true, Run: cancelTerms},
		{Name: "requantize", Doc: "a quantizer of levels that it would not change is left out", Required: true, Run: requantize},
		{Name: "fold_scales", Doc: "scales of the channels in front of a layer go into its weights, where these have few bits then", Required: true, Run: foldScales},
		{Name: "row_scales", Doc: "scales of rows in front of a layer of few-bit weights move behind its sums", Required: true, Run: moveRowScales},
		{Name: "bitserial", Doc: "convolutions and dense layers of levels with few-bit weights become bitserial; what stands between a dequantize and them works on levels. Where weights or levels are sums of few bits, so is the layer", Required: true, Run: bitserial},
		{Name: "fake_quant", Doc: "levels that only float layers read stay floats", Required: true, Run: fakeQuants},
		{Name: "dead", Doc: "layers that nobody reads are dropped", Required: true, Run: dropDead},
	}
}

// order says which pass must run before which, and why; Run checks it against the table above.
func order() [][3]string {
	return [][3]string{
		{"merge_pads", "bitserial", "bipolar levels have no zero to pad with, but their convolutions can"},
		{"fold_weights", "bitserial", "layers are bitserial by the weights that they get"},
		{"fold_scales", "bitserial", "scales of channels are no levels"},
		{"cancel_terms", "row_scales", "scaled levels reach a layer through sums whose other terms cancel"},
		{"row_scales", "bitserial", "scaled levels are no levels"},
		{"requantize", "bitserial", "levels reach a convolution through quantizers that change nothing"},
		{"bitserial", "fake_quant", "only then is known which levels nobody wants"},
		{"bitserial", "dead", "it leaves the float way behind"},
		{"fake_quant", "dead", "it leaves the quantizer behind"},
	}
}

// Run gives g with its bitserial layers found. g itself is not changed. Errors are *ir.Error, or
// that of ctx.
func Run(ctx context.Context, g *graph.Graph, o Options) (*graph.Graph, error) {
	r := newRewriter(g)
	r.options = o
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return r.g, nil
}

func (r *rewriter) run(ctx context.Context) error {
	for r.changed = true; r.changed; { // a quantizer that became a fake_quant may tell more of its values
		r.changed = false
		clear(r.levels)
		r.forget()
		if err := passorder.Run(ctx, Passes(), order(), r, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// rewriter holds a copy of the graph whose nodes and values may be changed. Attributes and weights
// are shared with the original: they are replaced, never written to.
type rewriter struct {
	*graph.Builder
	g       *graph.Graph
	options Options
	sources map[string]origin   // f32 tensor -> what it is made from
	starts  map[string]string   // f32 tensor -> where the ops of one input before it start
	levels  map[string]string   // f32 tensor -> the tensor of levels that it is made from
	chains  map[string]*stepped // f32 tensor -> the quantizer that the ops before it are, or nil
	finals  map[string]*stepped // f32 tensor -> the quantizer of its values that may stand behind it, or nil
	uneven  map[string]unevenness
	sums    map[*graph.Node]*sums
	held    map[string][]float32           // what values has found, where there is something
	numbers map[place][]strand             // what domainOf has found on its way up, where branches meet again
	nearly  map[*graph.Node]*graph.FewBits // what the weights of layers are but for roundings
	planes  map[string][]string            // f32 tensor of uneven levels -> the planes that add up to it
	// nearSums has the bits of levels that sums would be if their other terms cancelled, where
	// options refuse that.
	nearSums map[string]int
	// changed says that a pass has rewritten something.
	changed bool
}

func newRewriter(g *graph.Graph) *rewriter {
	c := g.Clone()
	return &rewriter{Builder: graph.NewBuilder(c), g: c, sources: map[string]origin{}, starts: map[string]string{}, levels: map[string]string{}, chains: map[string]*stepped{}, finals: map[string]*stepped{}, uneven: map[string]unevenness{}, sums: map[*graph.Node]*sums{}, held: map[string][]float32{}, numbers: map[place][]strand{},
		nearly: map[*graph.Node]*graph.FewBits{}, nearSums: map[string]int{}, planes: map[string][]string{}}
}

// forget drops what was found of tensors and layers: the graph has changed.
func (r *rewriter) forget() {
	clear(r.sources)
	clear(r.starts)
	clear(r.chains)
	clear(r.finals)
	clear(r.held)
	clear(r.uneven)
	clear(r.planes)
	clear(r.sums)
}

// insert puts n, which makes the tensor out, behind node after, and gives the tensor its type.
func (r *rewriter) insert(after, n *graph.Node, out string) error {
	r.changed = true
	n.Name, n.Output, n.Pos = r.NodeName(n.Name), out, after.Pos
	_, err := r.InsertAfter(after, n)
	return err
}

// inserter returns a function that puts nodes one behind the other, the first behind n. They and
// their tensors are named after n, with a suffix.
func (r *rewriter) inserter(n *graph.Node) func(m *graph.Node, suffix string) (out string, err error) {
	after, name, tensor := n, n.Name, n.Output
	return func(m *graph.Node, suffix string) (string, error) {
		m.Name = name + suffix
		out := r.TensorName(tensor + suffix)
		err := r.insert(after, m, out)
		after = m
		return out, err
	}
}

// dropDead drops the nodes whose tensors nobody reads, and these tensors.
func dropDead(_ context.Context, r *rewriter) error {
	r.Prune()
	return nil
}
