package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/ir"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.b.tflite")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := Read(path, 5, ""); err != nil || string(data) != "12345" {
		t.Errorf("%q, %v", data, err)
	}
	for _, c := range []struct{ path, want string }{
		{path, path + ": the model is longer than 4 bytes\n    help: cut it"},
		{path + "x", path + "x: cannot open the model: no such file or directory"},
	} {
		_, err := Read(c.path, 4, "cut it")
		if err == nil || err.Error() != c.want || !errors.As(err, new(*ir.Error)) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	pointer := path + ".lfs"
	if err := os.WriteFile(pointer, []byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(pointer, 1000, ""); err == nil || !strings.Contains(err.Error(), "git lfs pull") {
		t.Errorf("a pointer: %v", err)
	}
	if g := NewGraph(path); g.Name != "a.b" || g.File != path {
		t.Errorf("%q of %q", g.Name, g.File)
	}
}

func TestFaults(t *testing.T) {
	f := &Faults{File: "f"}
	if f.Any() || f.Err() != nil {
		t.Error(f.Err())
	}
	for range MaxFaults + 3 {
		f.Add(errors.New("bad"))
	}
	text := f.Err().Error()
	if !f.Any() || strings.Count(text, "bad") != MaxFaults || !strings.HasSuffix(text, "\nf: and 3 more faults") {
		t.Error(text)
	}
}
