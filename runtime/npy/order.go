package npy

import (
	"encoding/binary"
	"fmt"
	"math"
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
	data := make([]byte, 4*len(values))
	for i, v := range values {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(v))
	}
	return &Array{DType: "f32", Shape: shape, Data: data}
}

// Float32s returns the elements of an f32 array in C order.
func (a *Array) Float32s() ([]float32, error) {
	if a.DType != "f32" {
		return nil, &Error{Msg: fmt.Sprintf("the array holds %s, not f32", a.DType)}
	}
	out := make([]float32, len(a.Data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(a.Data[4*i:]))
	}
	return out, nil
}

// Int32s returns the elements of an i32 array in C order.
func (a *Array) Int32s() ([]int32, error) {
	if a.DType != "i32" {
		return nil, &Error{Msg: fmt.Sprintf("the array holds %s, not i32", a.DType)}
	}
	out := make([]int32, len(a.Data)/4)
	for i := range out {
		out[i] = int32(binary.LittleEndian.Uint32(a.Data[4*i:]))
	}
	return out, nil
}

// Float64s returns the elements of an array of any type in C order, as numbers; a bool is 0 or 1.
// Of i64 and u64 those beyond 2^53 are rounded.
func (a *Array) Float64s() ([]float64, error) {
	size := Size(a.DType)
	if size == 0 {
		return nil, &Error{Msg: fmt.Sprintf("the array holds %s, no numbers", a.DType)}
	}
	out := make([]float64, len(a.Data)/size)
	for i := range out {
		b := a.Data[i*size:]
		switch a.DType {
		case "f32":
			out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		case "f64":
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
		case "i8":
			out[i] = float64(int8(b[0]))
		case "i32":
			out[i] = float64(int32(binary.LittleEndian.Uint32(b)))
		case "u32":
			out[i] = float64(binary.LittleEndian.Uint32(b))
		case "i64":
			out[i] = float64(int64(binary.LittleEndian.Uint64(b)))
		case "u64":
			out[i] = float64(binary.LittleEndian.Uint64(b))
		default: // a byte
			out[i] = float64(b[0])
		}
	}
	return out, nil
}
