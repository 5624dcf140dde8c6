package ripc

import (
	"context"
	"fmt"
	"time"

	"ripc/codegen"
	"ripc/internal/tensorio"
	"ripc/runtime"
	"ripc/verify"
)

// VerifyRequest asks for a comparison.
type VerifyRequest struct {
	Path    string  // model
	SO      string  // an artifact made of it earlier; "" compiles the model
	Options Options // Emit is ignored; with SO, Target may be left out
	Seed    uint64  // of the inputs
	// Inputs name files as RunRequest.Inputs does, and every inference in them is compared.
	// Without, the network runs on random inputs, then on those of verify.AdditionalSets: hard
	// numbers, and ties.
	Inputs []string
	// Layer, if not "", is the one layer to compare, built by itself. SO and Inputs must be empty
	// then.
	Layer    string
	Threads  int
	On       string                             // as in RunRequest
	Limit    time.Duration                      // of a stage under simulation, or on another machine; 0 is a minute
	Progress func(done, total int, what string) // may be nil
	Watch    func(*VerifyReport, *VerifyRunning)
}

// VerifyReport is the result of Verify. VerifyRequest.Watch is called with it and VerifyRunning
// (verify.Input.Watch).
type (
	VerifyReport  = verify.Report
	VerifyRunning = verify.Running
	VerifyCrash   = verify.Crash
)

// Verify compares compiled code with the model's definition bit for bit, stage by stage and as a
// whole. Native code that crashes ends the process, so the command calls Verify in a child process.
func Verify(ctx context.Context, r VerifyRequest) (*VerifyReport, error) {
	progress := func(done, total int, what string) {
		if r.Progress != nil {
			r.Progress(done, total, what)
		}
	}
	in, err := r.input(ctx, progress)
	if err != nil {
		return nil, err
	}
	in.Threads, in.Limit, in.Watch, in.Elsewhere = r.Threads, r.Limit, r.Watch, reachMachine(ctx, r.On)
	in.Progress = func(done, total int, stage string) { progress(done, total, "verifying "+stage) }
	return verify.Verify(ctx, in)
}

// input returns the code that r asks for, its definition, and the inputs for both.
func (r VerifyRequest) input(ctx context.Context, progress func(done, total int, what string)) (verify.Input, error) {
	var none verify.Input
	if r.Layer != "" {
		u, err := buildUnit(ctx, r.Path, r.Layer, r.Options, progress)
		if err != nil {
			return none, err
		}
		return verify.KernelInput(u, r.Seed), nil
	}
	if IsArtifact(r.Path) {
		return none, &ArtifactError{Path: r.Path, For: ToVerify}
	}
	o := r.Options
	o.Emit = []codegen.Kind{codegen.Runnable}
	o.Progress = func(done, total int) { progress(done, total, "compiling") }
	if r.SO != "" {
		d, err := runtime.ReadDescription(r.SO)
		if err != nil {
			return none, err
		}
		if o.Emit = nil; o.Target == "" {
			o.Target = d.Target
		}
		if o.Target != d.Target {
			return none, &TargetError{Path: r.SO, Target: d.Target, Want: o.Target}
		}
	}
	c, err := Compile(ctx, r.Path, o)
	if err != nil {
		return none, err
	}
	tensors := codegen.Describe(codegen.Input{Program: c.Program}).Inputs
	feed, err := tensorio.Load(tensors, r.Inputs, tensorio.Seeded(r.Seed))
	if err != nil {
		return none, err
	}
	in := verify.BuiltInput(&c.Built)
	in.SO, in.Inputs = r.SO, feed.Run(0)
	for k := 1; k < feed.Runs; k++ {
		in.More = append(in.More, verify.Set{Name: fmt.Sprintf("run %d of the given inputs", k+1), Inputs: feed.Run(k)})
	}
	if len(r.Inputs) == 0 {
		in.More = verify.AdditionalSets(c.Program, feed.Run(0), r.Seed)
	}
	return in, nil
}

// VerifyTimedOut returns the VerifyCrash.How of a stage that takes longer than limit.
func VerifyTimedOut(limit time.Duration) string { return verify.TimedOut(limit) }
