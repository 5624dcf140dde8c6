// Command modulepath gives the module another path: in go.mod, in the imports of all Go files, in
// nested modules that require it, and in the pages.
//
//	go run ./scripts/modulepath github.com/OWNER/ripc
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ripc/internal/files"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: modulepath PATH, such as github.com/OWNER/ripc")
		os.Exit(2)
	}
	changed, err := rename(ctx, ".", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "modulepath:", err)
		os.Exit(1)
	}
	fmt.Printf("%d files changed\n", changed)
}

// rename gives the module in folder root the path to, and returns the number of changed files. A
// path that is wrong changes nothing. A call after an interruption changes the remaining files,
// since go.mod is the last one.
func rename(ctx context.Context, root, to string) (int, error) {
	if host, _, _ := strings.Cut(to, "/"); !strings.Contains(host, ".") {
		return 0, fmt.Errorf("%q: go install needs a path that begins with a host, such as github.com/OWNER/ripc", to)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return 0, err
	}
	m := regexp.MustCompile(`(?m)^module (\S+)$`).FindSubmatch(mod)
	if m == nil {
		return 0, errors.New("go.mod names no module")
	}
	scratch, remove, err := files.TempDir("")
	if err != nil {
		return 0, err
	}
	defer remove()
	if err := os.WriteFile(filepath.Join(scratch, "go.mod"), mod, 0o644); err != nil {
		return 0, err
	}
	edit := exec.CommandContext(ctx, "go", "mod", "edit", "-module="+to) // checks the path
	edit.Dir = scratch
	if out, err := edit.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("go mod edit: %w\n%s", err, out)
	}
	changes, err := changesOf(ctx, root, string(m[1]), to)
	if err != nil {
		return 0, err
	}
	for _, c := range changes {
		if err := os.WriteFile(filepath.Join(root, c.path), c.text, 0o644); err != nil {
			return 0, err
		}
	}
	return len(changes), nil
}

// change is a file's new text.
type change struct {
	path string
	text []byte
}

// changesOf returns the new texts of all files below root that name the module, go.mod last.
func changesOf(ctx context.Context, root, from, to string) (changes []change, err error) {
	places, err := mentions(root, from)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if d.IsDir() && (rel == "build" || rel == "bin" || rel == ".git") {
			return fs.SkipDir
		}
		kind := places[filepath.Ext(path)]
		if err != nil || !d.Type().IsRegular() || len(kind) == 0 {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		after := text
		for _, p := range kind {
			after = p.ReplaceAll(after, []byte("${1}"+to+"${2}"))
		}
		if bytes.Equal(after, text) {
			return nil
		}
		if filepath.Ext(path) == ".go" { // imports stand in the order of their paths
			if after, err = format.Source(after); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		changes = append(changes, change{rel, after})
		return nil
	})
	if i := slices.IndexFunc(changes, func(c change) bool { return c.path == "go.mod" }); i >= 0 {
		last := changes[i]
		changes = append(slices.Delete(changes, i, i+1), last)
	}
	return changes, err
}

// mentions returns the places of the module's path by a file's extension. The text before a place
// is group 1, the text behind it group 2. A package is named by its first folder, so folders of
// other things called ripc stay.
func mentions(root, from string) (map[string][]*regexp.Regexp, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			folders = append(folders, regexp.QuoteMeta(e.Name()))
		}
	}
	path := regexp.QuoteMeta(from)
	packages := regexp.MustCompile(`((?m:^)|[^\w./-])` + path + `(/(?:` + strings.Join(folders, "|") + `)\b)`)
	imported := regexp.MustCompile(`(?m)^(\s*(?:import )?(?:\w+ )?")` + path + `("[ \t]*(?://.*)?)$`)
	edited := regexp.MustCompile(`(-(?:require|replace)=)` + path + `([@=])`)
	required := regexp.MustCompile(`(?m)((?:module|require|replace) )` + path + `( v0| =>|$)`)
	return map[string][]*regexp.Regexp{".go": {packages, imported, required}, ".md": {packages, imported, edited},
		".py": {packages}, ".mod": {required}}, nil
}
