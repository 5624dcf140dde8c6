package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ripc/internal/safetensors"
)

// raw builds a file from a header's text.
func raw(head string, data ...byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	return append(append(b, head...), data...)
}

func sample() map[string]safetensors.Tensor {
	return map[string]safetensors.Tensor{
		"z.weight": {DType: "f32", Shape: []int{2, 1}, Data: []byte{1, 2, 3, 4, 5, 6, 7, 8}},
		"a<b":      {DType: "u8", Shape: []int{3}, Data: []byte{9, 8, 7}},
		"scalar":   {DType: "i64", Shape: []int{}, Data: make([]byte, 8)},
		"empty":    {DType: "bf16", Shape: []int{0, 4}, Data: []byte{}},
	}
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	want := sample()
	if err := safetensors.WriteFile(path, want); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got, err := safetensors.Read(file); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestWriteIsDeterministicAndAligned(t *testing.T) {
	var first []byte
	for range 20 {
		var b bytes.Buffer
		if err := safetensors.Write(&b, sample()); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b.Bytes()
		}
		if !bytes.Equal(first, b.Bytes()) {
			t.Fatalf("two writes differ:\n%q\n%q", first, b.Bytes())
		}
	}
	if n := binary.LittleEndian.Uint64(first); n%8 != 0 {
		t.Errorf("header of %d bytes", n)
	}
	if !strings.Contains(string(first), `{"a<b":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}`) {
		t.Errorf("wrote %q", first)
	}
}

func TestHeaderOfAnyOrder(t *testing.T) {
	got, err := safetensors.Read(bytes.NewReader(raw(`{"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},`+
		`"__metadata__":{"by":"others"},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}   `, 10, 20)))
	want := map[string]safetensors.Tensor{"a": {DType: "u8", Shape: []int{1}, Data: []byte{10}}, "b": {DType: "u8", Shape: []int{1}, Data: []byte{20}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestRefusals(t *testing.T) {
	entry := func(dtype, shape, offsets string) string {
		return `{"w":{"dtype":"` + dtype + `","shape":` + shape + `,"data_offsets":` + offsets + `}}`
	}
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "shorter than"},
		{"length", []byte("\xff\xff\xff\xff\xff\xff\xff\xff{}"), "claims 18446744073709551615"},
		{"length 64 MiB of nothing", binary.LittleEndian.AppendUint64(nil, 64<<20), "ends within the header: 0 of"},
		{"array", raw(`[1,2]`), "not a JSON object"},
		{"cut", raw(`{"w":`), `tensor "w"`},
		{"no brace", raw(`{"__metadata__":{}`), "does not end"},
		{"dtype", raw(entry("Q4", "[1]", "[0,1]"), 0), `"Q4" is not supported; use F64`},
		{"small", raw(entry("u8", "[1]", "[0,1]"), 0), `"u8" is not supported`},
		{"negative", raw(entry("U8", "[-1]", "[0,1]"), 0), "extent -1"},
		{"overflow", raw(entry("F32", "[2000000000,2000000000]", "[0,1]"), 0), "exceeds"},
		{"size", raw(entry("F32", "[2]", "[0,4]"), 0, 0, 0, 0), "needs 8 bytes, data_offsets [0, 4] give 4"},
		{"backwards", raw(entry("U8", "[1]", "[1,0]"), 0), "data_offsets [1, 0]"},
		{"beyond", raw(entry("U8", "[4]", "[0,4]"), 0), "need 4 bytes, the file has 1"},
		{"gap", raw(entry("U8", "[1]", "[1,2]"), 0, 0), "belong to no tensor"},
		{"overlap", raw(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 1, 2, 3), "overlap"},
		{"same place", raw(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 1, 2), "overlap"},
		{"twice", raw(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`), "twice"},
		{"trailing", raw(entry("U8", "[1]", "[0,1]"), 0, 0), "bytes follow"},
		{"text behind", raw(entry("U8", "[1]", "[0,1]")+"x", 0), "text follows"},
		{"unknown key", raw(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":1}}`), "unknown field"},
		{"missing key", raw(`{"a":{"dtype":"U8","shape":[0]}}`), "is missing"},
		{"fraction", raw(entry("U8", "[1.5]", "[0,1]"), 0), "bad entry"},
		{"metadata", raw(`{"__metadata__":{"a":1}}`), "object of strings"},
	} {
		_, err := safetensors.Read(bytes.NewReader(c.file))
		var typed *safetensors.Error
		if !errors.As(err, &typed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	for want, x := range map[string]safetensors.Tensor{
		"needs 4 bytes, Data has 1": {DType: "f32", Shape: []int{1}, Data: []byte{0}},
		`"f8" is not supported`:     {DType: "f8", Shape: []int{1}, Data: []byte{0}},
	} {
		if err := safetensors.Write(&bytes.Buffer{}, map[string]safetensors.Tensor{"x": x}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("write: error %v, want one with %q", err, want)
		}
	}
}

// FuzzRead: any bytes give an error or tensors that write and read back as themselves.
func FuzzRead(f *testing.F) {
	f.Add(raw(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 1, 2))
	f.Add(raw(`{"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}`, 1, 2, 3, 4))
	f.Add(raw(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := safetensors.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var w bytes.Buffer
		if err := safetensors.Write(&w, a); err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		b, err := safetensors.Read(&w)
		if err != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%v came back as %v, %v", a, b, err)
		}
	})
}
