package arith_test

import (
	"os"
	"strings"
	"testing"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/irtext"
)

// Nothing wrong is proved of Funcs that were once said to be right.
func TestHoles(t *testing.T) {
	const file = "testdata/holes.ripir"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := irtext.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range parsed.Funcs {
		t.Run(f.Name, func(t *testing.T) {
			if err := ir.Verify(f); err != nil {
				t.Fatal(err)
			}
			prove, want := arith.VerifyBounds, "cannot prove that the index in dimension 0"
			if f.Name == "width" {
				prove, want = arith.VerifyWidths, "the accumulator can reach 300, but u8 holds 0..255"
			}
			if err := prove(f); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

// What is read stays what it is as long as nothing is written there.
func TestFactsLast(t *testing.T) {
	i, y := buf("i", ir.I32, 1), buf("y", ir.U8, 8)
	at := ir.CastTo(ir.I64, ir.At(i, n(0)))
	inside := and(b(ir.Ge, at, n(0)), b(ir.Lt, at, n(8)))
	write := store(ir.Assign, y, u8(1), at)
	other := store(ir.Assign, i, ir.Const(ir.I32, 9), n(0))
	for name, c := range map[string]struct {
		body ir.Stmt
		ok   bool
	}{
		"not written":                    {&ir.If{Cond: inside, Then: ir.Seq(write, write)}, true},
		"written after the if":           {ir.Seq(&ir.If{Cond: inside, Then: write}, other), true},
		"written before the use":         {&ir.If{Cond: inside, Then: ir.Seq(other, write)}, false},
		"written in an iteration before": {&ir.If{Cond: inside, Then: loop("k", 2, ir.Seq(write, other))}, false},
		"a conjunct without it":          {loop("v", 9, &ir.If{Cond: and(inside, b(ir.Lt, ir.V("v"), n(8))), Then: ir.Seq(other, store(ir.Assign, y, u8(1), ir.V("v")))}), true},
	} {
		f := &ir.Func{Name: "f", Params: []ir.Param{{Buffer: i, Out: true}, {Buffer: y, Out: true}}, Body: c.body}
		if err := arith.VerifyBounds(f); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
