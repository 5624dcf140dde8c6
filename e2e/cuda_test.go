package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ripc"
	"ripc/codegen"
	"ripc/codegen/cuda"
	"ripc/examples/networks/zoo"
	"ripc/internal/need"
	"ripc/ir/deps"
	"ripc/lab/sass"
	"ripc/schedule"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// TestLaunches: a network takes few kernels on a device, at full size.
func TestLaunches(t *testing.T) {
	for name, most := range map[string]int{"vehicle_rgb": 4, "vehicle_gray": 4, "vehicle_lbp": 4, "vehicle_float": 4, "resnet18_a1": 24} {
		t.Run(name, func(t *testing.T) {
			n, err := zoo.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			path, err := n.WritePlain(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			c, err := ripc.Compile(t.Context(), path, ripc.Options{Target: "sm_90"})
			if err != nil {
				t.Fatal(err)
			}
			launches := 0
			for _, s := range c.Scheduled.Stages {
				d, err := deps.DeviceOf(c.Scheduled.FuncByName(s.Func))
				if err != nil {
					t.Fatal(err)
				}
				launches += len(d.Kernels)
			}
			if launches > most {
				t.Errorf("%d launches, not %d", launches, most)
			}
		})
	}
}

// TestNetworkAssembles: NVIDIA's assembler takes the kernels of the GPU paper's network for each target. No register is spilled, and a thread has at most 64.
func TestNetworkAssembles(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("skipped: no ptxas on PATH (the wheel nvidia-cuda-nvcc-cu12 of PyPI has it)")
	}
	need.Tool(t, "llc")
	n, err := zoo.Find("vehicle_rgb")
	if err != nil {
		t.Fatal(err)
	}
	path, err := n.WritePlain(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	used := regexp.MustCompile(`(\d+) bytes spill stores, (\d+) bytes spill loads\s+ptxas info\s+: Used (\d+) registers`)
	for _, tg := range targets.All() {
		if (cuda.Backend{}).Accepts(tg, codegen.PTX) != nil {
			continue
		}
		t.Run(tg.Name, func(t *testing.T) {
			c, err := ripc.Compile(t.Context(), path, ripc.Options{Target: tg.Name, Emit: []codegen.Kind{codegen.PTX}})
			if err != nil {
				t.Fatal(err)
			}
			ptx := filepath.Join(t.TempDir(), "net.ptx")
			if err := os.WriteFile(ptx, c.Files[codegen.PTX], 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), ptxas, "-v", "-arch="+tg.CPU, ptx, "-o", ptx+".cubin").CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			all := used.FindAllStringSubmatch(string(out), -1)
			if len(all) != 4 {
				t.Errorf("%d kernels in\n%s", len(all), out)
			}
			for _, m := range all {
				if n, err := strconv.Atoi(m[3]); m[1] != "0" || m[2] != "0" || err != nil || n > 64 {
					t.Errorf("%s", m[0])
				}
			}
		})
	}
}

// TestMainLoops: the main loop of a convolution takes the time of its popcounts, two cycles of a warp each, also where one counts two words.
func TestMainLoops(t *testing.T) {
	for _, tool := range []string{"ptxas", "nvdisasm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: no %s on PATH (wheels nvidia-cuda-nvcc-cu12 and nvidia-cuda-nvdisasm of PyPI)", tool)
		}
	}
	const path = "../examples/convs/convB_n1_unipolar.json"
	target, err := targets.Lookup("sm_75")
	if err != nil {
		t.Fatal(err)
	}
	p, err := definition(t.Context(), path, ripc.Options{Target: target.Name})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rows", "pair_rows"} {
		o := ripc.Options{Target: target.Name, Emit: []codegen.Kind{codegen.PTX}}
		for _, f := range p.Funcs {
			l := strategy.LayerOf(f, target)
			for _, s := range strategy.For(l) {
				if s.Name == name {
					c, err := s.Build(l, nil)
					if err != nil {
						t.Fatal(err)
					}
					o.Schedules = append(o.Schedules, schedule.Section{Name: f.Name, Trace: c.Trace})
				}
			}
		}
		c, err := ripc.Compile(t.Context(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		ptx := filepath.Join(t.TempDir(), "net.ptx")
		if err := os.WriteFile(ptx, c.Files[codegen.PTX], 0o600); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		count := sass.Command()
		count.SetArgs([]string{ptx, "--target", target.Name})
		count.SetOut(&out)
		if err := count.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`([0-9.]+) a popcount`).FindStringSubmatch(out.String())
		if m == nil {
			t.Fatalf("no popcounts in\n%s", out.String())
		}
		if cycles, err := strconv.ParseFloat(m[1], 64); err != nil || cycles > 2.05 || len(o.Schedules) != 1 {
			t.Errorf("%s: %d schedules\n%s", name, len(o.Schedules), out.String())
		}
	}
}
