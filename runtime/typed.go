package runtime

import (
	"fmt"
	"unsafe"

	"ripc/runtime/describe"
)

// Element is a type of Go with the bytes of a tensor's elements: float32 of "f32", int32 of "i32"
// and so on.
type Element interface {
	float32 | int32 | uint32 | uint8 | int8
}

// ElementError says that a tensor's elements are of another type than the caller's.
type ElementError struct {
	Path   string
	Tensor describe.Tensor
	Got    string // the requested type, as descriptions name it
}

// Error names both types.
func (e *ElementError) Error() string {
	return fmt.Sprintf("%s: tensor %s is %s %v, not %s", e.Path, e.Tensor.Title(), e.Tensor.DType, e.Tensor.Shape,
		e.Got)
}

// dtypeOf is T as descriptions name it.
func dtypeOf[T Element]() string {
	switch any(*new(T)).(type) {
	case float32:
		return "f32"
	case int32:
		return "i32"
	case uint32:
		return "u32"
	case int8:
		return "i8"
	}
	return "u8"
}

// Input is Session.Input as numbers: a view of input i, not a copy, in C order. It fails with
// *ElementError if these are not of type T, if there is no such input, or if s is closed. Like
// Input's, the slice must not be used after Close.
func Input[T Element](s *Session, i int) ([]T, error) {
	d, err := s.describe()
	if err != nil {
		return nil, err
	}
	return view[T](s, "input", d.Inputs, i, s.Input)
}

// Output is Session.Output as numbers, as Input is.
func Output[T Element](s *Session, i int) ([]T, error) {
	d, err := s.describe()
	if err != nil {
		return nil, err
	}
	return view[T](s, "output", d.Outputs, i, s.Output)
}

// SetInput copies numbers to input i. It fails as Input, or if their number is not that of the
// input's elements.
func SetInput[T Element](s *Session, i int, numbers []T) error {
	in, err := Input[T](s, i)
	if err != nil {
		return err
	}
	if len(in) != len(numbers) {
		d := s.Module().Description()
		return fmt.Errorf("%s: input %d (%s) has %d numbers, %v, there are %d", s.Module().Path(), i,
			d.Inputs[i].Title(), len(in), d.Inputs[i].Shape, len(numbers))
	}
	// s may be closed by now, and its memory gone.
	return s.SetInput(i, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))),
		len(numbers)*int(unsafe.Sizeof(*new(T)))))
}

// view returns tensor i of ts as numbers. of returns a tensor's bytes.
func view[T Element](s *Session, kind string, ts []describe.Tensor, i int, of func(int) []byte) ([]T, error) {
	path := s.Module().Path()
	if i < 0 || i >= len(ts) {
		return nil, fmt.Errorf("%s: %s %d; there are %d", path, kind, i, len(ts))
	}
	if got := dtypeOf[T](); got != ts[i].DType {
		return nil, &ElementError{Path: path, Tensor: ts[i], Got: got}
	}
	bytes := of(i)
	switch {
	case bytes == nil:
		return nil, ErrClosed
	case len(bytes) == 0:
		return nil, nil
	}
	// Tensors begin at multiples of 64 bytes, and their bytes are in this machine's order:
	// artifacts are for little-endian ones.
	return unsafe.Slice((*T)(unsafe.Pointer(&bytes[0])), len(bytes)/int(unsafe.Sizeof(*new(T)))), nil
}
