package ripc

import (
	"context"
	"fmt"
	"os"

	"ripc/codegen/artifact"
	"ripc/ir"
	"ripc/runtime"
	"ripc/verify"
)

// VerifyRequest says what to compare.
type VerifyRequest struct {
	Path     string  // model
	SO       string  // an artifact made of it earlier; "" compiles the model
	Options  Options // Emit is ignored; with SO, Target may be left out
	Seed     uint64  // of the inputs
	Threads  int
	Progress func(done, total int, what string) // may be nil
}

// Verify compares compiled code with the model's definition, stage by stage and as a whole, bit for bit.
func Verify(ctx context.Context, r VerifyRequest) (*verify.Report, error) {
	if IsArtifact(r.Path) {
		return nil, &ir.Error{Pos: ir.Pos{File: r.Path}, Msg: "an artifact does not carry its definition", Help: "give the model, and the artifact with --so"}
	}
	progress := func(done, total int, what string) {
		if r.Progress != nil {
			r.Progress(done, total, what)
		}
	}
	o := r.Options
	o.Emit = []artifact.Kind{artifact.SO}
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
			return nil, &ir.Error{Pos: ir.Pos{File: r.SO}, Msg: fmt.Sprintf("was compiled for %s, not for %s", d.Target, o.Target), Help: "leave --target out"}
		}
	}
	c, err := Compile(ctx, r.Path, o)
	if err != nil {
		return nil, err
	}
	so := r.SO
	if so == "" {
		dir, path, err := c.tempSO()
		defer os.RemoveAll(dir)
		if err != nil {
			return nil, err
		}
		so = path
	}
	feed, err := LoadInputs(artifact.Describe(artifact.Input{Program: c.Program}).Inputs, nil, r.Seed)
	if err != nil {
		return nil, err
	}
	return verify.Verify(ctx, verify.Input{
		Program: c.Program, Scheduled: c.Scheduled, SO: so, Threads: r.Threads, Inputs: feed.Run(0),
		Progress: func(done, total int, stage string) { progress(done, total, "verifying "+stage) },
	})
}
