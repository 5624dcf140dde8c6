package recognize

import (
	"fmt"
	"reflect"
	"slices"

	"ripc/graph"
)

// A straight-through estimator adds a tensor to a quantizer and subtracts it again: x + (q(x) - x).
// If q is a function of one tensor, the whole region is a quantizer (stepQuantizer). If q is not,
// as with a scale computed for each row, the terms still cancel.

// maxTerms bounds the terms of a sum. maxAlike bounds the depth to which comparer follows
// producers.
const (
	maxTerms = 16
	maxAlike = 16
)

// term is one operand of a sum.
type term struct {
	tensor   string
	negative bool
}

// cancelTerms redirects the readers of a sum to its only remaining term, if the other terms cancel
// and the remaining one is levels or scaled levels. With ExactFloats it only notes the bits of
// these levels.
func cancelTerms(r *rewriter, n *graph.Node) {
	if n.Op != "add" && n.Op != "sub" || len(n.Inputs) != 2 || !r.feedsLayer(n.Output, 0) {
		return
	}
	left := r.leftTerm(n)
	if left == "" || r.nearQuantizer(n.Output) != nil {
		return
	}
	from := r.rowScales(left)
	if from == nil {
		return
	}
	if r.options.ExactFloats {
		v, _ := r.source(from.levels)
		r.nearSums[n.Output] = v.Bits
		return
	}
	if !r.Redirect(n.Output, left) {
		return
	}
	r.changed = true
	r.forget()
	clear(r.levels)
	v := verdictAt(graph.WhyFoldedSum, n)
	p := r.Producer(left)
	v.Args.Value = fmt.Sprintf("%s %q", p.Op, p.Name)
	r.g.Roundings = append(r.g.Roundings, v)
}

// maxMoves bounds the ops between a sum and the layer that reads it.
const maxMoves = 8

// feedsLayer reports whether a convolution or dense layer reads tensor t, directly or through ops
// that move or scale elements.
func (r *rewriter) feedsLayer(t string, depth int) bool {
	return depth < maxMoves && slices.ContainsFunc(r.Consumers(t), func(c *graph.Node) bool {
		_, layer := binaryAttrs(c)
		return layer || (c.Moves() || c.Op == "mul" || c.Op == "div") && r.feedsLayer(c.Output, depth+1)
	})
}

// leftTerm returns the term of sum n that remains after equal terms of opposite signs cancel. It
// returns "" if several remain, or if none cancels.
func (r *rewriter) leftTerm(n *graph.Node) string {
	terms := []term{{tensor: n.Output}}
	cancelled := false
	for len(terms) <= maxTerms {
		if r.dropPair(&terms) {
			cancelled = true
			continue
		}
		if cancelled && len(terms) == 1 && !terms[0].negative {
			return terms[0].tensor
		}
		if !r.expandLast(&terms) {
			break
		}
	}
	return ""
}

// dropPair removes two terms that cancel, and reports whether there were any.
func (r *rewriter) dropPair(terms *[]term) bool {
	alike := r.comparer()
	for i, t := range *terms {
		for k, u := range (*terms)[:i] {
			if t.negative != u.negative && alike(t.tensor, u.tensor, 0) {
				*terms = slices.Delete(slices.Delete(*terms, i, i+1), k, k+1)
				return true
			}
		}
	}
	return false
}

// expandLast replaces the term produced last in the graph by the operands of its producer, and
// reports whether it could.
func (r *rewriter) expandLast(terms *[]term) bool {
	at, last := -1, (*graph.Node)(nil)
	for i, t := range *terms {
		p := r.Producer(t.tensor)
		if p != nil && r.operands(p) != nil && (last == nil || r.Precedes(last, p)) {
			at, last = i, p
		}
	}
	if last == nil {
		return false
	}
	negative := (*terms)[at].negative
	*terms = slices.Delete(*terms, at, at+1)
	for _, t := range r.operands(last) {
		*terms = append(*terms, term{t.tensor, t.negative != negative})
	}
	return true
}

// operands returns the terms of p, a sum or difference of two tensors of one shape, or a negation.
// It returns nil for any other op.
func (r *rewriter) operands(p *graph.Node) []term {
	a, ok := p.Attrs.(*graph.BinaryOpAttrs)
	switch {
	case !ok:
		return nil
	case len(p.Inputs) == 2 && (p.Op == "add" || p.Op == "sub") &&
		slices.Equal(r.g.Value(p.Inputs[0]).Shape, r.g.Value(p.Inputs[1]).Shape):
		return []term{{p.Inputs[0], false}, {p.Inputs[1], p.Op == "sub"}}
	case len(p.Inputs) != 1 || p.Weights["b"].Data.Mixed():
		return nil
	}
	switch b := p.Weights["b"].Data.At(0); {
	case p.Op == "mul" && b == -1, p.Op == "sub" && a.Reverse && b == 0, p.Op == "div" && !a.Reverse && b == -1:
		return []term{{p.Inputs[0], true}}
	}
	return nil
}

// comparer returns a function that reports whether two tensors hold the same numbers: they are one
// tensor, or the same ops produce them from the same tensors. Results are kept, since many sums may
// share operands.
func (r *rewriter) comparer() func(t, u string, depth int) bool {
	type pair struct {
		t, u  string
		depth int
	}
	known := map[pair]bool{}
	var alike func(t, u string, depth int) bool
	alike = func(t, u string, depth int) bool {
		if t == u {
			return true
		}
		key := pair{t, u, depth}
		same, compared := known[key]
		if compared {
			return same
		}
		p, q := r.Producer(t), r.Producer(u)
		same = depth <= maxAlike && p != nil && q != nil && p.Op == q.Op && len(p.Inputs) == len(q.Inputs) &&
			reflect.DeepEqual(p.Attrs, q.Attrs) && reflect.DeepEqual(p.Weights, q.Weights)
		for i := 0; same && i < len(p.Inputs); i++ {
			same = alike(p.Inputs[i], q.Inputs[i], depth+1)
		}
		known[key] = same
		return same
	}
	return alike
}
