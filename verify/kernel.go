package verify

import (
	"context"

	"ripc/codegen"
	"ripc/compile"
)

// Kernel compares a kernel that was built by itself with its definition, on random inputs and on hard ones.
func Kernel(ctx context.Context, u *compile.Unit, threads int) (*Report, error) {
	in := Input{Program: u.Program, Scheduled: u.Scheduled, Library: u.Files[codegen.Runnable], Threads: threads, Inputs: u.Inputs(1)}
	tensors := codegen.Describe(codegen.Input{Program: u.Program}).Inputs
	if hard, ok := Hard(tensors, in.Inputs, 1); ok {
		in.More = append(in.More, hard)
	}
	return Verify(ctx, in)
}
