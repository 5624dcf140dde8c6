// Package safetensors reads and writes .safetensors files: a length, a JSON table of tensors, and
// their bytes. Reading is strict, as in the reference implementation: the tensors cover the data
// without gaps or overlaps.
//
// Source of the format: the README of huggingface/safetensors.
package safetensors

import (
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math"

	"ripc/internal/files"
)

// Tensor is one entry of a file.
type Tensor struct {
	// DType is "f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8" or
	// "bool".
	DType string
	// Shape holds the extents, slowest first; empty means a scalar.
	Shape []int
	// Data holds the elements, little endian, C order. The tensors of one file share memory but do
	// not overlap.
	Data []byte
}

// File is the content of one file.
type File struct {
	// Names lists the tensors in the order of the header.
	Names []string
	// Tensors finds them by name.
	Tensors map[string]Tensor
	// Metadata is the free "__metadata__" table; nil if there is none.
	Metadata map[string]string
}

// Error is a fault of a file, with the accepted alternatives.
type Error struct {
	Path   string // empty when the source is a stream
	Tensor string // empty when the fault is not one tensor's
	Msg    string
	Help   string
	Err    error // the cause, or nil
}

// Error prints path, tensor, fault and remedy on one line.
func (e *Error) Error() string {
	s := "safetensors: "
	if e.Path != "" {
		s = e.Path + ": "
	}
	if e.Tensor != "" {
		s += fmt.Sprintf("tensor %q: ", e.Tensor)
	}
	s += e.Msg
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Help != "" {
		s += "; " + e.Help
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

const (
	// maxHeader bounds the JSON (the reference implementation's bound).
	maxHeader = 100_000_000
	// maxData bounds the tensors' bytes, so that offsets fit an int on every host.
	maxData = math.MaxInt32
)

// ReadFile reads the file at path. Every failure is an *Error that names the path.
func ReadFile(path string) (*File, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, &Error{Path: path, Msg: "cannot open", Err: files.Cause(err)}
	}
	defer f.Close()
	out, err := Read(f)
	if e, ok := err.(*Error); ok {
		e.Path = path
		return nil, e
	}
	return out, err
}

// Read reads a whole file from r, up to its end. Memory grows with the bytes that arrive, not with
// the size claimed by the header. Every failure is an *Error.
func Read(r io.Reader) (*File, error) {
	var prefix [8]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, &Error{Msg: "shorter than the 8 bytes of the header's length", Err: err}
	}
	n := binary.LittleEndian.Uint64(prefix[:])
	if n < 2 || n > maxHeader {
		return nil, &Error{Msg: fmt.Sprintf("the header claims %d bytes", n),
			Help: fmt.Sprintf("2 to %d are read", maxHeader)}
	}
	text, err := readExactly(r, int(n), 0)
	if err != nil {
		return nil, &Error{Msg: fmt.Sprintf("the file ends within the header: %d of %d bytes", len(text), n), Err: err}
	}
	entries, metadata, err := parseHeader(text)
	if err != nil {
		return nil, err
	}
	size, err := checkLayout(entries)
	if err != nil {
		return nil, err
	}
	data, err := readExactly(r, size, sizeHint(r))
	if err != nil {
		return nil, &Error{Msg: fmt.Sprintf("the tensors need %d bytes, the file has %d", size, len(data)), Err: err}
	}
	var one [1]byte
	if k, _ := io.ReadFull(r, one[:]); k != 0 {
		return nil, &Error{Msg: fmt.Sprintf("bytes follow the %d bytes of the tensors", size)}
	}
	out := &File{Tensors: make(map[string]Tensor, len(entries)), Metadata: metadata}
	for _, e := range entries {
		out.Names = append(out.Names, e.name)
		out.Tensors[e.name] = Tensor{DType: e.dtype, Shape: e.shape, Data: data[e.begin:e.end:e.end]}
	}
	return out, nil
}

// Size returns the bytes of one element of dtype, or 0 if dtype is unknown.
func Size(dtype string) int {
	for _, d := range dtypes() {
		if d.name == dtype {
			return d.size
		}
	}
	return 0
}

// dtypeInfo pairs our name of an element type with the file's.
type dtypeInfo struct {
	name, file string
	size       int
}

// dtypes lists the element types.
func dtypes() []dtypeInfo {
	return []dtypeInfo{{"f64", "F64", 8}, {"f32", "F32", 4}, {"f16", "F16", 2}, {"bf16", "BF16", 2},
		{"i64", "I64", 8}, {"i32", "I32", 4}, {"i16", "I16", 2}, {"i8", "I8", 1},
		{"u64", "U64", 8}, {"u32", "U32", 4}, {"u16", "U16", 2}, {"u8", "U8", 1}, {"bool", "BOOL", 1}}
}

// byteCount returns the bytes of a tensor, or an error message.
func byteCount(size int, shape []int) (int, string) {
	n := int64(size)
	empty := false
	for i, d := range shape {
		switch {
		case d < 0:
			return 0, fmt.Sprintf("extent %d of axis %d is negative", d, i)
		case d == 0:
			empty = true
		case int64(d) > maxData/n:
			return 0, fmt.Sprintf("shape %v exceeds %d bytes", shape, int64(maxData))
		default:
			n *= int64(d)
		}
	}
	if empty {
		return 0, ""
	}
	return int(n), ""
}

// sizeHint returns the number of bytes in r, as far as r can tell, or 0.
func sizeHint(r io.Reader) int64 {
	f, ok := r.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return 0
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// readExactly reads n bytes of r, which is said to have room bytes: at once where that is enough,
// else in growing steps, so that a lying header costs at most twice the bytes that exist.
func readExactly(r io.Reader, n int, room int64) ([]byte, error) {
	const step = 1 << 20
	data := make([]byte, 0, min(n, int(max(step, room))))
	for len(data) < n {
		if len(data) == cap(data) {
			next := make([]byte, len(data), min(n, 2*len(data)))
			copy(next, data)
			data = next
		}
		k, err := io.ReadFull(r, data[len(data):cap(data)])
		data = data[:len(data)+k]
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return data, err
		}
	}
	return data, nil
}
