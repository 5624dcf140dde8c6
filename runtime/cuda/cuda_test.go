package cuda_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ripc/internal/container"
	"ripc/internal/cudatest"
	"ripc/runtime/cuda"
	"ripc/runtime/device"
)

// description is of a network of one stage with two kernels.
const description = `{"format":"ripc.artifact/1","compiler":"1","name":"net","target":"sm_90","arch":"nvptx64","cpu":"sm_90","features":["ptx78"],
"inputs":[{"name":"x","dtype":"f32","shape":[4],"where":"input","offset":0}],"outputs":[{"name":"y","dtype":"f32","shape":[4],"where":"output","offset":0}],
"arena_bytes":64,"scratch_bytes":128,"weight_bytes":0,"stages":[{"name":"f","op":"test","kernel":"f","macs":0,
"reads":[{"name":"x","dtype":"f32","shape":[4],"where":"input","offset":0}],"writes":[{"name":"y","dtype":"f32","shape":[4],"where":"output","offset":0}],
"launches":[{"kernel":"f_0","blocks":3,"threads":64},{"kernel":"f_1","blocks":1,"threads":32,"shared":256}]}]}`

// bundle writes a bundle with kernels.
func bundle(t *testing.T, text string) string {
	t.Helper()
	data, err := container.NewBundle([]byte(text), container.Part{Name: container.Kernels + "ptx", Data: []byte(".visible .entry f_0")},
		container.Part{Name: container.Constants})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "net.ripc")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMissing: without NVIDIA's driver, the error says so.
func TestMissing(t *testing.T) {
	s, err := cuda.Open(bundle(t, description))
	if err == nil {
		s.Close()
		t.Skip("skipped: this machine has NVIDIA's driver")
	}
	if missing := (*device.MissingError)(nil); !errors.As(err, &missing) || err.Error() != "no device for sm_90: no NVIDIA driver (libcuda.so.1)" {
		t.Error(err)
	}
}

// TestStub runs TestStubbed in a process of its own, with a driver that has no GPU and writes what it is told. An old driver has
// no graphs.
func TestStub(t *testing.T) {
	const once = "f_0 3 1 1, 64 1 1, 0: 2.5\nf_1 1 1 1, 32 1 1, 0: 2.5\n"
	for _, c := range []struct{ option, want string }{{"-DNEW", once + "graph:\n" + once + "graph:\n" + once}, {"-DOLD", once + once + once}} {
		log := cudatest.Run(t, c.option)
		if want := c.want + "destroyed\n"; !strings.HasPrefix(log, want) {
			t.Errorf("%s: the driver was told\n%s\nnot\n%s", c.option, log, want)
		}
	}
}

// TestStubbed is the part of TestStub behind the stub.
func TestStubbed(t *testing.T) {
	cudatest.Require(t)
	if g, err := cuda.Find(); err != nil || g != (cuda.GPU{Name: "Stub", Capability: 90, Units: 3, ClockKHz: 500000}) {
		t.Errorf("%+v, %v", g, err)
	}
	path := bundle(t, description)
	s, err := cuda.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	x := [16]byte{}
	bits := math.Float32bits(2.5)
	for i := range 4 {
		x[i] = byte(bits >> (8 * i))
	}
	if err := s.SetInput(0, x[:]); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if s.Took() != 1500*time.Microsecond || string(s.Input(0)) != string(x[:]) || len(s.Workspace()) != 192 {
		t.Errorf("%v, input % x, %d bytes", s.Took(), s.Input(0), len(s.Workspace()))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	large := (*device.LimitError)(nil)
	if _, err := cuda.Open(bundle(t, strings.Replace(description, `"threads":64`, `"threads":2048`, 1))); !errors.As(err, &large) {
		t.Errorf("2048 threads: %v", err)
	}
	t.Setenv("RIPC_STUB_FAIL", "1")
	if _, err := cuda.Open(path); err == nil || !strings.Contains(err.Error(), "cuModuleLoadDataEx failed (error 218):\nptxas: no") {
		t.Errorf("kernels that cannot be assembled: %v", err)
	}
}
