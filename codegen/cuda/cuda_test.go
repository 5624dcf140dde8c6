package cuda_test

import (
	"os"
	"os/exec"
	"path/filepath"
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

// program applies f to inputs.
func program(t *testing.T) *ir.Program {
	t.Helper()
	f, err := irtext.ParseFunc("f.ripir", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
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
func build(t *testing.T, target string) []byte {
	t.Helper()
	tg, err := targets.Lookup(target)
	if err != nil {
		t.Fatal(err)
	}
	_, err = toolchain.Find()
	need.OK(t, err)
	files, err := codegen.Build(t.Context(), codegen.Input{Program: program(t), Target: tg, Version: "1", Emit: []codegen.Kind{codegen.PTX}}, cuda.Backend{})
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
	k, err := cuda.Backend{}.Kernel(program(t).Funcs[0], "f", tg, nil)
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
	text := string(build(t, "sm_90"))
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

// TestAssembles: NVIDIA's assembler takes the text for each target, and no register is spilled.
func TestAssembles(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("skipped: no ptxas on PATH (the wheel nvidia-cuda-nvcc-cu12 of PyPI has it)")
	}
	for _, target := range gpus() {
		t.Run(target, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f.ptx")
			if err := os.WriteFile(path, build(t, target), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), ptxas, "-v", "-arch="+target, path, "-o", filepath.Join(dir, "f.cubin")).CombinedOutput()
			if err != nil || strings.Count(string(out), " 0 bytes spill stores") != 2 {
				t.Errorf("%v\n%s", err, out)
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
	_, err = cuda.Backend{}.Kernel(program(t).Funcs[0], "f", tg, nil)
	if err == nil || !strings.Contains(err.Error(), "a block takes 64 threads, and sm_90 has 32") || !strings.Contains(err.Error(), "knob threads") {
		t.Errorf("%v", err)
	}
	tg.Device.MaxThreads, tg.Device.SharedBytes = 64, 128
	_, err = cuda.Backend{}.Kernel(program(t).Funcs[0], "f", tg, nil)
	if err == nil || !strings.Contains(err.Error(), "256 bytes of shared memory, and sm_90 has 128") {
		t.Errorf("%v", err)
	}
}
