package toolchain

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/internal/need"
)

// needTools returns the LLVM tools.
func needTools(t *testing.T) *Tools {
	t.Helper()
	tools, err := Find()
	need.OK(t, err)
	return tools
}

func TestFind(t *testing.T) {
	tools := needTools(t)
	major, _, _ := strings.Cut(tools.Version(), ".")
	if os.Getenv(EnvBin) == "" && major != "22" && major != "19" {
		t.Errorf("version %q", tools.Version())
	}
	for _, base := range append(required(), "llvm-objdump") {
		if p, err := tools.Path(base); err != nil || !filepath.IsAbs(p) {
			t.Errorf("%s: %q, %v", base, p, err)
		}
	}
	_, err := tools.Path("no-such-tool")
	var missing *MissingToolError
	if !errors.As(err, &missing) || missing.Tool != "no-such-tool" {
		t.Errorf("got %v", err)
	}
}

func TestFindMissing(t *testing.T) {
	t.Setenv("PATH", "")
	t.Setenv(EnvBin, t.TempDir())
	_, err := Find()
	var missing *MissingToolError
	if !errors.As(err, &missing) || missing.Tool != "opt" {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"opt not found", EnvBin + "=", "apt-get install --no-install-recommends llvm-22 lld-22"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %s", want, err)
		}
	}
}

// fakeTools writes programs that answer --version into dir.
func fakeTools(t *testing.T, dir, suffix, version string, bases []string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, b := range bases {
		script := "#!/bin/sh\necho '  Some LLVM version " + version + "'\n"
		if err := os.WriteFile(filepath.Join(dir, b+suffix), []byte(script), 0o777); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFindOrder uses fake tools, so that it holds whatever is installed.
func TestFindOrder(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "path")
	f := finder{
		getenv: func(string) string { return "" },
		lookPath: func(name string) (string, error) {
			p := filepath.Join(path, name)
			_, err := os.Stat(p)
			return p, err
		},
		prefix: filepath.Join(root, "llvm-"),
	}
	_, err := f.find()
	var missing *MissingToolError
	if !errors.As(err, &missing) || missing.Tool != "opt-22" {
		t.Errorf("nothing installed: %v", err)
	}
	expect := func(when, version string) {
		t.Helper()
		tools, err := f.find()
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if tools.Version() != version {
			t.Errorf("%s: version %s, want %s", when, tools.Version(), version)
		}
	}
	fakeTools(t, path, "-19", "19.1.7", required())
	expect("19 on PATH", "19.1.7")
	fakeTools(t, path, "-22", "22.1.0", []string{"opt", "llc", "llvm-mc", "llvm-ar", "llvm-objcopy"})
	expect("22 without its linker", "19.1.7")
	fakeTools(t, filepath.Join(root, "llvm-22", "bin"), "", "22.1.1", []string{"ld.lld"})
	expect("the linker in LLVM's own folder", "22.1.0")
	own := filepath.Join(root, "own")
	fakeTools(t, own, "", "22.9.9", required())
	f.getenv = func(string) string { return own }
	expect("folder given", "22.9.9")
	fakeTools(t, own, "", "unknown", []string{"llc"})
	if _, err := f.find(); err == nil || !strings.Contains(err.Error(), "no LLVM version") {
		t.Errorf("odd --version: %v", err)
	}
}

func TestRunStops(t *testing.T) {
	tools := needTools(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := tools.Run(ctx, "llc", nil, "--version"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
