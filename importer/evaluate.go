package importer

import (
	"context"

	"ripc/graph"
)

// Evaluator computes the outputs of g, all of f32, from the elements of its inputs, in the graph's
// order of axes.
type Evaluator func(ctx context.Context, g *graph.Graph, inputs [][]float32) (outputs [][]float32, err error)
