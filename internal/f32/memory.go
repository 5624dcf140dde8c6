package f32

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// Bytes gives numbers as little-endian bytes. On little-endian machines it is the memory of v
// itself, so that weights lie in memory once: neither may be written to after that.
func Bytes[T float32 | int8 | uint8 | int16 | int32 | uint32](v []T) []byte {
	if littleEndian() && len(v) > 0 {
		return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
	}
	out, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic("BUG: " + err.Error()) // the types have a size each
	}
	return out
}

// FromBytes is the inverse of Bytes: of data that is aligned as numbers are, on little-endian
// machines, it gives the memory itself. Bytes behind the last whole number do not count.
func FromBytes(data []byte) []float32 {
	n := len(data) / 4
	if n > 0 && littleEndian() && uintptr(unsafe.Pointer(&data[0]))%unsafe.Alignof(float32(0)) == 0 {
		return unsafe.Slice((*float32)(unsafe.Pointer(&data[0])), n)
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return out
}

func littleEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) == 1 }

// Int8s gives bytes as the integers of two's complement that they are: the memory of data itself.
func Int8s(data []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(data))), len(data))
}

// Half is the value of an IEEE half float.
func Half(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, int(h>>10&31), uint32(h&1023)
	switch exp {
	case 0:
		v := float32(math.Ldexp(float64(frac), -24))
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7F800000 | frac<<13)
	}
	return math.Float32frombits(sign | uint32(exp+112)<<23 | frac<<13)
}
