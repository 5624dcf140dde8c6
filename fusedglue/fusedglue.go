// Package fusedglue turns the layers between two binary convolutions into integer glue inside the
// first one. Weight scale, batch normalization, ShiftNorm, activation, quantizer and pooling become
// thresholds on the integer sums, or Riptide's add-then-shift (Fromm et al., Riptide, MLSys 2020,
// section 4.2). A layer that does not fold exactly stays a float op with a note that names the
// reason.
package fusedglue

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/internal/passorder"
	"ripc/ir"
)

// Pass is a pass over a copy of the graph.
type Pass = passorder.Pass[*rewriter]

// Passes lists the passes in the order in which they run.
func Passes() []Pass {
	each := passorder.VisitNodes[*rewriter, *graph.Node]
	return []Pass{
		{Name: "bind", Doc: "layers with weights become fused convolutions of integers", Required: true, Run: bind},
		{Name: "identity", Doc: "bitpack, unpack and one-input concats vanish", Required: true,
			Run: each(dropIdentities)},
		{Name: "int_maps", Doc: "a table of levels folds into the quantizer of the layer before it",
			Run: each(intMaps)},
		{Name: "shift_norm", Doc: "shift_norm becomes add-then-shift on integers", Required: true, Run: shiftNorms},
		{Name: "eltwise", Doc: "elementwise ops become float steps", Required: true, Run: each(eltwise)},
		{Name: "parts", Doc: "slices, quantizers and concatenations read the parts of a concatenation", Run: parts},
		{Name: "chains", Doc: "a concatenation reads an earlier one that joins some of its inputs", Run: chains},
		{Name: "moves", Doc: "steps and quantizers move in front of ops that only move or pool elements", Run: moves},
		{Name: "curves", Doc: "a long step such as sigmoid becomes thresholds with its quantizer", Run: each(curves)},
		{Name: "fold_steps", Doc: "steps, and sums with other tensors, move into convolutions", Run: each(foldSteps)},
		{Name: "fold_quantize", Doc: "quantizers move into convolutions", Required: true, Run: foldQuantize},
		{Name: "fold_pool", Doc: "max_pool without overlap moves into the convolution's tile", Run: each(foldPool)},
		{Name: "steps_behind", Doc: "unfused steps move behind movers, to a quantizer or steps", Run: stepsBehind},
		{Name: "merge_moves", Doc: "reshapes or transposes in a row become one, or none", Run: each(mergeMoves)},
		{Name: "quantizers_alone", Doc: "few-bit quantizers of floats become thresholds", Run: each(quantizersAlone)},
		{Name: "level_quantizers", Doc: "thresholds on values of levels become integer ones",
			Run: each(levelQuantizers)},
		{Name: "merge_steps", Doc: "unfused float steps in a row become one layer", Run: each(mergeSteps)},
		{Name: "pool_parts", Doc: "a pool of floats behind a concatenation pools its parts", Run: poolParts},
		{Name: "reasons", Doc: "bitserial layers with f32 sums name the reason", Required: true, Run: explainFloatSums},
		{Name: "alike", Doc: "operands and thresholds that are equal in all channels are kept once",
			Run: each(shareAlike)},
	}
}

// order lists pairs of passes, the first before the second, with the reason; Fuse checks the table
// above.
func order() [][3]string {
	return [][3]string{
		{"moves", "curves", "a quantizer must stand next to the steps"},
		{"curves", "fold_quantize", "the thresholds are folded like a quantizer's"},
		{"bind", "fold_steps", "steps are folded into fused convolutions"},
		{"identity", "fold_pool", "a pool must see its convolution, not a bitpack"},
		{"bind", "shift_norm", "sums become integers"},
		{"bind", "int_maps", "a layer of integers has its quantizer from there"},
		{"int_maps", "fold_pool", "the pool applies to the table's results"},
		{"shift_norm", "eltwise", "it looks for constants that are added, and relu"},
		{"eltwise", "parts", "only steps are split"},
		{"parts", "chains", "concatenations read in parts join all of them"},
		{"chains", "moves", "steps pass no concatenation that others read"},
		{"chains", "pool_parts", "a part that several concatenations join would be pooled for each"},
		{"parts", "moves", "a concatenation read as a whole can be passed"},
		{"eltwise", "moves", "only steps are moved"},
		{"eltwise", "fold_steps", "only steps are folded"},
		{"moves", "fold_steps", "steps must stand next to their convolution"},
		{"moves", "fold_quantize", "a quantizer must stand next to its convolution"},
		{"moves", "merge_steps", "single steps pass movers that their composition might not pass"},
		{"fold_quantize", "fold_pool", "only integer accumulators are pooled"},
		{"fold_quantize", "quantizers_alone", "thresholds on sums cost less than those on floats"},
		{"fold_steps", "steps_behind", "steps that a convolution fused stay there"},
		{"steps_behind", "quantizers_alone", "a quantizer takes in the steps that come next to it"},
		{"steps_behind", "merge_steps", "steps that come next to others become one layer with them"},
		{"fold_quantize", "merge_moves", "movers become neighbours once the layer between them was fused"},
		{"quantizers_alone", "level_quantizers", "it makes thresholds of quantizers and the steps before them"},
		{"quantizers_alone", "merge_steps", "it takes increasing steps only, which is decided for each"},
		{"merge_steps", "pool_parts", "a pool takes floats of one layer, with all steps behind each other"},
		{"fold_pool", "pool_parts", "pools of sums are the convolution's"},
		{"pool_parts", "reasons", "verdicts name the final readers of sums"},
		{"merge_steps", "reasons", "verdicts name the final layers"},
		{"merge_steps", "alike", "the passes before it count channels by operands"},
		{"fold_steps", "merge_steps", "steps that a convolution fused need no layer of their own"},
	}
}

