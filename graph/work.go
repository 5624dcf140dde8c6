package graph

import (
	"fmt"

	"ripc/internal/human"
	"ripc/ir"
)

// maxStepped is the most channels of all layers together that are float steps.
const maxStepped = 1 << 26

// CheckWork fails with *ir.Error if passes would make g far larger than it is. They expand the
// numbers of float steps for each channel, even one that the model has for all. A few bytes of a
// file may ask for any number of channels.
func CheckWork(g *Graph) error {
	channels := 0
	for _, n := range g.Nodes {
		o, err := g.rowFor(n)
		if err != nil || o.steps == nil || len(n.Inputs) == 0 {
			continue
		}
		v := g.Value(n.Inputs[0])
		if channels += v.Channels(); channels > maxStepped {
			const fault = "%s: all layers of float steps together have more than %d"
			return &ir.Error{Pos: ir.Pos{File: g.File}, Node: fmt.Sprintf("node %q (%s)", n.Name, n.Op),
				Msg:  fmt.Sprintf(fault, human.Count(v.Channels(), "channel"), maxStepped),
				Help: "reshape the tensor, so that its last axis is shorter"}
		}
	}
	return nil
}
