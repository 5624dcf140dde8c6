package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"ripc/internal/need"
)

const path = "example.org/few-bits/ripc"

// copied returns a copy of the repository under another path.
func copied(t *testing.T) string {
	need.Tool(t, "git")
	dir := t.TempDir()
	files := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	files.Dir = filepath.Join("..", "..")
	names, err := files.Output()
	if err != nil {
		t.Skip("skipped: this is no clone of the repository: ", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(files.Dir, name))
		if os.IsNotExist(err) { // deleted, and not yet committed
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := rename(t.Context(), dir, path); err != nil {
		t.Fatal(err)
	}
	return dir
}

func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestRename renames a copy: Go finds every package, the table of imports holds, and no file names
// the old path.
func TestRename(t *testing.T) {
	dir := copied(t)
	if list := run(t, dir, nil, "go", "list", "-deps", "-test", "./..."); !strings.Contains(list, path+"/cmd/ripc\n") {
		t.Errorf("no command under the new path:\n%s", list)
	}
	run(t, filepath.Join(dir, "examples", "go-app"), []string{"GOFLAGS=-mod=mod"}, "go", "list", "-m", path)
	run(t, dir, nil, "go", "test", "./internal/layering", "-run", "^TestImports$")
	if n, err := rename(t.Context(), dir, path); err != nil || n != 0 {
		t.Errorf("a second time: %d files, %v", n, err)
	}
	if n, err := rename(t.Context(), dir, "example.net/x"); err != nil || n < 1000 {
		t.Errorf("to a third path: %d files, %v", n, err)
	}
	for _, wrong := range []string{"ripc", "example.org/a b", ""} {
		if _, err := rename(t.Context(), dir, wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

// TestGoInstall publishes a copy on a proxy in a folder, installs the command from there as others
// do, and uses it.
func TestGoInstall(t *testing.T) {
	need.Packages(t)
	dir, proxy, bin := copied(t), t.TempDir(), t.TempDir()
	version := module.Version{Path: path, Version: "v0.0.0-test"}
	at := filepath.Join(proxy, path, "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := zip.CreateFromDir(&packed, version, dir); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	v := version.Version
	for name, text := range map[string][]byte{"list": []byte(v + "\n"), v + ".zip": packed.Bytes(), v + ".mod": mod,
		v + ".info": []byte(`{"Version":"` + v + `"}`)} {
		if err := os.WriteFile(filepath.Join(at, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	others := strings.TrimSpace(run(t, dir, nil, "go", "env", "GOPROXY"))
	env := []string{"GOBIN=" + bin, "GOPROXY=file://" + proxy + "," + others, "GONOSUMDB=" + path, "GOFLAGS=-modcacherw"}
	run(t, t.TempDir(), env, "go", "install", path+"/cmd/ripc@"+v)
	out := run(t, dir, nil, filepath.Join(bin, "ripc"), "compile", "examples/digits/digits.json", "-o", "build/digits")
	if !strings.Contains(out, "wrote build/digits.so") {
		t.Errorf("compile says\n%s", out)
	}
}
