package layering

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// opWords are what networks are made of. The IR has loops and buffers, code generation instructions; which operator a
// Func came from must not matter to either, so these words have no place there.
func opWords() vocabulary {
	return vocabulary{
		words: regexp.MustCompile(`(?i)[bf]?conv([123]d|olution)?|dense|matmul|gemm|pool|softmax|batch_?norm|threshold|quantiz|` +
			`eltwise|relu|shift_?norm|bitpack|concat|epilogue|fire[0-9]|squeezenet|resnet`),
		other: regexp.MustCompile(`(?i)strconv|callingconv|conv(er|en|ex|ey|inc)`), // begin or end like one of those
		why: "the IR and code generation know loops, not operators; move this to lower/ops, lower or schedule/strategy " +
			"(or allow the text in internal/layering/words_test.go)",
	}
}

// plainWords are everyday uses, by file: the word, and the text it stands in.
func plainWords() map[string][]string {
	return map[string][]string{
		"ir/types.go": {"is a typed, dense, row-major array"},
		"ir/func.go":  {"holds quantized values"}, // of a network's inputs and outputs: what their bytes mean
	}
}

// TestNoOps reads identifiers, literals and comments of the IR and of code generation.
func TestNoOps(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, dir := range []string{"ir", "codegen/llvm/emit", "codegen/llvm/driver"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			name := dir + "/" + filepath.Base(file)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found, err := opWords().in(name, string(text), plainWords()[name])
			if err != nil {
				t.Error(err)
			}
			for _, f := range found {
				t.Error(f)
			}
		}
	}
}

// vocabulary is a set of words that have no place in some files.
type vocabulary struct {
	words, other *regexp.Regexp // other, if not nil, is taken out first
	why          string
}

// in lists the places in a file's text where a word stands, but for those in one of the plain texts.
func (v vocabulary) in(name, text string, plain []string) ([]string, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var found []string
	look := func(pos token.Pos, s string) {
		for _, p := range plain {
			s = strings.ReplaceAll(s, p, strings.Repeat("\n", strings.Count(p, "\n")))
		}
		if v.other != nil {
			s = v.other.ReplaceAllString(s, "")
		}
		for i, line := range strings.Split(s, "\n") {
			for _, w := range v.words.FindAllString(line, -1) {
				at := fset.Position(pos)
				found = append(found, fmt.Sprintf("%s:%d: %q: %s", name, at.Line+i, w, v.why))
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false // paths have a table
		case *ast.Ident:
			look(n.Pos(), n.Name)
		case *ast.BasicLit:
			look(n.Pos(), n.Value)
		}
		return true
	})
	for _, group := range f.Comments {
		for _, c := range group.List {
			look(c.Pos(), c.Text)
		}
	}
	return found, nil
}

// TestVocabulary checks that the reader finds what it should and nothing else.
func TestVocabulary(t *testing.T) {
	const text = `// Package p converts; its thresholds are plain.
package p

import "strconv"

// It is a dense array.
func emitConv2D(kernel string) string {
	if kernel == "bconv" || kernel == "kernel" {
		return strconv.Quote("row MaxPool")
	}
	/* a
	   softmax */
	return kernel
}
`
	found, err := opWords().in("p.go", text, []string{"its thresholds"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		place, rest, _ := strings.Cut(f, ": ")
		word, _, _ := strings.Cut(rest, ": ")
		got = append(got, place+" "+word)
	}
	slices.Sort(got)
	want := []string{`p.go:12 "softmax"`, `p.go:6 "dense"`, `p.go:7 "Conv2D"`, `p.go:8 "bconv"`, `p.go:9 "Pool"`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
