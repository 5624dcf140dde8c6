package lce

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/internal/golden"
)

const models = "../../testdata/lce"

// TestGraphs compares what becomes of converted files with a text; TestModels does so for the made ones.
func TestGraphs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(models, "*.tflite"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".tflite")
		if strings.HasPrefix(name, "op_") || strings.HasPrefix(name, "random_") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			g, err := Parse(name+".tflite", data)
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, filepath.Join("testdata", "graphs", name+".txt"), []byte(g.String()))
		})
	}
}
