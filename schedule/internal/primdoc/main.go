// Command primdoc writes docs/primitives.md from the doc comments of the schedule primitives. Run it with
//
//	go generate ./schedule
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	steps, err := read(".")
	if err == nil {
		err = os.WriteFile(filepath.Join("..", "docs", "primitives.md"), []byte(render(steps)), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "primdoc:", err)
		os.Exit(1)
	}
}

// step is an operation of a trace.
type step struct {
	name, usage string
	doc         string // of the primitive
	file        string
}

// read gives the steps that the package in dir has, with the comments of their funcs.
func read(dir string) ([]step, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var steps []step
	docs, where := map[string]string{}, map[string]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			switch {
			case !ok || fn.Recv != nil:
			case fn.Name.Name == "operationTable":
				steps = append(steps, table(fn)...)
			case fn.Name.IsExported():
				docs[fn.Name.Name], where[fn.Name.Name] = fn.Doc.Text(), filepath.Base(name)
			}
		}
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("%s has no table of operations", dir)
	}
	for i, s := range steps {
		fn := camel(s.name)
		if docs[fn] == "" {
			fn += "Buffer" // Pack is a type
		}
		if docs[fn] == "" {
			return nil, fmt.Errorf("operation %s: no exported func %s with a doc comment", s.name, camel(s.name))
		}
		steps[i].doc, steps[i].file = docs[fn], where[fn]
	}
	return steps, nil
}

// table reads the operations, the names and usages of which are the first two elements of each entry.
func table(fn *ast.FuncDecl) []step {
	var out []step
	ast.Inspect(fn, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || len(lit.Elts) < 2 {
			return true
		}
		name, ok1 := text(lit.Elts[0])
		usage, ok2 := text(lit.Elts[1])
		if ok1 && ok2 && lit.Type == nil {
			out = append(out, step{name: name, usage: usage})
		}
		return true
	})
	return out
}

func text(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

// camel is compute_at as ComputeAt.
func camel(op string) string {
	var out string
	for _, w := range strings.Split(op, "_") {
		out += strings.ToUpper(w[:1]) + w[1:]
	}
	return out
}

func render(steps []step) string {
	var b strings.Builder
	b.WriteString("# Schedule primitives\n\n<!-- Made by go generate ./schedule from the doc comments; do not edit. -->\n\n")
	b.WriteString("A schedule is a list of steps, one a line or separated by `;`, for `--schedule` files, tuning records and tests.\n")
	b.WriteString("Loops and buffers are written without `%`. A primitive never changes what a Func computes; where it cannot show\nthat, it refuses and says what would be accepted. More in the package comment of `schedule`.\n\n")
	b.WriteString("| step | what it does |\n| --- | --- |\n")
	for _, s := range steps {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", s.name, s.name, strings.ReplaceAll(firstSentence(s.doc), "|", `\|`))
	}
	for _, s := range steps {
		fmt.Fprintf(&b, "\n## %s\n\n    %s\n\n", s.name, s.usage)
		b.WriteString(markdown(s.doc))
		fmt.Fprintf(&b, "\n[schedule/%s](../schedule/%s)\n", s.file, s.file)
	}
	return b.String()
}

// firstSentence is the doc comment up to its first full stop, without the func's name.
func firstSentence(doc string) string {
	s, _, _ := strings.Cut(strings.ReplaceAll(doc, "\n", " "), ". ")
	_, s, _ = strings.Cut(s, " ")
	return strings.TrimSuffix(strings.TrimSpace(s), ".")
}

// markdown indents the code of a doc comment as Markdown wants it.
func markdown(doc string) string {
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimSuffix(doc, "\n"), "\n") {
		if rest, code := strings.CutPrefix(line, "\t"); code {
			line = "    " + rest
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
