package onnx

import (
	"math"
	"testing"
)

func TestNext(t *testing.T) {
	for _, c := range [][2]float32{{0, 0x1p-126}, {float32(math.Copysign(0, -1)), 0x1p-126}, {-0x1p-126, 0}, {1, 1 + 0x1p-23}, {0x1p-130, 0x1p-126}, {-1, -1 + 0x1p-24}} {
		if got := next(c[0]); got != c[1] {
			t.Errorf("next(%g) is %g, want %g", c[0], got, c[1])
		}
	}
}
