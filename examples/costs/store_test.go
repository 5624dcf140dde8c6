package main

import (
	"reflect"
	"testing"

	"ripc/targets"
)

// TestStore: what is written to a store is read again.
func TestStore(t *testing.T) {
	t.Chdir(t.TempDir())
	board := targets.Target{Name: "board"}
	if all, err := readLines[point](store(board)); err != nil || all != nil {
		t.Fatalf("no store: %v, %v", all, err)
	}
	points := []point{{Layer: 3, MACs: 5, Stage: "a", Strategy: "words", Values: map[string]int{"lanes": 4}, Cost: 7}, {Layer: 4, Cost: 8}}
	if err := writeStore(board, points); err != nil {
		t.Fatal(err)
	}
	if again, err := readLines[point](store(board)); err != nil || !reflect.DeepEqual(again, points) {
		t.Errorf("%v, %v", again, err)
	}
}
