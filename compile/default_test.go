package compile_test

import (
	"testing"

	"pgregory.net/rapid"

	"ripc/codegen"
	"ripc/compile"
	"ripc/graph"
	"ripc/internal/testlayer"
	"ripc/lower/ops"
	"ripc/targets"
)

// TestDefaultsFit: code by default schedules is never more than a kernel may have, which the back end alone knows for certain. Rows of wide windows over few channels
// are written out on 64-bit Arm.
func TestDefaultsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kernel, size := rapid.SampledFrom([]int{3, 5, 7, 9, 11, 13}).Draw(t, "kernel"), rapid.IntRange(13, 130).Draw(t, "size")
		stride := rapid.IntRange(1, 4).Draw(t, "stride")
		a := &graph.FusedConv{KH: kernel, KW: kernel, SH: stride, SW: stride, In: rapid.SampledFrom([]int{1, 2, 3, 4, 6, 8, 16, 32}).Draw(t, "in"), Out: rapid.SampledFrom([]int{16, 32, 48, 64}).Draw(t, "out")}
		if p := kernel / 2; rapid.Bool().Draw(t, "padded") {
			a.Pad = graph.Padding{Top: p, Bottom: p, Left: p, Right: p}
		}
		target, err := targets.Lookup(rapid.SampledFrom([]string{"rpi3", "rpi5", "rpi3-armv7", "x86-64-v3"}).Draw(t, "target"))
		if err != nil {
			t.Fatal(err)
		}
		f := testlayer.Reals(a, 1, size, size, ops.Slice{})
		choice, err := compile.Default(f, target)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compile.Kernel(t.Context(), f, choice.Trace, target, compile.KernelOptions{Emit: []codegen.Kind{codegen.LL}}); err != nil {
			t.Fatalf("%s %s: %v", choice.Strategy, choice.Values, err)
		}
	})
}
