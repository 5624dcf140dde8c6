package npy

import (
	"encoding/binary"
	"fmt"
)

// fromFortran returns the elements of src, stored first axis fastest, in C order. shape holds the
// extents, size the bytes of an element.
func fromFortran(src []byte, shape []int, size int) []byte {
	if len(shape) < 2 || len(src) == 0 {
		return src
	}
	// stride[k] is the distance in src, in elements, of neighbours along axis k.
	stride := make([]int, len(shape))
	n := 1
	for k, d := range shape {
		stride[k] = n
		n *= d
	}
	dst := make([]byte, len(src))
	last := len(shape) - 1
	index := make([]int, len(shape))
	from, to := 0, 0
	for to < len(dst) {
		for i := range shape[last] {
			at := (from + i*stride[last]) * size
			to += copy(dst[to:to+size], src[at:])
		}
		for k := last - 1; k >= 0; k-- { // advance the odometer of the outer axes
			from += stride[k]
			if index[k]++; index[k] < shape[k] {
				break
			}
			from -= shape[k] * stride[k]
			index[k] = 0
		}
	}
	return dst
}

// FromFloat32 makes an f32 array of values in C order. Whether they fill shape is checked when it
// is written.
func FromFloat32(shape []int, values []float32) *Array {
	data, _ := binary.Append(nil, binary.LittleEndian, values) // it takes all slices of numbers
	return &Array{DType: "f32", Shape: shape, Data: data}
}

// Float32s returns the elements of an f32 array in C order.
func (a *Array) Float32s() ([]float32, error) { return elements[float32](a, "f32") }

// Int32s returns the elements of an i32 array in C order.
func (a *Array) Int32s() ([]int32, error) { return elements[int32](a, "i32") }

// elements returns the elements of an array of the given type.
func elements[T any](a *Array, dtype string) ([]T, error) {
	if a.DType != dtype {
		return nil, &Error{Msg: fmt.Sprintf("the array holds %s, not %s", a.DType, dtype)}
	}
	return decode[T](a.Data), nil
}

// decode returns the little-endian numbers that fill data.
func decode[T any](data []byte) []T {
	var one T
	out := make([]T, len(data)/binary.Size(one))
	_, _ = binary.Decode(data, binary.LittleEndian, out) // data is no shorter than out
	return out
}

// Float64s returns the elements of an array of any type in C order, as numbers; a bool is 0 or 1.
// Of i64 and u64 those beyond 2^53 are rounded.
func (a *Array) Float64s() ([]float64, error) {
	switch a.DType {
	case "f32":
		return floats[float32](a.Data), nil
	case "f64":
		return decode[float64](a.Data), nil
	case "i8":
		return floats[int8](a.Data), nil
	case "i32":
		return floats[int32](a.Data), nil
	case "u32":
		return floats[uint32](a.Data), nil
	case "i64":
		return floats[int64](a.Data), nil
	case "u64":
		return floats[uint64](a.Data), nil
	case "u8", "bool":
		return floats[uint8](a.Data), nil
	}
	return nil, &Error{Msg: fmt.Sprintf("the array holds %s, no numbers", a.DType)}
}

// floats returns the numbers that fill data as float64.
func floats[T int8 | int32 | int64 | uint8 | uint32 | uint64 | float32](data []byte) []float64 {
	numbers := decode[T](data)
	out := make([]float64, len(numbers))
	for i, v := range numbers {
		out[i] = float64(v)
	}
	return out
}
