package emit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ripc/internal/need"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/irtext"
	"ripc/targets"
)

// deep is the sum of a convolution of 8-bit activations and affine 4-bit weights, whose planes weigh 15 + 15: k words in 8
// planes, doubled from plane to plane, at most 255*30*32*k.
func deep(t *testing.T, k int, sign string) *ir.Func {
	t.Helper()
	f, err := irtext.ParseFunc("deep.ripir", fmt.Appendf(nil, `func @deep%d(%%x: u32[8, 64], %%w: u32[64, 4], out %%y: i32[4]) {
  alloc %%acc: i32[4]
  for %%z in 0:4 { %%acc[%%z] = 0i32 }
  for %%n in 0:8 {
    for %%d in 0:4 vectorize { %%acc[%%d] = %%acc[%%d] + %%acc[%%d] }
    for %%k in 0:%d {
      for %%o in 0:4 vectorize { %%acc[%%o] += %scast<i32>(popcount(%%x[%%n, %%k %% 64] ^ %%w[%%k %% 64, %%o])) * 30i32 }
    }
  }
  for %%j in 0:4 { %%y[%%j] = %%acc[%%j] }
}
`, k, k, sign))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestWorstCaseInt32 comes within one word of what 32 bits hold, with both signs.
func TestWorstCaseInt32(t *testing.T) {
	const k = (1<<31 - 1) / (255 * 30 * 32) // 8772
	const limit = "but i32 holds -2147483648..2147483647"
	for _, sign := range []string{"", "0i32 - "} {
		f := deep(t, k, sign)
		if err := arith.VerifyWidths(f); err != nil {
			t.Fatal(err)
		}
		var e *ir.Error
		if err := arith.VerifyWidths(deep(t, k+1, sign)); !errors.As(err, &e) || !strings.Contains(err.Error(), limit) {
			t.Errorf("one word more: %v, want %q", err, limit)
		}
		w := worst{word: ir.U32}
		for _, tg := range natives(t) {
			lib := buildFor(t, tg, f)
			lib.sameOn(t, f.Name, w.args(f, 1))
		}
		for _, board := range []string{"rpi4", "rpi2"} {
			tg := target(t, board)
			runWorst(t, need.Tool(t, "qemu-"+tg.Arch), tg, []*ir.Func{f}, []worst{w})
		}
	}
}

// runWorst compares under qemu.
func runWorst(t *testing.T, qemu string, tg targets.Target, fs []*ir.Func, cases []worst) {
	t.Helper()
	for odd := range 2 {
		checkARMOn(t, qemu, tg, fs, func(n int) [][]byte { return cases[n].args(fs[n], odd) })
	}
}
