package ripc

import (
	"context"
	"path/filepath"
	"strings"

	"ripc/compile"
	"ripc/graph"
	"ripc/importer/ripcjson"
	"ripc/internal/models"
	"ripc/ir"
)

// ModelKinds returns the extensions of the files that Load reads, sorted.
func ModelKinds() []string { return models.Kinds() }

// Load reads a model file of any format that ripc knows, as it is. Models of other programs are called like their file.
func Load(ctx context.Context, path string) (*graph.Graph, error) {
	return models.Load(ctx, path, Options{})
}

// Imported is what Import did.
type Imported struct {
	Files    []string // that it wrote: the model and its weights
	Compiled *Compiled
}

// Import turns the model of another program, or what o.Import makes of one of ripc's own, into a model of ripc's: out, a .json file,
// and the weights beside it, once the pipeline up to code generation has passed. The same network compiles from either file to the
// same bytes.
func Import(ctx context.Context, path, out string, o Options) (*Imported, error) {
	if strings.ToLower(filepath.Ext(path)) == models.Own && o.Import.AsItIs() && !o.FloatTwin {
		return nil, &ir.Error{Pos: ir.Pos{File: path}, Msg: "is a model of ripc's own already", Help: "import reads those of other programs, or changes one as options say"}
	}
	g, err := models.Load(ctx, path, o)
	if err != nil {
		return nil, err
	}
	o.Emit = nil
	c, err := compile.Network(ctx, func(context.Context) (*graph.Graph, error) { return g, nil }, o)
	if err != nil {
		return nil, err
	}
	if err := ripcjson.Write(ctx, out, g); err != nil {
		return nil, err
	}
	return &Imported{Files: []string{out, strings.TrimSuffix(out, models.Own) + ".safetensors"}, Compiled: c}, nil
}
