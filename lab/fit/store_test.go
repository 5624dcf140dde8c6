package fit

import (
	"path/filepath"
	"reflect"
	"testing"

	"ripc/examples/networks/zoo"
	"ripc/lab/figures"
	"ripc/lab/task"
	"ripc/targets"
)

// TestStore: what is written to a store is read again.
func TestStore(t *testing.T) {
	t.Chdir(t.TempDir())
	board := targets.Target{Name: "board"}
	if all, err := figures.ReadLines[point](store(board)); err != nil || all != nil {
		t.Fatalf("no store: %v, %v", all, err)
	}
	points := []point{{Layer: 3, MACs: 5, Stage: "a", Strategy: "words", Values: map[string]int{"lanes": 4}, Cost: 7}, {Layer: 4, Cost: 8}}
	if err := writeStore(board, points); err != nil {
		t.Fatal(err)
	}
	if again, err := figures.ReadLines[point](store(board)); err != nil || !reflect.DeepEqual(again, points) {
		t.Errorf("%v, %v", again, err)
	}
}

// TestModels: the models that points name are there, but for files of other machines.
func TestModels(t *testing.T) {
	t.Chdir("../..")
	files, err := filepath.Glob(filepath.Join(task.Data, "points", "*.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range files {
		points, err := figures.ReadLines[point](file)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range points {
			if p.Model == "" || found[p.Model] || modelSource(p.Model).isElsewhere() {
				continue
			}
			found[p.Model] = true
			if _, err := zoo.Find(p.Model); err == nil {
				continue
			}
			if path, err := modelSource(p.Model).write(t.TempDir()); err != nil {
				t.Errorf("%s: %s: %v", file, path, err)
			}
		}
	}
}
