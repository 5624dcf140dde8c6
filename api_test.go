package ripc_test

import (
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ripc"
	"ripc/ir"
)

// module is the module's path, which its owner may change (make module-path).
var module = reflect.TypeFor[ripc.BenchResult]().PkgPath()

// TestPublicTypes type-checks what packages offer to other modules, and fails where a type of an internal package can be reached from
// there: nobody outside could name it, and `go doc` shows nothing of it.
func TestPublicTypes(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	own := []string{"internal", "cmd", "e2e", "bench", "examples"} // folders of what nobody imports
	exports := map[string]string{}
	var public []string
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
		if path != module && !strings.HasPrefix(path, module+"/") {
			continue
		}
		if folders := strings.Split(strings.TrimPrefix(path, module), "/"); !slices.ContainsFunc(own, func(name string) bool { return slices.Contains(folders, name) }) {
			public = append(public, path)
		}
	}
	if len(public) < 40 {
		t.Fatalf("public packages: %v", public)
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	w := newWalker(func(where, what string) { t.Errorf("%s: %s is internal", where, what) })
	var packages []*types.Package
	for _, path := range public {
		pkg, err := imports.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, pkg)
	}
	w.walk(packages...)
	if len(w.seen) < 100 {
		t.Errorf("only %d types were looked at", len(w.seen))
	}
}

// newWalker is a walker that tells found of what it finds.
func newWalker(found func(where, what string)) walker {
	return walker{seen: map[types.Type]bool{}, named: map[types.Type]bool{}, found: found}
}

// walk follows the types of all that packages export.
func (w walker) walk(packages ...*types.Package) {
	each := func(do func(path string, o types.Object)) {
		for _, pkg := range packages {
			for _, name := range pkg.Scope().Names() {
				if o := pkg.Scope().Lookup(name); o.Exported() {
					do(pkg.Path()+"."+name, o)
				}
			}
		}
	}
	each(func(_ string, o types.Object) {
		if t, ok := o.(*types.TypeName); ok && t.IsAlias() {
			w.named[types.Unalias(t.Type())] = true
		}
	})
	each(func(path string, o types.Object) { w.visit(path, o.Type()) })
}

// walker follows exported types.
type walker struct {
	seen  map[types.Type]bool
	named map[types.Type]bool // that have another name, which is public
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
		if pkg == nil || pkg.Path() != module && !strings.HasPrefix(pkg.Path(), module+"/") {
			return // the standard library's, or another module's
		}
		if strings.Contains(pkg.Path(), "/internal/") && !w.named[t] {
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
	hidden := named(module+"/internal/x", "T", types.Typ[types.Int])
	field := types.NewField(token.NoPos, nil, "F", types.NewSlice(types.NewPointer(hidden)), false)
	unexported := types.NewField(token.NoPos, nil, "f", types.NewPointer(named(module+"/internal/x", "U", types.Typ[types.Int])), false)
	var found []string
	w := newWalker(func(where, what string) { found = append(found, where+" "+what) })
	w.visit("S", named(module+"/compile", "S", types.NewStruct([]*types.Var{field, unexported}, nil)))
	if len(found) != 1 || found[0] != "S.F "+module+"/internal/x.T" {
		t.Errorf("found %q", found)
	}
	found, w = nil, newWalker(w.found)
	w.named[hidden] = true
	if w.visit("S", named(module+"/compile", "S", types.NewStruct([]*types.Var{field}, nil))); len(found) > 0 {
		t.Errorf("what has a public name is internal: %q", found)
	}
}

// TestCompareBench: what is compared counts the same thing for the same machine, and layers that only one has are named.
func TestCompareBench(t *testing.T) {
	of := func(target string, cost float64, layers map[string]float64) *ripc.BenchResult {
		r := &ripc.BenchResult{Target: target, Threads: 1, Figures: ripc.Figures{MinMS: &cost}}
		for _, name := range slices.Sorted(maps.Keys(layers)) {
			r.Layers = append(r.Layers, ripc.LayerBench{Name: name, Figures: ripc.Figures{MinMS: new(layers[name])}})
		}
		return r
	}
	before := of("host", 10, map[string]float64{"a": 4, "b": 6})
	c, err := ripc.CompareBench(before, of("host", 11, map[string]float64{"a": 2, "c": 9}), 0.05)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Slower || c.Network.Ratio != 1.1 || len(c.Layers) != 1 || c.Layers[0].Ratio != 0.5 || !slices.Equal(c.Gone, []string{"b"}) || !slices.Equal(c.Added, []string{"c"}) {
		t.Errorf("%+v", c)
	}
	if c, err := ripc.CompareBench(before, of("host", 10.4, nil), 0.05); err != nil || c.Slower {
		t.Errorf("4 %% are more than 5 %%: %+v, %v", c, err)
	}
	var not *ir.Error
	for _, now := range []*ripc.BenchResult{{Model: "another", Target: "host", Threads: 1, Figures: before.Figures}, {Layer: "a", Target: "host", Threads: 1, Figures: before.Figures}, of("rpi3", 10, nil), {Target: "host", Threads: 1}, {Target: "host", Threads: 2, Figures: before.Figures}} {
		if _, err := ripc.CompareBench(before, now, 0.05); !errors.As(err, &not) || !strings.HasPrefix(not.Msg, "cannot be compared: ") {
			t.Errorf("%+v was compared: %v", now, err)
		}
	}
}
