package explain

import (
	"errors"
	"fmt"

	"ripc/graph"
	"ripc/internal/human"
)

// Strict is the error that nodes of g stay float, each with its reason, its cost and a remedy; nil
// if there are none.
func Strict(g *graph.Graph, stays []graph.Stay) error {
	var errs []error
	for _, s := range stays {
		why := Verdict(s.Verdict)
		if s.Lacks == graph.LackFolding {
			why = fmt.Sprintf("the glue up to %q does not fold to integers: %s", s.UpTo, why)
		}
		cost := human.Count(s.Values, "value")
		if s.MACs > 0 {
			cost = fmt.Sprintf("%d MACs, %.1f %% of all", s.MACs, 100*float64(s.MACs)/float64(s.AllMACs))
		}
		errs = append(errs, g.Errorf(s.Node, help(s.Lacks), "stays float: %s (%s)", why, cost))
	}
	return errors.Join(errs...)
}

// help is the remedy for a lack.
func help(l graph.Lack) string {
	switch l {
	case graph.LackLevels:
		return "quantize its input to at most 8 bits, with one scale"
	case graph.LackWeights:
		return fmt.Sprintf("quantize its weights to at most %d bits, with a scale for each output channel",
			graph.MaxWeightBits)
	case graph.LackThresholds:
		return "use slopes from 0 up and finite constants"
	case graph.LackRoom:
		return graph.FewerProducts
	}
	return "see the nodes between the two; batch_norm, relu and clip fold, and nothing else may read these tensors"
}
