package compile_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"ripc/codegen"
	"ripc/codegen/llvm"
	"ripc/compile"
	"ripc/graph"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/ops"
	"ripc/schedule/strategy"
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
		choice, err := strategy.Default(f, target)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compile.Kernel(t.Context(), f, choice.Trace, target, compile.KernelOptions{Emit: []codegen.Kind{codegen.LL}}); err != nil {
			t.Fatalf("%s %s: %v", choice.Strategy, choice.Values, err)
		}
	})
}

// TestDefaultsCounted: where code by a default schedule is estimated to be less than it is, the back end's count decides: layers of floats over many channels of which
// rows are written out.
func TestDefaultsCounted(t *testing.T) {
	target, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	floats := &graph.FusedConv{KH: 7, KW: 7, SH: 1, SW: 1, In: 13, Out: 64, Pad: graph.Padding{Top: 3, Bottom: 3, Left: 3, Right: 3}}
	floats.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Levels: []float32{0.5}}
	f := testlayer.Reals(floats, 1, 9, 28, ops.Slice{})
	kernel := func(c strategy.Choice, err error) error {
		if err != nil {
			t.Fatal(err)
		}
		_, err = compile.Kernel(t.Context(), f, c.Trace, target, compile.KernelOptions{Emit: []codegen.Kind{codegen.LL}})
		return err
	}
	if large := (*llvm.SizeError)(nil); !errors.As(kernel(strategy.Default(f, target)), &large) {
		t.Error("the code is not too large: the test shows nothing")
	}
	if err := kernel(compile.Default(f, target)); err != nil {
		t.Error(err)
	}
}
