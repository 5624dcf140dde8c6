// Package ripc compiles binary neural networks to standalone kernels. It is the face of the
// compiler for Go programs:
//
//	model file -> importer -> graph -> compile (fusedglue, lower, schedule, codegen) -> artifact
//
// Package compile has the pipeline on one page; ARCHITECTURE.md has the stages. Programs that only
// run compiled networks need no more than ripc/runtime.
package ripc

import (
	"context"
	"errors"

	"ripc/codegen/llvm/toolchain"
	"ripc/compile"
	"ripc/importer"
	"ripc/recognize"
	"ripc/targets"
)

// Options say how to compile, Compiled is the result with the StageTimes.
type (
	Options = compile.Options
	// ImportOptions say how a model is read (Options.Import). InputOptions describe its inputs
	// (ImportOptions.Inputs).
	ImportOptions = importer.Options
	// RecognizeOptions are the assumptions that recognition may make (Options.Recognize).
	RecognizeOptions = recognize.Options
	InputOptions     = importer.Input
	Compiled         = compile.Compiled
	StageTime        = compile.StageTime
)

// Version is ripc's version, which every artifact carries.
const Version = compile.Version

// LLVM returns the version of the LLVM tools that make code, "" if they are missing.
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

// LLVMLibrary returns the path or name of LLVM's shared library if it makes code for this machine
// instead of opt and llc, which are slower. "" means that these tools run for each kernel. The
// library runs in child processes: this program, started once more, without main and without the
// init functions of packages that use this one.
func LLVMLibrary(ctx context.Context) string {
	tools, err := toolchain.Find()
	host, terr := targets.Lookup("host")
	if err != nil || terr != nil {
		return ""
	}
	return tools.Library(ctx, host)
}
