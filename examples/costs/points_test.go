package main

import (
	"math"
	"reflect"
	"testing"

	"ripc/autotune/space"
	"ripc/schedule/machine"
	"ripc/schedule/strategy"
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
		draw := func() map[string]any { return drawLayer(seed, multiplies) }
		if !reflect.DeepEqual(draw(), draw()) {
			t.Errorf("seed %d: two layers", seed)
		}
		for _, n := range draw()["nodes"].([]map[string]any) {
			glue[n["op"].(string)] = true
		}
		kernels, main, err := kernelsOfDrawn(t.Context(), board, seed, multiplies, true)
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
	kernels, _, err := kernelsOfDrawn(t.Context(), board, 2, 300_000, true)
	if err != nil {
		t.Fatal(err)
	}
	var points []drawnPoint
	for _, k := range kernels {
		if k.taken != nil {
			points = append(points, drawnPoint{"", 2, 300_000, k.Task.Stage.Name, k.Task.Workload.Key, k.Task.Algorithm, k.taken.Strategy, k.taken.Values, true, true, 1})
		}
	}
	const digits = "../digits/digits.json"
	l, err := modelSource(digits).lower(t.Context(), board, false)
	if err != nil {
		t.Fatal(err)
	}
	layers := l.layers()
	of, main, err := l.kernels(layers[1])
	if err != nil || len(layers) < 3 || main < 2 {
		t.Fatalf("%d layers of a model, of which one has %d kernels: %v", len(layers), main, err)
	}
	for _, k := range of[:main] {
		c, err := strategy.Default(k.Task.Func, board)
		if err != nil || k.Task.Stage.Name != layers[1] {
			t.Fatalf("%s: %v", k.Task.Stage.Name, err)
		}
		points = append(points, drawnPoint{digits, modelSource(digits).seed, 0, layers[1], k.Task.Workload.Key, k.Task.Algorithm, c.Strategy, c.Values, true, false, 1})
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

// TestStore: what is written to a store is read again.
func TestStore(t *testing.T) {
	t.Chdir(t.TempDir())
	board := targets.Target{Name: "board"}
	if all, err := readStore(board); err != nil || all != nil {
		t.Fatalf("no store: %v, %v", all, err)
	}
	points := []drawnPoint{{Layer: 3, MACs: 5, Stage: "a", Strategy: "words", Values: map[string]int{"lanes": 4}, Cost: 7}, {Layer: 4, Cost: 8}}
	if err := writeStore(board, points); err != nil {
		t.Fatal(err)
	}
	if again, err := readStore(board); err != nil || !reflect.DeepEqual(again, points) {
		t.Errorf("%v, %v", again, err)
	}
}

// TestRegrets: a choice by costs themselves is the best one; one by their negatives is the worst.
func TestRegrets(t *testing.T) {
	var points []described
	for g := range 3 {
		for i := range leastPoints {
			cost := float64(1 + (i*5)%leastPoints + g)
			points = append(points, described{drawnPoint{Cost: cost}, machine.Point{Group: string(rune('a' + g)), Cost: cost}})
		}
	}
	points = append(points, described{drawnPoint{Cost: 1}, machine.Point{Group: "alone"}}) // no pool
	best := regrets(points, func(i int) float64 { return points[i].drawnPoint.Cost }, 1)
	worst := regrets(points, func(i int) float64 { return -points[i].drawnPoint.Cost }, 1)
	if len(best) != 3 || best[2] != 1 || worst[2] != leastPoints || math.Abs(worst[0]-10./3) > 1e-9 {
		t.Errorf("best %v, worst %v", best, worst)
	}
	if all := regrets(points, func(i int) float64 { return -points[i].drawnPoint.Cost }, leastPoints); all[2] != 1 {
		t.Errorf("the best of all: %v", all)
	}
}
