package fusedglue

import (
	"context"
	"slices"
)

// chains lets a concatenation read an earlier one in the place of a run of tensors that both join,
// as in dense blocks, whose layers each read all earlier ones: n layers join 2n tensors then, and
// not the square of n. Tensors that only the earlier one reads after that can be written into it by
// their producers.
func chains(ctx context.Context, r *rewriter) error {
	known := &joined{}
	for n := range r.Each(ctx) {
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

// joined is a tree of the lists of tensors that concatenations join: the node that a list leads to
// has the result of the first of its concatenations, "" where the list only begins others.
type joined struct {
	result string
	next   map[string]*joined
}

// enter adds a list.
func (j *joined) enter(list []string, result string) {
	for _, tensor := range list {
		if j.next == nil {
			j.next = map[string]*joined{}
		}
		if j.next[tensor] == nil {
			j.next[tensor] = &joined{}
		}
		j = j.next[tensor]
	}
	if j.result == "" {
		j.result = result
	}
}

// shorten gives list with the results of known lists in the place of these, the longest that begin
// at each tensor. It is never one tensor alone, which would be a copy. It looks at a tensor a few
// times at most.
func (j *joined) shorten(list []string) (out []string) {
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

// looksPerTensor is how often shorten looks at each tensor of a list, on average.
const looksPerTensor = 8
