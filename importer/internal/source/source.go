// Package source is shared by the importers: it reads files, names graphs, collects faults, and
// gives inputs their sizes and notes.
package source

import (
	"fmt"
	"path/filepath"
	"strings"

	"ripc/graph"
	"ripc/internal/files"
	"ripc/ir"
)

// Read reads the model file at path, of at most limit bytes. help is the advice for a longer one.
// Errors are *ir.Error.
func Read(path string, limit int, help string) ([]byte, error) {
	fail := func(msg string, err error) ([]byte, error) {
		return nil, &ir.Error{Pos: ir.Pos{File: path}, Msg: msg, Err: files.Cause(err)}
	}
	f, err := files.Open(path)
	if err != nil {
		return fail("cannot open the model", err)
	}
	defer f.Close()
	data, err := files.ReadUpTo(f, limit)
	if err != nil {
		return fail("cannot read the model", err)
	}
	if len(data) > limit {
		return nil, TooLong(path, limit, help)
	}
	return data, nil
}

// TooLong is the error of a model of more than limit bytes.
func TooLong(path string, limit int, help string) error {
	return &ir.Error{Pos: ir.Pos{File: path}, Msg: fmt.Sprintf("the model is longer than %d bytes", limit), Help: help}
}

// NewGraph is an empty graph that is called like its file, without folder and extension.
func NewGraph(file string) *graph.Graph {
	base := filepath.Base(file)
	return &graph.Graph{Name: strings.TrimSuffix(base, filepath.Ext(base)), File: file,
		Values: map[string]*graph.Value{}}
}
