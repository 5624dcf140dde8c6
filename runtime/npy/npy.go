// Package npy reads and writes NumPy's .npy files: header versions 1 and 2, little-endian numbers,
// any rank. An Array in memory is always in C order; a file in Fortran order is transposed while it
// is read.
//
// Source of the format: NumPy Enhancement Proposal 1 and the documentation of numpy.lib.format.
package npy

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"

	"ripc/internal/files"
)

// Array is one tensor.
type Array struct {
	// DType is "f32", "f64", "i8", "i32", "i64", "u8", "u32", "u64" or "bool" (one byte, 0 or 1).
	DType string
	// Shape holds the extents, slowest first; empty means a scalar.
	Shape []int
	// Data holds the elements, little endian, C order; its length is product(Shape) times the
	// element's size.
	Data []byte
}

// Error is a fault of a file or an array, with the accepted alternatives.
type Error struct {
	Path string // empty when the source is a stream
	Msg  string
	Help string
	Err  error // the cause, or nil
}

// Error prints path, fault and remedy on one line.
func (e *Error) Error() string {
	s := "npy: " + e.Msg
	if e.Path != "" {
		s = e.Path + ": " + e.Msg
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Help != "" {
		s += "; " + e.Help
	}
	return s
}

// BadInput reports that the input is at fault.
func (*Error) BadInput() bool { return true }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// magic opens every file; two version bytes follow.
const magic = "\x93NUMPY"

// maxBytes bounds the data of one array; beyond it sizes would overflow on 32-bit hosts.
const maxBytes = math.MaxInt32

// Size returns the bytes of one element of dtype, or 0 if dtype is unknown.
func Size(dtype string) int {
	switch dtype {
	case "i8", "u8", "bool":
		return 1
	case "f32", "i32", "u32":
		return 4
	case "f64", "i64", "u64":
		return 8
	}
	return 0
}

// byteCount returns the bytes of an array, or an error if dtype or shape is unusable.
func byteCount(dtype string, shape []int) (int, error) {
	size := Size(dtype)
	if size == 0 {
		return 0, &Error{Msg: fmt.Sprintf("element type %q is not supported", dtype),
			Help: "use f32, f64, i8, i32, i64, u8, u32, u64 or bool"}
	}
	n := int64(size)
	empty := false
	for i, d := range shape {
		switch {
		case d < 0:
			return 0, &Error{Msg: fmt.Sprintf("extent %d of axis %d is negative", d, i), Help: "extents are 0 or more"}
		case d == 0:
			empty = true
		case int64(d) > maxBytes/n:
			return 0, &Error{Msg: fmt.Sprintf("shape %v of %s exceeds %d bytes", shape, dtype, int64(maxBytes)),
				Help: "split the array"}
		default:
			n *= int64(d)
		}
	}
	if empty {
		return 0, nil
	}
	return int(n), nil
}

// Read reads one array from r and stops behind its last byte. Memory grows with the bytes that
// arrive, not with the size claimed by the header. Every failure is an *Error.
func Read(r io.Reader) (*Array, error) {
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	n, err := byteCount(h.dtype, h.shape)
	if err != nil {
		return nil, err
	}
	data, err := readExactly(r, n)
	if err != nil {
		return nil, &Error{Msg: fmt.Sprintf("shape %v of %s needs %d bytes of data, the file has %d", h.shape, h.dtype,
			n, len(data)), Err: err}
	}
	if h.fortran {
		data = fromFortran(data, h.shape, Size(h.dtype))
	}
	return &Array{DType: h.dtype, Shape: h.shape, Data: data}, nil
}

// ReadFile reads the file at path, which must hold exactly one array.
func ReadFile(path string) (*Array, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, &Error{Path: path, Msg: "cannot open", Err: files.Cause(err)}
	}
	defer f.Close()
	a, err := Read(f)
	if err != nil {
		return nil, withPath(err, path)
	}
	var one [1]byte
	if n, _ := f.Read(one[:]); n != 0 {
		return nil, &Error{Path: path, Msg: fmt.Sprintf("bytes follow the %d bytes of shape %v", len(a.Data), a.Shape),
			Help: "a file must hold one array"}
	}
	return a, nil
}

// Write writes a in version 1 (version 2 if the header does not fit), C order, header padded so
// that the data start at a multiple of 64.
func (a *Array) Write(w io.Writer) error {
	n, err := byteCount(a.DType, a.Shape)
	if err != nil {
		return err
	}
	if n != len(a.Data) {
		return &Error{Msg: fmt.Sprintf("shape %v of %s needs %d bytes, Data has %d", a.Shape, a.DType, n, len(a.Data))}
	}
	if _, err := w.Write(formatHeader(a.DType, a.Shape)); err != nil {
		return &Error{Msg: "cannot write the header", Err: err}
	}
	if _, err := w.Write(a.Data); err != nil {
		return &Error{Msg: "cannot write the data", Err: err}
	}
	return nil
}

// WriteFile writes a to path, replacing an existing file. No file remains if a is not valid.
func (a *Array) WriteFile(path string) error {
	var head bytes.Buffer
	if err := a.Write(&head); err != nil {
		return withPath(err, path)
	}
	if err := os.WriteFile(path, head.Bytes(), 0o644); err != nil {
		return &Error{Path: path, Msg: "cannot write", Err: files.Cause(err)}
	}
	return nil
}

// withPath names the file in an *Error of this package.
func withPath(err error, path string) error {
	if e, ok := err.(*Error); ok && e.Path == "" {
		c := *e
		c.Path = path
		return &c
	}
	return err
}

// readExactly reads n bytes. Memory grows with those that exist. On a short read it returns the
// bytes read and the cause.
func readExactly(r io.Reader, n int) ([]byte, error) {
	var data bytes.Buffer
	_, err := io.CopyN(&data, r, int64(n))
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return data.Bytes(), err
}
