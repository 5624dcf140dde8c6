package onnx

import (
	"fmt"
	"math"
	"strings"

	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/internal/f32"
)

// dtype is an element type as ONNX numbers them.
type dtype int32

const (
	dtFloat    = dtype(pb.TensorProto_FLOAT)
	dtUint8    = dtype(pb.TensorProto_UINT8)
	dtInt8     = dtype(pb.TensorProto_INT8)
	dtUint16   = dtype(pb.TensorProto_UINT16)
	dtInt16    = dtype(pb.TensorProto_INT16)
	dtInt32    = dtype(pb.TensorProto_INT32)
	dtInt64    = dtype(pb.TensorProto_INT64)
	dtBool     = dtype(pb.TensorProto_BOOL)
	dtFloat16  = dtype(pb.TensorProto_FLOAT16)
	dtDouble   = dtype(pb.TensorProto_DOUBLE)
	dtUint32   = dtype(pb.TensorProto_UINT32)
	dtUint64   = dtype(pb.TensorProto_UINT64)
	dtBfloat16 = dtype(pb.TensorProto_BFLOAT16)
	dtUint4    = dtype(pb.TensorProto_UINT4)
	dtInt4     = dtype(pb.TensorProto_INT4)
)

// String is ONNX's name, in lower case.
func (d dtype) String() string {
	if s, ok := pb.TensorProto_DataType_name[int32(d)]; ok {
		return strings.ToLower(s)
	}
	return fmt.Sprintf("type %d", int32(d))
}

// size is the number of bytes of an element in raw_data, 0 for a type that is not read.
func (d dtype) size() int {
	switch d {
	case dtUint8, dtInt8, dtBool:
		return 1
	case dtUint16, dtInt16, dtFloat16, dtBfloat16:
		return 2
	case dtFloat, dtInt32, dtUint32:
		return 4
	case dtDouble, dtInt64, dtUint64:
		return 8
	}
	return 0
}

// eightBitType returns the 8-bit type that holds the elements of a 4-bit type d. It is d for all
// other types.
func (d dtype) eightBitType() dtype {
	switch d {
	case dtUint4:
		return dtUint8
	case dtInt4:
		return dtInt8
	}
	return d
}

// eightBits reports whether d is a type of 8 bits that quantizers make.
func (d dtype) eightBits() bool { return d == dtUint8 || d == dtInt8 }

// float reports whether d is a floating-point type.
func (d dtype) float() bool {
	return d == dtFloat || d == dtFloat16 || d == dtDouble || d == dtBfloat16
}

// unsigned reports whether d is a type of integers from 0 on.
func (d dtype) unsigned() bool {
	return d == dtUint8 || d == dtUint16 || d == dtUint32 || d == dtUint64
}

// wrap brings an integer into the range of d, as a conversion in C does.
func (d dtype) wrap(v int64) int64 {
	switch shift := 64 - 8*d.size(); {
	case d == dtBool:
		if v != 0 {
			return 1
		}
		return 0
	case d.unsigned():
		return int64(uint64(v) << shift >> shift)
	default:
		return v << shift >> shift
	}
}

// round rounds a result to the floating-point type d.
func (d dtype) round(v float64) float64 {
	switch d {
	case dtFloat:
		return float64(float32(v))
	case dtFloat16:
		return float64(f32.Half(toHalf(float32(v))))
	case dtBfloat16:
		return float64(toBfloat(float32(v)))
	}
	return v
}

// toHalf rounds to the nearest half, ties to even.
func toHalf(v float32) uint16 {
	b := math.Float32bits(v)
	sign := uint16(b >> 16 & 0x8000)
	a := math.Abs(float64(v))
	switch {
	case v != v:
		return sign | 0x7E00
	case a >= 65520:
		return sign | 0x7C00
	case a < 0x1p-14:
		return sign | uint16(math.RoundToEven(a*0x1p24))
	}
	m := b&0x7FFFFFFF + 0xFFF + b>>13&1
	return sign | uint16(m>>13-112<<10)
}

// toBfloat rounds to the nearest bfloat16, ties to even.
func toBfloat(v float32) float32 {
	if v != v {
		return v
	}
	b := math.Float32bits(v)
	return math.Float32frombits((b + 0x7FFF + b>>16&1) &^ 0xFFFF)
}
