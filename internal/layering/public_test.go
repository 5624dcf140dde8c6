package layering

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPublicTypes: what a package offers to other modules has types that these can name. A type of an internal package cannot be
// written down by a caller, and `go doc` shows nothing of it.
func TestPublicTypes(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); path != root && (strings.HasPrefix(base, ".") || slices.Contains([]string{"testdata", "examples", "build", "bin", "internal", "cmd", "e2e", "bench"}, base)) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		for _, f := range hidden(t, path) {
			t.Error(f)
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files, %v", files, err)
	}
}

// hidden lists where exported declarations of a file have types of internal packages.
func hidden(t *testing.T, path string) (places []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	internal := map[string]string{} // by the name that the file has for the package
	for _, i := range file.Imports {
		name, _ := strconv.Unquote(i.Path.Value)
		if !slices.Contains(strings.Split(name, "/"), "internal") {
			continue
		}
		if internal[name[strings.LastIndex(name, "/")+1:]] = name; i.Name != nil {
			internal[i.Name.Name] = name
		}
	}
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field: // of a struct, an interface or a signature
				if len(n.Names) > 0 && !slices.ContainsFunc(n.Names, func(id *ast.Ident) bool { return id.IsExported() }) {
					_, signature := n.Type.(*ast.FuncType)
					return signature
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && internal[x.Name] != "" {
					places = append(places, set.Position(n.Pos()).String()+": "+x.Name+"."+n.Sel.Name+" is of "+internal[x.Name]+", which no other module can name")
				}
			}
			return true
		})
	}
	types := func(f *ast.FuncType) {
		for _, l := range []*ast.FieldList{f.TypeParams, f.Params, f.Results} {
			if l != nil {
				for _, p := range l.List {
					look(p.Type)
				}
			}
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) {
				types(d.Type)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && !s.Assign.IsValid() { // another name for a type makes it one that can be named
						look(s.Type)
					}
				case *ast.ValueSpec:
					if s.Type != nil && slices.ContainsFunc(s.Names, func(id *ast.Ident) bool { return id.IsExported() }) {
						look(s.Type)
					}
				}
			}
		}
	}
	return places
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestHidden: the test above sees what it is to see.
func TestHidden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.go")
	text := "package x\nimport (\"ripc/internal/abi\"; other \"ripc/a/internal/b\"; \"ripc/ir\")\n" +
		"func F(a abi.T) {}\nfunc g(a abi.T) {}\nfunc (t *T) M() (other.T, error) { return abi.Z() }\nfunc (t *t) M() abi.T {}\n" +
		"type T struct {\n A []abi.T\n b abi.T\n C ir.T\n abi.E\n}\ntype t struct { A abi.T }\ntype I = other.T\nvar V, w abi.T\nvar v abi.T\nconst C = abi.C\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, h := range hidden(t, path) {
		rest, _, _ := strings.Cut(strings.TrimPrefix(h, path+":"), ":")
		lines = append(lines, rest)
	}
	if want := []string{"3", "5", "8", "11", "15"}; !slices.Equal(lines, want) {
		t.Errorf("lines %v, want %v", lines, want)
	}
}
