package verify

import (
	"ripc/codegen"
	"ripc/compile"
)

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
