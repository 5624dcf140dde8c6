// Package ripc compiles binary neural networks to standalone kernels. It is the face of the compiler for Go programs:
//
//	model file -> importer -> graph -> compile (fusedglue, lower, schedule, codegen) -> artifact
//
// Package compile has the pipeline on one page; ARCHITECTURE.md has the stages. Programs that only run what was compiled
// need no more than ripc/runtime.
package ripc

import (
	"context"
	"errors"

	"ripc/codegen"
	"ripc/codegen/llvm/toolchain"
	"ripc/compile"
	"ripc/graph"
	"ripc/importer"
	"ripc/internal/models"
	"ripc/lower/layout"
	"ripc/recognize"
	"ripc/schedule"
	"ripc/targets"
)

// How to compile, what comes of it, and how long each stage took.
type (
	Options = compile.Options
	// How a model is read (Options.Import), and how its inputs come (ImportOptions.Inputs).
	ImportOptions = importer.Options
	// What recognition may take for granted (Options.Recognize).
	RecognizeOptions = recognize.Options
	InputOptions     = importer.Input
	Compiled         = compile.Compiled
	StageTime        = compile.StageTime
)

// Version is ripc's version, which every artifact carries.
const Version = compile.Version

// LLVM gives the version of the LLVM tools that code is made with, "" if they are missing.
func LLVM() (version string, err error) {
	tools, err := toolchain.Find()
	var missing *toolchain.MissingToolError
	switch {
	case errors.As(err, &missing):
		return "", nil
	case err != nil:
		return "", err
	}
	return tools.Version(), nil
}

// LLVMLibrary is LLVM's shared library, a path or a name, where that makes code for this machine in the place of opt and llc, which take
// longer for the same; "" where these are started for each kernel. It is used in children: this program, started once more, in which
// neither main nor the init function of a package that uses this one runs.
func LLVMLibrary(ctx context.Context) string {
	tools, err := toolchain.Find()
	host, terr := targets.Lookup("host")
	if err != nil || terr != nil {
		return ""
	}
	return tools.Library(ctx, host)
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

// Applying lists the algorithms that Options.Algorithms may name for each layer of a model, by the layer's name.
func Applying(ctx context.Context, path string, o Options) (map[string][]layout.Algorithm, error) {
	g, err := models.Load(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return compile.Applying(ctx, g, o)
}

// Runnable is what run, verify and bench compile (codegen.Runnable), for BackendsFor.
const Runnable = codegen.Runnable

// BackendsFor lists the back ends that make one of kinds for a target, or any kind if none is named (compile.BackendsFor).
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

// DefaultEmit lists the files that a user of a target, and perhaps of a back end, wants first: a shared library and its
// header, or C where there are no libraries.
func DefaultEmit(target, backend string) []codegen.Kind { return compile.DefaultEmit(target, backend) }

// CodeText is the kind of file that shows what codegen made, which Options.Observe sees if Options.Emit has it.
func CodeText(target, backend string) codegen.Kind { return compile.CodeText(target, backend) }
