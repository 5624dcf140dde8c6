package ripc

import (
	"context"
	"path/filepath"
	"strings"

	"ripc/codegen"
	"ripc/compile"
	"ripc/graph"
	"ripc/importer/ripcjson"
	"ripc/internal/models"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/schedule"
)

// ModelKinds returns the extensions of the files that Load reads, sorted.
func ModelKinds() []string { return models.Kinds() }

// Load reads a model file of any format that ripc knows, without changing it. Models of other
// programs are named like their file.
func Load(ctx context.Context, path string) (*graph.Graph, error) {
	return models.Load(ctx, path, Options{})
}

// Imported is the result of Import.
type Imported struct {
	Files    []string // that it wrote: the model and its weights
	Compiled *Compiled
}

// Import turns a model into one of ripc's own: out, a .json file, and the weights beside it. The
// model is another program's, or one of ripc's that o.Import changes. Nothing is written unless the
// pipeline passes up to code generation. The same network compiles from either file to the same
// bytes.
func Import(ctx context.Context, path, out string, o Options) (*Imported, error) {
	if strings.ToLower(filepath.Ext(path)) == models.Own && o.Import.AsItIs() && !o.FloatTwin {
		return nil, &ir.Error{Pos: ir.Pos{File: path}, Msg: "is a model of ripc's own already",
			Help: "import reads those of other programs, or changes one as options say"}
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

// Compile runs the pipeline on a model file.
func Compile(ctx context.Context, path string, o Options) (*Compiled, error) {
	return compile.Network(ctx, func(ctx context.Context) (*graph.Graph, error) { return models.Load(ctx, path, o) }, o)
}

// ReadSchedule reads a file of schedules, for Options.Schedules (schedule.ReadFile).
func ReadSchedule(path string) ([]schedule.Section, error) { return schedule.ReadFile(path) }

// Stages lists the names that Options.Observe sees, in order.
func Stages() []string { return compile.Stages() }

// Backends lists the names that Options.Backend may be.
func Backends() []string { return compile.Backends() }

// Applying lists the algorithms that Options.Algorithms may name for each layer of a model, by the
// layer's name.
func Applying(ctx context.Context, path string, o Options) (map[string][]layout.Algorithm, error) {
	g, err := models.Load(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return compile.Applying(ctx, g, o)
}

// Runnable is the kind of file that run, verify and bench compile (codegen.Runnable), for
// BackendsFor.
const Runnable = codegen.Runnable

// BackendsFor lists the back ends that make one of kinds for a target, or any kind if none is named
// (compile.BackendsFor).
func BackendsFor(target string, kinds ...codegen.Kind) ([]string, error) {
	return compile.BackendsFor(target, kinds...)
}

// OptionalPasses lists the passes that Options.Disable may name.
func OptionalPasses() []string { return compile.OptionalPasses() }

// ParseEmit reads a list of kinds of files, such as "so,h", for Options.Emit.
func ParseEmit(list string) ([]codegen.Kind, error) { return codegen.ParseKinds(list) }

// EmitKinds lists every kind of file, by its extension.
func EmitKinds() []string {
	var all []string
	for _, k := range codegen.Kinds() {
		all = append(all, string(k))
	}
	return all
}

// DefaultEmit lists the files that a user of a target, and of a back end if it is not "", wants
// first: a shared library and its header, or C if there are no libraries.
func DefaultEmit(target, backend string) []codegen.Kind { return compile.DefaultEmit(target, backend) }

// DefaultTarget returns the target of files of some kinds where none is named: this machine or, for
// kinds that are not made for it, the first that has them all.
func DefaultTarget(kinds []codegen.Kind) string { return compile.DefaultTarget(kinds) }

// CodeText returns the kind of text that codegen makes. Options.Observe sees it if Options.Emit has
// it.
func CodeText(target, backend string) codegen.Kind { return compile.CodeText(target, backend) }

// buildUnit builds one layer of the model at path by itself. The layer keeps its constants and the
// schedule that it has in the network.
func buildUnit(ctx context.Context, path, layer string, o Options,
	progress func(done, total int, what string)) (*compile.Unit, error) {
	if IsArtifact(path) {
		return nil, &ArtifactError{Path: path, For: ToIsolate}
	}
	o.Emit = nil
	c, err := Compile(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return c.Unit(ctx, layer, compile.KernelOptions{Backend: o.Backend, Progress: func(done, total int) {
		if progress != nil {
			progress(done, total, "compiling "+layer)
		}
	}})
}
