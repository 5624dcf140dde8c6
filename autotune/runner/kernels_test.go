package runner_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"ripc/autotune/runner"
	"ripc/codegen"
	"ripc/codegen/llvm"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/container"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/targets"
)

const n = 4096

// kernel is the library of y = 3*x + 1 in i32 for a target, in the given number of rounds over the same.
func kernel(t testing.TB, target string, rounds int) []byte {
	t.Helper()
	x, y := ir.Buffer{Name: "x", Type: ir.I32, Shape: []int{n}}, ir.Buffer{Name: "y", Type: ir.I32, Shape: []int{n}}
	at := []ir.Expr{ir.V("i")}
	body := &ir.For{Var: "r", Extent: rounds, Body: &ir.For{Var: "i", Extent: n, Body: &ir.Store{Buf: "y", Idx: at,
		Val: ir.Bin(ir.Add, ir.Bin(ir.Mul, ir.At(x, at...), ir.Const(ir.I32, 3)), ir.Const(ir.I32, 1))}}}
	p := &ir.Program{Name: "kernel",
		Buffers: []ir.ProgBuf{{Buffer: x, Kind: ir.InputBuf}, {Buffer: y, Kind: ir.OutputBuf}},
		Funcs:   []*ir.Func{{Name: "f", Params: []ir.Param{{Buffer: x}, {Buffer: y, Out: true}}, Body: body}},
		Stages:  []ir.Stage{{Name: "one", Op: "mul", Func: "f", Args: []string{"x", "y"}, MACs: n}},
	}
	tg, err := targets.Lookup(target)
	need.OK(t, err)
	tools, err := toolchain.Find()
	need.OK(t, err)
	files, err := codegen.Build(t.Context(), codegen.Input{Program: p, Target: tg, Emit: []codegen.Kind{codegen.Runnable}}, llvm.Backend{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return files[codegen.Runnable]
}

// input and output are those of kernel.
func input() [][]byte {
	var b []byte
	for i := range uint32(n) {
		b = binary.LittleEndian.AppendUint32(b, i*i-7)
	}
	return [][]byte{b}
}

func output() []string {
	in, out := input()[0], []byte(nil)
	for ; len(in) > 0; in = in[4:] {
		out = binary.LittleEndian.AppendUint32(out, 3*binary.LittleEndian.Uint32(in)+1)
	}
	return []string{runner.Hash(out)}
}

// patched is a library whose entry points have other code: it crashes, hangs, fails or does nothing.
func patched(t testing.TB, library []byte, code map[elf.Machine][]byte) []byte {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(library))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	out := bytes.Clone(library)
	for _, s := range symbols {
		if s.Name != "kernel_run" && s.Name != "kernel_run_stages" {
			continue
		}
		section := f.Sections[s.Section]
		copy(out[s.Value-section.Addr+section.Offset:], code[f.Machine])
	}
	if err := container.Seal(out); err != nil {
		t.Fatal(err)
	}
	return out
}

// What code can do wrong, in machine code.
var (
	crash = map[elf.Machine][]byte{elf.EM_X86_64: {0x0f, 0x0b}, elf.EM_AARCH64: {0, 0, 0, 0}, elf.EM_ARM: {0xf0, 0, 0xf0, 0xe7},
		elf.EM_RISCV: {0, 0}}
	hang = map[elf.Machine][]byte{elf.EM_X86_64: {0xeb, 0xfe}, elf.EM_AARCH64: {0, 0, 0, 0x14}, elf.EM_ARM: {0xfe, 0xff, 0xff, 0xea},
		elf.EM_RISCV: {0x6f, 0, 0, 0}}
	status = map[elf.Machine][]byte{elf.EM_X86_64: {0xb8, 2, 0, 0, 0, 0xc3}, elf.EM_AARCH64: {0x40, 0, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6},
		elf.EM_ARM: {2, 0, 0xa0, 0xe3, 0x1e, 0xff, 0x2f, 0xe1}, elf.EM_RISCV: {0x13, 5, 0x20, 0, 0x67, 0x80, 0, 0}}
	nothing = map[elf.Machine][]byte{elf.EM_X86_64: {0x31, 0xc0, 0xc3}, elf.EM_AARCH64: {0, 0, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6},
		elf.EM_ARM: {0, 0, 0xa0, 0xe3, 0x1e, 0xff, 0x2f, 0xe1}, elf.EM_RISCV: {0x13, 5, 0, 0, 0x67, 0x80, 0, 0}}
)
