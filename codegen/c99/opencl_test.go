package c99_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/codegen"
	"ripc/codegen/opencl"
	"ripc/internal/difftest"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/runtime/device"
	cl "ripc/runtime/opencl"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// onDevice builds Funcs as kernels, with blocks and threads where loops allow, for a CPU as a device. Without a driver the test ends.
func onDevice(t *testing.T, fs []*ir.Func) *library {
	t.Helper()
	tg, err := targets.Lookup("opencl-cpu")
	if err != nil {
		t.Fatal(err)
	}
	p := program(fs)
	for i, f := range p.Funcs {
		serial := f.WithBody(ir.MapStmt(f.Body, func(s ir.Stmt) ir.Stmt {
			if l, ok := s.(*ir.For); ok && l.Kind != ir.Unroll {
				return &ir.For{Var: l.Var, Extent: l.Extent, Axis: l.Axis, Body: l.Body}
			}
			return s
		}, nil))
		p.Funcs[i] = serial
		if c, err := strategy.Plainest(serial, tg, 0); err == nil {
			p.Funcs[i] = c.Func
		}
	}
	files, err := codegen.Build(t.Context(), codegen.Input{Program: p, Target: tg, Version: "1", Emit: []codegen.Kind{codegen.Runnable}}, opencl.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test.ripc")
	if err := os.WriteFile(path, files[codegen.Runnable], 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := cl.Open(path)
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

// TestOperationsOnDevice compares every operation of OpenCL C with the interpreter, on hard numbers.
func TestOperationsOnDevice(t *testing.T) {
	fs := append(integerFuncs(), floatFuncs(211)...)
	l := onDevice(t, fs)
	for i, f := range fs {
		seeds := uint64(8)
		if strings.HasPrefix(f.Name, "cast") {
			seeds = 1
		}
		for seed := range seeds {
			l.same(t, i, hard(f, seed))
		}
	}
}

// TestZerosOnDevice compares signs of zeros.
func TestZerosOnDevice(t *testing.T) {
	f, args := zeroCase(t)
	onDevice(t, []*ir.Func{f}).same(t, 0, args)
}

// TestRandomFuncsOnDevice compares random nests of loops, bound to blocks and threads, with the interpreter.
func TestRandomFuncsOnDevice(t *testing.T) {
	fs := randomFuncs(t, 200, 60)
	l := onDevice(t, fs)
	for i, f := range fs {
		for seed := range uint64(3) {
			l.same(t, i, difftest.RandomArgs(f, seed))
		}
	}
}
