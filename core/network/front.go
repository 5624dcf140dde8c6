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

// Front lists designs for s that fit t, by rising LUTs and falling steps: each has fewer steps than
// all designs with fewer LUTs. It fails with *NoDesignError.
func Front(ctx context.Context, s *dataflow.Segment, t fpga.Target) ([]Point, error) {
	var front []Point
	why := "none fits, or none was estimated for family " + t.Family.Name
	seen := map[core.Config]bool{}
	for _, d := range core.Designs(t) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		unit := core.Config{Rows: d.Rows, Lanes: d.Lanes, AccBits: d.AccBits, Bytes: d.Bytes}
		if seen[unit] { // memories have no steps
			continue
		}
		seen[unit] = true
		n := &Network{Segment: s, Program: core.Program{Config: d.Config}, tensors: map[string]*tensor{}}
		err := n.plan()
		var layers []*layer
		if err == nil {
			layers, err = n.lower()
		}
		if refusal := (*RefusalError)(nil); errors.As(err, &refusal) {
			why = err.Error()
			continue
		}
		if err != nil {
			return nil, err
		}
		steps := 0
		for _, l := range layers {
			steps += l.steps
		}
		if len(front) == 0 || steps < front[len(front)-1].Steps {
			front = append(front, Point{d, steps})
		}
	}
	if len(front) == 0 {
		return nil, &NoDesignError{t.Part.Name, why}
	}
	return front, nil
}
