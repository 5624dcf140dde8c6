package arith_test

import (
	"testing"

	"pgregory.net/rapid"

	"ripc/internal/difftest"
	"ripc/internal/irgen"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/interp"
)

func run(t *testing.T, rt *rapid.T, f *ir.Func) [][]byte {
	p, err := interp.CompileChecked(f)
	if err != nil {
		rt.Fatalf("%v\n%s", err, f)
	}
	args := difftest.RandomArgs(f, 1)
	if err := p.Run(t.Context(), args); err != nil {
		rt.Fatalf("%v\n%s", err, f)
	}
	return args
}

// Simplified Funcs compute the same and are still valid and provably in bounds.
func TestSimplifyStmtKeepsResults(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := irgen.Func(rt)
		want := run(t, rt, f)
		for _, opts := range [][]arith.Option{nil, {arith.DropUnitLoops}} {
			g := f.WithBody(arith.SimplifyStmt(f.Body, arith.Ranges{}, opts...))
			if err := ir.Verify(g); err != nil {
				rt.Fatalf("%v\nbefore:\n%s\nafter:\n%s", err, f, g)
			}
			if err := arith.VerifyBounds(g); err != nil {
				rt.Fatalf("%v\nbefore:\n%s\nafter:\n%s", err, f, g)
			}
			got := run(t, rt, g)
			for i, p := range f.Params {
				if d := difftest.Diff(want[i], got[i], p.Buffer); d != "" {
					rt.Fatalf("%s\nbefore:\n%s\nafter:\n%s", d, f, g)
				}
			}
		}
	})
}
