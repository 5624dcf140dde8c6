package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	for _, text := range []string{"one", "another"} {
		if err := Replace(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v, want %q", got, err, text)
		}
	}
	full := filepath.Join(dir, "full")
	if err := os.MkdirAll(filepath.Join(full, "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{full, filepath.Join(dir, "none", "a")} {
		err := Replace(bad, nil, 0o666)
		if err == nil || Cause(err) == err || errors.As(Cause(err), new(*fs.PathError)) || errors.As(Cause(err), new(*os.LinkError)) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v, %v: want a and full", left, err)
	}
}

func TestReadUpTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int]string{3: "0123", 9: "0123456789", 10: "0123456789", 20: "0123456789"} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ReadUpTo(f, limit); err != nil || string(got) != want {
			t.Errorf("%d: %q, %v, want %q", limit, got, err, want)
		}
		f.Close()
	}
}

// What is no file with content is refused without waiting for it.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for _, bad := range []string{os.DevNull, filepath.Join(dir, "none"), dir} {
		if f, err := Open(bad); err == nil {
			f.Close()
			t.Errorf("%s was opened", bad)
		}
	}
	if _, err := ReadText(os.DevNull); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadText(path); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Truncate(path, MaxText+1); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadText(path); err == nil {
		t.Error("a text that is too long was read")
	}
}
