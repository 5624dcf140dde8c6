package schedule

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"ripc/internal/golden"
)

// TestDocs: docs/schedule.md lists all steps, each with the first sentence of its primitive's comment.
func TestDocs(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{} // of functions
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				comments[fn.Name.Name] = fn.Doc.Text()
			}
		}
	}
	var b strings.Builder
	b.WriteString("| step | effect |\n|---|---|\n")
	for _, o := range operations() {
		name := camel(o.name)
		first, _, _ := strings.Cut(strings.ReplaceAll(comments[name], "\n", " "), ". ")
		_, first, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(first), "."), " ")
		if !ok {
			t.Errorf("step %s: no function %s with a comment", o.name, name)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(o.usage, "|", `\|`), strings.ReplaceAll(first, "|", `\|`))
	}
	golden.CheckSection(t, "../docs/schedule.md", "<!-- steps: begin -->", "<!-- steps: end -->", b.String())
}

// camel is compute_at as computeAt.
func camel(step string) string {
	name, rest, _ := strings.Cut(step, "_")
	for word := range strings.SplitSeq(rest, "_") {
		name += strings.ToUpper(word[:min(1, len(word))]) + word[min(1, len(word)):]
	}
	return name
}
