//go:build (amd64 || arm64) && linux && !ripc_static

package opencl

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"ripc/internal/container"
	"ripc/internal/need"
	"ripc/runtime/device"
)

// TestOpenOn: a session runs on the context, the queue and the buffers of its caller, and leaves them to it.
func TestOpenOn(t *testing.T) {
	const text = "__kernel void f_0(__global const float *x, ulong a, __global float *y, ulong b, __global uchar *s, ulong c)\n" +
		"{ y[get_global_id(0)] = 2 * x[get_global_id(0)]; }\n"
	const description = `{"format":"ripc.artifact/1","compiler":"1","name":"net","target":"opencl-cpu","arch":"opencl","features":["cpu"],
"inputs":[{"name":"x","dtype":"f32","shape":[4],"where":"input","offset":0}],"outputs":[{"name":"y","dtype":"f32","shape":[4],"where":"output","offset":0}],
"arena_bytes":64,"scratch_bytes":0,"weight_bytes":0,"stages":[{"name":"f","op":"test","kernel":"f","macs":0,
"reads":[{"name":"x","dtype":"f32","shape":[4],"where":"input","offset":0}],"writes":[{"name":"y","dtype":"f32","shape":[4],"where":"output","offset":0}],
"launches":[{"kernel":"f_0","blocks":1,"threads":4}]}]}`
	bundle, err := container.NewBundle([]byte(description), container.Part{Name: container.Kernels + "cl", Data: []byte(text)},
		container.Part{Name: container.Constants})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "net.ripc")
	if err := os.WriteFile(path, bundle, 0o600); err != nil {
		t.Fatal(err)
	}
	cl, err := load()
	need.OK(t, err)
	u, err := cl.find([]string{"cpu"})
	need.OK(t, err)
	var code int32
	ctx := cl.CreateContext(nil, 1, &u.id, 0, 0, &code)
	queue := cl.CreateCommandQueue(ctx, u.id, 0, &code)
	x, y := cl.CreateBuffer(ctx, memReadWrite, 16, nil, &code), cl.CreateBuffer(ctx, memReadWrite, 16, nil, &code)
	in, out := []float32{1, 2, 3, 4}, make([]float32, 4)
	code |= cl.EnqueueWriteBuffer(queue, x, blocking, 0, 16, unsafe.Pointer(&in[0]), 0, nil, nil)
	if code != 0 {
		t.Fatal(code)
	}
	s, err := OpenOn(path, Queue{uintptr(ctx), uintptr(u.id), uintptr(queue)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Enqueue(t.Context(), nil, nil); err == nil {
		t.Error("a run without buffers")
	}
	if err := s.Enqueue(t.Context(), []device.Memory{device.Memory(x)}, []device.Memory{device.Memory(y)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if code := cl.EnqueueReadBuffer(queue, y, blocking, 0, 16, unsafe.Pointer(&out[0]), 0, nil, nil); code != 0 || out[3] != 8 {
		t.Errorf("error %d, %v", code, out)
	}
	for _, m := range []handle{x, y} {
		cl.ReleaseMemObject(m)
	}
	if code := cl.ReleaseCommandQueue(queue) | cl.ReleaseContext(ctx); code != 0 {
		t.Error(code)
	}
}
