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
	// the network runs on random inputs, and once more with hard numbers among them (verify.Hard).
	Inputs   []string
	Threads  int
	Limit    time.Duration                      // of a stage's compiled code under simulation; 0 means a minute
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
	if IsArtifact(r.Path) {
		return nil, &ArtifactError{Path: r.Path, For: ToVerify}
	}
	progress := func(done, total int, what string) {
		if r.Progress != nil {
			r.Progress(done, total, what)
		}
	}
	o := r.Options
	o.Emit = []codegen.Kind{codegen.Runnable}
	o.Progress = func(done, total int) { progress(done, total, "compiling") }
	if r.SO != "" {
		d, err := runtime.ReadDescription(r.SO)
		if err != nil {
			return nil, err
		}
		if o.Emit = nil; o.Target == "" {
			o.Target = d.Target
		}
		if o.Target != d.Target {
			return nil, &TargetError{Path: r.SO, Target: d.Target, Want: o.Target}
		}
	}
	c, err := Compile(ctx, r.Path, o)
	if err != nil {
		return nil, err
	}
	tensors := codegen.Describe(codegen.Input{Program: c.Program}).Inputs
	feed, err := tensorio.Load(tensors, r.Inputs, tensorio.Seeded(r.Seed))
	if err != nil {
		return nil, err
	}
	var more []verify.Set
	for k := 1; k < feed.Runs; k++ {
		more = append(more, verify.Set{Name: fmt.Sprintf("run %d of the given inputs", k+1), Inputs: feed.Run(k)})
	}
	if hard, ok := verify.Hard(tensors, feed.Run(0), r.Seed); ok && len(r.Inputs) == 0 {
		more = append(more, hard)
	}
	return verify.Verify(ctx, verify.Input{
		Program: c.Program, Scheduled: c.Scheduled, SO: r.SO, Library: c.Files[codegen.Runnable], Threads: r.Threads, Inputs: feed.Run(0), More: more,
		Limit: r.Limit, Watch: r.Watch,
		Progress: func(done, total int, stage string) { progress(done, total, "verifying "+stage) },
	})
}

// VerifyTimedOut is the VerifyCrash.How of a stage that takes longer than limit.
func VerifyTimedOut(limit time.Duration) string { return verify.TimedOut(limit) }
