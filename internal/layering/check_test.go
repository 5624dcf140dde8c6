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

// Check reads every package below root, the folder of the module called module. It returns one
// message for each import that table does not allow, for each package that has no row, and for each
// entry of a row that nothing imports.
func Check(root, module string, table []Row) ([]string, error) {
	var problems []string
	unknown := map[string]bool{}
	used := map[string]bool{} // entries of rows, as entry spells them
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
				problems = append(problems, fmt.Sprintf("package %s has no row in internal/layering/table_test.go: "+
					"add one with its imports, e.g. {%q, []string{\"ir\"}, nil}", pkg, pkg))
			}
			return nil
		}
		found, err := checkFile(file, rel, module, row, used)
		problems = append(problems, found...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("layering: %w", err)
	}
	for _, row := range table {
		for _, p := range slices.Concat(row.May, row.ThirdParty) {
			if !used[entry(row, p)] {
				problems = append(problems, fmt.Sprintf("package %s imports nothing of %s: take that out of its row "+
					"in internal/layering/table_test.go", row.Package, p))
			}
		}
	}
	return problems, nil
}

// entry is the key of one package that a row lists.
func entry(row Row, listed string) string { return row.Package + " " + listed }

// skipped reports whether a folder holds no packages of the module: those that the go command
// passes over, those of other modules, and bin and build at the root, which git ignores.
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

// checkFile returns one message for each import of file that row does not allow, and adds to used
// the entries of row that allow the others.
func checkFile(file, rel, module string, row Row, used map[string]bool) ([]string, error) {
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
		if why := refuse(target, module, row, used); why != "" {
			problems = append(problems, fmt.Sprintf("%s:%d: package %s may not import %s: %s",
				rel, fset.Position(imp.Pos()).Line, row.Package, target, why))
		}
	}
	return problems, nil
}

// ignored reports whether a file is a program run by hand (//go:build ignore) and no part of its
// package.
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

// refuse returns why row does not allow importing target, or "" and adds to used the entries that
// allow it.
func refuse(target, module string, row Row, used map[string]bool) string {
	allowed := func(listed []string, below, p string) bool {
		found := false
		for _, l := range listed {
			if match(l+below, p) {
				found, used[entry(row, l)] = true, true
			}
		}
		return found
	}
	first, _, _ := strings.Cut(target, "/")
	switch {
	case target == "C":
		return "ripc uses no cgo"
	case target == module || strings.HasPrefix(target, module+"/"):
		rel := "."
		if target != module {
			rel = strings.TrimPrefix(target, module+"/")
		}
		if !allowed(row.May, "", rel) {
			return "its row allows " + list(row.May)
		}
	case strings.Contains(first, "."):
		if !allowed(row.ThirdParty, "/...", target) {
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
