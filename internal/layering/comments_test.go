package layering

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// commentColumns and codeColumns are the widths of lines, with tabs of four columns.
const (
	commentColumns = 100
	codeColumns    = 120
)

// unfinished lists the packages that do not keep the rules of words yet. Nothing is reported of them.
func unfinished() []string { return nil }

// excused are the exceptions from the rules of words in Go files, with reasons: a function's name, the
// beginning of a sentence, or a file with long lines. There are at most ten.
func excused() map[string]string {
	return map[string]string{
		"At":   "an element by its index, as in reflect and image",
		"at":   "an element by its index, as in reflect and image",
		"Of":   "the package's noun comes before it: size.Of, machine.Of",
		"For":  "the package's noun comes before it: strategy.For, isa.For",
		"With": "a copy with one change",
		"with": "a copy with one change",
		"each": "an iterator: it calls a function for each element",
	}
}

// prepositions are names that say nothing about a function's value.
const prepositions = ` above across after against along around before behind below beside besides between
	by during each either everything few for from in inside instead into like most of off on only or other
	others outside over rest than then through to together under until what which with within
	without at further nearly once `

// participles are names that do not say whose state they are. A function with one result, a bool,
// may have one: it is a question.
const participles = ` added alike alone apart applied asked brought chosen computed counted divided drawn found
	given held joined kept known left looked lost made mapped meant moved near needed noted padded parted
	placed sampled shared shown stored taken tried turned used whole wide widened wider `

// TestGoWords: comments and messages of Go files have short sentences that call things by their
// nouns, lines are not too long, and functions are called by verbs or nouns.
func TestGoWords(t *testing.T) {
	exceptions, used, perFolder := excused(), map[string]bool{}, map[string]int{}
	for path, text := range goFiles(t, false) {
		found, err := wordFaults(path, text)
		if err != nil {
			t.Error(err)
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		for _, f := range found {
			if begin := f.exception(exceptions); begin != "" {
				used[begin] = true
				continue
			}
			if perFolder[folder]++; !slices.Contains(unfinished(), folder) {
				t.Error(f)
			}
		}
	}
	for _, folder := range unfinished() {
		t.Logf("%s has %d faults", folder, perFolder[folder])
	}
	if len(exceptions) > 10 {
		t.Errorf("%d exceptions", len(exceptions))
	}
	for begin := range exceptions {
		if !used[begin] {
			t.Errorf("nothing needs the exception %q; take it off the list", begin)
		}
	}
}

// TestWordFaults: each rule finds its fault, where it is.
func TestWordFaults(t *testing.T) {
	const text = `// Package p prints what it found.
//
//	what is a listing
package p

import "errors"

//go:embed what
var long = "%s" // It is whole; it has no fault.

// applied has two results. What does it do?
func applied() (int, error) { return 0, errors.New("of which none; %d%% are left") }

/* Shared is a question.
   It has parts of which some are new. */
func (p) Shared() bool { return strings.Contains("whose", "what") }

func (p) among() { fail("layer x " + "is so many") }
func (p) Over() {}
`
	wide := "// " + strings.Repeat("x ", 50) + "\nvar x = `\n" + strings.Repeat("y", 130) + "`\nvar x" + strings.Repeat("y", 125) + " int\n"
	found, err := wordFaults("p.go", text+wide)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%d %s", f.line, f.rule))
	}
	slices.Sort(got)
	want := []string{
		"1 what", "12 a name", "12 of which", "14 of which", "16 what", "16 whose", "18 so many", "19 a name",
		"20 50 words", "20 103 columns", "23 134 columns",
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// wordFault is a place that breaks a rule of words.
type wordFault struct {
	path, rule, text string // text is a sentence, a function's name or a line
	line             int
}

func (f wordFault) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", f.path, f.line, f.rule, f.text)
}

// exception returns the entry that excuses f, or "".
func (f wordFault) exception(list map[string]string) string {
	for begin := range list {
		isLong := f.path == begin && strings.HasSuffix(f.rule, " columns")
		isName := f.text == begin && f.rule == badName
		if isLong || isName || strings.Contains(begin, " ") && strings.HasPrefix(f.text, begin) {
			return begin
		}
	}
	return ""
}

// badName is the rule about names of functions.
const badName = "a name"

// wordFaults lists the places of a Go file that break a rule of words. String literals may hold figures,
// and those of several lines or without an article, which are code or lists, may be long.
func wordFaults(path, text string) ([]wordFault, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var found []wordFault
	read := func(line int, text string, isProse bool) {
		for _, s := range sentences(text) {
			for _, rule := range faults(s.text) {
				isLength := strings.HasSuffix(rule, " words")
				isCode := strings.Contains(text, "\n") || !strings.Contains(text, " the ")
				if isProse || rule != measured && !(isLength && isCode) {
					found = append(found, wordFault{path, rule, s.text, line + s.line - 1})
				}
			}
		}
	}
	for _, group := range file.Comments {
		read(fset.Position(group.Pos()).Line, prose(group), true)
	}
	isRaw := map[int]bool{} // lines with parts of raw strings, which hold other languages
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(l.Value, "`") {
			for at := fset.Position(n.Pos()).Line; at <= fset.Position(n.End()).Line; at++ {
				isRaw[at] = true
			}
		}
		_, isTagged := n.(*ast.StructType)
		return !isTagged
	})
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if oddName(n) {
				found = append(found, wordFault{path, badName, n.Name.Name, fset.Position(n.Name.Pos()).Line})
			}
		case *ast.ImportSpec: // a path
			return false
		case *ast.StructType: // with tags
			return false
		case *ast.BinaryExpr, *ast.BasicLit:
			if message := literal(n.(ast.Expr)); message != "" {
				read(fset.Position(n.Pos()).Line, message, false)
				return false
			}
		}
		return true
	})
	for i, line := range strings.Split(text, "\n") {
		most := codeColumns
		if strings.HasPrefix(strings.TrimSpace(line), "//") {
			most = commentColumns
		}
		// A directive is one line, and a listing in a comment is IR text or code, which has lines of its own.
		isDirective, isListing := strings.HasPrefix(line, "//go:"), strings.HasPrefix(line, "//\t")
		n := len([]rune(strings.ReplaceAll(line, "\t", "    ")))
		if n > most && !isRaw[i+1] && !isDirective && !isListing {
			found = append(found, wordFault{path, fmt.Sprintf("%d columns", n), strings.TrimSpace(line), i + 1})
		}
	}
	return found, nil
}

