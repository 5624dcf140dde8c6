package npy_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ripc/runtime/npy"
)

// raw builds a version 1 file from a header's text.
func raw(text string, data ...byte) []byte {
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), byte(len(text)>>8))
	return append(append(b, text...), data...)
}

func TestRoundTrip(t *testing.T) {
	for _, dtype := range []string{"f32", "f64", "i8", "i32", "i64", "u8", "u32", "u64", "bool"} {
		for _, shape := range [][]int{{}, {1}, {7}, {0}, {3, 0, 2}, {2, 3, 5}, {1, 2, 3, 4, 5}} {
			n := npy.Size(dtype)
			for _, d := range shape {
				n *= d
			}
			a := &npy.Array{DType: dtype, Shape: shape, Data: make([]byte, n)}
			for i := range a.Data {
				a.Data[i] = byte(i*7 + 1)
			}
			path := filepath.Join(t.TempDir(), "a.npy")
			if err := a.WriteFile(path); err != nil {
				t.Fatalf("%s %v: %v", dtype, shape, err)
			}
			b, err := npy.ReadFile(path)
			if err != nil {
				t.Fatalf("%s %v: %v", dtype, shape, err)
			}
			if b.DType != dtype || !bytes.Equal(a.Data, b.Data) || len(b.Shape) != len(shape) || (len(shape) > 0 && !reflect.DeepEqual(b.Shape, shape)) {
				t.Errorf("%s %v came back as %s %v", dtype, shape, b.DType, b.Shape)
			}
		}
	}
}

