package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/autotune/search"
	"ripc/schedule/costmodel"
)

// TestImportance draws a model of one tree with two splits, packed and not.
func TestImportance(t *testing.T) {
	names := search.ModelFeatures()
	model := map[string]any{"format": costmodel.Format, "objective": costmodel.Squared, "features": names, "constant": 0, "trees": []any{map[string]any{
		"feature": []int{0, 1, -1, -1, -1}, "value": []float64{1, 2, 3, 4, 5}, "right": []int{4, 3, 0, 0, 0}, "missing": []int{1, 1, 0, 0, 0}, "gain": []float64{30, 10, 0, 0, 0}}}}
	text, err := json.Marshal(model)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out.svg")
	for name, data := range map[string][]byte{"model": text, "packed": packed.Bytes()} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if code := realMain([]string{"records", "importance", path, "-o", out}); code != exitOK {
			t.Fatalf("%s: exit code %d", name, code)
		}
		picture, err := os.ReadFile(out)
		if err != nil || !strings.Contains(string(picture), "2 of 2 features") || !strings.Contains(string(picture), names[0]) || !strings.Contains(string(picture), "75.0 %") {
			t.Errorf("%s: %v\n%s", name, err, picture)
		}
		if err := os.Remove(out); err != nil {
			t.Fatal(err)
		}
	}
	if code := realMain([]string{"records", "importance", "-o", out, "--top", "5"}); code != exitOK {
		t.Fatalf("the model that ships: exit code %d", code)
	}
	if picture, err := os.ReadFile(out); err != nil || strings.Count(string(picture), "<rect class=\"f0\"") != 5 {
		t.Errorf("the model that ships: %v\n%s", err, picture)
	}
	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{bad, "-o", out}, {filepath.Join(dir, "none"), "-o", out}, {filepath.Join(dir, "model")}, {filepath.Join(dir, "model"), "-o", out, "--top", "0"}} {
		if code := realMain(append([]string{"records", "importance"}, args...)); code != exitUsage {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
}
