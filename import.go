package ripc

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ripc/compile"
	"ripc/graph"
	"ripc/importer/lce"
	"ripc/importer/onnx"
	"ripc/importer/ripcjson"
	"ripc/ir"
	"ripc/recognize"
)

// ownModel is the extension of ripc's own models.
const ownModel = ".json"

// importers reads model files, by extension. All but ripc's own give graphs of plain ops.
func importers() map[string]func(path string) (*graph.Graph, error) {
	return map[string]func(path string) (*graph.Graph, error){
		ownModel:  ripcjson.Read,
		".tflite": lce.Read,
		".onnx":   onnx.Read,
	}
}

// ModelKinds are the extensions of the files that Load reads, sorted.
func ModelKinds() []string { return slices.Sorted(maps.Keys(importers())) }

// Load reads a model file of any format that ripc knows. Models of other programs are called like their file.
func Load(path string) (*graph.Graph, error) {
	ext := strings.ToLower(filepath.Ext(path))
	read, ok := importers()[ext]
	if !ok {
		return nil, &ir.Error{Pos: ir.Pos{File: path}, Msg: fmt.Sprintf("unknown kind of model %q", ext), Help: "files that can be read are " + strings.Join(ModelKinds(), ", ")}
	}
	g, err := read(path)
	if err != nil || ext == ownModel {
		return g, err
	}
	if g, err = recognize.Run(g, recognize.Options{}); err != nil {
		return nil, err
	}
	if err := graph.Check(g); err != nil {
		return nil, err
	}
	return g, nil
}

// Imported is what Import did.
type Imported struct {
	Files    []string // that it wrote: the model and its weights
	Compiled *Compiled
}

// Import turns the model of another program into ripc's own: out, a .json file, and the weights beside it, once the pipeline up
// to code generation has passed. The same network compiles from either file to the same bytes.
func Import(ctx context.Context, path, out string, o Options) (*Imported, error) {
	if strings.ToLower(filepath.Ext(path)) == ownModel {
		return nil, &ir.Error{Pos: ir.Pos{File: path}, Msg: "is a model of ripc's own already", Help: "import reads those of other programs"}
	}
	g, err := Load(path)
	if err != nil {
		return nil, err
	}
	o.Emit = nil
	c, err := compile.Network(ctx, func() (*graph.Graph, error) { return g, nil }, o)
	if err != nil {
		return nil, err
	}
	if err := ripcjson.Write(out, g); err != nil {
		return nil, err
	}
	return &Imported{Files: []string{out, strings.TrimSuffix(out, ownModel) + ".safetensors"}, Compiled: c}, nil
}
