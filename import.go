package ripc

import (
	"cmp"
	"context"
	"encoding/binary"
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
	"ripc/importer/ripcjson"
	"ripc/internal/memory"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/recognize"
)

// ownModel is the extension of ripc's own models.
const ownModel = ".json"

// importers reads model files, by extension. All but ripc's own give graphs of plain ops.
func importers() map[string]func(ctx context.Context, path string, o importer.Options) (*graph.Graph, error) {
	return map[string]func(ctx context.Context, path string, o importer.Options) (*graph.Graph, error){
		ownModel:  ripcjson.Read,
		".tflite": lce.Read,
		".onnx": func(ctx context.Context, path string, o importer.Options) (*graph.Graph, error) {
			return onnx.Read(ctx, path, o, evaluate)
		},
	}
}

// evaluate computes the outputs of g, tensors of f32, from the elements of its inputs, by g's definition.
func evaluate(ctx context.Context, g *graph.Graph, inputs [][]float32) ([][]float32, error) {
	p, err := compile.Definition(ctx, g, compile.Options{})
	if err != nil {
		return nil, err
	}
	in := make([][]byte, len(inputs))
	for i, v := range inputs {
		if in[i], err = binary.Append(nil, binary.LittleEndian, v); err != nil {
			return nil, err
		}
	}
	out, err := interp.RunProgram(ctx, p, in, interp.Options{})
	if err != nil {
		return nil, err
	}
	results := make([][]float32, len(out))
	for i, data := range out {
		results[i] = make([]float32, len(data)/4)
		if _, err := binary.Decode(data, binary.LittleEndian, results[i]); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// ModelKinds are the extensions of the files that Load reads, sorted.
func ModelKinds() []string { return slices.Sorted(maps.Keys(importers())) }

// Load reads a model file of any format that ripc knows, as it is. Models of other programs are called like their file.
func Load(ctx context.Context, path string) (*graph.Graph, error) { return load(ctx, path, Options{}) }

// load is Load as o.Import, o.Recognize and o.FloatTwin ask for it.
func load(ctx context.Context, path string, o Options) (*graph.Graph, error) {
	g, err := recognized(ctx, path, o)
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

// exported says what a file of a framework's own, by its extension, has to be exported to; "" of others.
func exported(ext string) string {
	switch ext {
	case ".pt", ".pth", ".ckpt":
		return "PyTorch's own files need its code: export the network to .onnx (docs/import-onnx.md); "
	case ".h5", ".keras", ".pb":
		return "convert the network to .tflite by Larq Compute Engine (docs/import-larq.md), or to .onnx; "
	}
	return ""
}

// isModel reports whether the file at path is a model by its name. JSON files must also say that they are models.
func isModel(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	_, known := importers()[ext]
	return known && (ext != ownModel || ripcjson.IsModel(path))
}

// unknownKind is the error of a path that does not end as a model file does: of a folder, it says which models are in it.
func unknownKind(path string) error {
	ext := strings.ToLower(filepath.Ext(path))
	e := &ir.Error{Pos: ir.Pos{File: path}, Msg: fmt.Sprintf("unknown kind of model %q", ext), Help: exported(ext) + "files that can be read are " + strings.Join(ModelKinds(), ", ")}
	if ext == "" {
		e.Msg = "its name does not end in what kind of model it is"
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
			e.Help = exported(".pb") + e.Help
		case in.Type().IsRegular() && isModel(file):
			models = append(models, file)
		}
	}
	switch {
	case len(models) > mentioned:
		e.Help = fmt.Sprintf("give one of the %d models in it, such as %s", len(models), models[0])
	case len(models) > 0:
		e.Help = "give a file, such as " + strings.Join(models, " or ")
	}
	return e
}

// mentioned is how many files a message names.
const mentioned = 3

// roomy fails on machines of 32 bits: sizes of tensors are ints throughout the compiler, and may be more than such a machine's
// hold. What was compiled elsewhere runs there all the same.
func roomy(path string) error {
	if strconv.IntSize < 64 {
		return &ir.Error{Pos: ir.Pos{File: path}, Msg: "networks are compiled, checked and interpreted on machines of 64 bits only", Help: "compile it on one of these for this target, and bring the library here"}
	}
	return nil
}

// recognized is the model in a file, with its bitserial layers found.
func recognized(ctx context.Context, path string, o Options) (*graph.Graph, error) {
	if err := roomy(path); err != nil {
		return nil, err
	}
	ext := strings.ToLower(filepath.Ext(path))
	read, ok := importers()[ext]
	if !ok {
		return nil, unknownKind(path)
	}
	if name := o.Import.Name; name != "" && name != codegen.Identifier(name) {
		return nil, &ir.Error{Msg: fmt.Sprintf("name %q is no C identifier, which functions begin with", name), Help: "take " + codegen.Identifier(name)}
	}
	g, err := read(ctx, path, o.Import)
	if err != nil {
		return nil, err
	}
	memory.Collect()
	g.Name = cmp.Or(o.Import.Name, g.Name)
	if ext == ownModel {
		if o.Recognize != (recognize.Options{}) || o.Import.TrustTypes {
			return nil, &ir.Error{Pos: ir.Pos{File: path}, Msg: "is a model of ripc's own, which is taken as it is: nothing is recognized in it", Help: "recognition has options for models of other programs, when these are imported"}
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

// Imported is what Import did.
type Imported struct {
	Files    []string // that it wrote: the model and its weights
	Compiled *Compiled
}

// Import turns the model of another program, or what o.Import makes of one of ripc's own, into a model of ripc's: out, a .json file,
// and the weights beside it, once the pipeline up to code generation has passed. The same network compiles from either file to the
// same bytes.
func Import(ctx context.Context, path, out string, o Options) (*Imported, error) {
	if strings.ToLower(filepath.Ext(path)) == ownModel && o.Import.AsItIs() && !o.FloatTwin {
		return nil, &ir.Error{Pos: ir.Pos{File: path}, Msg: "is a model of ripc's own already", Help: "import reads those of other programs, or changes one as options say"}
	}
	g, err := load(ctx, path, o)
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
	return &Imported{Files: []string{out, strings.TrimSuffix(out, ownModel) + ".safetensors"}, Compiled: c}, nil
}
