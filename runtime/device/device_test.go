package device_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ripc/internal/container"
	"ripc/runtime/describe"
	"ripc/runtime/device"
)

// description is of a network of one kernel and 4 bytes of constants.
const description = `{"format":"ripc.artifact/1","compiler":"1","name":"net","target":"mali-t860","arch":"opencl","features":["gpu"],
"inputs":[{"name":"x","dtype":"f32","shape":[4],"where":"input","offset":0}],"outputs":[{"name":"y","dtype":"f32","shape":[4],"where":"output","offset":0}],
"arena_bytes":64,"scratch_bytes":0,"weight_bytes":4,"stages":[{"name":"f","op":"test","kernel":"f","macs":0,
"reads":[{"name":"x","dtype":"f32","shape":[4],"where":"input","offset":0}],"writes":[{"name":"y","dtype":"f32","shape":[4],"where":"output","offset":0}],
"launches":[{"kernel":"f_0","blocks":1,"threads":1}]}]}`

// driver is a device that fails.
type driver struct {
	read, allocate error
	allocated      int
	closed         bool
}

func (*driver) Build([]byte, []describe.Launch) error { return nil }
func (d *driver) Allocate(int) (device.Memory, error) {
	d.allocated++
	return device.Memory(d.allocated), d.allocate
}
func (*driver) Write(device.Memory, []byte) error          { return nil }
func (d *driver) Read(device.Memory, []byte) error         { return d.read }
func (*driver) Launch(describe.Launch, []device.Arg) error { return nil }
func (*driver) Wait() (time.Duration, error)               { return 1, nil }
func (d *driver) Close() error                             { d.closed = true; return nil }

// open opens a bundle with constants on d.
func open(t *testing.T, d *driver, constants []byte) (*device.Session, error) {
	t.Helper()
	file, err := container.NewBundle([]byte(description), container.Part{Name: container.Kernels + "cl", Data: []byte("f")},
		container.Part{Name: container.Constants, Data: constants})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "net.ripc")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return device.Open(path, container.Kernels+"cl", func([]string) (device.Driver, error) { return d, nil })
}

// TestLost: after a failed transfer no run succeeds, and Err says why.
func TestLost(t *testing.T) {
	d := &driver{}
	s, err := open(t, d, make([]byte, 4))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil || s.Output(0) == nil || s.Err() != nil {
		t.Fatal(err, s.Err())
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.read = errors.New("the device is gone")
	s.Output(0)
	if !errors.Is(s.Err(), d.read) || !errors.Is(s.Run(t.Context()), d.read) {
		t.Errorf("a lost result: %v", s.Err())
	}
}

// TestOpenFails: what cannot be opened is closed, and takes no more memory.
func TestOpenFails(t *testing.T) {
	d := &driver{allocate: errors.New("full")}
	if _, err := open(t, d, make([]byte, 4)); !errors.Is(err, d.allocate) || d.allocated != 1 || !d.closed {
		t.Errorf("%v, %d allocations, closed %t", err, d.allocated, d.closed)
	}
	if _, err := open(t, d, make([]byte, 3)); err == nil || !strings.Contains(err.Error(), "it has 3 bytes of constants, and its description says 4") {
		t.Error(err)
	}
}
