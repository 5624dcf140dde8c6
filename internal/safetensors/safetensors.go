// Package safetensors reads and writes .safetensors files: a length, a JSON table of tensors, and
// their bytes. Reading is strict, as in the reference implementation: the tensors cover the data
// without gaps or overlaps.
//
// Source of the format: the README of huggingface/safetensors.
package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math"
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

// Error is a fault of a file, with the accepted alternatives.
type Error struct {
	Tensor string // empty when the fault is not one tensor's
	Msg    string
	Help   string
	Err    error // the cause, or nil
}

// Error prints tensor, fault and remedy on one line.
func (e *Error) Error() string {
	s := "safetensors: "
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

// Read reads a whole file from r, up to its end. Memory grows with the bytes that arrive, not with
// the size claimed by the header. Every failure is an *Error.
func Read(r io.Reader) (map[string]Tensor, error) {
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
	entries, err := parseHeader(text)
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
	out := make(map[string]Tensor, len(entries))
	for _, e := range entries {
		out[e.name] = Tensor{DType: e.dtype, Shape: e.shape, Data: data[e.begin:e.end:e.end]}
	}
	return out, nil
}

// Size returns the bytes of one element of dtype, or 0 if dtype is unknown.
func Size(dtype string) int {
	switch dtype {
	case "f64", "i64", "u64":
		return 8
	case "f32", "i32", "u32":
		return 4
	case "f16", "bf16", "i16", "u16":
		return 2
	case "i8", "u8", "bool":
		return 1
	}
	return 0
}

// dtypes lists the element types for messages. Files have them in capitals.
const dtypes = "f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, bool"

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
	var b bytes.Buffer
	b.Grow(min(n, int(max(step, room))) + bytes.MinRead) // which lets ReadFrom see the end without growing
	_, err := b.ReadFrom(io.LimitReader(r, int64(n)))
	if err == nil && b.Len() < n {
		err = io.ErrUnexpectedEOF
	}
	return b.Bytes(), err
}