// Fuse runs the passes that are not disabled. observe, if not nil, sees the graph after each.
func Fuse(ctx context.Context, g *graph.Graph, disabled []string,
	observe func(pass string, g *graph.Graph)) (*graph.Graph, error) {
	passes := Passes()
	for _, d := range disabled {
		if i := slices.Index(passorder.Names(passes), d); i < 0 || passes[i].Required {
			optional := slices.DeleteFunc(slices.Clone(passes), func(p Pass) bool { return p.Required })
			return nil, &ir.Error{Op: "disable pass " + d, Msg: "there is no such pass that can be left out",
				Help: "those that can be left out are " + strings.Join(passorder.Names(optional), ", ")}
		}
	}
	r := newRewriter(g)
	if err := r.run(ctx, passes, disabled, observe); err != nil {
		return nil, err
	}
	return r.g, nil
}

func (r *rewriter) run(ctx context.Context, passes []Pass, disabled []string,
	observe func(pass string, g *graph.Graph)) error {
	ran := func(pass string) {
		if observe != nil {
			observe(pass, r.g)
		}
	}
	return passorder.Run(ctx, passes, order(), r, disabled, ran)
}

// rewriter rewrites a copy of the graph.
type rewriter struct {
	*graph.Builder
	g *graph.Graph // the Builder's
}

func newRewriter(g *graph.Graph) *rewriter {
	c := g.Clone()
	return &rewriter{graph.NewBuilder(c), c}
}

// absorb lets p, the producer of n's only input, produce n's output, and drops n. A quantizer's
// verdict moves from n to p.
func (r *rewriter) absorb(p, n *graph.Node) {
	if p.Verdict.Reason == graph.NoReason && n.Verdict.Kind == graph.Bits {
		p.Verdict = n.Verdict
	}
	r.SetOutput(p, n.Output)
	r.Remove(n)
}

// copyBefore puts a copy of p in front of n. Names of the copy and its output end in suffix.
func (r *rewriter) copyBefore(n, p *graph.Node, suffix string) *graph.Node {
	own, v := *p, *r.g.Value(p.Output)
	own.Name, own.Output = r.NodeName(p.Name+suffix), r.TensorName(p.Output+suffix)
	own.Inputs, v.Shape = slices.Clone(p.Inputs), slices.Clone(v.Shape)
	r.InsertBefore(n, &own, &v)
	return &own
}

// insertPart puts part, which is n for input i of a mover, in front of node before. It reads in, a
// tensor of the shape of x.
func (r *rewriter) insertPart(before, part, n *graph.Node, i int, in string, x *graph.Value) {
	v := *r.g.Value(n.Output)
	v.Shape, v.Layout, v.View = slices.Clone(x.Shape), x.Layout, graph.Bytes
	part.Name, part.Inputs, part.Output = r.NodeName(fmt.Sprintf("%s.%d", n.Name, i)), []string{in},
		r.TensorName(fmt.Sprintf("%s.%s", x.Name, n.Name))
	r.InsertBefore(before, part, &v)
}

// removeUnread removes n if nothing reads its output.
func (r *rewriter) removeUnread(n *graph.Node) {
	if r.ConsumerCount(n.Output) == 0 && !r.g.IsOutput(n.Output) {
		r.Remove(n)
	}
}

// soleProducer returns the producer of n's one input if n is the input's only reader. It returns
// nil otherwise.
func (r *rewriter) soleProducer(n *graph.Node) *graph.Node {
	if len(n.Inputs) != 1 {
		return nil
	}
	return r.soleProducerOf(n.Inputs[0])
}

// soleProducerOf returns the producer of a tensor with one reader that is no output of the network.
// It returns nil otherwise.
func (r *rewriter) soleProducerOf(tensor string) *graph.Node {
	if r.g.IsOutput(tensor) || r.ConsumerCount(tensor) != 1 {
		return nil
	}
	return r.Producer(tensor)
}

// openConv returns the attributes of a fused convolution that still yields plain floats. It returns
// nil for other nodes.
func openConv(n *graph.Node) *graph.FusedConv {
	if n == nil {
		return nil
	}
	a, ok := n.Attrs.(*graph.FusedConv)
	if !ok || a.Epilogue.OutBits > 0 || a.Pool != nil {
		return nil
	}
	return a
}
