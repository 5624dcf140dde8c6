package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ripc"
	"ripc/engine"
	"ripc/examples/networks/zoo"
	"ripc/internal/need"
	"ripc/internal/randnet"
	"ripc/ir"
	"ripc/runtime/device"
	"ripc/schedule"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// verifyOnDevice compares kernels on a CPU as a device with the interpreter, stage by stage. Without a driver the test ends.
func verifyOnDevice(t *testing.T, path string, schedules ...schedule.Section) {
	t.Helper()
	verifyOn(t, path, ripc.Options{Target: "opencl-cpu", Schedules: schedules})
}

func verifyOn(t *testing.T, path string, o ripc.Options) {
	t.Helper()
	rep, err := ripc.Verify(t.Context(), ripc.VerifyRequest{Path: path, Options: o, Seed: 5})
	if missing := (*device.MissingError)(nil); errors.As(err, &missing) {
		need.OK(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !rep.OK || rep.Kind != engine.Device {
		t.Errorf("on %v\n%s", rep.Kind, faults(rep))
	}
}

// TestExamplesOnDevice: a network with bits, floats, pools and a dense layer.
func TestExamplesOnDevice(t *testing.T) { verifyOnDevice(t, "../examples/digits/digits.json") }

// TestMergedNames: a stage of two layers has the names of both, and each finds it, in a file of schedules as well.
func TestMergedNames(t *testing.T) {
	const path = "../examples/digits/digits.json"
	for _, name := range []string{"image8", "conv1", "image8+conv1"} {
		o := ripc.Options{Target: "opencl-cpu"}
		in, err := ripc.Inspect(t.Context(), path, o, name, false)
		if err != nil || len(in.Layers) != 1 || in.Layers[0].Name != "image8+conv1" {
			t.Errorf("%s: %v", name, err)
			continue
		}
		o.Schedules = []schedule.Section{{Layer: true, Name: name}}
		if _, err := ripc.Compile(t.Context(), path, o); err != nil {
			t.Errorf("a schedule of %s: %v", name, err)
		}
	}
	in, err := ripc.InspectMemory(t.Context(), path, ripc.Options{Target: "opencl-cpu"})
	if err != nil || in.Memory.Stages[0].Name != "image8+conv1" {
		t.Errorf("the memory of the first stage: %v", err)
	}
}

// TestPageScheduleOnDevice: the schedule of docs/gpu.md is one of a convolution.
func TestPageScheduleOnDevice(t *testing.T) {
	page, err := os.ReadFile("../docs/gpu.md")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^    (compute_at .*; sync)$`).FindSubmatch(page)
	if line == nil {
		t.Fatal("no schedule")
	}
	trace, err := schedule.ParseTrace("gpu.md", strings.ReplaceAll(string(line[1]), "; ", "\n"))
	if err != nil {
		t.Fatal(err)
	}
	verifyOnDevice(t, "../examples/digits/digits.json", schedule.Section{Layer: true, Name: "conv2", Trace: trace})
}

// TestWebGPUOnDevice: the same network in a browser without a GPU.
func TestWebGPUOnDevice(t *testing.T) {
	need.Browser(t)
	verifyOn(t, "../examples/digits/digits.json", ripc.Options{Target: "webgpu"})
}

// TestStrategiesOnDevice: networks by each strategy for devices, where it applies, at a random point. Most have shared buffers
// and barriers. The first network has layers that merge, the second has long sums.
func TestStrategiesOnDevice(t *testing.T) {
	target, err := targets.Lookup("opencl-cpu")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, n := range []string{"vehicle_rgb", "mlp4"} {
		n, err := zoo.Find(n)
		if err != nil {
			t.Fatal(err)
		}
		if len(n.Input) == 4 {
			n = n.Small()
		}
		path, err := n.WritePlain(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	random := rand.New(rand.NewPCG(7, 7))
	for _, name := range []string{"one_block", "split_k", "rows", "pixels", "lanes", "kernels"} {
		t.Run(name, func(t *testing.T) {
			layers := 0
			for _, path := range paths {
				p, err := definition(t.Context(), path, ripc.Options{Target: target.Name})
				if err != nil {
					t.Fatal(err)
				}
				var sections []schedule.Section
				for _, f := range p.Funcs {
					l := strategy.LayerOf(f, target)
					for _, s := range strategy.For(l) {
						if s.Name != name {
							continue
						}
						c, err := s.Build(l, s.Random(l, random))
						if err != nil {
							t.Fatal(err)
						}
						sections = append(sections, schedule.Section{Name: f.Name, Trace: c.Trace})
					}
				}
				if layers += len(sections); len(sections) > 0 {
					verifyOnDevice(t, path, sections...)
				}
			}
			if layers == 0 {
				t.Error("it applies to no layer")
			}
		})
	}
}

// TestImportedOnDevice: cases of the importers.
func TestImportedOnDevice(t *testing.T) {
	takes := need.Part(t, 150)
	for i, path := range imported(t) {
		if takes(i) {
			t.Run(filepath.Base(path), func(t *testing.T) { verifyOnDevice(t, path) })
		}
	}
}

// randomModels is the number of models with three random networks each: 501 networks.
const randomModels = 167

// TestRandomNetworksOnDevice: random networks, three in a model, with random schedules.
func TestRandomNetworksOnDevice(t *testing.T) {
	n := 1
	if need.Thorough() {
		n = randomModels
	}
	for b := range n {
		t.Run(fmt.Sprint(b), func(t *testing.T) {
			var texts []map[string]any
			for i := range 3 {
				texts = append(texts, randnet.Model(rand.New(rand.NewPCG(uint64(5000+3*b+i), 79)), fmt.Sprintf("c%d_", i)))
			}
			path := filepath.Join(t.TempDir(), "net.json")
			if err := os.WriteFile(path, randnet.Join(texts, b), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := definition(t.Context(), path, ripc.Options{Target: "opencl-cpu"})
			if err != nil {
				t.Fatal(err)
			}
			traces := randomTraces(p, "opencl-cpu", rand.New(rand.NewPCG(uint64(b), 80)))
			if os.Getenv("RUSTICL_ENABLE") != "" {
				c, err := ripc.Compile(t.Context(), path, ripc.Options{Target: "opencl-cpu", Schedules: traces})
				if err != nil {
					t.Fatal(err)
				}
				const most = 65535 // LP_MAX_TGSI_LOOP_ITERATIONS of Mesa
				// Both branches of a condition count, each with the loops inside. Mesa's counter takes two a turn.
				if slices.ContainsFunc(c.Scheduled.Funcs, func(f *ir.Func) bool { return 2*turns(f.Body) > most }) {
					t.Skipf("skipped: Mesa ends the loops of a thread after %d turns", most)
				}
			}
			verifyOnDevice(t, path, traces...)
		})
	}
}

// TestOtherDriversOnDevice: networks and all strategies by another compiler of OpenCL, Mesa's, and in Oclgrind, which looks for data races and accesses
// outside of buffers. Of networks, Oclgrind takes a part.
func TestOtherDriversOnDevice(t *testing.T) {
	need.All(t)
	const lib = "/usr/lib/x86_64-linux-gnu/"
	for _, d := range []struct {
		name, library, thorough string
		tests                   []string
	}{
		{"rusticl", lib + "libRusticlOpenCL.so.1", "1", append(randomPatterns(), "^Test(Examples|Strategies|Convs|Zoo)OnDevice$")},
		{"oclgrind", "/usr/lib/oclgrind/liboclgrind-rt-icd.so", "", []string{"^Test(Examples|Strategies)OnDevice$"}},
	} {
		t.Run(d.name, func(t *testing.T) {
			if _, err := os.Stat(d.library); err != nil {
				t.Skipf("skipped: %v (Debian: mesa-opencl-icd, oclgrind)", err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "driver.icd"), []byte(d.library+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			log, crashes, skips := filepath.Join(dir, "log"), 0, 0
			random := randomPatterns()
			for _, tests := range d.tests {
				cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run", tests)
				cmd.Env = append(os.Environ(), "OCL_ICD_VENDORS="+dir, "RUSTICL_ENABLE=llvmpipe", "OCLGRIND_DATA_RACES=1", "OCLGRIND_LOG="+log, "RIPC_THOROUGH="+d.thorough)
				out, err := cmd.CombinedOutput()
				skips += bytes.Count(out, []byte("--- SKIP"))
				switch ran := bytes.Contains(out, []byte("=== RUN")); {
				case err == nil && ran:
				case slices.Contains(random, tests) && ran && (bytes.Contains(out, []byte("opencl.(*driver).Build(")) ||
					strings.Contains(err.Error(), "segmentation fault")):
					crashes++ // of the driver's compiler, in Go's thread or its own
					t.Logf("%s: the compiler crashed", tests)
				default:
					t.Errorf("%s: %v\n%s", tests, err, out)
				}
			}
			t.Logf("the compiler crashed in %d of %d runs; %d tests were skipped", crashes, len(d.tests), skips)
			if 20*crashes > len(d.tests) || 10*skips > len(d.tests) {
				t.Error("these are too many")
			}
			if found, err := os.ReadFile(log); err == nil && len(found) > 0 {
				t.Errorf("%s", found)
			}
		})
	}
}

// turns returns how often a thread enters bodies of loops.
func turns(s ir.Stmt) (n int) {
	ir.Walk(s, func(s ir.Stmt) bool {
		l, ok := s.(*ir.For)
		switch {
		case !ok:
			return true
		case l.Kind == ir.Blocks || l.Kind == ir.Threads:
			n += turns(l.Body)
		default:
			n += l.Extent * (1 + turns(l.Body))
		}
		return false
	})
	return n
}

// randomPatterns lists patterns of the cases of TestRandomNetworksOnDevice, each for a process of its own.
func randomPatterns() (all []string) {
	for b := range randomModels {
		all = append(all, fmt.Sprintf("^TestRandomNetworksOnDevice$/^%d$", b))
	}
	return all
}

// TestConvsOnDevice: convolutions of 1 to 3 bits at the sizes of residual networks.
func TestConvsOnDevice(t *testing.T) {
	takes := need.Part(t, 12)
	for i, name := range []string{"A_n1", "B_n1", "C_n1", "D_n1", "A_n2", "B_n2", "C_n2", "D_n2", "A_n3", "B_n3", "C_n3", "D_n3"} {
		if takes(i) {
			t.Run(name, func(t *testing.T) { verifyOnDevice(t, "../examples/convs/conv"+name+"_unipolar.json") })
		}
	}
}

// TestZooOnDevice: the network of the paper on binarized networks for GPUs, with its four forms of input, and the small twins of all others.
func TestZooOnDevice(t *testing.T) {
	need.All(t)
	for _, n := range zoo.Networks() {
		if n.Family != "vehicle" {
			n = n.Small()
		}
		t.Run(n.Name, func(t *testing.T) {
			path, err := n.Write(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			verifyOnDevice(t, path)
		})
	}
}
