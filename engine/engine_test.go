package engine_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ripc/codegen"
	"ripc/codegen/llvm"
	"ripc/codegen/llvm/toolchain"
	"ripc/engine"
	"ripc/engine/estimate"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/measure"
	"ripc/runtime/describe"
	"ripc/targets"
)

const n = 128

// chain is a network of three stages: t = 3*x, y = t+1 in the first half, and z = 2*t.
func chain() *ir.Program {
	buffer := func(name string) ir.Buffer { return ir.Buffer{Name: name, Type: ir.I32, Shape: []int{n}} }
	each := func(name string, extent int, op ir.BinOp, by int64) *ir.Func {
		a, b := buffer("a"), buffer("b")
		return &ir.Func{Name: name, Params: []ir.Param{{Buffer: a}, {Buffer: b, Out: true}},
			Body: &ir.For{Var: "i", Extent: extent, Body: &ir.Store{Buf: "b", Idx: []ir.Expr{ir.V("i")},
				Val: ir.Bin(op, ir.At(a, ir.V("i")), ir.Const(ir.I32, by))}}}
	}
	return &ir.Program{
		Name: "chain", Arena: 4 * n,
		Buffers: []ir.ProgBuf{{Buffer: buffer("x"), Kind: ir.InputBuf}, {Buffer: buffer("t"), Kind: ir.ArenaBuf},
			{Buffer: buffer("y"), Kind: ir.OutputBuf}, {Buffer: buffer("z"), Kind: ir.OutputBuf}},
		Funcs: []*ir.Func{each("thrice", n, ir.Mul, 3), each("half", n/2, ir.Add, 1), each("twice", n, ir.Mul, 2)},
		Stages: []ir.Stage{{Name: "one", Op: "mul", Func: "thrice", Args: []string{"x", "t"}, MACs: n},
			{Name: "two", Op: "add", Func: "half", Args: []string{"t", "y"}}, {Name: "three", Op: "mul", Func: "twice", Args: []string{"t", "z"}}},
	}
}

// engines opens chain in every way, two threads where that is possible.
func engines(t *testing.T, o engine.Options) map[string]engine.Engine {
	p := chain()
	all := map[string]engine.Engine{"interp": engine.Interpret(p, codegen.Describe(codegen.Input{Program: p}), nil)}
	for _, name := range []string{targets.HostName, "rpi3", "rpi2"} {
		e, err := engine.Open(library(t, name), o)
		need.OK(t, err)
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		all[name] = e
	}
	return all
}

