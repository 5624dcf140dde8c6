package search

import (
	"context"

	"ripc/autotune/space"
	"ripc/ir/arith"
)

// order goes through all points of a space that have no steps behind their strategies', each once.
type order struct {
	*Fresh
	next, stride int
	gone         int // points behind
}

// openExhaustive goes from the first point to the last.
func openExhaustive(s *space.Space, o Options) (Search, error) {
	return &order{Fresh: NewFresh(s, o), stride: 1}, nil
}

// openGrid is spread over the space however early it ends: each point lies in the largest gap that those before it left, or nearly so,
// since they are multiples of the golden section.
func openGrid(s *space.Space, o Options) (Search, error) {
	const golden = 0.6180339887498949
	n := s.Size()
	stride := max(1, int(golden*float64(n)))
	for arith.GCD(int64(stride), int64(n)) != 1 {
		stride++
	}
	return &order{Fresh: NewFresh(s, o), stride: stride}, nil
}

func (o *order) Propose(ctx context.Context, n int) ([]space.Candidate, error) {
	var out []space.Candidate
	for size := o.Space.Size(); len(out) < n && o.gone < size; o.gone++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c, ok := o.Take(o.Space.At(o.next)); ok {
			out = append(out, c)
		}
		o.next = (o.next + o.stride) % size
	}
	return out, nil
}
