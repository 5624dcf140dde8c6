package ripc

import (
	"context"

	"ripc/accelerator"
	"ripc/compile"
	"ripc/graph"
	"ripc/internal/models"
	"ripc/targets"
	"ripc/targets/fpga"
)

// Accelerators for FPGAs (package accelerator). FoldOptions say how large their engines are.
type (
	Accelerator       = accelerator.Accelerator
	AcceleratorReport = accelerator.Report
	AcceleratorBench  = accelerator.Bench
	FoldOptions       = accelerator.FoldOptions
	FoldOptionError   = accelerator.OptionError
	FoldTrial         = accelerator.Trial
	// AcceleratorVerifyOptions are those of Accelerator.Verify.
	AcceleratorVerifyOptions = accelerator.VerifyOptions
	// CoreProgram is a network with a part as the program of an instruction core.
	CoreProgram = accelerator.Core
	CoreReport  = accelerator.CoreReport
	// CoreDesign is a design of the instruction core for a network.
	CoreDesign = accelerator.CoreDesign
)

// IsFPGA reports whether a target is a board with an FPGA.
func IsFPGA(target string) bool {
	_, ok := fpga.Lookup(target)
	return ok
}

// Accelerate makes the accelerator of the model at path for the board o.Target, an FPGA.
func Accelerate(ctx context.Context, path string, o Options, f FoldOptions) (*Accelerator, error) {
	g, t, err := fusedFor(ctx, path, &o)
	if err != nil {
		return nil, err
	}
	return accelerator.New(g, t, f, o)
}

// AccelerateByCore makes the program of the model at path for the instruction core f.Core on the
// board o.Target.
func AccelerateByCore(ctx context.Context, path string, o Options, f FoldOptions) (*CoreProgram, error) {
	g, t, err := fusedFor(ctx, path, &o)
	if err != nil {
		return nil, err
	}
	return accelerator.NewCore(ctx, g, t, f.Core, o)
}

// CoreDesigns lists designs of an instruction core on the board o.Target for the model at path.
// Each takes more cells than the one before, and fewer steps.
func CoreDesigns(ctx context.Context, path string, o Options) ([]CoreDesign, error) {
	g, t, err := fusedFor(ctx, path, &o)
	if err != nil {
		return nil, err
	}
	return accelerator.CoreFront(ctx, g, t)
}

// fusedFor is the fused graph of the model at path, and the board that o names; o loses it.
func fusedFor(ctx context.Context, path string, o *Options) (*graph.Graph, fpga.Target, error) {
	if IsArtifact(path) {
		return nil, fpga.Target{}, &ArtifactError{Path: path, For: ToAccelerate}
	}
	t, ok := fpga.Lookup(o.Target)
	if !ok {
		return nil, t, &targets.UnknownTargetError{Name: o.Target, Known: fpga.Names()}
	}
	o.Target = ""
	load := func(ctx context.Context) (*graph.Graph, error) { return models.Load(ctx, path, *o) }
	g, err := compile.Fused(ctx, load, *o)
	return g, t, err
}
