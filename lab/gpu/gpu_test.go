package gpu

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ripc/internal/cudatest"
	"ripc/lab/figures"
	"ripc/lab/task"
	"ripc/runtime/cuda"
)

// TestMissing: without a GPU the task measures nothing and says why in a line.
func TestMissing(t *testing.T) {
	if _, err := cuda.Find(); err == nil {
		t.Skip("skipped: this machine has a GPU")
	}
	t.Chdir(t.TempDir())
	err := Task().Run(t.Context(), task.Options{Rounds: 1}, os.Stdout)
	if err == nil || err.Error() != "no NVIDIA driver ("+cuda.Library+")" {
		t.Error(err)
	}
}

// TestAssembles: NVIDIA's assembler takes all kernels, and keeps each instruction in the loop.
func TestAssembles(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("skipped: no ptxas on PATH (the wheel nvidia-cuda-nvcc-cu12 of PyPI has it)")
	}
	kernels := map[string]string{memory: read(arena, 64), launch: empty()}
	for _, i := range instructions() {
		kernels[i.name] = i.ptx()
	}
	for name, text := range kernels {
		path := filepath.Join(t.TempDir(), "k.ptx")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), ptxas, "-v", "-arch=sm_90", path, "-o", path+".cubin").CombinedOutput()
		if err != nil || !strings.Contains(string(out), " 0 bytes spill stores") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// TestStub runs TestStubbed in a process of its own, with a driver that has no GPU: all that it launches takes as long.
func TestStub(t *testing.T) { cudatest.Run(t) }

// TestStubbed is the part of TestStub behind the stub: three multiprocessors at 500 MHz, and kernels that take 1.5 ms.
func TestStubbed(t *testing.T) {
	cudatest.Require(t)
	r := &runner{python: "no such program"}
	var err error
	if r.GPU, err = cuda.Find(); err != nil {
		t.Fatal(err)
	}
	var all []figures.Figure
	for _, c := range r.rates() {
		fs, err := c.Measure(t.Context(), figures.Mark{})
		if err != nil {
			t.Fatal(c.Subject, err)
		}
		if fs[0].CPU != "Stub" {
			t.Errorf("%s: a figure of %q", c.Subject, fs[0].CPU)
		}
		fs[0].Key = c.Key
		all = append(all, fs...)
	}
	s := figures.New(all...)
	const seconds, clock = 1.5e-3, 500e6
	executed := 3 * 32. * rounds * copies
	for subject, want := range map[string]map[string]float64{
		"popc":   {"max_operations_per_s": executed * 1024 / seconds, "max_per_clock": executed / 3 / (seconds * clock)},
		"mma s8": {"max_operations_per_s": executed * 16 * 8 * 32 / seconds},
		memory:   {"max_bytes_per_s": arena / seconds},
		launch:   {"min_launch_us": 15},
	} {
		for name, x := range want {
			if f := s.Find(figures.Key{Subject: subject}); f == nil || math.Abs(f.Values[name]/x-1) > 1e-6 {
				t.Errorf("%s: %+v, want %s of %g", subject, f, name, x)
			}
		}
	}
	if tg, err := target(r.GPU); err != nil || tg.Name != "sm_90" {
		t.Error(tg.Name, err)
	}
	if ms, why, err := r.peer(t.Context(), "model.json"); ms != nil || err != nil || !strings.HasPrefix(why, "no PyTorch for the GPU: ") {
		t.Errorf("%v, %q, %v", ms, why, err)
	}
}

// TestPage: ratios are those of times, and a network without PyTorch has dashes and the reason.
func TestPage(t *testing.T) {
	mark := figures.Mark{Date: "2026-11-30", Commit: "0123456789ab", CPU: "NVIDIA H100"}
	figure := func(subject, why string, v map[string]float64) figures.Figure {
		return figures.Figure{Key: figures.Key{Subject: subject}, Values: v, Why: why, Mark: mark}
	}
	pocl := figure("vehicle_rgb, batch 1", "PyTorch is measured on GPUs", map[string]float64{"launches": 4, "min_ms": 2, "binary_ms": 1, "binary_macs": 8e9})
	pocl.Target = "opencl-cpu"
	text := page(figures.New(pocl,
		figure("mma b1 and", "", map[string]float64{"max_operations_per_s": 4e15, "max_per_clock": 0.5}),
		figure(memory, "", map[string]float64{"max_bytes_per_s": 3e12}), figure(launch, "", map[string]float64{"min_launch_us": 1.25}),
		figure("vehicle_rgb, batch 1", "", map[string]float64{"launches": 4, "min_ms": 0.01, "binary_ms": 0.004, "binary_macs": 8e9,
			"min_apart_ms": 0.05, "min_float_ms": 0.25, "min_fp32_ms": 0.08, "min_fp16_ms": 0.05, "min_int8_ms": 0.008}),
		figure("resnet18_a1, batch 1", "no PyTorch for the GPU", map[string]float64{"launches": 24, "min_ms": 0.05})))
	for _, want := range []string{"NVIDIA H100", "| mma b1 and | 0.50 | 4000.0 |\n", "3000 GB/s", "takes 1.25 us",
		"| vehicle_rgb, batch 1 | 4 | 10.0 | 100000.00 | 0.50 | 50.0 | 5.00 | 250.0 | 25.00 | 80.0 | 8.00 | 50.0 | 5.00 | 8.0 | 2.00 |\n",
		"| vehicle_rgb, batch 1, opencl-cpu | 4 | 2000.0 | 500.00 | - | - | ", "\n\nPyTorch is measured on GPUs\n",
		"| resnet18_a1, batch 1 | 24 | 50.0 | 20000.00 | - | - | - | - | - | - | - | - | - | - | - |\n", "\n\nno PyTorch for the GPU\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
