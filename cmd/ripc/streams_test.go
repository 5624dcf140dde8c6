package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/testscript"

	"ripc/autotune/records"
)

// TestStreams: all that is printed goes through stderr() or a command's output, which a terminal does not obey. Standard error itself is
// for whoever writes over a line, and asks what a terminal can do.
func TestStreams(t *testing.T) {
	direct := map[string]int{"main.go": 2, "errors.go": 1, "progress.go": 2, "streams.go": 1}
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, _ := s.X.(*ast.Ident)
			switch {
			case of == nil:
			case of.Name == "os" && (s.Sel.Name == "Stderr" || s.Sel.Name == "Stdout"), of.Name == "fmt" && strings.HasPrefix(s.Sel.Name, "Print"):
				found = append(found, files.Position(s.Pos()).String())
			}
			return true
		})
		if len(found) != direct[path] {
			t.Errorf("%v print to a terminal directly, %d of them are known: print to stderr() or cmd.OutOrStdout()", found, direct[path])
		}
	}
}

// plain is "plain stdout" or "plain stderr": the last command has printed something there, and nothing that a terminal obeys, and no
// line of more than 2000 bytes.
func plain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || !slices.Contains([]string{"stdout", "stderr"}, args[0]) {
		ts.Fatalf("usage: plain stdout|stderr")
	}
	text := ts.ReadFile(args[0])
	if text == "" {
		ts.Fatalf("%s is empty", args[0])
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if i := strings.IndexFunc(line, func(r rune) bool {
			return r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar)
		}); i >= 0 || len(line) > 2000 {
			ts.Fatalf("%s has a line of %d bytes with %q", args[0], len(line), line[max(0, i):min(len(line), max(0, i)+20)])
		}
	}
}

// spoilTrace is "spoiltrace FROM TO": the records of FROM with steps that are none, and escapes in them, are written to TO.
func spoilTrace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: spoiltrace FROM TO")
	}
	s, err := records.Load(ts.MkAbs(args[0]))
	ts.Check(err)
	for i := range s.Records {
		c := &s.Records[i].Candidate
		c.Trace = append(c.Trace, "split \x1b[2J\u009b31m\r\u202e\a "+strings.Repeat("x", 100_000)+strconv.Itoa(i))
	}
	ts.Check(records.WriteFile(ts.MkAbs(args[1]), s))
}
