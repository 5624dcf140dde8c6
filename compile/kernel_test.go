package compile_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"ripc/caches"
	"ripc/codegen"
	"ripc/codegen/llvm"
	"ripc/codegen/llvm/toolchain"
	"ripc/compile"
	"ripc/engine"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/schedule"
	"ripc/targets"
)

// matvec is y[o] = sum over k of x[k] * w[k, o].
func matvec() *ir.Func {
	buffer := func(name string, shape ...int) ir.Buffer { return ir.Buffer{Name: name, Type: ir.I32, Shape: shape} }
	x, w, y := buffer("x", 8), buffer("w", 8, 64), buffer("y", 64)
	at := []ir.Expr{ir.V("o")}
	narrow := func(e ir.Expr) ir.Expr { return ir.Bin(ir.And, e, ir.Const(ir.I32, 255)) } // so that sums stay in range
	return &ir.Func{Name: "matvec", Params: []ir.Param{{Buffer: x}, {Buffer: w}, {Buffer: y, Out: true}},
		Body: &ir.For{Var: "o", Extent: 64, Body: ir.Seq(
			&ir.Store{Buf: "y", Idx: at, Val: ir.Const(ir.I32, 0)},
			&ir.For{Var: "k", Extent: 8, Body: &ir.Store{Buf: "y", Idx: at, Op: ir.AddTo,
				Val: ir.Bin(ir.Mul, narrow(ir.At(x, ir.V("k"))), narrow(ir.At(w, ir.V("k"), ir.V("o"))))}})}}
}

func trace(t *testing.T, text string) schedule.Trace {
	t.Helper()
	tr, err := schedule.ParseTrace("test", text)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestKernel builds one Func with weights that its trace packs, and compares it with the interpreter on three machines.
func TestKernel(t *testing.T) {
	for _, name := range []string{targets.HostName, "rpi3", "rpi2"} {
		target, err := targets.Lookup(name)
		need.OK(t, err)
		u, err := compile.Kernel(t.Context(), matvec(), trace(t, "split o 16\npack w 1.o 0 1.i factor=16"), target, compile.KernelOptions{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		e, err := u.Open(engine.Options{Threads: 2})
		need.OK(t, err)
		job := func(seed uint64) []engine.Job { return []engine.Job{{Inputs: u.Inputs(seed), Last: 1, Outputs: true}} }
		got, err := e.Run(t.Context(), job(5))
		if err != nil {
			t.Fatal(err)
		}
		want, err := u.Definition().Run(t.Context(), job(5))
		if err != nil {
			t.Fatal(err)
		}
		other, err := u.Definition().Run(t.Context(), job(6))
		if err != nil || !bytes.Equal(got[0].Outputs[0], want[0].Outputs[0]) || bytes.Equal(want[0].Outputs[0], other[0].Outputs[0]) {
			t.Errorf("%s: wrong or constant outputs, %v", name, err)
		}
		if len(u.Scheduled.Buffers[2].Shape) != 3 || len(u.Inputs(1)) != 1 {
			t.Errorf("%s: the weights are not packed:\n%s", name, u.Scheduled)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSchedulesShareDriver: of two schedules of a kernel that an engine is to load, what differs is compiled, the kernel; a library that is
// linked has a name with its hash, which its driver knows.
func TestSchedulesShareDriver(t *testing.T) {
	target, err := targets.Lookup("rpi3")
	need.OK(t, err)
	tools, err := toolchain.Find()
	need.OK(t, err)
	cache, err := caches.Open(t.TempDir(), caches.DefaultLimit)
	if err != nil {
		t.Fatal(err)
	}
	o := compile.KernelOptions{With: []codegen.Backend{llvm.Backend{Tools: tools, Cache: cache}}}
	misses := 0
	for _, c := range []struct {
		trace    string
		kind     codegen.Kind
		compiled int
	}{
		{"", codegen.Runnable, 3}, // the kernel, its driver, the check of the CPU
		{"split o 16", codegen.Runnable, 1},
		{"split o 16", codegen.SO, 1},
		{"split o 32", codegen.SO, 2},
	} {
		o.Emit = []codegen.Kind{c.kind}
		if _, err := compile.Kernel(t.Context(), matvec(), trace(t, c.trace), target, o); err != nil {
			t.Fatal(err)
		}
		if got := cache.Stats().Misses - misses; got != c.compiled {
			t.Errorf("%s with %q: %d modules were compiled, want %d", c.kind, c.trace, got, c.compiled)
		}
		misses = cache.Stats().Misses
	}
}

func TestKernelRefuses(t *testing.T) {
	target, err := targets.Lookup("x86-64")
	if err != nil {
		t.Fatal(err)
	}
	none := map[string][]byte{}
	for want, c := range map[string]struct {
		trace string
		o     compile.KernelOptions
	}{
		"test:1: vectorize q":                {"vectorize q", compile.KernelOptions{}},
		"cannot be packed: in stage matvec":  {"pack w 1 0", compile.KernelOptions{Constants: none}},
		"12 bytes do not make a constant":    {"", compile.KernelOptions{Constants: map[string][]byte{"w": make([]byte, 12)}}},
		"do not make a constant of %y":       {"", compile.KernelOptions{Constants: map[string][]byte{"y": make([]byte, 256)}}},
		"1 of 1 constants are for parameter": {"", compile.KernelOptions{Constants: map[string][]byte{"z": nil}}},
		`unknown back end "x"`:               {"", compile.KernelOptions{Backend: "x"}},
	} {
		var user *ir.Error
		_, err := compile.Kernel(t.Context(), matvec(), trace(t, c.trace), target, c.o)
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &user) {
			t.Errorf("%s: %v", want, err)
		}
	}
	f := matvec()
	f.Body.(*ir.For).Extent = 65
	var internal *compile.InternalError
	if _, err := compile.Kernel(t.Context(), f, nil, target, compile.KernelOptions{}); !errors.As(err, &internal) {
		t.Errorf("a definition that is wrong: %v", err)
	}
}
