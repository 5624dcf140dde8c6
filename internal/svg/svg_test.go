package svg

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFinite: coordinates must be finite. Names and titles may be words such as NaN.
func TestFinite(t *testing.T) {
	for _, bad := range []string{`<rect x="NaN"/>`, `<rect x="1" width="+Inf"/>`, `<path d="M1 2 L-Inf 3"/>`, `<polyline points="1,2 3.0,NaN 4,5"/>`} {
		if Finite([]byte(bad)) == nil {
			t.Errorf("%s passed", bad)
		}
	}
	for _, good := range []string{`<text x="1">NaN is +Inf</text>`, `<rect class="Info"/>`} {
		if err := Finite([]byte(good)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

// TestRepository: no picture and no JSON of the repository has a number that is not finite.
func TestRepository(t *testing.T) {
	const root = "../.."
	nonfinite := regexp.MustCompile(`\b(NaN|Inf|Infinity)\b`)
	quoted := regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	seen := map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "build" || name == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		ext := filepath.Ext(path)
		if ext != ".svg" && ext != ".json" && ext != ".html" {
			return nil
		}
		seen[ext]++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch {
		case ext != ".json":
			if err := Finite(text); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		case !json.Valid(text): // those that tests read on purpose have other mistakes
			if word := nonfinite.Find(quoted.ReplaceAll(text, nil)); word != nil {
				t.Errorf("%s has %s", path, word)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen[".svg"] < 5 || seen[".json"] < 20 {
		t.Errorf("only %v were looked at", seen)
	}
}
