package lce

import (
	"context"

	"ripc/graph"
	"ripc/importer"
)

// Parse reads a model from data; file is its name in messages.
func Parse(file string, data []byte) (*graph.Graph, error) {
	return parse(context.Background(), file, data, importer.Options{}, maxWeights)
}
