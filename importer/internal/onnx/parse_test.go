package onnx

import (
	"context"

	"ripc/graph"
	"ripc/importer"
)

// Parse reads a model from data, to the end; file is its name in messages. Ops on constants that
// this package does not compute itself become nodes of the graph.
func Parse(file string, data []byte, open Opener) (*graph.Graph, error) {
	return parse(context.Background(), file, data, open, importer.Options{}, nil, baseMemory)
}
