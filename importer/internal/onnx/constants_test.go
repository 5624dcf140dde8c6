package onnx

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"ripc/importer"
)

// TestConstantsAsComputed: an op gives the same on a constant as on an input with these elements, whether the importer has code for that or runs the
// graph.
func TestConstantsAsComputed(t *testing.T) {
	x := make([]float32, 64)
	for i := range x {
		x[i] = float32(i*37%64+1) / 8
	}
	ran := 0
	for k, o := range table() {
		if !o.computes() || o.min > 1 || k.family != standard {
			continue
		}
		for _, dims := range [][]any{{1, 4, 4, 4}, {4, 16}, {1, 64}} {
			attrs := []any{}
			for _, a := range [][]any{{"to", 1}, {"kernel_shape", []int64{2, 2}}, {"blocksize", 2}, {"k", 3}, {"equation", "...a->..."}} {
				for _, known := range o.attrs {
					if a[0] == known {
						attrs = append(attrs, a...)
					}
				}
			}
			model := func(name string) file {
				f := newFile(9, dims...)
				if k.name != "TopK" {
					f = newFile(20, dims...)
				}
				f.Graph.Initializer = append(f.Graph.Initializer, floatTensor("w", x, sizes(dims)...))
				return f.node(k.name+" "+name+" -> a", attrs...).node("Cast a -> b", "to", 1)
			}
			network := model("x").node("Identity b -> y")
			g, err := parse(t.Context(), "m.onnx", network.bytes(t), nil, importer.Options{}, naive, 1<<20)
			if err != nil {
				continue // of images alone, or the op needs more
			}
			want := evaluate(g, map[string][]float32{"x": x})["y"]
			f := model("w").node("Add b z -> y")
			f.input("z", dtFloat, 1)
			if g, err = parse(t.Context(), "m.onnx", f.bytes(t), nil, importer.Options{}, naive, 1<<20); err != nil {
				t.Errorf("%s of a constant of shape %v: %v", k.name, dims, err)
				continue
			}
			got := evaluate(g, map[string][]float32{"x": x, "z": {0}})["y"]
			if len(got) != len(want) {
				t.Fatalf("%s of shape %v: %d elements, want %d", k.name, dims, len(got), len(want))
			}
			for i := range got {
				if math.Abs(float64(got[i]-want[i])) > 1e-6*max(1, math.Abs(float64(want[i]))) {
					t.Fatalf("%s of shape %v: element %d is %g, and %g on an input", k.name, dims, i, got[i], want[i])
				}
			}
			ran++
		}
	}
	if ran < 150 {
		t.Errorf("only %d cases ran", ran)
	}
}

func sizes(dims []any) (out []int64) {
	for _, d := range dims {
		out = append(out, int64(d.(int)))
	}
	return out
}

// TestConstantErrors: what is wrong with an op on constants is said of the op, and never that an input has a part in it.
func TestConstantErrors(t *testing.T) {
	for _, c := range []struct {
		f    file
		want string
	}{
		{newFile(17).ints("i", 1, 2).node("Softplus i -> a").node("Cast a -> b", "to", 1).node("Add x b -> y"), "its operand is a constant int64; this op computes with floats"},
		{newFile(17).ints("i", 1, 1<<40).node("ArgMax i -> a", "keepdims", 1).node("Cast a -> b", "to", 1).node("Add x b -> y"), "want -2^24 to 2^24"},
		{newFile(17).floats("w", 4, 3, 3, 3).floats("v", 4, 5, 3, 3).node("Conv w v -> a").node("Conv x a -> y"), "channels"},
		{newFile(17).floats("w", 4, 3, 3, 3).ints("k", 9).node("TopK w k -> a b", "axis", 3).node("Conv x a -> y"), "k"},
		{newFile(17).floats("w", 0, 3).node("Softplus w -> a").node("Add x a -> y"), "is empty"},
		{newFile(17).floats("w", 4, 3, 3, 3).node("Einsum w -> a", "equation", "aabb->ab").node("Add x a -> y"), "stands twice"},
	} {
		_, err := parse(t.Context(), "m.onnx", c.f.bytes(t), nil, importer.Options{}, naive, 1<<20)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "computed from an input") {
			t.Errorf("%v\nwant: %s", err, c.want)
		}
	}
}

// TestConstantWork: a short file that asks for much work on constants is refused.
func TestConstantWork(t *testing.T) {
	f := newFile(17).ints("s", 1<<12, 1<<12).node("ConstantOfShape s -> w")
	for i := range 40 {
		f.node(fmt.Sprintf("Mish w -> v%d", i))
	}
	f.node("Add x v0 -> y")
	_, err := parse(t.Context(), "m.onnx", f.bytes(t), nil, importer.Options{}, zeros, baseMemory)
	if err == nil || !strings.Contains(err.Error(), "memory") && !strings.Contains(err.Error(), "operations") {
		t.Error(err)
	}
}

// TestWeightStandardization: a BatchNormalization in training mode is by the statistics of constants that it normalizes, and refused elsewhere.
func TestWeightStandardization(t *testing.T) {
	f := newFile(17).floats("g", 4).floats("b", 4).floats("w", 1, 4, 5).ints("s", 4, 5, 1, 1).node("BatchNormalization w g b b g -> a m v", "training_mode", 1, "epsilon", 0.0).
		node("Reshape a s -> c").node("Transpose c -> d", "perm", []int64{2, 0, 3, 1}).node("Add d x -> y")
	f.Graph.Input[0] = value("x", dtFloat, 1)
	g, err := parse(t.Context(), "m.onnx", f.bytes(t), nil, importer.Options{}, naive, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	y := evaluate(g, map[string][]float32{"x": {0}})["y"]
	for i, got := range y { // channel c is c*5+1 ... c*5+5, of mean c*5+3 and deviation sqrt(2)
		c, k := float64(i/5), float64(i%5)
		if want := (k-2)/math.Sqrt2*(c+1) + c + 1; math.Abs(float64(got)-want) > 1e-5 {
			t.Fatalf("element %d is %g, want %g", i, got, want)
		}
	}
	_, err = parse(t.Context(), "m.onnx", newFile(17).floats("c", 3).node("BatchNormalization x c c c c -> y", "training_mode", 1).bytes(t), nil, importer.Options{}, naive, 1<<20)
	if err == nil || !strings.Contains(err.Error(), "training_mode is on") {
		t.Error(err)
	}
}
