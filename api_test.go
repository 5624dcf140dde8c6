package ripc_test

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestPublicTypes type-checks what programs outside of this module may import, the compiler's face and the runtime, and
// fails where a type of an internal package can be reached from there: nobody outside could name it.
func TestPublicTypes(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", ".", "./runtime/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	var public []string
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
		if path == "ripc" || path == "ripc/runtime" || strings.HasPrefix(path, "ripc/runtime/") {
			public = append(public, path)
		}
	}
	if len(public) < 4 {
		t.Fatalf("public packages: %v", public)
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	w := walker{seen: map[types.Type]bool{}, found: func(where, what string) { t.Errorf("%s: %s is internal", where, what) }}
	for _, path := range public {
		pkg, err := imports.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range pkg.Scope().Names() {
			if o := pkg.Scope().Lookup(name); o.Exported() {
				w.visit(path+"."+name, o.Type())
			}
		}
	}
	if len(w.seen) < 100 {
		t.Errorf("only %d types were looked at", len(w.seen))
	}
}

// walker follows exported types.
type walker struct {
	seen  map[types.Type]bool
	found func(where, what string)
}

func (w walker) visit(where string, t types.Type) {
	if w.seen[t] {
		return
	}
	w.seen[t] = true
	switch t := t.(type) {
	case *types.Alias:
		w.visit(where, types.Unalias(t))
	case *types.Named:
		pkg := t.Obj().Pkg()
		if pkg == nil || pkg.Path() != "ripc" && !strings.HasPrefix(pkg.Path(), "ripc/") {
			return // the standard library's, or another module's
		}
		if strings.Contains(pkg.Path(), "/internal/") {
			w.found(where, t.String())
			return
		}
		w.visit(where, t.Underlying())
		for m := range t.Methods() {
			if m.Exported() {
				w.visit(fmt.Sprintf("%s.%s", where, m.Name()), m.Type())
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() || f.Embedded() {
				w.visit(where+"."+f.Name(), f.Type())
			}
		}
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tuple.Variables() {
				w.visit(where, v.Type())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			if m.Exported() {
				w.visit(where+"."+m.Name(), m.Type())
			}
		}
	case *types.Map:
		w.visit(where, t.Key())
		w.visit(where, t.Elem())
	case interface{ Elem() types.Type }:
		w.visit(where, t.Elem())
	}
}

// TestWalker checks that the walker finds what is to be found.
func TestWalker(t *testing.T) {
	named := func(path, name string, u types.Type) *types.Named {
		return types.NewNamed(types.NewTypeName(token.NoPos, types.NewPackage(path, "p"), name, nil), u, nil)
	}
	hidden := named("ripc/internal/x", "T", types.Typ[types.Int])
	field := types.NewField(token.NoPos, nil, "F", types.NewSlice(types.NewPointer(hidden)), false)
	unexported := types.NewField(token.NoPos, nil, "f", types.NewPointer(named("ripc/internal/x", "U", types.Typ[types.Int])), false)
	var found []string
	w := walker{seen: map[types.Type]bool{}, found: func(where, what string) { found = append(found, where+" "+what) }}
	w.visit("S", named("ripc/compile", "S", types.NewStruct([]*types.Var{field, unexported}, nil)))
	if len(found) != 1 || found[0] != "S.F ripc/internal/x.T" {
		t.Errorf("found %q", found)
	}
}
