// Package onnx reads ONNX and QONNX files. The reader is importer/internal/onnx, which reads
// PyTorch's archives as well.
package onnx

import (
	"context"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/internal/onnx"
)

// Read reads the model in the file at path, and external data from the folder that it lies in. eval
// computes ops on constants.
func Read(ctx context.Context, path string, o importer.Options, eval importer.Evaluator) (*graph.Graph, error) {
	return onnx.Read(ctx, path, o, eval)
}
