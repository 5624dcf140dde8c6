package main

import (
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"ripc"
	"ripc/internal/need"
	"ripc/targets"
)

// TestDrawn: networks that are drawn are models, the same for the same seed, of all kinds of layers.
func TestDrawn(t *testing.T) {
	ops := map[string]bool{}
	for seed := range uint64(12) {
		draw := func() map[string]any { return drawNetwork(rand.New(rand.NewPCG(seed, 1)), 20_000) }
		if !reflect.DeepEqual(draw(), draw()) {
			t.Errorf("seed %d: two networks", seed)
		}
		path, err := writeDrawn(t.TempDir(), drawNetwork(rand.New(rand.NewPCG(seed, 1)), 20_000))
		if err != nil {
			t.Fatal(err)
		}
		c, err := ripc.Compile(t.Context(), path, ripc.Options{Target: "cortex-m4"})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, s := range c.Program.Stages {
			ops[s.Layer.Kind] = true
		}
	}
	if len(ops) < 3 {
		t.Errorf("only layers of %v were drawn", ops)
	}
}

// TestLearn measures a small network on the simulated board, and keeps and fits its points.
func TestLearn(t *testing.T) {
	need.Board(t, nil)
	target, err := targets.Lookup("cortex-m4")
	if err != nil {
		t.Fatal(err)
	}
	points, err := measureDrawn(t.Context(), target, 2, 5_000)
	if err != nil {
		need.Board(t, err)
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("schedule/machine/data", 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := readLines[stagePoint]("build/points.jsonl"); err != nil { // makes the folder
		t.Fatal(err)
	}
	if err := appendLines("build/points.jsonl", points); err != nil {
		t.Fatal(err)
	}
	kept, err := readLines[stagePoint]("build/points.jsonl")
	if err != nil || !reflect.DeepEqual(kept, points) || len(kept) == 0 {
		t.Errorf("%d points of %d were kept: %v", len(kept), len(points), err)
	}
	if err := fitWeights(target, kept); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile("schedule/machine/data/cortex-m4.json"); err != nil || len(text) < 100 {
		t.Errorf("%s, %v", text, err)
	}
}
