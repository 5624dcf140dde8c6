// Package fusedglue turns the layers between two binary convolutions into integer glue inside the first one: weight
// scale, batch normalization, ShiftNorm, activation, quantizer and pooling become thresholds on the integer sums, or Riptide's
// add-then-shift (Fromm et al., Riptide, MLSys 2020, section 4.2). What does not fold exactly stays a float op with a
// note that says why.
package fusedglue

import (
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
	return []Pass{
		{Name: "bind", Doc: "convolutions and dense layers become fused ones, weights become integers", Required: true, Run: bind},
		{Name: "identity", Doc: "bitpack and unpack are only representations: their users read what they read", Required: true, Run: dropIdentities},
		{Name: "eltwise", Doc: "batch_norm, relu, clip and other ops on single elements become float steps", Required: true, Run: eltwise},
		{Name: "fold_steps", Doc: "float steps move into the convolution before them", Run: foldSteps},
		{Name: "pool_after", Doc: "max_pool moves behind the increasing steps and the quantizer after it, where it is cheaper", Run: poolAfter},
		{Name: "concat_after", Doc: "concat moves behind the steps and the quantizer after it, which its inputs' convolutions may take in", Run: concatAfter},
		{Name: "pool_after_again", Doc: "max_pool moves behind what came before a concat", Run: poolAfter},
		{Name: "fold_steps_again", Doc: "float steps that these brought next to their convolution move in", Run: foldSteps},
		{Name: "fold_quantize", Doc: "quantizers become thresholds or add-then-shift in the convolution before them", Required: true, Run: foldQuantize},
		{Name: "thresholds", Doc: "add-then-shift of 1 and 2 bits becomes thresholds, which cost less", Run: shiftToThresholds},
		{Name: "fold_pool", Doc: "max_pool without overlap moves into the convolution's tile", Run: foldPool},
		{Name: "quantizers_alone", Doc: "quantizers of few bits behind no convolution become thresholds on floats, with the increasing steps before them", Run: quantizersAlone},
		{Name: "merge_steps", Doc: "float steps in a row, which no convolution took in, become one layer", Run: mergeSteps},
	}
}

// order says which pass must run before which, and why; Fuse checks it against the table above.
func order() [][3]string {
	return [][3]string{
		{"bind", "fold_steps", "steps are folded into fused convolutions"},
		{"identity", "fold_pool", "a pool must see its convolution, not a bitpack"},
		{"eltwise", "fold_steps", "only steps are folded"},
		{"pool_after", "fold_quantize", "a quantizer must stand next to its convolution"},
		{"pool_after", "concat_after", "what stands behind a pool of a concat comes next to the concat"},
		{"concat_after", "pool_after_again", "what stands behind a concat of pools comes next to the pools"},
		{"pool_after_again", "fold_steps_again", "steps that moved are folded"},
		{"fold_quantize", "thresholds", "it makes the shifts"},
		{"fold_quantize", "fold_pool", "only integer accumulators are pooled"},
		{"pool_after", "merge_steps", "a pool passes single steps, where it might not pass their composition"},
		{"fold_quantize", "quantizers_alone", "thresholds on sums cost less than those on floats"},
		{"quantizers_alone", "merge_steps", "it takes increasing steps only, which is decided for each"},
		{"fold_steps_again", "merge_steps", "what a convolution takes in needs no layer of its own"},
	}
}

// Fuse runs the passes that are not disabled. observe, if not nil, sees the graph after each.
func Fuse(g *graph.Graph, disabled []string, observe func(pass string, g *graph.Graph)) (*graph.Graph, error) {
	passes := Passes()
	for _, d := range disabled {
		if i := slices.Index(passorder.Names(passes), d); i < 0 || passes[i].Required {
			optional := slices.DeleteFunc(slices.Clone(passes), func(p Pass) bool { return p.Required })
			return nil, &ir.Error{Op: "disable pass " + d, Msg: "there is no such pass that can be left out", Help: "those that can be left out are " + strings.Join(passorder.Names(optional), ", ")}
		}
	}
	r := newRewriter(g)
	ran := func(pass string) {
		if observe != nil {
			observe(pass, r.g)
		}
	}
	if err := passorder.Run(passes, order(), r, disabled, ran); err != nil {
		return nil, err
	}
	return r.g, nil
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

// absorb makes p, the producer of n's only input, produce n's output, and drops n. What there was to say of a quantizer n is said
// of p.
func (r *rewriter) absorb(p, n *graph.Node) {
	if p.Verdict.Reason == graph.NoReason && n.Verdict.Kind == graph.Bits {
		p.Verdict = n.Verdict
	}
	r.SetOutput(p, n.Output)
	r.Remove(n)
}

// only gives the producer of n's one input if nothing else sees that input; nil otherwise.
func (r *rewriter) only(n *graph.Node) *graph.Node {
	if len(n.Inputs) != 1 {
		return nil
	}
	return r.sole(n.Inputs[0])
}

// sole is the producer of a tensor that one node reads and that does not leave the network, nil otherwise.
func (r *rewriter) sole(tensor string) *graph.Node {
	if r.g.IsOutput(tensor) || r.ConsumerCount(tensor) != 1 {
		return nil
	}
	return r.Producer(tensor)
}

// open gives the attributes of a fused convolution that still yields plain floats, nil otherwise.
func open(n *graph.Node) *graph.FusedConv {
	if n == nil {
		return nil
	}
	a, ok := n.Attrs.(*graph.FusedConv)
	if !ok || a.Epilogue.OutBits > 0 || a.Pool != nil {
		return nil
	}
	return a
}
