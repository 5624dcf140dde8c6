package fit

import (
	"reflect"
	"testing"

	"ripc"
	"ripc/autotune/space"
	"ripc/targets"
)

// TestDrawLayer: layers that are drawn are models, the same for the same seed, of all kinds, and have kernels by several algorithms.
func TestDrawLayer(t *testing.T) {
	board, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	const multiplies = 300_000
	kinds, several := map[string]bool{}, 0
	glue := map[string]bool{}
	for i := range uint64(16) {
		seed := i + i%2*firstPooled
		draw := func() map[string]any { return DrawLayer(seed, multiplies) }
		if !reflect.DeepEqual(draw(), draw()) {
			t.Errorf("seed %d: two layers", seed)
		}
		for _, n := range draw()["nodes"].([]map[string]any) {
			glue[n["op"].(string)] = true
		}
		kernels, main, err := drawnKernels(t.Context(), board, seed, multiplies, &ripc.Options{Target: board.Name})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if main > 1 {
			several++
		}
		taken := 0
		for _, k := range kernels[:main] {
			kinds[k.Task.Stage.Layer.Kind] = true
			if k.taken != nil {
				taken++
			}
		}
		if taken != 1 {
			t.Errorf("seed %d: %d of %d kernels are taken", seed, taken, main)
		}
	}
	if len(kinds) < 2 || several < 6 || !glue["max_pool"] || !glue["add"] {
		t.Errorf("only layers of %v were drawn, %d of them with several algorithms, with %v around them", kinds, several, glue)
	}
}

// TestPointsBuilt: a point that is read again is the schedule that it was.
func TestPointsBuilt(t *testing.T) {
	board, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	kernels, _, err := drawnKernels(t.Context(), board, 2, 300_000, &ripc.Options{Target: board.Name})
	if err != nil {
		t.Fatal(err)
	}
	var points []point
	for _, k := range kernels {
		if k.taken != nil {
			points = append(points, point{"", 2, 300_000, k.Task.Stage.Name, k.key(), k.Task.Algorithm, k.taken.Strategy, k.taken.Values, true, 1})
		}
	}
	const digits = "../../examples/digits/digits.json"
	l, err := modelSource(digits).lower(t.Context(), board, nil)
	if err != nil {
		t.Fatal(err)
	}
	layers := l.layers()
	some, main, err := l.kernels(layers[1])
	if err != nil || len(layers) < 3 || main < 2 {
		t.Fatalf("%d layers of a model, of which one has %d kernels: %v", len(layers), main, err)
	}
	for _, k := range some[:main] {
		c, err := k.Default()
		if err != nil || k.Task.Stage.Name != layers[1] {
			t.Fatalf("%s: %v", k.Task.Stage.Name, err)
		}
		points = append(points, point{digits, modelSource(digits).seed, 0, layers[1], k.key(), k.Task.Algorithm, c.Point.Strategy, c.Point.Values, false, 1})
	}
	all, err := describePoints(t.Context(), board, points)
	if err != nil || len(all) != len(points) {
		t.Fatalf("%d points of %d: %v", len(all), len(points), err)
	}
	for _, k := range kernels {
		if k.taken == nil {
			continue
		}
		x, err := k.Build(space.Point{Strategy: k.taken.Strategy, Values: k.taken.Values})
		if err != nil || x.Key() != k.taken.Trace.String() {
			t.Errorf("%s: %v", k.Task.Func.Name, err)
		}
	}
}
