package fusedglue

import (
	"context"
	"slices"
)

// chains replaces a run of a concatenation's inputs by an earlier concatenation of the same
// tensors. In dense blocks each layer reads all earlier ones: n layers then join 2n tensors instead
// of n*n. Producers can write tensors without other readers directly into the earlier
// concatenation.
func chains(ctx context.Context, r *rewriter) error {
	known := &concatTree{}
	for n := range r.EachNode(ctx) {
		if n.Op != "concat" {
			continue
		}
		inputs := n.Inputs
		if shorter := known.shorten(inputs); len(shorter) < len(inputs) {
			r.SetInputs(n, shorter...)
		}
		known.enter(inputs, n.Output)
	}
	return nil
}

// concatTree is a trie of the input lists of concatenations. The node at the end of a list holds
// the first concatenation's result, or "" if the list is only a prefix of others.
type concatTree struct {
	result string
	next   map[string]*concatTree
}

// enter adds a list.
func (j *concatTree) enter(list []string, result string) {
	for _, tensor := range list {
		if j.next == nil {
			j.next = map[string]*concatTree{}
		}
		if j.next[tensor] == nil {
			j.next[tensor] = &concatTree{}
		}
		j = j.next[tensor]
	}
	if j.result == "" {
		j.result = result
	}
}

// shorten replaces sublists of list by known results, the longest first at each position. A single
// tensor is never replaced, since that would be a copy. The number of look-ups is bounded per
// tensor.
func (j *concatTree) shorten(list []string) (out []string) {
	steps := looksPerTensor * len(list)
	for len(list) > 0 {
		tensor, length := list[0], 1
		for at, n := j, 0; n < len(list) && steps > 0; steps-- {
			if at = at.next[list[n]]; at == nil {
				break
			}
			if n++; at.result != "" && n > 1 && (n < len(list) || len(out) > 0) {
				tensor, length = at.result, n
			}
		}
		out, list = append(out, tensor), list[length:]
	}
	return slices.Clip(out)
}

// looksPerTensor bounds the look-ups of shorten per tensor of a list, on average.
const looksPerTensor = 8
