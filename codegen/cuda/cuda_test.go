package cuda_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc/codegen"
	"ripc/codegen/cuda"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/golden"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/ir/irtext"
	"ripc/targets"
	"ripc/targets/isa"
)

// source has a shared buffer, a barrier, a buffer between two kernels, and operations with forms of their own in PTX.
const source = `func @f(%x: f32[4, 64], %w: u32[64], out %y: f32[4, 64]) {
  alloc %s: i32[64]
  for %i in 0:64 thread {
    %s[%i] = cast<i32>(popcount(%w[%i]))
  }
  for %b in 0:4 block {
    alloc %t: f32[64] shared
    for %a in 0:64 thread {
      %t[%a] = sqrt(%x[%b, %a]) / cast<f32>(%s[%a])
    }
    barrier
    for %c in 0:64 thread {
      %y[%b, %c] = max(fma(%t[63 - %c], 2.0, %x[%b, %c]), -0.0)
    }
  }
}
`

// pairs counts two words in a thread by an instruction.
const pairs = `instr @nv_pair_popcnt_acc_x1(out %c: i32[1], out %s: u32[1], %x: u32[2], %w: u32[2, 1]) {
  for %l in 0:1 {
    %c[%l] += cast<i32>(popcount(%s[%l] & (%x[0] ^ %w[0, %l]) | (%s[%l] | %x[0] ^ %w[0, %l]) & (%x[0] ^ %x[1] ^ (%w[0, %l] ^ %w[1, %l]))))
    %s[%l] = %s[%l] ^ (%x[0] ^ %w[0, %l]) ^ (%x[0] ^ %x[1] ^ (%w[0, %l] ^ %w[1, %l]))
  }
}
func @f(%x: u32[64, 2], %w: u32[2, 1], out %y: i32[64]) {
  for %i in 0:64 thread {
    alloc %c: i32[1]
    alloc %s: u32[1]
    %c[0] = 0i32
    %s[0] = 0u32
    call @nv_pair_popcnt_acc_x1(%c[0], %s[0], %x[%i, 0], %w[0, 0])
    %y[%i] = %c[0] + %c[0] + cast<i32>(popcount(%s[0]))
  }
}
`

