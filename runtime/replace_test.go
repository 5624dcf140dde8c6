package runtime_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"

	"ripc/internal/container"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// generation returns a sealed artifact like twoStage that gives mirror ^ key, and is for target.
func generation(t testing.TB, key uint32, target string) []byte {
	d := twoStage()
	d.Target = target
	return sealed(t, d, func(ll string) string { return strings.Replace(ll, ", 85\n", fmt.Sprintf(", %d\n", key), 1) })
}

// sealed is build with a seal behind the description.
func sealed(t testing.TB, d *describe.Artifact, edit func(string) string) []byte {
	t.Helper()
	path := build(t, d, func(ll string) string {
		begin := strings.Index(ll, "@json = internal constant [")
		var size int
		if _, err := fmt.Sscanf(ll[begin:], "@json = internal constant [%d", &size); err != nil {
			t.Fatal(err)
		}
		head, tail, _ := strings.Cut(ll[begin:], `", section`)
		head = strings.Replace(head, fmt.Sprintf("[%d", size), fmt.Sprintf("[%d", size+container.SealSize), 1)
		return edit(ll[:begin] + head + strings.Repeat(`\00`, container.SealSize) + `", section` + tail)
	})
	lib, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := container.Seal(lib); err != nil {
		t.Fatal(err)
	}
	return lib
}

// keyOf runs a session of m and returns the key that its code has.
func keyOf(m *runtime.Module, threads int) (uint32, error) {
	s, err := m.NewSession(threads)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if err := s.Run(context.Background()); err != nil { // on zeros
		return 0, err
	}
	return binary.LittleEndian.Uint32(s.Output(0)), nil
}

// wantKey fails unless m gives key.
func wantKey(t *testing.T, what string, m *runtime.Module, key uint32) {
	t.Helper()
	if got, err := keyOf(m, 1); err != nil || got != key {
		t.Errorf("%s: it has key %d, want %d; %v", what, got, key, err)
	}
}

// put makes path another file that holds lib.
func put(t testing.TB, path string, lib []byte) {
	t.Helper()
	fresh := path + ".new"
	if err := os.WriteFile(fresh, lib, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(fresh, path); err != nil {
		t.Fatal(err)
	}
}

// TestReplacedFile loads one path again and again while its generations are replaced: by renames, by a symbolic link that moves
// on, and by renamed folders. All generations stay open, and each runs its own code. Their descriptions are equal.
func TestReplacedFile(t *testing.T) {
	libs := map[uint32][]byte{}
	for key := uint32(1); key <= 3; key++ {
		libs[key] = generation(t, key, "host")
	}
	for _, kind := range []string{"rename", "link", "folder"} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "live.so")
			replace := func(round int, lib []byte) { put(t, path, lib) }
			switch kind {
			case "link":
				replace = func(round int, lib []byte) {
					release := filepath.Join(dir, fmt.Sprintf("release%d.so", round))
					put(t, release, lib)
					if err := os.Symlink(release, path+".new"); err != nil {
						t.Fatal(err)
					}
					if err := os.Rename(path+".new", path); err != nil {
						t.Fatal(err)
					}
				}
			case "folder":
				path = filepath.Join(dir, "current", "live.so")
				replace = func(round int, lib []byte) {
					if round > 0 {
						if err := os.Rename(filepath.Dir(path), filepath.Join(dir, fmt.Sprint("old", round))); err != nil {
							t.Fatal(err)
						}
					}
					if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
						t.Fatal(err)
					}
					put(t, path, lib)
				}
			}
			type loaded struct {
				m   *runtime.Module
				key uint32
			}
			var all []loaded
			for round := range 7 {
				key := uint32(round%3 + 1)
				replace(round, libs[key])
				m, err := runtime.Load(path)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, loaded{m, key})
				for _, l := range all {
					wantKey(t, fmt.Sprint("after round ", round), l.m, l.key)
				}
			}
			for i, l := range all { // those that are left do not miss the others
				if err := l.m.Close(); err != nil {
					t.Error(err)
				}
				for _, other := range all[i+1:] {
					wantKey(t, "after a close", other.m, other.key)
				}
			}
		})
	}
}

// TestReplacedUnderLoad replaces files while several goroutines load and run them. What is loaded is one generation as a whole: its
// code is the one that its description is of.
func TestReplacedUnderLoad(t *testing.T) {
	const generations, loads = 4, 60
	target := func(key uint32) string { return fmt.Sprint("generation", key) }
	var libs [][]byte
	for key := range uint32(generations) {
		libs = append(libs, generation(t, key, target(key)))
	}
	dir := t.TempDir()
	shared := filepath.Join(dir, "shared.so")
	put(t, shared, libs[0])
	stop := make(chan struct{})
	var writer, readers sync.WaitGroup
	writer.Go(func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
				put(t, shared, libs[i%generations])
			}
		}
	})
	for g := range 4 {
		readers.Go(func() {
			own := filepath.Join(dir, fmt.Sprintf("own%d.so", g))
			for i := range loads {
				key := uint32((i + g) % generations)
				put(t, own, libs[key])
				for _, load := range []func() (*runtime.Module, error){
					func() (*runtime.Module, error) { return runtime.Load(shared) },
					func() (*runtime.Module, error) { return runtime.Load(own) },
					func() (*runtime.Module, error) { return runtime.LoadBytes("bytes.so", libs[key]) },
				} {
					m, err := load()
					if err != nil {
						t.Error(err)
						return
					}
					has, err := keyOf(m, 1+i%2)
					if err != nil || m.Description().Target != target(has) || m.Path() != shared && has != key {
						t.Errorf("%s is %s, its code %s, own files have %s; %v", m.Path(), m.Description().Target, target(has), target(key), err)
					}
					if i%8 == 7 { // dropped without Close: it stays mapped
						continue
					}
					if err := m.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	readers.Wait()
	close(stop)
	writer.Wait()
}

// TestDroppedModules loads from memory after modules were dropped without Close, so that the collector has taken what it may.
func TestDroppedModules(t *testing.T) {
	one, two := generation(t, 1, "host"), generation(t, 2, "host")
	for round := range 10 {
		key, lib := uint32(1), one
		if round%2 == 1 {
			key, lib = 2, two
		}
		m, err := runtime.LoadBytes("net.so", lib)
		if err != nil {
			t.Fatal(err)
		}
		wantKey(t, fmt.Sprint("round ", round), m, key)
		m = nil
		for range 3 {
			goruntime.GC()
		}
	}
}

// TestOtherSeal: code that has the description of the file and another seal is not the file's.
func TestOtherSeal(t *testing.T) {
	lib := sealed(t, twoStage(), func(ll string) string {
		definition := ll[strings.Index(ll, "@json = "):]
		definition, _, _ = strings.Cut(definition, ", section")
		return strings.NewReplacer("ptr @json ;", "ptr @decoy ;", "@json = internal", "@json =").Replace(ll) +
			strings.Replace(definition, "@json", "@decoy", 1) + "\n"
	})
	_, err := runtime.LoadBytes("net.so", lib)
	text, e := json.Marshal(twoStage())
	if e != nil {
		t.Fatal(e)
	}
	if want := fmt.Sprintf("differs from section .ripc.describe at byte %d", len(text)+1); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want one that ends in %q", err, want)
	}
}
