// Package models reads model files of all formats that ripc knows.
package models

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ripc/codegen"
	"ripc/compile"
	"ripc/floattwin"
	"ripc/graph"
	"ripc/importer"
	"ripc/importer/lce"
	"ripc/importer/onnx"
	"ripc/importer/pt2"
	"ripc/importer/ripcjson"
	"ripc/internal/f32"
	"ripc/internal/memory"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/recognize"
)

// Own is the extension of ripc's own models.
const Own = ".json"

// importers reads model files, by extension. All but ripc's own give graphs of plain ops.
func importers() map[string]func(ctx context.Context, path string, o importer.Options) (*graph.Graph, error) {
	return map[string]func(ctx context.Context, path string, o importer.Options) (*graph.Graph, error){
		Own:       ripcjson.Read,
		".tflite": lce.Read,
		".onnx": func(ctx context.Context, path string, o importer.Options) (*graph.Graph, error) {
			return onnx.Read(ctx, path, o, evaluate)
		},
		".pt2": func(ctx context.Context, path string, o importer.Options) (*graph.Graph, error) {
			return pt2.Read(ctx, path, o, evaluate)
		},
	}
}

// evaluate computes the outputs of g, tensors of f32, from the elements of its inputs, by g's
// definition.
func evaluate(ctx context.Context, g *graph.Graph, inputs [][]float32) ([][]float32, error) {
	p, err := compile.Definition(ctx, g, compile.Options{})
	if err != nil {
		return nil, err
	}
	in := make([][]byte, len(inputs))
	for i, v := range inputs {
		in[i] = f32.Bytes(v)
	}
	out, err := interp.RunProgram(ctx, p, in, interp.Options{})
	if err != nil {
		return nil, err
	}
	results := make([][]float32, len(out))
	for i, data := range out {
		results[i] = f32.FromBytes(data)
	}
	return results, nil
}

// Kinds returns the extensions of the files that Load reads, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(importers())) }

// Load reads a model file as o.Import, o.Recognize and o.FloatTwin ask for it. Models of other
// programs are named like their file.
func Load(ctx context.Context, path string, o compile.Options) (*graph.Graph, error) {
	g, err := readRecognized(ctx, path, o)
	if err != nil || !o.FloatTwin {
		return g, err
	}
	if g, err = floattwin.Of(g); err != nil {
		return nil, err
	}
	if err := graph.Check(g); err != nil {
		return nil, err
	}
	g.Name = cmp.Or(o.Import.Name, g.Name)
	return g, nil
}

// exportHelp says which file to give in place of one with the extension ext, and how to export it
// from a framework; "" for other extensions.
func exportHelp(ext string) string {
	switch ext {
	case ".pt", ".pth", ".ckpt":
		return "PyTorch's pickles are not read: save the network with PyTorch 2.9 or later, " +
			`torch.export.save(torch.export.export(net.eval(), (example,)), "net.pt2"), or export it to .onnx (docs/pytorch.md); `
	case ".tgz", ".html":
		return "packages and pages run in JavaScript (docs/web.md): give the model, or compile it to a .wasm; "
	case ".a", ".h", ".hpp", ".o":
		return "of a compiled network, give the .so; "
	case ".safetensors":
		return "these are weights: give the .json that names them; "
	case ".h5", ".keras", ".pb":
		return "convert the network to .tflite by Larq Compute Engine (docs/import-larq.md), or to .onnx; "
	}
	return ""
}

// isModel reports whether the file at path is a model by its name. JSON files must also say that
// they are models.
func isModel(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	_, known := importers()[ext]
	return known && (ext != Own || ripcjson.IsModel(path))
}

// maxNamed is the number of files that a message names.
const maxNamed = 3

// refuseKind returns the error for a path without the extension of a model file, or for a folder.
// For a folder it names the models in it.
func refuseKind(path string) error {
	ext := strings.ToLower(filepath.Ext(path))
	e := &ir.Error{Pos: ir.Pos{File: path}, Msg: fmt.Sprintf("unknown kind of model %q", ext), Help: exportHelp(ext) +
		"files that can be read are " + strings.Join(Kinds(), ", ")}
	switch {
	case path == "":
		e.Msg = "the name of the model is empty"
	case ext == "":
		e.Msg = "its name does not end in the extension of a model"
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return e
	}
	e.Msg = "it is a folder, not a model file"
	entries, err := os.ReadDir(path)
	if err != nil {
		return e
	}
	var models []string
	for _, in := range entries {
		switch file := filepath.Join(path, in.Name()); {
		case in.Name() == "saved_model.pb":
			e.Help = exportHelp(".pb") + e.Help
		case in.Type().IsRegular() && isModel(file):
			models = append(models, file)
		}
	}
	switch {
	case len(models) > maxNamed:
		e.Help = fmt.Sprintf("give one of the %d models in it, such as %s", len(models), models[0])
	case len(models) > 0:
		e.Help = "give a file, such as " + strings.Join(models, " or ")
	}
	return e
}

// CheckHost fails on machines of 32 bits: the compiler's sizes of tensors are ints, which may
// overflow there. Networks that were compiled elsewhere run there.
func CheckHost(path string) error {
	if strconv.IntSize < 64 {
		return &ir.Error{Pos: ir.Pos{File: path}, Msg: "networks are compiled, checked and interpreted on machines " +
			"of 64 bits only", Help: "compile it on one of these for this target, and bring the library here"}
	}
	return nil
}

// readRecognized reads the model in a file and finds its bitserial layers.
func readRecognized(ctx context.Context, path string, o compile.Options) (*graph.Graph, error) {
	if err := CheckHost(path); err != nil {
		return nil, err
	}
	ext := strings.ToLower(filepath.Ext(path))
	read, ok := importers()[ext]
	if info, err := os.Stat(path); !ok || err == nil && info.IsDir() {
		return nil, refuseKind(path)
	}
	if name := o.Import.Name; name != "" && name != codegen.Identifier(name) {
		return nil, &ir.Error{Msg: fmt.Sprintf("name %q is no C identifier, which functions begin with", name),
			Help: "take " + codegen.Identifier(name)}
	}
	g, err := read(ctx, path, o.Import)
	if err != nil {
		return nil, err
	}
	memory.Collect()
	g.Name = cmp.Or(o.Import.Name, g.Name)
	if ext == Own {
		if o.Recognize != (recognize.Options{}) || o.Import.TrustTypes {
			return nil, &ir.Error{Pos: ir.Pos{File: path}, Msg: "is a model of ripc's own, which is taken as it is: " +
				"nothing is recognized in it", Help: "recognition has options for models of other programs, when " +
				"these are imported"}
		}
		return g, nil
	}
	if g, err = recognize.Run(ctx, g, o.Recognize); err != nil {
		return nil, err
	}
	if err := graph.Check(g); err != nil {
		return nil, err
	}
	return g, nil
}
