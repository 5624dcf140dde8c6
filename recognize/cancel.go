package recognize

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"ripc/graph"
)

// A straight-through estimator adds to a quantizer what it then subtracts: x + (q(x) - x). Where q
// is a function of one tensor its region is a quantizer (stepped). Where it is not, as with a scale
// that is computed for each row, the terms cancel all the same.

// maxTerms bounds the terms of a sum, and maxAlike the ops in a row that are compared.
const (
	maxTerms = 16
	maxAlike = 16
)

// term is one operand of a sum.
type term struct {
	tensor   string
	negative bool
}

// cancelTerms lets the readers of a sum read the only term that is left once the others cancel,
// where that is levels or scaled levels. With ExactFloats it notes only what the sum nearly is.
func cancelTerms(ctx context.Context, r *rewriter) error {
	for n := range r.Each(ctx) {
		if n.Op != "add" && n.Op != "sub" || len(n.Inputs) != 2 || !r.feedsLayer(n.Output, 0) {
			continue
		}
		left := r.leftTerm(n)
		if left == "" || r.chain(n.Output) != nil {
			continue
		}
		from := r.rowScales(left)
		if from == nil {
			continue
		}
		if r.options.ExactFloats {
			v, _ := r.source(from.levels)
			r.nearSums[n.Output] = v.Bits
			continue
		}
		if !r.Redirect(n.Output, left) {
			continue
		}
		r.changed = true
		r.forget()
		clear(r.levels)
		v := because(graph.WhyFoldedSum, n)
		p := r.Producer(left)
		v.Args.Value = fmt.Sprintf("%s %q", p.Op, p.Name)
		r.g.Roundings = append(r.g.Roundings, v)
	}
	return nil
}

// maxMoves bounds the ops between a sum and the layer that reads it.
const maxMoves = 8

// feedsLayer reports whether a convolution or dense layer reads tensor t, or what ops that move or
// scale elements make of it.
func (r *rewriter) feedsLayer(t string, depth int) bool {
	return depth < maxMoves && slices.ContainsFunc(r.Consumers(t), func(c *graph.Node) bool {
		if _, ok := binaryAttrs(c); ok {
			return true
		}
		switch c.Attrs.(type) {
		case *graph.ConcatAttrs, *graph.SpatialPadAttrs, *graph.SliceAttrs, *graph.ReshapeAttrs, *graph.TransposeAttrs, *graph.BlockAttrs, *graph.ResizeAttrs, *graph.GatherAttrs:
			return r.feedsLayer(c.Output, depth+1)
		}
		switch c.Op {
		case "flatten", "max_pool", "mul", "div":
			return r.feedsLayer(c.Output, depth+1)
		}
		return false
	})
}

// leftTerm is the one term that sum n has once equal terms of both signs are left out; "" if there
// are several, or none cancels.
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

// dropPair leaves two terms out that cancel.
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

// expandLast replaces the sum that stands last in the graph by its operands.
func (r *rewriter) expandLast(terms *[]term) bool {
	at, last := -1, (*graph.Node)(nil)
	for i, t := range *terms {
		p := r.Producer(t.tensor)
		if p != nil && r.operands(p) != nil && (last == nil || r.Before(last, p)) {
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

// operands are the terms of p, a sum or difference of two tensors of one shape, or a negation; nil
// if it is neither.
func (r *rewriter) operands(p *graph.Node) []term {
	a, ok := p.Attrs.(*graph.BinaryOpAttrs)
	switch {
	case !ok:
		return nil
	case len(p.Inputs) == 2 && (p.Op == "add" || p.Op == "sub") && slices.Equal(r.g.Value(p.Inputs[0]).Shape, r.g.Value(p.Inputs[1]).Shape):
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

// comparer returns a function that reports whether two tensors hold the same numbers: they are one,
// or the same ops make them of the same tensors. It compares a pair once, since many sums may share
// what they add.
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
		same = depth <= maxAlike && p != nil && q != nil && p.Op == q.Op && len(p.Inputs) == len(q.Inputs) && reflect.DeepEqual(p.Attrs, q.Attrs) && reflect.DeepEqual(p.Weights, q.Weights)
		for i := 0; same && i < len(p.Inputs); i++ {
			same = alike(p.Inputs[i], q.Inputs[i], depth+1)
		}
		known[key] = same
		return same
	}
	return alike
}
