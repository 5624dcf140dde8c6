// Package difftest compares Funcs in the interpreter: a transformation of a Func must compute the
// same bits.
package difftest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ripc/internal/irdata"
	"ripc/ir"
	"ripc/ir/interp"
)

// Same runs both Funcs on seeded random arguments (seeds 1 and 2 if none are given). It fails the
// test if an element of an output differs, names the first one and shows both texts. Integers are
// compared bit for bit, and so are floats, except that NaN equals NaN. Outputs start out with the
// same random contents, which reveals elements that only one Func writes. Both run checked: reading
// an alloc before it is written fails the test.
func Same(t testing.TB, before, after *ir.Func, seeds ...uint64) {
	t.Helper()
	if d := cmp.Diff(before.Params, after.Params); d != "" {
		t.Fatalf("parameters differ (-before +after):\n%s", d)
	}
	if len(seeds) == 0 {
		seeds = []uint64{1, 2}
	}
	b, err := interp.CompileChecked(before)
	if err != nil {
		t.Fatalf("before: %v\n%s", err, before)
	}
	for _, seed := range seeds {
		want := RandomArgs(before, seed)
		inputs := Clone(want)
		if err := b.Run(t.Context(), want); err != nil {
			t.Fatalf("before, seed %d: %v\n%s", seed, err, before)
		}
		for _, order := range orders(after) {
			a, err := interp.CompileWith(after, interp.Checks{Reads: true, Order: order})
			if err != nil {
				t.Fatalf("after: %v\n%s", err, changes(before, after))
			}
			got := Clone(inputs)
			if err := a.Run(t.Context(), got); err != nil {
				t.Fatalf("after, seed %d: %v\n%s", seed, err, changes(before, after))
			}
			for i, p := range before.Params {
				if !p.Out && !bytes.Equal(got[i], inputs[i]) {
					t.Fatalf("seed %d: the input %%%s was changed", seed, p.Name)
				}
				if d := Diff(want[i], got[i], p.Buffer); d != "" {
					t.Fatalf("seed %d: %s\n%s", seed, d, changes(before, after))
				}
			}
		}
	}
}

// orders lists the orders of blocks and threads that f is run in.
func orders(f *ir.Func) []interp.Order {
	if ir.HasLoop(f.Body, func(l *ir.For) bool { return l.Kind == ir.Blocks || l.Kind == ir.Threads }) {
		return []interp.Order{interp.InOrder, interp.Reversed, interp.Shuffled}
	}
	return []interp.Order{interp.InOrder}
}

// changes returns the differences between the texts of before and after.
func changes(before, after *ir.Func) string {
	lines := func(f *ir.Func) []string { return strings.Split(f.String(), "\n") }
	return "before -> after (-before +after):\n" + cmp.Diff(lines(before), lines(after)) + "\nafter:\n" + after.String()
}

// Clone copies arguments.
func Clone(args [][]byte) [][]byte {
	out := make([][]byte, len(args))
	for i, a := range args {
		out[i] = append(make([]byte, 0, len(a)), a...)
	}
	return out
}

// Diff describes the first element in which the contents a and b of buf differ and counts the
// others; it is empty if there is none. A NaN does not differ from a NaN.
func Diff(a, b []byte, buf ir.Buffer) string {
	if len(a) != buf.Bytes() || len(b) != buf.Bytes() {
		return fmt.Sprintf("%s: %d and %d bytes", ir.BufferString(buf), len(a), len(b))
	}
	index, n := irdata.Compare(buf, a, b, buf.Type.IsFloat())
	if n == 0 {
		return ""
	}
	at := ""
	if len(index) > 0 {
		at = strings.ReplaceAll(fmt.Sprint(index), " ", ", ")
	}
	return fmt.Sprintf("%%%s%s: %s and %s; %d of %d elements differ", buf.Name, at, irdata.Element(buf, a, index),
		irdata.Element(buf, b, index), n, buf.Elems())
}

// RandomArgs makes contents for f's parameters (irdata.Random).
func RandomArgs(f *ir.Func, seed uint64) [][]byte { return irdata.Random(f, seed) }
