package layering

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// kernelWords name ways to compute layers. What such a way costs on a machine is learned (schedule/machine).
func kernelWords() vocabulary {
	return vocabulary{
		words: regexp.MustCompile(`(?i)\b(popcounts?|bitserial|convolutions?|conv2d|dense|depthwise|planes?|tiles?|thresholds?|filters?|strateg(y|ies)|knobs?)\b`),
		why:   "targets have facts of machines and name no kernel; what code costs is learned (schedule/machine)",
	}
}

// TestTargetsAreFacts: the targets name no way to compute a layer.
func TestTargetsAreFacts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "targets", "*.go"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found, err := kernelWords().in(file, string(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			t.Error(f)
		}
	}
}

// maxNumbers is how many float literals the packages that decide may have: zeros, ones, bounds of rounding, and what trees are grown with.
const maxNumbers = 40

// TestDecisionsAreLearned: nothing that decides how layers are computed is fitted by hand, which would show in numbers.
func TestDecisionsAreLearned(t *testing.T) {
	var found []string
	for _, dir := range []string{"schedule", "lower", "targets"} {
		err := filepath.WalkDir(filepath.Join("..", "..", dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.FLOAT {
					found = append(found, fset.Position(l.Pos()).String()+": "+l.Value)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) > maxNumbers {
		t.Errorf("%d float literals, more than %d:\n%s", len(found), maxNumbers, strings.Join(found, "\n"))
	}
}