// prose returns a comment as a page of as many lines: no markers, no directives, no listings.
func prose(group *ast.CommentGroup) string {
	var lines []string
	for _, c := range group.List {
		for line := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(c.Text, "/*"), "*/"), "\n") {
			line, marked := strings.CutPrefix(line, "//")
			listing := strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "  - ")
			if marked && (listing || !strings.HasPrefix(line, " ")) {
				line = ""
			}
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines, "\n")
}

// literal returns the text of a string literal, or of literals that are joined by +; "" if e is neither.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		if x, y := literal(e.X), literal(e.Y); x != "" && y != "" {
			return x + y
		}
	}
	return ""
}

// oddName reports whether a function is called by a word that names neither work nor a value.
func oddName(f *ast.FuncDecl) bool {
	name := " " + strings.ToLower(f.Name.Name) + " "
	if strings.Contains(strings.Join(strings.Fields(prepositions), " "), name) {
		return true
	}
	results := f.Type.Results
	question := results.NumFields() == 1 && fmt.Sprint(results.List[0].Type) == "bool"
	return strings.Contains(participles, name) && !question
}

// goFiles are the texts of the Go files that people write, by path; of tests if these are wanted.
func goFiles(t *testing.T, tests bool) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	all, generated := map[string]string{}, regexp.MustCompile(`(?m)^// Code generated`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && skipped(root, path, d.Name()) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") && !tests {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil || generated.Match(data) {
			return err
		}
		rel, err := filepath.Rel(root, path)
		all[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil || len(all) < 400 {
		t.Fatalf("%d files, %v", len(all), err)
	}
	return all
}
