package simulate_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"ripc/caches"
	"ripc/engine/simulate"
)

// counted runs a network of 3 instructions at path in simulation, counting.
func counted(t *testing.T, path string) {
	t.Helper()
	in, _, _ := inputs(t, twoStage(), 1)
	got, err := open(t, path, simulate.Options{Count: true}).Run(context.Background(), []simulate.Job{{Inputs: in, Last: 2, Threads: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Instructions != 3 {
		t.Errorf("%d instructions, want 3", got[0].Instructions)
	}
}

// three is the network that counted runs.
func three(t *testing.T) string {
	return assemble(t, twoStage(), "\tmov w9, #1000\n\tmov w0, #0\n\tret")
}

// contents returns the files below dir.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ".swept" {
			return err
		}
		all[path[len(dir):]], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestNoHome runs without a home beside what somebody else put where everybody may write.
func TestNoHome(t *testing.T) {
	path, mine, tmp := three(t), t.TempDir(), t.TempDir()
	t.Setenv(caches.Env, mine)
	counted(t, path)
	planted := filepath.Join(tmp, "ripc", "simulate")
	names := []string{"runner-aarch64-0", "count-0.so"}
	for name := range contents(t, mine) { // as they are called now
		names = append(names, name)
	}
	for _, name := range names {
		file := filepath.Join(planted, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("planted"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	before := contents(t, tmp)
	t.Setenv("TMPDIR", tmp)
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", caches.Env} {
		t.Setenv(name, "")
	}
	counted(t, path)
	after := contents(t, tmp)
	if len(after) != len(before) {
		t.Errorf("%d files became %d", len(before), len(after))
	}
	for name, data := range before {
		if !bytes.Equal(after[name], data) {
			t.Errorf("%s was replaced", name)
		}
	}
}

// TestDamagedCache cuts and changes what was built once.
func TestDamagedCache(t *testing.T) {
	path, dir := three(t), t.TempDir()
	t.Setenv(caches.Env, dir)
	counted(t, path)
	good := contents(t, dir)
	if len(good) != 4 {
		t.Fatalf("the cache holds %d files, not runner, counter, version and help of qemu", len(good))
	}
	for what, damage := range map[string]func([]byte) []byte{
		"cut":     func(b []byte) []byte { return b[:len(b)/2] },
		"changed": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"empty":   func([]byte) []byte { return nil },
	} {
		t.Run(what, func(t *testing.T) {
			for name, data := range good {
				if err := os.WriteFile(filepath.Join(dir, name), damage(bytes.Clone(data)), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			counted(t, path)
			if now := contents(t, dir); len(now) != len(good) {
				t.Errorf("the cache holds %d files", len(now))
			}
			for name, data := range contents(t, dir) {
				if len(data) != len(good[name]) { // the compiler was given another path, and may write other bytes
					t.Errorf("%s was not built again", name)
				}
			}
		})
	}
}

// TestOpenCache refuses a folder in which others may write.
func TestOpenCache(t *testing.T) {
	path, root := three(t), t.TempDir()
	t.Setenv(caches.Env, root)
	dir := filepath.Join(root, "simulate")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	needQemu(t)
	_, err := simulate.Open(path, simulate.Options{})
	var refused *caches.FolderError
	if !errors.As(err, &refused) || refused.Dir != dir {
		t.Errorf("%v", err)
	}
}