// program applies f to inputs.
func program(t *testing.T, source string) *ir.Program {
	t.Helper()
	file, err := irtext.Parse("f.ripir", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	f := file.Funcs[0]
	p := &ir.Program{Name: "net", Funcs: []*ir.Func{f}}
	s := ir.Stage{Name: "f", Op: "test", Func: "f"}
	for _, q := range f.Params {
		kind := ir.InputBuf
		if q.Out {
			kind = ir.OutputBuf
		}
		p.Buffers, s.Args = append(p.Buffers, ir.ProgBuf{Buffer: q.Buffer, Kind: kind}), append(s.Args, q.Name)
	}
	p.Stages = []ir.Stage{s}
	return p
}

// build makes PTX for a target.
func build(t *testing.T, source, target string) []byte {
	t.Helper()
	tg, err := targets.Lookup(target)
	if err != nil {
		t.Fatal(err)
	}
	_, err = toolchain.Find()
	need.OK(t, err)
	files, err := codegen.Build(t.Context(), codegen.Input{Program: program(t, source), Target: tg, Version: "1", Emit: []codegen.Kind{codegen.PTX}}, cuda.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	return files[codegen.PTX]
}

// gpus lists the targets of the back end.
func gpus() (all []string) {
	for _, tg := range targets.All() {
		if (cuda.Backend{}).Accepts(tg, codegen.PTX) == nil {
			all = append(all, tg.Name)
		}
	}
	return all
}

// TestText pins LLVM's text of the kernels.
func TestText(t *testing.T) {
	tg, err := targets.Lookup("sm_90")
	if err != nil {
		t.Fatal(err)
	}
	k, err := cuda.Backend{}.Kernel(program(t, source).Funcs[0], "f", tg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Launches) != 2 || k.Launches[1].Blocks != 4 || k.Launches[1].Threads != 64 || k.Launches[1].Shared != 256 {
		t.Errorf("launches %+v", k.Launches)
	}
	golden.Check(t, "testdata/f.ll", k.Text)
}

// TestPTX: the text has the instructions that are exact, and none that flush or order zeros.
func TestPTX(t *testing.T) {
	text := string(build(t, source, "sm_90"))
	for _, want := range []string{"popc.b32", "bar.sync", "div.rn.f32", "sqrt.rn.f32", "fma.rn.f32", ".shared"} {
		if !strings.Contains(text, want) && !(want == "bar.sync" && strings.Contains(text, "barrier.sync")) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, bad := range []string{".ftz", "max.f32", ".approx", "call"} {
		if strings.Contains(text, bad) {
			t.Errorf("%s in\n%s", bad, text)
		}
	}
}

// TestPairs: two words take three functions of three bits and one popcount, with the truth tables that x86 has for them.
func TestPairs(t *testing.T) {
	text := string(build(t, pairs, "sm_90"))
	for want, n := range map[string]int{", 150;": 1, ", 178;": 1, "lop3.b32": 2, "popc.b32": 2, "call": 0, "st.local": 0} {
		if strings.Count(text, want) != n {
			t.Errorf("not %d %s in\n%s", n, want, text)
		}
	}
}

// matrices is the source of a tile of sums by products of matrices, which 32 threads compute.
func matrices(t *testing.T) string {
	i, ok := isa.Named("nv_matrix_xor_cnt_4x4x3x4x32_s1")
	if !ok {
		t.Fatal("no such instruction")
	}
	f := &ir.Func{Name: "f", Params: slices.Clone(i.Func.Params)}
	call := &ir.Call{Fn: i.Func}
	for _, p := range f.Params {
		call.Args = append(call.Args, ir.Window{Buf: p.Name, Idx: slices.Repeat([]ir.Expr{ir.Int(0)}, len(p.Shape))})
	}
	f.Body = &ir.For{Var: "i", Extent: 1, Kind: ir.Threads, Body: call}
	return f.String()
}

// TestMatrices: GPUs multiply matrices of bits by "xor", or by "and" where they would emulate "xor".
func TestMatrices(t *testing.T) {
	for target, by := range map[string]string{"sm_80": "xor", "sm_87": "xor", "sm_90": "and"} {
		text := string(build(t, matrices(t), target))
		const product = "mma.sync.aligned.m16n8k%d.row.col.s32.b1.b1.s32.%s.popc"
		n := map[string]int{"xor": 1, "and": 2}[by]          // of either operand's complement
		for k, times := range map[int]int{256: 16, 128: 4} { // 9 taps of 4 words, for 4 times 8 filters
			if got := strings.Count(text, fmt.Sprintf(product, k, by)); got != n*times {
				t.Errorf("%s: %d products of %d bits, not %d", target, got, k, n*times)
			}
		}
		if strings.Count(text, ".popc") != n*20 || !strings.Contains(text, ".reqntid 32") {
			t.Errorf("%s: other products, or not 32 threads, in\n%s", target, text)
		}
	}
}

// TestAssembles: NVIDIA's assembler takes the text for each target, and no register is spilled.
func TestAssembles(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("skipped: no ptxas on PATH (the wheel nvidia-cuda-nvcc-cu12 of PyPI has it)")
	}
	for _, target := range gpus() {
		t.Run(target, func(t *testing.T) {
			tg, err := targets.Lookup(target)
			if err != nil {
				t.Fatal(err)
			}
			kernels := map[string]int{source: 2}
			if tg.Has(targets.BitMatrices) {
				kernels[matrices(t)] = 1
			}
			for source, n := range kernels {
				dir := t.TempDir()
				path := filepath.Join(dir, "f.ptx")
				if err := os.WriteFile(path, build(t, source, target), 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := exec.CommandContext(t.Context(), ptxas, "-v", "-arch="+target, path, "-o", filepath.Join(dir, "f.cubin")).CombinedOutput()
				if err != nil || strings.Count(string(out), " 0 bytes spill stores") != n {
					t.Errorf("%v\n%s", err, out)
				}
			}
		})
	}
}

// TestLimits: a block that is too large for the device is refused, and the help names the knob.
func TestLimits(t *testing.T) {
	tg, err := targets.Lookup("sm_90")
	if err != nil {
		t.Fatal(err)
	}
	tg.Device.MaxThreads, tg.Device.SharedBytes = 32, 1024
	_, err = cuda.Backend{}.Kernel(program(t, source).Funcs[0], "f", tg, nil)
	if err == nil || !strings.Contains(err.Error(), "a block takes 64 threads, and sm_90 has 32") || !strings.Contains(err.Error(), "knob threads") {
		t.Errorf("%v", err)
	}
	tg.Device.MaxThreads, tg.Device.SharedBytes = 64, 128
	_, err = cuda.Backend{}.Kernel(program(t, source).Funcs[0], "f", tg, nil)
	if err == nil || !strings.Contains(err.Error(), "256 bytes of shared memory, and sm_90 has 128") {
		t.Errorf("%v", err)
	}
}
