package onnx

import (
	"slices"
	"strings"
	"testing"
)

// TestOpset6: what opset 6 says by attributes gives the graph that opset 7 gives.
func TestOpset6(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, now file
	}{
		{"from an axis", newFile(6).floats("c", 3).node("Add x c -> y", "broadcast", 1, "axis", 1), newFile(7).floats("c", 3, 1, 1).node("Add x c -> y")},
		{"from an axis from the end", newFile(6).floats("c", 3, 8).node("Mul x c -> y", "broadcast", 1, "axis", -3), newFile(7).floats("c", 3, 8, 1).node("Mul x c -> y")},
		{"to the end", newFile(6).floats("c", 8).node("Sub x c -> y", "broadcast", 1), newFile(7).floats("c", 8).node("Sub x c -> y")},
		{"one number", newFile(6).floats("c").node("Div x c -> y", "broadcast", 1), newFile(7).floats("c").node("Div x c -> y")},
		{"computed", newFile(6).node("GlobalAveragePool x -> a").floats("s", 1).node("Squeeze a -> b").node("Mul x b -> y", "broadcast", 1, "axis", 1),
			newFile(7).node("GlobalAveragePool x -> a").floats("s", 1).node("Squeeze a -> b").node("Unsqueeze b -> c", "axes", []int64{1, 2}).node("Mul x c -> y")},
		{"slopes", newFile(6).floats("c", 3).node("PRelu x c -> y"), newFile(7).floats("c", 3, 1, 1).node("PRelu x c -> y")},
		{"statistics", newFile(6).floats("c", 3).node("BatchNormalization x c c c c -> y", "is_test", 1), newFile(7).floats("c", 3).node("BatchNormalization x c c c c -> y")},
		{"dropout", newFile(6).node("Dropout x -> a", "is_test", 1).node("Relu a -> y"), newFile(7).node("Dropout x -> a").node("Relu a -> y")},
	} {
		old, now := evaluateSame(t, c.old), evaluateSame(t, c.now)
		if len(old) == 0 || len(old) != len(now) {
			t.Fatalf("%s: %d and %d elements", c.name, len(old), len(now))
		}
		for i := range old {
			if old[i] != now[i] {
				t.Fatalf("%s: element %d is %g, want %g", c.name, i, old[i], now[i])
			}
		}
	}
}

// evaluateSame is y of a ramp.
func evaluateSame(t *testing.T, f file) []float32 {
	t.Helper()
	g := parsed(t, f)
	x := make([]float32, g.Value("x").Elems())
	for i := range x {
		x[i] = float32(i%37)/4 - 5
	}
	return evaluate(g, map[string][]float32{"x": x})["y"]
}

// TestNewOpset: operators of a version that is not known yet are read as those of the last one, and the input says so.
func TestNewOpset(t *testing.T) {
	for opset, want := range map[int64]bool{25: false, 26: false, 27: false, lastOpset: false, lastOpset + 1: true, 99: true} {
		g, err := Parse("m.onnx", newFile(opset, "N", 3, 8, 8).floats("w", 4, 3, 3, 3).node("Conv x w -> a").node("SpaceToDepth a -> y", "blocksize", 2, "mode", "CRD").bytes(t), nil)
		if err != nil {
			t.Errorf("opset %d: %v", opset, err)
			continue
		}
		if has := strings.Contains(g.Value("x").Note, "newer than"); has != want {
			t.Errorf("opset %d: note %q", opset, g.Value("x").Note)
		}
	}
}

// TestSpaceToDepthOrder: SpaceToDepth and DepthToSpace of one mode undo each other.
func TestSpaceToDepthOrder(t *testing.T) {
	x := make([]float32, 3*8*8)
	for i := range x {
		x[i] = float32(i)
	}
	for _, mode := range []string{"DCR", "CRD"} {
		g, err := Parse("m.onnx", newFile(28).node("SpaceToDepth x -> a", "blocksize", 2, "mode", mode).node("DepthToSpace a -> y", "blocksize", 2, "mode", mode).bytes(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		if y := evaluate(g, map[string][]float32{"x": x})["y"]; !slices.Equal(x, y) {
			t.Errorf("%s: %v", mode, y)
		}
	}
}