// library is chain's artifact for a target.
func library(t *testing.T, target string) string {
	t.Helper()
	tg, err := targets.Lookup(target)
	need.OK(t, err)
	tools, err := toolchain.Find()
	need.OK(t, err)
	files, err := codegen.Build(t.Context(), codegen.Input{Program: chain(), Target: tg, Emit: []codegen.Kind{codegen.SO}}, llvm.Backend{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "chain.so")
	if err := os.WriteFile(path, files[codegen.SO], 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// numbers is n little-endian i32.
func numbers(f func(i int) int32) []byte {
	var out []byte
	for i := range n {
		v := uint32(f(i))
		out = append(out, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return out
}

func TestEngines(t *testing.T) {
	x := numbers(func(i int) int32 { return int32(i) - 5 })
	other := numbers(func(i int) int32 { return int32(7 * i) })
	tripled := numbers(func(i int) int32 { return 3 * (int32(i) - 5) })
	z := numbers(func(i int) int32 { return 6 * (int32(i) - 5) })
	for name, e := range engines(t, engine.Options{Threads: 2}) {
		t.Run(name, func(t *testing.T) {
			run := func(jobs ...engine.Job) []engine.Result {
				t.Helper()
				r, err := e.Run(t.Context(), jobs)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			r := run(engine.Job{Inputs: [][]byte{x}, Last: 3, Outputs: true, Fill: 9}, engine.Job{Inputs: [][]byte{other}, Last: 3, Outputs: true})
			if !bytes.Equal(r[0].Outputs[1], z) || bytes.Equal(r[1].Outputs[1], z) || r[0].Memory != nil {
				t.Error("whole inferences: wrong outputs")
			}
			r = run(engine.Job{Inputs: [][]byte{x}, Fill: 9, Keep: true}, engine.Job{Last: 1, Keep: true, Outputs: true}, engine.Job{First: 1, Last: 2, Keep: true})
			inArena := describe.Tensor{Name: "t", DType: "i32", Shape: []int{n}, Where: "arena"}
			if !bytes.Equal(r[1].Memory.At(inArena), tripled) || bytes.Equal(r[0].Memory.At(inArena), tripled) || !bytes.Equal(r[1].Outputs[0], r[0].Memory.Outputs[0]) {
				t.Error("stage by stage: wrong memory")
			}
			y := r[2].Memory.At(describe.Tensor{Name: "y", Where: "output"})
			if before := r[1].Memory.Outputs[0]; bytes.Equal(y[:2*n], before[:2*n]) || !bytes.Equal(y[2*n:], before[2*n:]) {
				t.Error("stage two: the first half is not written, or the second is")
			}
			// On from the last call, and from what an earlier job left.
			last := run(engine.Job{First: 2, Last: 3, Outputs: true})
			if !bytes.Equal(last[0].Outputs[1], z) || !bytes.Equal(last[0].Outputs[0], y) {
				t.Error("going on: wrong outputs")
			}
			run(engine.Job{Inputs: [][]byte{other}, Last: 3})
			again := run(engine.Job{From: r[1].Memory, First: 2, Last: 3, Keep: true})
			if m := again[0].Memory; !bytes.Equal(m.Outputs[1], z) || !bytes.Equal(m.Inputs[0], x) || !bytes.Equal(m.At(inArena), tripled) {
				t.Error("from memory: wrong outputs")
			}
			for what, j := range map[string]engine.Job{"no inputs": {Inputs: [][]byte{}, Last: 3}, "stage 3": {Inputs: [][]byte{x}, Last: 4},
				"short": {Inputs: [][]byte{x[1:]}, Last: 3}} {
				if _, err := e.Run(t.Context(), []engine.Job{j}); err == nil {
					t.Errorf("%s: no error", what)
				}
			}
		})
	}
}

func TestMeasure(t *testing.T) {
	x := numbers(func(i int) int32 { return 1 })
	for name, e := range engines(t, engine.Options{Count: true}) {
		m, err := engine.Measure(t.Context(), e, [][]byte{x}, engine.MeasureOptions{Stages: true, Budget: measure.Quick()})
		if err != nil || m.Runs < 1 || len(m.Stages) != 3 {
			t.Fatalf("%s: %+v, %v", name, m, err)
		}
		f, s := m.Network, m.Stages[0]
		if (m.Cost() > 0) != (e.Kind() != engine.Interpreted) {
			t.Errorf("%s: cost %v", name, m.Cost())
		}
		switch e.Kind() {
		case engine.Native:
			if *f.MinMS <= 0 || *f.MinMS > *f.MedianMS || *m.GHz <= 0 || f.Instructions != nil || *s.MACsPerCycle <= 0 || m.Stages[1].MACsPerCycle != nil {
				t.Errorf("%s: %+v", name, m)
			}
		case engine.Simulated:
			if f.MinMS != nil || m.GHz != nil || *f.Instructions <= *s.Instructions || *s.Instructions < n/4 {
				t.Errorf("%s: %+v", name, m)
			}
			if name == "rpi2" { // a core that LLVM has no model of
				if !errors.Is(m.Estimate.Why, estimate.ErrNoModel) || f.EstimatedCycles != nil || m.Cost() != float64(*f.Instructions) {
					t.Errorf("%s: %+v", name, m)
				}
				continue
			}
			if m.Estimate.Model != "cortex-a53" || m.Estimate.Why != nil || m.Cost() != *f.EstimatedCycles || *f.EstimatedCycles <= *s.EstimatedCycles ||
				*s.MACsPerEstimatedCycle != n / *s.EstimatedCycles || m.Stages[1].MACsPerEstimatedCycle != nil {
				t.Errorf("%s: %+v", name, m)
			}
		}
	}
	var threads *engine.ThreadsError
	if _, err := engine.Open(library(t, "rpi3"), engine.Options{Count: true, Threads: 2}); !errors.As(err, &threads) || threads.Most != 1 {
		t.Errorf("counting with two threads: %v", err)
	}
}

func TestChoose(t *testing.T) {
	if tg, err := targets.Host(); err != nil || engine.Choose(tg.Arch, tg.Features, engine.Options{}) != engine.Native ||
		engine.Choose(tg.Arch, tg.Features, engine.Options{Simulate: true}) != engine.Simulated ||
		!slices.Contains([]engine.Kind{engine.Native, engine.Simulated}, engine.Choose(tg.Arch, []string{"no-such"}, engine.Options{})) {
		t.Errorf("%v", err)
	}
	if engine.Choose("other", nil, engine.Options{}) != engine.Simulated {
		t.Error("another architecture")
	}
}
