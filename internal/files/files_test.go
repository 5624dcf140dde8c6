package files

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"
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

// contents is what lies in a folder, by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
	}
	return all
}

// If the last of several files has no place, the others are what they were before, be that nothing.
func TestReplaceAll(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(at(name), []byte("old "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(at("full/x"), 0o700); err != nil {
		t.Fatal(err)
	}
	fresh := func(names ...string) (list []New) {
		for _, n := range names {
			list = append(list, New{Path: at(n), Data: []byte("new " + n), Mode: 0o600})
		}
		return list
	}
	var we *WriteError
	for _, last := range []string{"full", "none/c"} {
		if err := ReplaceAll(fresh("a", "first", last, "b")...); !errors.As(err, &we) || we.Path != at(last) {
			t.Errorf("%v", err)
		}
		if got, want := contents(t, dir), map[string]string{"a": "old a", "b": "old b"}; !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", last, got, want)
		}
	}
	if err := ReplaceAll(fresh("a", "first", "b")...); err != nil {
		t.Fatal(err)
	}
	if got, want := contents(t, dir), map[string]string{"a": "new a", "first": "new first", "b": "new b"}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A device is not replaced, nor a link to one.
func TestReplaceNoDevice(t *testing.T) {
	link := filepath.Join(t.TempDir(), "out")
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{os.DevNull, link} {
		if err := Replace(path, []byte("text"), 0o666); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
}

// What a killed process left is removed by the next one that writes there, once it is old; nothing else is.
func TestReplaceSweeps(t *testing.T) {
	dir := t.TempDir()
	old, young, other := TempName(dir), TempName(dir), filepath.Join(dir, ".ripc-notes")
	for _, name := range []string{old, young, other} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if past := time.Now().Add(-2 * abandonedAfter); name != young {
			if err := os.Chtimes(name, past, past); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := Replace(filepath.Join(dir, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := contents(t, dir)
	if _, ok := got[filepath.Base(old)]; ok || len(got) != 3 {
		t.Errorf("%v", got)
	}
}
