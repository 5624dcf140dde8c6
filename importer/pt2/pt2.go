// Package pt2 reads archives of PyTorch (torch.export.save). Read makes a graph of plain ops from
// the exported program, a list of operators of ATen. An archive is a zip file with the program as
// JSON and the weights as raw numbers. Nothing in it is executed, and no pickle is read.
//
// An operator of ATen is spelled in operators of ONNX (rows.go), much as PyTorch's own exporter to
// ONNX does it. So both roads lead to the same graph, and package onnx computes everything that
// does not depend on an input.
package pt2

import (
	"context"
	"fmt"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/internal/source"
	"ripc/internal/stop"
	"ripc/ir"
)

// Read reads the archive at path as o asks for it. eval computes operators on constants. Errors
// are, or join, *ir.Error.
func Read(ctx context.Context, path string, o importer.Options, eval importer.Evaluator) (*graph.Graph, error) {
	data, err := source.Read(path, maxFile, "")
	if err != nil {
		return nil, err
	}
	return parse(ctx, path, data, o, eval, baseMemory)
}

// parse reads data, an archive that messages call file. Constants take at most memory bytes beside
// those of the file.
func parse(ctx context.Context, file string, data []byte, o importer.Options, eval importer.Evaluator, memory int64) (
	_ *graph.Graph, err error) {
	defer stop.Catch(&err)
	a := openArchive(file, data, memory)
	b := newBuilder(ctx, a, o, eval, memory+8*int64(len(data)))
	b.signature()
	b.part = stop.Must(b.wiring().Part(o))
	b.Inputs(b.part.Inputs, b.part.Outputs, b.input)
	for i, keep := range b.part.Keep {
		stop.Check(ctx.Err())
		if keep {
			b.node(i)
		}
	}
	return b.Finish(b.part.Outputs, "return a copy of it", b.wiring), nil
}

// errorf is an error of the whole file.
func errorf(file, help, format string, args ...any) error {
	return &ir.Error{Pos: ir.Pos{File: file}, Msg: fmt.Sprintf(format, args...), Help: help}
}
