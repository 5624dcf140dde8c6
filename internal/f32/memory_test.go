package f32

import (
	"math"
	"slices"
	"testing"
)

func TestBytes(t *testing.T) {
	v := []float32{1, -0.5, float32(math.Inf(1)), 0x1p-149}
	want := []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf, 0, 0, 0x80, 0x7f, 1, 0, 0, 0}
	data := Bytes(v)
	if !slices.Equal(data, want) {
		t.Errorf("%x, want %x", data, want)
	}
	for shift := range 4 { // aligned or not
		moved := append(make([]byte, shift), data...)[shift:]
		if got := FromBytes(append(moved, 9)); !slices.Equal(got, v) {
			t.Errorf("%d bytes behind a boundary: %v, want %v", shift, got, v)
		}
	}
	if len(Bytes[float32](nil)) != 0 || len(FromBytes(nil)) != 0 || len(FromBytes([]byte{1, 2})) != 0 {
		t.Error("something comes of nothing")
	}
}
