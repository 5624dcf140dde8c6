// Package model reads ripc's own model format ("ripc.model/1"): a JSON file of inputs, layers and
// outputs, and a safetensors file of weights, which may instead be generated from a seed. The
// format is published as a JSON Schema, schemas/model.json, and checked against that very file;
// then names, shapes and weights are checked. Every fault is an *ir.Error with the file, the line
// and the node, and faults that do not depend on each other are reported together.
package ripcjson

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/internal/source"
	"ripc/internal/files"
	"ripc/internal/safetensors"
	"ripc/internal/stop"
)

// Format is the value of a model's "format".
const Format = "ripc.model/1"

// formatBytes is how far into a file IsModel looks for its format.
const formatBytes = 1 << 20

// IsModel reports whether the file at path is a JSON object of Format. The model may still be
// faulty.
func IsModel(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	d := json.NewDecoder(io.LimitReader(f, formatBytes))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return false
		}
		if key == "format" {
			return string(value) == strconv.Quote(Format)
		}
	}
	return false
}

// Tensor is a tensor of a weights file.
type Tensor = safetensors.Tensor

// Opener gives the tensors of the weights file that a model names. Parse has checked that name is a
// local path.
type Opener func(name string) (map[string]Tensor, error)

// limits bound the memory that a small file can make Parse allocate.
type limits struct {
	bytes   int // of the JSON
	depth   int // of its nesting
	nodes   int
	index   int // bytes that its values take in memory, about
	tensor  int // elements of any tensor
	weights int // elements of all weights together
}

// defaultLimits allow 1 GiB of weights and as much for each activation.
func defaultLimits() limits {
	return limits{bytes: 64 << 20, depth: 64, nodes: graph.MaxNodes, index: 512 << 20, tensor: graph.MaxElems,
		weights: graph.MaxWeights}
}

// tooLong is the help for a model that is too long.
const tooLong = "weights belong in a safetensors file"

// Read reads the model at path, and the weights file that it names, which must lie in the model's
// folder or below.
func Read(ctx context.Context, path string, o importer.Options) (*graph.Graph, error) {
	data, err := source.Read(path, defaultLimits().bytes, tooLong)
	if err != nil {
		return nil, err
	}
	return checked(ctx, path, data, func(name string) (map[string]safetensors.Tensor, error) {
		root, err := os.OpenRoot(filepath.Dir(path))
		if err != nil {
			return nil, files.Cause(err)
		}
		defer root.Close()
		f, err := files.OpenIn(root, filepath.FromSlash(name))
		if err != nil {
			return nil, files.Cause(err)
		}
		defer f.Close()
		return safetensors.Read(f)
	}, o)
}

// Parse reads a model from data, to the end. file is its name in messages and in the graph; open
// gives the weights.
func Parse(file string, data []byte, open Opener) (*graph.Graph, error) {
	return checked(context.Background(), file, data, open, importer.Options{})
}

// checked is Parse as o asks for it.
func checked(ctx context.Context, file string, data []byte, open Opener, o importer.Options) (*graph.Graph, error) {
	v, err := modelSchema()
	if err != nil {
		return nil, err
	}
	return parse(ctx, file, data, open, o, v, defaultLimits())
}

func parse(ctx context.Context, file string, data []byte, open Opener, o importer.Options, v *validator,
	lim limits) (_ *graph.Graph, err error) {
	defer stop.Catch(&err)
	p := &problems{file: file}
	doc := stop.Must(locate(ctx, file, data, lim))
	stop.Check(v.check(ctx, doc, p))
	stop.Check(p.join())
	b := &builder{
		problems: p, doc: doc, lim: lim, options: o,
		g: &graph.Graph{Name: doc.text("/name"), File: file, Values: map[string]*graph.Value{}},
	}
	b.out = graph.NewBuilder(b.g)
	b.inputs()
	nodes := b.order(b.nodes())
	if b.weights = b.openWeights(open); b.weights != nil {
		for _, n := range nodes {
			stop.Check(ctx.Err())
			b.build(n)
		}
	}
	b.outputs(nodes)
	b.roundings()
	if !p.any() {
		b.checkUnused()
	}
	stop.Check(p.join())
	return stop.Must(source.Adapt(stop.Must(source.CutGraph(b.g, o)), o)), nil
}
