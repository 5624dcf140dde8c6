package layering

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strings"
	"testing"
)

// developers are the pages that name parts of the code.
func developers() []string {
	return []string{
		"ARCHITECTURE.md", "CONTRIBUTING.md", "RATIONALE.md", "docs/adding-a-primitive.md",
		"docs/adding-an-instruction.md", "docs/machines.md", "docs/schedule.md", "docs/kernels.md",
	}
}

// TestPagesNames: names of Go in pages for developers are declared. These are package.Name and
// Type.Name, in code and in listings, and names with a capital inside, in code. Lines of a listing
// of Go are lines of a file.
func TestPagesNames(t *testing.T) {
	declared, members, lines := declarations(t)
	isPackage := map[string]bool{}
	for _, r := range Table() {
		isPackage[path.Base(r.Package)] = true
	}
	inner := regexp.MustCompile(`^[a-z]+[A-Z]\w*$`)
	member := regexp.MustCompile(`\b([A-Za-z]\w*)\.([A-Z]\w*)\b`)
	all, checked := pages(t), 0
	for _, page := range developers() {
		text := all[page]
		var code []string
		for _, m := range regexp.MustCompile("(?s)```.*?```|`[^`\n]+`").FindAllString(text, -1) {
			if listing, ok := strings.CutPrefix(m, "```go\n"); ok {
				for line := range strings.Lines(strings.TrimSuffix(listing, "```")) {
					if line = strings.TrimSpace(line); line != "" && line != "..." && !lines[line] {
						t.Errorf("%s: no file has the line %q", page, line)
					}
				}
			}
			code = append(code, strings.Trim(m, "`"))
		}
		for _, c := range code {
			for _, m := range member.FindAllStringSubmatch(c, -1) {
				if !isPackage[m[1]] && (!declared[m[1]] || m[1] == strings.ToLower(m[1])) {
					continue // of another package, or a variable
				}
				checked++
				if !members[m[0]] {
					t.Errorf("%s: %s is not declared", page, m[0])
				}
			}
			name, _, _ := strings.Cut(c, "(")
			for word := range strings.SplitSeq(name, ".") {
				if inner.MatchString(word) && !strings.ContainsAny(name, " /-=") {
					checked++
					if !declared[word] {
						t.Errorf("%s: %s is not declared", page, word)
					}
				}
			}
		}
	}
	if checked < 60 {
		t.Errorf("only %d names", checked)
	}
}

// declarations returns the names that are declared in the module's Go files, these names with their
// packages and types in front, and the trimmed lines of the files.
func declarations(t *testing.T) (declared, members, lines map[string]bool) {
	t.Helper()
	declared, members, lines = map[string]bool{}, map[string]bool{}, map[string]bool{}
	for file, text := range goFiles(t, true) {
		f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text) {
			lines[strings.TrimSpace(line)] = true
		}
		add := func(of string, names ...*ast.Ident) {
			for _, n := range names {
				declared[n.Name] = true
				members[of+"."+n.Name] = true
			}
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				of := f.Name.Name
				if d.Recv != nil {
					of = receiver(d.Recv.List[0].Type)
				}
				add(of, d.Name)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.ValueSpec:
						add(f.Name.Name, s.Names...)
					case *ast.TypeSpec:
						add(f.Name.Name, s.Name)
						ast.Inspect(s.Type, func(n ast.Node) bool {
							if field, ok := n.(*ast.Field); ok {
								add(s.Name.Name, field.Names...)
							}
							return true
						})
					}
				}
			}
		}
	}
	return declared, members, lines
}

// receiver is the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
