package caches

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func openTemp(t *testing.T, limit int64) *Cache {
	t.Helper()
	c, err := Open(t.TempDir(), limit)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCacheRoundTrip(t *testing.T) {
	c := openTemp(t, 1<<20)
	key := Key([]byte("a"))
	if _, ok := c.Get(key); ok {
		t.Error("hit in an empty cache")
	}
	for _, data := range []string{"x", "", "newer"} {
		c.Put(key, []byte(data))
		if got, ok := c.Get(key); !ok || string(got) != data {
			t.Errorf("got %q, %v; want %q", got, ok, data)
		}
	}
	if s := c.Stats(); s.Hits != 3 || s.Misses != 1 || s.Damaged != 0 || s.WriteErr != nil {
		t.Errorf("%+v", s)
	}
	var none *Cache
	none.Put(key, nil)
	if _, ok := none.Get(key); ok || none.Stats() != (Stats{}) {
		t.Error("a nil cache holds something")
	}
}

func TestKeySeparatesParts(t *testing.T) {
	if Key([]byte("ab"), []byte("c")) == Key([]byte("a"), []byte("bc")) {
		t.Error("the split between parts does not count")
	}
}

// TestCacheDamaged changes every byte of a file in turn, and cuts it at every length.
func TestCacheDamaged(t *testing.T) {
	c := openTemp(t, 1<<20)
	key, data := Key([]byte("k")), []byte("some data")
	c.Put(key, data)
	good, err := os.ReadFile(c.path(key))
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, raw []byte) {
		t.Helper()
		if err := os.WriteFile(c.path(key), raw, 0o666); err != nil {
			t.Fatal(err)
		}
		if got, ok := c.Get(key); ok {
			t.Errorf("%s: got %q", what, got)
		}
		if _, err := os.Stat(c.path(key)); !os.IsNotExist(err) {
			t.Errorf("%s: the damaged file stayed", what)
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		try(fmt.Sprintf("byte %d changed", i), bad)
		try(fmt.Sprintf("cut to %d", i), good[:i])
	}
	if n := c.Stats().Damaged; n != 2*len(good) {
		t.Errorf("%d damaged, want %d", n, 2*len(good))
	}
	c.Put(key, data)
	if got, ok := c.Get(key); !ok || !bytes.Equal(got, data) {
		t.Error("not rebuilt")
	}
}

func TestCacheForgetsTheOldest(t *testing.T) {
	c := openTemp(t, 64<<10)
	data := make([]byte, 1000)
	key := func(i int) string { return Key(fmt.Append(nil, i)) }
	past := time.Now().Add(-24 * time.Hour)
	for i := range 60 {
		c.Put(key(i), data)
		at := past.Add(time.Duration(i) * time.Minute)
		if err := os.Chtimes(c.path(key(i)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := c.Get(key(0)); !ok { // now the most recently used
		t.Fatal("entry 0 is gone below the limit")
	}
	left := filepath.Join(c.dir, key(0)[:2], ".new-1234")
	if err := os.WriteFile(left, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(left, past, past); err != nil {
		t.Fatal(err)
	}
	for i := 60; i < 80; i++ {
		c.Put(key(i), data)
	}
	if _, ok := c.Get(key(0)); !ok {
		t.Error("an entry in use was dropped")
	}
	if _, ok := c.Get(key(1)); ok {
		t.Error("the oldest entry was kept")
	}
	if _, ok := c.Get(key(79)); !ok {
		t.Error("the newest entry was dropped")
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Error("an abandoned temporary file was kept")
	}
	if err := c.Stats().WriteErr; err != nil {
		t.Error(err)
	}
}

// A cache whose folder held other things before keeps these, whatever the limit; and it is swept through a link, too.
func TestCacheLeavesOthersAlone(t *testing.T) {
	real, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-48 * time.Hour)
	var others []string
	for _, name := range []string{"data.bin", ".new-data", "thesis/data.bin", "ab/thesis.bin", "ab/.new-mine", "ab/cd/data.bin", "0f/" + strings.Repeat("a", 61)} {
		path := filepath.Join(real, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, 4000), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, past, past); err != nil {
			t.Fatal(err)
		}
		others = append(others, path)
	}
	c, err := Open(link, 8<<10)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		c.Put(Key([]byte{byte(i)}), make([]byte, 500))
	}
	for _, path := range others {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if _, ok := c.Get(Key([]byte{0})); ok {
		t.Error("the oldest entry was kept")
	}
}

// What lies under another entry's name, and what is no file at all, is no entry.
func TestCacheMisplaced(t *testing.T) {
	c := openTemp(t, 1<<20)
	a, b, n := Key([]byte("a")), Key([]byte("b")), Key([]byte("n"))
	c.Put(a, []byte("of a"))
	for _, key := range []string{b, n} {
		if err := os.MkdirAll(filepath.Dir(c.path(key)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(c.path(a), c.path(b)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", c.path(n)); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{b, n} {
		if data, ok := c.Get(key); ok {
			t.Errorf("got %q", data)
		}
	}
}

// TestCacheShared lets two caches on one folder write, read and sweep at once (run with -race).
func TestCacheShared(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 2 {
		c, err := Open(dir, 16<<10)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			wg.Go(func() {
				for i := range 100 {
					want := bytes.Repeat([]byte{byte(i)}, 500)
					key := Key([]byte{byte(i)})
					c.Put(key, want)
					if got, ok := c.Get(key); ok && !bytes.Equal(got, want) {
						t.Errorf("entry %d holds other data", i)
					}
				}
				if s := c.Stats(); s.Damaged > 0 || s.WriteErr != nil {
					t.Errorf("%+v", s)
				}
			})
		}
	}
	wg.Wait()
}

func TestCacheErrors(t *testing.T) {
	if _, err := Open(t.TempDir(), 0); err == nil {
		t.Error("limit 0 was accepted")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, 1); err == nil {
		t.Error("a file was accepted as folder")
	}
	c := openTemp(t, 1<<20)
	key := Key([]byte("x"))
	if err := os.WriteFile(filepath.Join(c.dir, key[:2]), nil, 0o666); err != nil { // in the way of the folder
		t.Fatal(err)
	}
	c.Put(key, []byte("x"))
	if c.Stats().WriteErr == nil {
		t.Error("a failure to store does not show")
	}
}

// TestUserCache looks for the cache where the environment says.
func TestUserCache(t *testing.T) {
	dir, home, xdg := t.TempDir(), t.TempDir(), t.TempDir()
	for _, c := range []struct{ cache, xdg, home, want string }{
		{dir, xdg, home, filepath.Join(dir, "x")},
		{"", xdg, home, filepath.Join(xdg, "ripc", "x")},
		{"", "", home, filepath.Join(home, ".cache", "ripc", "x")},
		{"", "", "", ""},
	} {
		t.Setenv(Env, c.cache)
		t.Setenv("XDG_CACHE_HOME", c.xdg)
		t.Setenv("HOME", c.home)
		got, err := OfUser("x")
		if err != nil || (got == nil) != (c.want == "") || got != nil && got.dir != c.want {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
		if got == nil {
			continue
		}
		if info, err := os.Stat(c.want); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", c.want, info, err)
		}
	}
}

// TestCacheFolder refuses folders in which others can put code.
func TestCacheFolder(t *testing.T) {
	for mode, ok := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o500: true, 0o777: false, 0o702: false, 0o1777: false} {
		dir := filepath.Join(t.TempDir(), "c")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		perm := mode & 0o777
		if mode&0o1000 != 0 {
			perm |= os.ModeSticky
		}
		if err := os.Chmod(dir, perm); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir, 1)
		var refused *FolderError
		if ok && err != nil || !ok && (!errors.As(err, &refused) || refused.Dir != dir || !strings.Contains(err.Error(), Env)) {
			t.Errorf("%o: %v", mode, err)
		}
	}
	const me, other = 1000, 1001
	for _, c := range []struct {
		owner, group uint32
		mode         os.FileMode
		ok           bool
	}{
		{me, me, 0o755, true}, {me, me, 0o775, true}, {me, 100, 0o755, true}, {me, 100, 0o775, false}, {me, me, 0o757, false},
		{0, 0, 0o755, true}, {0, 0, 0o775, false}, {other, me, 0o755, false}, {other, other, 0o700, false},
	} {
		if got := intruders(c.owner, c.group, c.mode, me); (got == "") != c.ok {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
