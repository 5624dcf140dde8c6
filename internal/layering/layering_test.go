package layering

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestImports is the point of this package: the module's own imports against the table.
func TestImports(t *testing.T) {
	module := strings.TrimSuffix(reflect.TypeFor[Row]().PkgPath(), "/internal/layering")
	problems, err := Check(filepath.Join("..", ".."), module, Table())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

// TestTable finds rows that contradict themselves.
func TestTable(t *testing.T) {
	table := Table()
	seen := map[string]bool{}
	for _, r := range table {
		if seen[r.Package] {
			t.Errorf("two rows for %s", r.Package)
		}
		seen[r.Package] = true
		for _, m := range r.May {
			if !slices.ContainsFunc(table, func(o Row) bool { return o.Package == m || match(m, o.Package) }) {
				t.Errorf("%s may import %s, which has no row", r.Package, m)
			}
		}
	}
}

// TestDirection follows the rows transitively: what must stay apart does.
func TestDirection(t *testing.T) {
	table := Table()
	reach := map[string]map[string]bool{}
	var visit func(from, pkg string)
	visit = func(from, pkg string) {
		for _, r := range table {
			if !match(pkg, r.Package) && r.Package != pkg || reach[from][r.Package] {
				continue
			}
			reach[from][r.Package] = true
			for _, m := range r.May {
				visit(from, m)
			}
		}
	}
	for _, r := range table {
		reach[r.Package] = map[string]bool{}
		for _, m := range r.May {
			visit(r.Package, m)
		}
		if reach[r.Package][r.Package] {
			t.Errorf("%s may reach itself", r.Package)
		}
	}
	for _, apart := range [][2]string{{"runtime", "ir"}, {"runtime", "targets"}, {"schedule", "targets"}, {"ir", "schedule"},
		{"codegen", "schedule"}, {"targets", "ir"}, {"verify", "."}, {"autotune", "."}} {
		if reach[apart[0]][apart[1]] {
			t.Errorf("%s may reach %s", apart[0], apart[1])
		}
	}
}

func TestCheckFinds(t *testing.T) {
	root := t.TempDir()
	files := map[string]string{
		"a.go":                `package m; import _ "m/low"`,
		"low/x.go":            "package low\n\nimport (\n\t_ \"fmt\"\n\t_ \"m/high\"\n)\n",
		"low/x_test.go":       `package low; import _ "m/high"`,
		"low/gen.go":          "//go:build ignore\n\npackage main\n\nimport _ \"m/high\"\n",
		"low/testdata/bad.go": `package bad; import _ "m/high"`,
		"high/x.go":           `package high; import (_ "m/low"; _ "example.com/good/sub"; _ "example.com/goodness")`,
		"high/c.go":           `package high; import "C"`,
		"new/x.go":            `package new`,
		"other/go.mod":        "module other\n",
		"other/x.go":          `package other; import _ "m/high"`,
		"tree/deep/x.go":      `package deep; import _ "m"`,
		"build/demo/x.go":     `package new; import _ "m/high"`,
		"bin/x.go":            `package new`,
		".hidden/x.go":        `package new`,
		"_old/x.go":           `package new`,
		"low/build/x.go":      `package build`,
	}
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	table := []Row{{".", []string{"low"}, nil}, {"low", nil, nil}, {"high", []string{"low"}, []string{"example.com/good"}},
		{"tree/...", []string{"low"}, nil}}
	got, err := Check(root, "m", table)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"high/c.go:1: package high may not import C: ripc uses no cgo",
		"high/x.go:1: package high may not import example.com/goodness: of other modules its row allows example.com/good",
		`package low/build has no row in internal/layering/table_test.go: add one with its imports, e.g. {"low/build", []string{"ir"}, nil}`,
		"low/x.go:5: package low may not import m/high: its row allows nothing",
		`package new has no row in internal/layering/table_test.go: add one with its imports, e.g. {"new", []string{"ir"}, nil}`,
		"tree/deep/x.go:1: package tree/... may not import m: its row allows low",
		"package tree/... imports nothing of low: take that out of its row in internal/layering/table_test.go",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
