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

// VerifyRequest says what to compare.
type VerifyRequest struct {
	Path    string  // model
	SO      string  // an artifact made of it earlier; "" compiles the model
	Options Options // Emit is ignored; with SO, Target may be left out
	Seed    uint64  // of the inputs
	// Inputs, if there are any, name files, as RunRequest.Inputs does; every inference that they hold is compared. Without,
	// the network runs on random inputs, and then on those of verify.Further: hard numbers, and numbers that make ties.
	Inputs []string
	// Layer, if not "", is the name of the one layer to compare, built by itself; SO and Inputs must then be left out.
	Layer    string
	Threads  int
	On       string                             // as in RunRequest
	Limit    time.Duration                      // of a stage's compiled code under simulation, or elsewhere; 0 means a minute
	Progress func(done, total int, what string) // may be nil
	Watch    func(*VerifyReport, *VerifyRunning)
}

// The result of Verify, and what VerifyRequest.Watch is called with (verify.Input.Watch).
type (
	VerifyReport  = verify.Report
	VerifyRunning = verify.Running
	VerifyCrash   = verify.Crash
)

// Verify compares compiled code with the model's definition, stage by stage and as a whole, bit for bit.
// Native code that crashes takes the process along; the command therefore calls Verify in a process of its own.
func Verify(ctx context.Context, r VerifyRequest) (*VerifyReport, error) {
	progress := func(done, total int, what string) {
		if r.Progress != nil {
			r.Progress(done, total, what)
		}
	}
	in, err := r.compared(ctx, progress)
	if err != nil {
		return nil, err
	}
	in.Threads, in.Limit, in.Watch, in.Elsewhere = r.Threads, r.Limit, r.Watch, elsewhere(ctx, r.On)
	in.Progress = func(done, total int, stage string) { progress(done, total, "verifying "+stage) }
	return verify.Verify(ctx, in)
}

// compared is the code that r asks for, its definition, and what both run on.
func (r VerifyRequest) compared(ctx context.Context, progress func(done, total int, what string)) (verify.Input, error) {
	var none verify.Input
	if r.Layer != "" {
		u, err := unit(ctx, r.Path, r.Layer, r.Options, progress)
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
		in.More = verify.Further(c.Program, feed.Run(0), r.Seed)
	}
	return in, nil
}

// VerifyTimedOut is the VerifyCrash.How of a stage that takes longer than limit.
func VerifyTimedOut(limit time.Duration) string { return verify.TimedOut(limit) }
