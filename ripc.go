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

	"ripc/codegen/llvm/toolchain"
	"ripc/compile"
	"ripc/importer"
	"ripc/recognize"
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
