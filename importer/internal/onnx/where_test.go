package onnx

import (
	"math"
	"strings"
	"testing"

	"ripc/importer"
)

// A comparison with a number for each element is no threshold, but a comparison all the same.
func TestCastOfComparison(t *testing.T) {
	for op, want := range map[string]string{"Greater x c": " = greater_equal(", "LessOrEqual x c": " = less(", "Less c x": " = greater_equal(", "GreaterOrEqual x k": " = threshold("} {
		f := newFile(17).floats("c", 1, 3, 8, 8).floats("k", 3, 1, 1).node(op+" -> b").node("Cast b -> y", "to", int(dtFloat))
		g, err := parse(t.Context(), "m.onnx", f.bytes(t), nil, importer.Options{}, nil, 1<<20)
		if err != nil {
			t.Errorf("%s: %v", op, err)
		} else if !strings.Contains(g.String(), want) {
			t.Errorf("%s: want%s\n%s", op, want, g)
		}
	}
}

func TestNext(t *testing.T) {
	for _, c := range [][2]float32{{0, 0x1p-126}, {float32(math.Copysign(0, -1)), 0x1p-126}, {-0x1p-126, 0}, {1, 1 + 0x1p-23}, {0x1p-130, 0x1p-126}, {-1, -1 + 0x1p-24}} {
		if got := next(c[0]); got != c[1] {
			t.Errorf("next(%g) is %g, want %g", c[0], got, c[1])
		}
	}
}
