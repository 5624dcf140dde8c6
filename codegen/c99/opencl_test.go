package c99_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc/codegen"
	"ripc/codegen/opencl"
	"ripc/codegen/wgsl"
	"ripc/internal/difftest"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/runtime/device"
	cl "ripc/runtime/opencl"
	"ripc/runtime/webgpu"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// testbed is a target whose kernels run without a GPU.
type testbed struct {
	target  string
	backend codegen.Backend
	open    func(path string) (*device.Session, error)
}

// testbeds are all of them.
var testbeds = []testbed{{"opencl-cpu", opencl.Backend{}, cl.Open}, {"webgpu", wgsl.Backend{}, webgpu.Open}}

// plainest schedules f as the first strategy that can, with blocks and threads where loops allow.
func plainest(f *ir.Func, tg targets.Target) *ir.Func {
	serial := f.WithBody(ir.MapStmt(f.Body, func(s ir.Stmt) ir.Stmt {
		if l, ok := s.(*ir.For); ok && l.Kind != ir.Unroll {
			return &ir.For{Var: l.Var, Extent: l.Extent, Axis: l.Axis, Body: l.Body}
		}
		return s
	}, nil))
	if c, err := strategy.Plainest(serial, tg, 0, nil); err == nil {
		return c.Func
	}
	return serial
}

// on builds kernels of the Funcs scheduled, with the meaning of fs. Without a driver the test ends.
func (d testbed) on(t *testing.T, fs, scheduled []*ir.Func) *library {
	t.Helper()
	tg, err := targets.Lookup(d.target)
	if err != nil {
		t.Fatal(err)
	}
	p := program(fs)
	copy(p.Funcs, scheduled)
	for i, f := range p.Funcs[len(fs):] {
		p.Funcs[len(fs)+i] = plainest(f, tg)
	}
	files, err := codegen.Build(t.Context(), codegen.Input{Program: p, Target: tg, Version: "1", Emit: []codegen.Kind{codegen.Runnable}}, d.backend)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test.ripc")
	if err := os.WriteFile(path, files[codegen.Runnable], 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := d.open(path)
	if missing := (*device.MissingError)(nil); errors.As(err, &missing) {
		need.OK(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	p.Funcs = append([]*ir.Func{}, p.Funcs...)
	copy(p.Funcs, fs)
	return &library{p, map[int]session{1: s}}
}

// TestOperationsOnDevice compares every operation with the interpreter, on hard numbers.
func TestOperationsOnDevice(t *testing.T) {
	eachTestbed(t, append(integerFuncs(), floatFuncs(211)...), func(t *testing.T, l *library, i int, f *ir.Func) {
		seeds := uint64(8)
		if strings.HasPrefix(f.Name, "cast") {
			seeds = 1
		}
		for seed := range seeds {
			l.same(t, i, hard(f, seed))
		}
	})
}

// TestZerosOnDevice compares signs of zeros.
func TestZerosOnDevice(t *testing.T) {
	f, args := zeroCase(t)
	eachTestbed(t, []*ir.Func{f}, func(t *testing.T, l *library, i int, _ *ir.Func) { l.same(t, i, args) })
}

// TestRandomFuncsOnDevice compares random nests of loops, bound to blocks and threads, with the interpreter.
func TestRandomFuncsOnDevice(t *testing.T) {
	eachTestbed(t, randomFuncs(t, 200, 60), func(t *testing.T, l *library, i int, f *ir.Func) {
		for seed := range uint64(3) {
			l.same(t, i, difftest.RandomArgs(f, seed))
		}
	})
}

// eachTestbed runs check with each of fs on each device that can compute it: not all have integers of 64 bits.
func eachTestbed(t *testing.T, fs []*ir.Func, check func(*testing.T, *library, int, *ir.Func)) {
	takes := need.Part(t, 5)
	for _, d := range testbeds {
		t.Run(d.target, func(t *testing.T) {
			tg, err := targets.Lookup(d.target)
			if err != nil {
				t.Fatal(err)
			}
			all, able, scheduled := 0, []*ir.Func{}, []*ir.Func{}
			for i, f := range fs {
				if d.target == "webgpu" && !takes(i) { // a browser without a GPU is slow
					continue
				}
				all++
				g := plainest(f, tg)
				if !slices.ContainsFunc([]*ir.Func{g, program([]*ir.Func{f}).Funcs[2]}, func(f *ir.Func) bool {
					_, err := d.backend.Kernel(f, "f", tg, nil)
					return err != nil && strings.Contains(err.Error(), "integers of 64 bits")
				}) {
					able, scheduled = append(able, f), append(scheduled, g)
				}
			}
			if 3*len(able) < all {
				t.Errorf("only %d of %d Funcs", len(able), all)
			}
			l := d.on(t, able, scheduled)
			for i, f := range able {
				check(t, l, i, f)
			}
		})
	}
}
