package e2e_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"ripc"
	"ripc/engine"
	"ripc/examples/networks/zoo"
	"ripc/internal/need"
	"ripc/internal/randnet"
	"ripc/runtime/device"
	"ripc/schedule"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// verifyOnDevice compares kernels on a CPU as a device with the interpreter, stage by stage. Without a driver the test ends.
func verifyOnDevice(t *testing.T, path string, schedules ...schedule.Section) {
	t.Helper()
	rep, err := ripc.Verify(t.Context(), ripc.VerifyRequest{Path: path, Options: ripc.Options{Target: "opencl-cpu", Schedules: schedules}, Seed: 5})
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
	for i, path := range imported(t) {
		if need.Part(i, 150) {
			t.Run(filepath.Base(path), func(t *testing.T) { verifyOnDevice(t, path) })
		}
	}
}

// TestRandomNetworksOnDevice: random networks, three in a model, with random schedules.
func TestRandomNetworksOnDevice(t *testing.T) {
	models := 1
	if need.Thorough() {
		models = 100
	}
	for b := range models {
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
			verifyOnDevice(t, path, randomTraces(p, "opencl-cpu", rand.New(rand.NewPCG(uint64(b), 80)))...)
		})
	}
}
