package runner_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/autotune/runner"
)

// foreign makes a folder with a module of the same name, whose worker is another program.
func foreign(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                  "module ripc\n\ngo 1.26\n",
		"cmd/ripc-worker/main.go": "package main\n\nfunc main() { println(\"code of the current folder\") }\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestForeignWorker: code of the current folder is never built for a board, be it a module of the same name. The board is that of
// TestSSHBoards, so that its worker is built once.
func TestForeignWorker(t *testing.T) {
	t.Chdir(foreign(t))
	t.Setenv("GOWORK", "")
	program, err := runner.WorkerProgram(t.Context(), "aarch64")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(program, []byte("code of the current folder")) || !bytes.Contains(program, []byte(runner.Magic)) {
		t.Error("it is not the worker of these sources")
	}
}

// TestCheckSources: a folder counts as these sources only if it has the module's name and this package.
func TestCheckSources(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.CheckSources(root); err != nil {
		t.Error(err)
	}
	copied := func(change func(name, text string) string) string {
		dir := t.TempDir()
		paths, err := filepath.Glob("*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range append(paths, "../../go.mod") {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "autotune", "runner", name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(change(filepath.Base(name), string(text))), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	for want, dir := range map[string]string{
		"": copied(func(_, text string) string { return text }),
		"serve.go has changed since this program was built": copied(func(name, text string) string {
			return text + map[string]string{"serve.go": "\n// changed\n"}[name]
		}),
		"is another module by now": copied(func(name, text string) string {
			return strings.Replace(text, "module ripc\n", "module ripc2\n", 1)
		}),
		"not there any more":                       t.TempDir(),
		"has changed since this program was built": foreign(t),
	} {
		if err := runner.CheckSources(dir); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
