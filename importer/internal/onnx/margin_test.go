package onnx

import (
	"math"
	"slices"
	"testing"
)

// TestLowestMargin: -Inf around an image that only MaxPool reads is that pool's own padding.
func TestLowestMargin(t *testing.T) {
	pool := []any{"kernel_shape", []int64{3, 3}, "strides", []int64{2, 2}}
	pad := func(lowest float32) file {
		f := newFile(13, 1, 2, 7, 6).ints("p", 0, 0, 1, 2, 0, 0, 0, 1)
		f.Graph.Initializer = append(f.Graph.Initializer, floatTensor("v", []float32{lowest}, 1))
		return f.node("Pad x p v -> a")
	}
	for _, second := range []bool{false, true} {
		f := pad(float32(math.Inf(-1))).node("MaxPool a -> b", pool...)
		want := newFile(13, 1, 2, 7, 6).node("MaxPool x -> b", append(pool, "pads", []int64{1, 2, 0, 1})...)
		if second { // of two readers each has its own padding besides
			f.node("MaxPool a -> c", append(pool, "pads", []int64{1, 0, 0, 0})...).node("Concat b c -> y", "axis", 2)
			want.node("MaxPool x -> c", append(pool, "pads", []int64{2, 2, 0, 1})...).node("Concat b c -> y", "axis", 2)
		} else {
			f.node("Neg b -> y")
			want.node("Neg b -> y")
		}
		if got, exp := evaluateSame(t, f), evaluateSame(t, want); !slices.Equal(got, exp) {
			t.Errorf("two readers: %t\ngot  %v\nwant %v", second, got, exp)
		}
	}
	bad := pad(float32(math.Inf(-1))).node("Relu a -> y")
	if _, err := Parse("m.onnx", bad.bytes(t), nil); err == nil {
		t.Error("-Inf that another op reads passes")
	}
}

// TestUnusedPadding: padding as long as the kernel that no window reaches is none.
func TestUnusedPadding(t *testing.T) {
	for _, op := range []string{"MaxPool", "AveragePool"} {
		g, err := Parse("m.onnx", newFile(13, 1, 1, 4, 4).node(op+" x -> y", "kernel_shape", []int64{2, 2}, "strides", []int64{5, 5}, "pads", []int64{0, 0, 2, 2}).bytes(t), nil)
		if err != nil {
			t.Fatalf("%s: %v", op, err)
		}
		if v := g.Value("y"); !slices.Equal(v.Shape, []int{1, 1, 1, 1}) {
			t.Errorf("%s: shape %v", op, v.Shape)
		}
	}
}
