package npy_test

import (
	"bytes"
	"os"
	"testing"

	"ripc/runtime/npy"
)

func appendByte(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(b, 0), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzRead: any bytes give an error or an array that writes and reads back as itself.
func FuzzRead(f *testing.F) {
	f.Add(raw("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 0, 0, 0, 0, 1, 1, 1, 1))
	f.Add(raw("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", 1, 2, 3, 4, 5, 6))
	f.Add(raw("{'descr': '<i8', 'fortran_order': False, 'shape': (), }", 1, 2, 3, 4, 5, 6, 7, 8))
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\x00\x00{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := npy.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var w bytes.Buffer
		if err := a.Write(&w); err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		b, err := npy.Read(&w)
		if err != nil || b.DType != a.DType || !bytes.Equal(a.Data, b.Data) || len(a.Shape) != len(b.Shape) {
			t.Fatalf("%s %v came back as %v, %v", a.DType, a.Shape, b, err)
		}
	})
}

func BenchmarkRead16MiB(b *testing.B) {
	var file bytes.Buffer
	a := &npy.Array{DType: "f32", Shape: []int{2048, 2048}, Data: make([]byte, 16<<20)}
	if err := a.Write(&file); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(16 << 20)
	for b.Loop() {
		if _, err := npy.Read(bytes.NewReader(file.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}
