package e2e_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ripc"
	"ripc/codegen"
	"ripc/internal/need"
	"ripc/runtime"
	"ripc/runtime/npy"
)

var inferences = flag.Int("inferences", 20_000, "of TestLoad")

// usage is what a process takes of the system.
type usage struct{ resident, goroutines, threads, files, maps int }

func (u usage) String() string {
	return fmt.Sprintf("%.1f MiB resident, %d goroutines, %d threads, %d open files, %d mappings", float64(u.resident)/1024, u.goroutines, u.threads, u.files, u.maps)
}

// used looks at this process. Goroutines and threads of sessions that were just closed may be on their way out.
func used(t *testing.T) usage {
	t.Helper()
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	of := func(name string) int {
		_, rest, _ := strings.Cut(string(status), "\n"+name+":")
		n, err := strconv.Atoi(strings.Fields(rest)[0])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return usage{of("VmRSS"), goruntime.NumGoroutine(), of("Threads"), len(files), bytes.Count(maps, []byte("\n"))}
}

// TestLoad runs a network many times in sessions of several goroutines, which come and go, as does the library: nothing grows, and
// all results are those of the first.
//
//	go test ./e2e -run '^TestLoad$' -v -inferences 1000000 -timeout 0
func TestLoad(t *testing.T) {
	_, err := ripc.LLVM()
	need.OK(t, err)
	library := filepath.Join(t.TempDir(), "digits.so")
	c, err := ripc.Compile(t.Context(), "../examples/digits/digits.json", ripc.Options{Emit: []codegen.Kind{"so"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(library, c.Files["so"], 0o600); err != nil {
		t.Fatal(err)
	}
	pictures, err := npy.ReadFile("../examples/digits/data/x_test.npy")
	if err != nil {
		t.Fatal(err)
	}
	const workers, some = 6, 16
	size := len(pictures.Data) / pictures.Shape[0]
	picture := func(i int) []byte { return pictures.Data[i*size : (i+1)*size] }

	// round is n inferences in a session of its own, of m or of a library that is loaded for it.
	round := func(m *runtime.Module, threads, n int, want [][]byte) (err error) {
		if m == nil {
			if m, err = runtime.Load(library); err != nil {
				return err
			}
			defer func() {
				if e := m.Close(); err == nil {
					err = e
				}
			}()
		}
		s, err := m.NewSession(threads)
		if err != nil {
			return err
		}
		defer func() {
			if e := s.Close(); err == nil {
				err = e
			}
		}()
		for i := range n {
			if err := s.SetInput(0, picture(i%some)); err != nil {
				return err
			}
			if err := s.Run(context.Background()); err != nil {
				return err
			}
			if want[i%some] == nil {
				want[i%some] = bytes.Clone(s.Output(0))
			} else if !bytes.Equal(s.Output(0), want[i%some]) {
				return fmt.Errorf("inference %d of %d threads gives other bits than the first of its picture", i, threads)
			}
		}
		return nil
	}
	m, err := runtime.Load(library)
	if err != nil {
		t.Fatal(err)
	}
	want := make([][]byte, some)
	if err := round(m, 1, some, want); err != nil {
		t.Fatal(err)
	}
	load := func(total int) {
		const each = 500 // inferences of a session
		rounds := make(chan int, total/each+1)
		for left := total; left > 0; left -= each {
			rounds <- min(left, each)
		}
		close(rounds)
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				module := m
				if w == 0 {
					module = nil
				}
				for n := range rounds {
					if err := round(module, 1+w%2, n, want); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
	}
	load(max(*inferences/20, 6000)) // what Go and the C library keep, they have after that
	before, start := used(t), time.Now()
	load(*inferences)
	took, after := time.Since(start), used(t)
	for wait := time.Millisecond; after.goroutines > before.goroutines && wait < time.Second; wait *= 2 {
		time.Sleep(wait)
		after = used(t)
	}
	t.Logf("%d inferences in %v\nbefore: %v\nafter:  %v", *inferences, took.Round(time.Millisecond), before, after)
	// Go keeps threads, and stacks of them, for as long as the program runs: some more or less say nothing. A leak of each session
	// or each library would be dozens in the short run and thousands in the long one.
	if after.goroutines > before.goroutines || after.files > before.files || after.threads > before.threads+8 || after.maps > before.maps+24 || after.resident > before.resident+8<<10 {
		t.Errorf("grown:\nbefore: %v\nafter:  %v", before, after)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
