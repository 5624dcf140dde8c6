package irdata

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"ripc/ir"
)

// Compare counts the elements of b in which got differs from want, and returns the index of the
// first one. All NaNs are equal if anyNaN is set.
func Compare(b ir.Buffer, got, want []byte, anyNaN bool) (index []int, count int) {
	if bytes.Equal(got, want) {
		return nil, 0
	}
	first, size := -1, b.Type.Bytes()
	for i := range b.Elems() {
		x, y := got[i*size:(i+1)*size], want[i*size:(i+1)*size]
		if bytes.Equal(x, y) || anyNaN && IsNaN(x) && IsNaN(y) {
			continue
		}
		if count++; first < 0 {
			first = i
		}
	}
	index = make([]int, len(b.Shape))
	for d, rest := len(index)-1, first; d >= 0; d-- {
		index[d], rest = rest%b.Shape[d], rest/b.Shape[d]
	}
	return index, count
}

// IsNaN reports whether the f32 at the start of b is a NaN.
func IsNaN(b []byte) bool {
	x := math.Float32frombits(binary.LittleEndian.Uint32(b))
	return x != x
}

// Element writes an element of b with these contents. Floats are followed by their bits, and words
// of bit planes are hexadecimal.
func Element(b ir.Buffer, data []byte, index []int) string {
	at := 0
	for d, i := range index {
		at = at*b.Shape[d] + i
	}
	switch v := b.Type.Integer(data[at*b.Type.Bytes():]); {
	case b.Type.IsFloat():
		return fmt.Sprintf("%s (0x%08x)", ir.FloatString(math.Float32frombits(uint32(v))), v)
	case !b.Type.Signed() && b.Type.Bits() >= 32:
		return fmt.Sprintf("%#x", uint64(v))
	default:
		return fmt.Sprint(v)
	}
}
