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
)

// IsFPGA reports whether a target is a board with an FPGA.
func IsFPGA(target string) bool {
	_, ok := fpga.Lookup(target)
	return ok
}

// Accelerate makes the accelerator of the model at path for the board o.Target, an FPGA.
func Accelerate(ctx context.Context, path string, o Options, f FoldOptions) (*Accelerator, error) {
	if IsArtifact(path) {
		return nil, &ArtifactError{Path: path, For: ToAccelerate}
	}
	t, ok := fpga.Lookup(o.Target)
	if !ok {
		return nil, &targets.UnknownTargetError{Name: o.Target, Known: fpga.Names()}
	}
	o.Target = ""
	load := func(ctx context.Context) (*graph.Graph, error) { return models.Load(ctx, path, o) }
	g, err := compile.Fused(ctx, load, o)
	if err != nil {
		return nil, err
	}
	return accelerator.New(g, t, f, o)
}
