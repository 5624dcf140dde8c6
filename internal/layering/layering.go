// Package layering keeps the architecture true: Table says which package may import which, and the test of this
// package fails when code says otherwise. Only imports are read, and only of files that are not tests; tests may
// import what they like.
package layering

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Check reads every package below root, the folder of the module called module, and returns one message for each
// import that table does not allow and for each package that has no row.
func Check(root, module string, table []Row) ([]string, error) {
	var problems []string
	unknown := map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if file != root && skipped(root, file, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		pkg := path.Dir(rel)
		row, ok := find(table, pkg)
		if !ok {
			if !unknown[pkg] {
				unknown[pkg] = true
				problems = append(problems, fmt.Sprintf("package %s has no row in internal/layering/table.go: "+
					"add one that says what it may import, e.g. {%q, []string{\"ir\"}, nil}", pkg, pkg))
			}
			return nil
		}
		found, err := checkFile(file, rel, module, row)
		problems = append(problems, found...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("layering: %w", err)
	}
	return problems, nil
}

// skipped reports whether a folder holds no packages of the module: those that the go command passes over, those of other
// modules, and bin and build at the root, which git ignores.
func skipped(root, dir, name string) bool {
	if filepath.Dir(dir) == filepath.Clean(root) && (name == "bin" || name == "build") {
		return true
	}
	if name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil // another module
}

// checkFile returns one message for each import of file that row does not allow.
func checkFile(file, rel, module string, row Row) ([]string, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if ignored(f) {
		return nil, nil
	}
	var problems []string
	for _, imp := range f.Imports {
		target, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: import %s: %w", rel, imp.Path.Value, err)
		}
		if why := refuse(target, module, row); why != "" {
			problems = append(problems, fmt.Sprintf("%s:%d: package %s may not import %s: %s",
				rel, fset.Position(imp.Pos()).Line, row.Package, target, why))
		}
	}
	return problems, nil
}

// ignored reports whether a file is a program run by hand (//go:build ignore) and no part of its package.
func ignored(f *ast.File) bool {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if c.Pos() > f.Package || !constraint.IsGoBuild(c.Text) {
				continue
			}
			expr, err := constraint.Parse(c.Text)
			if err == nil && expr.String() == "ignore" {
				return true
			}
		}
	}
	return false
}

// refuse returns why row does not allow importing target, or "".
func refuse(target, module string, row Row) string {
	first, _, _ := strings.Cut(target, "/")
	switch {
	case target == "C":
		return "ripc uses no cgo"
	case target == module || strings.HasPrefix(target, module+"/"):
		rel := "."
		if target != module {
			rel = strings.TrimPrefix(target, module+"/")
		}
		if !slices.ContainsFunc(row.May, func(p string) bool { return match(p, rel) }) {
			return "its row allows " + list(row.May)
		}
	case strings.Contains(first, "."):
		if !slices.ContainsFunc(row.ThirdParty, func(p string) bool { return match(p+"/...", target) }) {
			return "of other modules its row allows " + list(row.ThirdParty)
		}
	}
	return ""
}

// list puts names into a sentence.
func list(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// match reports whether pattern, which may end in "/...", stands for the package at path p.
func match(pattern, p string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		return p == prefix || strings.HasPrefix(p, prefix+"/")
	}
	return p == pattern
}

// find returns the row of a package; one that names it exactly comes before one with "/...".
func find(table []Row, pkg string) (Row, bool) {
	for _, exact := range []bool{true, false} {
		for _, r := range table {
			if (r.Package == pkg) == exact && match(r.Package, pkg) {
				return r, true
			}
		}
	}
	return Row{}, false
}
