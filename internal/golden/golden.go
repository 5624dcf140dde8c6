// Package golden compares the output of a test with a file kept beside it, and rewrites the file on
// request.
//
//	go test ./schedule            // fails with a unified diff if the output differs from the file
//	go test ./schedule -update    // accepts the output; look at git diff before committing
package golden

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"ripc/internal/section"
)

const updateFlag = "update"

// init registers -update before the test binary parses its flags, unless some other package did.
func init() {
	if flag.Lookup(updateFlag) == nil {
		flag.Bool(updateFlag, false, "rewrite golden files with the output of the tests")
	}
}

// Updating reports whether the test binary was started with -update.
func Updating() bool {
	f := flag.Lookup(updateFlag)
	return f != nil && f.Value.String() == "true"
}

// Check fails t unless the file at path, relative to the test's package, holds exactly got. The
// failure shows a unified diff and the command that accepts got. With -update it writes got to path
// instead, which it refuses to do when the environment variable CI is set.
func Check(t testing.TB, path string, got []byte) {
	t.Helper()
	if Updating() {
		if err := update(path, got, os.Getenv("CI")); err != nil {
			t.Fatal(err)
		}
		return
	}
	if msg := compare(path, got); msg != "" {
		t.Errorf("%s\naccept with: go test %s -run '%s' -update", msg, packagePath(), runPattern(t.Name()))
	}
}

// CheckSection is Check of the part of the file at path between the lines begin and end, such as a
// table in a page.
func CheckSection(t testing.TB, path, begin, end, got string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page, err := section.Replace(string(data), begin, end, got)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	Check(t, path, []byte(page))
}

// packagePath is the tested package as go test is told it in the module's root: a test runs in its
// package's folder.
func packagePath() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			rel, err := filepath.Rel(root, dir)
			if err != nil {
				return "."
			}
			return "./" + filepath.ToSlash(rel)
		}
		if root == filepath.Dir(root) {
			return "."
		}
	}
}

// compare returns "" if the file at path holds got, else the differences.
func compare(path string, got []byte) string {
	want, err := os.ReadFile(path)
	switch {
	case os.IsNotExist(err):
		return fmt.Sprintf("%s does not exist; the test produced:\n%s", path, got)
	case err != nil:
		return fmt.Sprintf("golden file: %v", err)
	case bytes.Equal(want, got):
		return ""
	}
	return fmt.Sprintf("output differs from %s:\n%s", path, diff.Diff(path, want, "got", got))
}

// update writes got to path, creating folders. It writes nothing if the file holds got already.
func update(path string, got []byte, ci string) error {
	if ci != "" {
		return fmt.Errorf("%s: -%s is refused because CI is set; run it on your own machine and commit the result",
			path, updateFlag)
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, got) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("golden file: %w", err)
	}
	if err := os.WriteFile(path, got, fs.FileMode(0o666)); err != nil {
		return fmt.Errorf("golden file: %w", err)
	}
	return nil
}

// runPattern turns a test's full name into an anchored -run pattern.
func runPattern(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}
