package opencl_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/internal/container"
	"ripc/internal/need"
	"ripc/runtime/device"
	"ripc/runtime/opencl"
)

// description is of a network of one kernel, which takes THREADS threads.
const description = `{"format":"ripc.artifact/1","compiler":"1","name":"net","target":"opencl-cpu","arch":"opencl","features":["cpu"],
"inputs":[{"name":"x","dtype":"f32","shape":[4],"where":"input","offset":0}],"outputs":[{"name":"y","dtype":"f32","shape":[4],"where":"output","offset":0}],
"arena_bytes":64,"scratch_bytes":0,"weight_bytes":0,"stages":[{"name":"f","op":"test","kernel":"f","macs":0,
"reads":[{"name":"x","dtype":"f32","shape":[4],"where":"input","offset":0}],"writes":[{"name":"y","dtype":"f32","shape":[4],"where":"output","offset":0}],
"launches":[{"kernel":"f_0","blocks":1,"threads":THREADS}]}]}`

// open opens a bundle of a kernel's text.
func open(t *testing.T, kernel, threads string) error {
	t.Helper()
	file, err := container.NewBundle([]byte(strings.ReplaceAll(description, "THREADS", threads)),
		container.Part{Name: container.Kernels + "cl", Data: []byte(kernel)}, container.Part{Name: container.Constants})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "net.ripc")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := opencl.Open(path)
	if err == nil {
		return s.Close()
	}
	if missing := (*device.MissingError)(nil); errors.As(err, &missing) {
		need.OK(t, err)
	}
	return err
}

// TestRefused: the driver's compiler is quoted, however much it says, and a missing kernel or too many threads are named.
func TestRefused(t *testing.T) {
	var failed *device.CallError
	for _, lines := range []int{1, 2000} {
		err := open(t, "__kernel void f_0() {\n"+strings.Repeat("#warning here\n", lines)+"no_such_type x; }\n", "1")
		if !errors.As(err, &failed) || failed.Call != "clBuildProgram" || strings.TrimSpace(failed.Log) == "" || strings.Contains(failed.Log, "\x00") {
			t.Errorf("%d warnings: %.300v", lines, err)
		}
	}
	if err := open(t, "__kernel void g() {}", "1"); !errors.As(err, &failed) || failed.Call != "clCreateKernel f_0" {
		t.Errorf("a missing kernel: %v", err)
	}
	var large *device.LimitError
	if err := open(t, "__kernel void f_0() {}", "1000000000"); !errors.As(err, &large) || large.Layer != "f" {
		t.Errorf("many threads: %v", err)
	}
}
