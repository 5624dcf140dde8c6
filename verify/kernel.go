package verify

import (
	"context"

	"ripc/codegen"
	"ripc/compile"
)

// Kernel compares a kernel that was built by itself with its definition, on random inputs and on
// Further ones.
func Kernel(ctx context.Context, u *compile.Unit, threads int) (*Report, error) {
	in := KernelInput(u, 1)
	in.Threads = threads
	return Verify(ctx, in)
}

// KernelInput is the input of Verify for a kernel, with inputs from seed. The caller sets Threads
// and further options.
func KernelInput(u *compile.Unit, seed uint64) Input {
	in := BuiltInput(&u.Built)
	in.Inputs = u.Inputs(seed)
	in.More = AdditionalSets(u.Program, in.Inputs, seed)
	return in
}

// BuiltInput compares the code of b with its definition, on inputs that remain to be set.
func BuiltInput(b *compile.Built) Input {
	return Input{Program: b.Program, Scheduled: b.Scheduled, Library: b.Files[codegen.Runnable]}
}
