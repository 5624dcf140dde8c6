package network

import (
	"context"
	"errors"
	"fmt"

	"ripc/core"
	"ripc/dataflow"
	"ripc/targets/fpga"
)

// Point is a design for a network: its cells by estimate, and the steps of its compute unit, which
// no schedule can go below.
type Point struct {
	core.Design
	Steps int
}

// NoDesignError says that no design of the core both fits a part and computes a network.
type NoDesignError struct{ Part, Why string }

func (e *NoDesignError) Error() string {
	return fmt.Sprintf("no design of the core that fits %s computes the network: %s", e.Part, e.Why)
}

// BadInput reports that the input is at fault.
func (*NoDesignError) BadInput() bool { return true }

// work is the layers of a network on a unit of compute, and their steps.
type work struct {
	layers []*layer
	steps  int
	err    error
}

// Front lists designs for s that fit t, by rising LUTs and falling steps: each has fewer steps than
// all designs with fewer LUTs. It fails with *NoDesignError.
func Front(ctx context.Context, s *dataflow.Segment, t fpga.Target) ([]Point, error) {
	var front []Point
	why := "none fits, or none was estimated for family " + t.Family.Name
	known := map[core.Config]*work{} // of units: memories do not change it
	for _, d := range core.Designs(t) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		unit := core.Config{Rows: d.Rows, Lanes: d.Lanes, AccBits: d.AccBits, Bytes: d.Bytes}
		w := known[unit]
		if w == nil {
			w = newWork(s, d.Config)
			known[unit] = w
		}
		refusal, space, err := (*RefusalError)(nil), (*SpaceError)(nil), w.err
		if err == nil && len(front) > 0 && w.steps >= front[len(front)-1].Steps {
			continue
		}
		for _, l := range w.layers {
			if err == nil {
				err = l.fits(d.Config)
			}
		}
		switch {
		case err == nil:
			front = append(front, Point{d, w.steps})
		case errors.As(err, &refusal) || errors.As(err, &space):
			why = err.Error()
		default:
			return nil, err
		}
	}
	if len(front) == 0 {
		return nil, &NoDesignError{t.Part.Name, why}
	}
	return front, nil
}

func newWork(s *dataflow.Segment, c core.Config) *work {
	n, w := &Network{Segment: s, Program: core.Program{Config: c}, tensors: map[string]*tensor{}}, &work{}
	if w.err = n.plan(); w.err == nil {
		w.layers, w.err = n.lower()
	}
	for _, l := range w.layers {
		w.steps += l.steps
	}
	return w
}