// The bytes that numpy 1.26 writes for np.array([1.5, -2], '<f4').
func TestBytesOfNumpy(t *testing.T) {
	want := "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" + strings.Repeat(" ", 60) + "\n" +
		"\x00\x00\xc0\x3f\x00\x00\x00\xc0"
	var got bytes.Buffer
	if err := npy.FromFloat32([]int{2}, []float32{1.5, -2}).Write(&got); err != nil {
		t.Fatal(err)
	}
	if got.String() != want {
		t.Errorf("wrote\n%q, numpy writes\n%q", got.String(), want)
	}
	a, err := npy.Read(strings.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	v, err := a.Float32s()
	if err != nil || len(v) != 2 || v[0] != 1.5 || v[1] != -2 {
		t.Errorf("read %v, %v", v, err)
	}
}

func TestFortranOrder(t *testing.T) {
	for _, size := range []struct{ descr, dtype string }{{"|u1", "u8"}, {"<i4", "i32"}, {"<i8", "i64"}} {
		shape := []int{2, 3, 4}
		n := npy.Size(size.dtype)
		data := make([]byte, 24*n)
		want := make([]byte, 24*n)
		for i := range 2 {
			for j := range 3 {
				for k := range 4 {
					v := byte(100*i + 10*j + k)
					data[(i+2*j+6*k)*n] = v
					want[((i*3+j)*4+k)*n] = v
				}
			}
		}
		text := fmt.Sprintf("{'descr': '%s', 'fortran_order': True, 'shape': (2, 3, 4)}", size.descr)
		a, err := npy.Read(bytes.NewReader(raw(text, data...)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Data, want) || !reflect.DeepEqual(a.Shape, shape) {
			t.Errorf("%s: got %v", size.dtype, a.Data)
		}
	}
}

func TestVersion2(t *testing.T) {
	text := `{"descr": "<i4", "fortran_order": False, "shape": (1L,)}`
	b := append([]byte("\x93NUMPY\x02\x00"), binary.LittleEndian.AppendUint32(nil, uint32(len(text)))...)
	b = append(append(b, text...), 5, 0, 0, 0)
	a, err := npy.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := a.Int32s(); err != nil || len(v) != 1 || v[0] != 5 {
		t.Errorf("read %v, %v", v, err)
	}
}

func TestRefusals(t *testing.T) {
	ok := "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}"
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "shorter than"},
		{"magic", []byte("PK\x03\x04abcdefgh"), "starts with"},
		{"version", []byte("\x93NUMPY\x03\x00aaaa"), "version 3.0"},
		{"length", []byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"), "claims 4294967295"},
		{"short header", []byte("\x93NUMPY\x01\x00\x50\x00{"), "ends within"},
		{"big endian", raw("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}"), `">f4" is not supported; use <f4`},
		{"half", raw("{'descr': '<f2', 'fortran_order': False, 'shape': (1,)}"), `"<f2" is not supported`},
		{"record", raw("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"), "structured"},
		{"negative", raw("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"), "extent"},
		{"huge", raw("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999,)}"), "extent"},
		{"product", raw("{'descr': '<f4', 'fortran_order': False, 'shape': (2000000000, 2000000000)}"), "exceeds"},
		{"missing", raw("{'descr': '<f4', 'shape': (1,)}"), `"fortran_order" is missing`},
		{"twice", raw("{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}"), "twice"},
		{"unknown", raw("{'descr': '<f4', 'x': 1}"), "unknown key"},
		{"tail", raw(ok + "x"), "follows"},
		{"short data", raw(ok, 1, 2), "needs 4 bytes of data, the file has 2"},
		{"claims 2 GB", raw("{'descr': '|u1', 'fortran_order': False, 'shape': (2000000000,)}", 1), "the file has 1"},
		{"rank", raw("{'descr': '|u1', 'fortran_order': False, 'shape': (" + strings.Repeat("1,", 70) + ")}"), "more than 64 axes"},
	} {
		_, err := npy.Read(bytes.NewReader(c.file))
		var typed *npy.Error
		if !errors.As(err, &typed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	bad := &npy.Array{DType: "f32", Shape: []int{2}, Data: make([]byte, 4)}
	if err := bad.Write(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "needs 8 bytes, Data has 4") {
		t.Errorf("a short array was written: %v", err)
	}
}

func TestTrailingBytes(t *testing.T) {
	var b bytes.Buffer
	if err := npy.FromFloat32([]int{1}, []float32{1}).Write(&b); err != nil {
		t.Fatal(err)
	}
	b.WriteByte(0)
	path := filepath.Join(t.TempDir(), "tail.npy")
	if err := (&npy.Array{DType: "u8", Shape: []int{1}, Data: []byte{1}}).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	appendByte(t, path)
	if _, err := npy.ReadFile(path); err == nil || !strings.Contains(err.Error(), "bytes follow") || !strings.Contains(err.Error(), path) {
		t.Errorf("trailing byte: %v", err)
	}
	if _, err := npy.Read(&b); err != nil { // a stream may go on
		t.Errorf("stream: %v", err)
	}
}

// TestFloat64s: every type of element is read as the number that it is.
func TestFloat64s(t *testing.T) {
	for dtype, c := range map[string]struct {
		data []byte
		want float64
	}{
		"f32": {[]byte{0, 0, 0xc0, 0xbf}, -1.5}, "f64": {[]byte{0, 0, 0, 0, 0, 0, 0xf8, 0xbf}, -1.5}, "i8": {[]byte{0xfe}, -2}, "u8": {[]byte{0xfe}, 254}, "bool": {[]byte{1}, 1},
		"i32": {[]byte{0xfe, 0xff, 0xff, 0xff}, -2}, "u32": {[]byte{0xfe, 0xff, 0xff, 0xff}, 1<<32 - 2},
		"i64": {[]byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, -2}, "u64": {[]byte{3, 0, 0, 0, 0, 0, 0, 0}, 3},
	} {
		v, err := (&npy.Array{DType: dtype, Data: c.data}).Float64s()
		if err != nil || len(v) != 1 || v[0] != c.want {
			t.Errorf("%s: %v, %v; want %v", dtype, v, err, c.want)
		}
	}
	if _, err := (&npy.Array{DType: "c64"}).Float64s(); err == nil {
		t.Error("complex numbers were read")
	}
}
