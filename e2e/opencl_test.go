package e2e_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"ripc"
	"ripc/internal/need"
	"ripc/internal/randnet"
	"ripc/runtime/opencl"
)

// verifyOnDevice compares kernels on a CPU as a device with the interpreter, stage by stage. Without a driver the test ends.
func verifyOnDevice(t *testing.T, path string) {
	t.Helper()
	rep, err := ripc.Verify(t.Context(), ripc.VerifyRequest{Path: path, Options: ripc.Options{Target: "opencl-cpu"}, Seed: 5})
	if missing := (*opencl.MissingError)(nil); errors.As(err, &missing) {
		need.OK(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !rep.OK || !rep.Device {
		t.Errorf("on a device: %v\n%s", rep.Device, faults(rep))
	}
}

// TestExamplesOnDevice: a network with bits, floats, pools and a dense layer.
func TestExamplesOnDevice(t *testing.T) { verifyOnDevice(t, "../examples/digits/digits.json") }

// TestImportedOnDevice: cases of the importers.
func TestImportedOnDevice(t *testing.T) {
	for i, path := range imported(t) {
		if need.Part(i, 150) {
			t.Run(filepath.Base(path), func(t *testing.T) { verifyOnDevice(t, path) })
		}
	}
}

// TestRandomNetworksOnDevice: random networks, three in a model.
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
			verifyOnDevice(t, path)
		})
	}
}
