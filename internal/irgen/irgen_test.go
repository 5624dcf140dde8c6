package irgen_test

import (
	"testing"

	"pgregory.net/rapid"

	"ripc/internal/difftest"
	"ripc/internal/irgen"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/interp"
)

// What is promised: well-formed, provably in bounds, and nothing that the interpreter calls an error.
func TestFuncIsValid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := irgen.Func(rt)
		if err := ir.Verify(f); err != nil {
			rt.Fatalf("%v\n%s", err, f)
		}
		if err := arith.VerifyBounds(f); err != nil {
			rt.Fatalf("%v\n%s", err, f)
		}
		run, err := interp.CompileChecked(f)
		if err != nil {
			rt.Fatalf("%v\n%s", err, f)
		}
		if err := run.Run(t.Context(), difftest.RandomArgs(f, 1)); err != nil {
			rt.Fatalf("%v\n%s", err, f)
		}
	})
}
