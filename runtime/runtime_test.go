package runtime_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ripc/runtime"
	"ripc/runtime/describe"
)

// fill writes inputs for a seed and returns the output the network must compute.
func fill(t testing.TB, s *runtime.Session, d *describe.Artifact, seed uint64) []byte {
	t.Helper()
	for i, in := range d.Inputs {
		data, err := runtime.FillRandom(in, seed, i)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.SetInput(i, data); err != nil {
			t.Fatal(err)
		}
	}
	want := make([]byte, 4096)
	for i := range 1024 {
		j := 1023 - i
		v := 3*binary.LittleEndian.Uint32(s.Input(0)[4*j:]) + uint32(s.Input(1)[j])
		binary.LittleEndian.PutUint32(want[4*i:], v^85)
	}
	return want
}

// open loads the network and a session.
func open(t testing.TB, path string, threads int) (*runtime.Module, *runtime.Session) {
	t.Helper()
	m, err := runtime.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.NewSession(threads)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m, s
}

func TestRun(t *testing.T) {
	path := build(t, twoStage(), nil)
	ctx := context.Background()
	for _, threads := range []int{1, 2, 3, 4, 16} {
		t.Run(fmt.Sprint(threads), func(t *testing.T) {
			m, s := open(t, path, threads)
			for seed := range uint64(200) {
				want := fill(t, s, m.Description(), seed)
				if err := s.Run(ctx); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(s.Output(0), want) {
					t.Fatalf("seed %d: wrong output", seed)
				}
				if seed == 100 {
					time.Sleep(2 * time.Millisecond) // the workers go to sleep
				}
			}
			for tid := range threads {
				if n := binary.LittleEndian.Uint32(s.Workspace()[4096+64*tid:]); n != 200 {
					t.Errorf("thread %d was called %d times", tid, n)
				}
			}
		})
	}
}

func TestRunStages(t *testing.T) {
	m, s := open(t, build(t, twoStage(), nil), 2)
	ctx := context.Background()
	want := fill(t, s, m.Description(), 1)
	if err := s.RunStages(ctx, 0, 1); err != nil {
		t.Fatal(err)
	}
	x, y := binary.LittleEndian.Uint32(s.Input(0)[40:]), uint32(s.Input(1)[10])
	if got := binary.LittleEndian.Uint32(s.Workspace()[40:]); got != 3*x+y {
		t.Errorf("arena[10] = %d after stage 0, want %d", got, 3*x+y)
	}
	if !bytes.Equal(s.Output(0), make([]byte, 4096)) {
		t.Error("stage 0 wrote the output")
	}
	if err := s.RunStages(ctx, 1, 2); err != nil || !bytes.Equal(s.Output(0), want) {
		t.Errorf("after stage 1: %v", err)
	}
	for _, r := range [][2]int{{-1, 1}, {1, 0}, {0, 3}} {
		if err := s.RunStages(ctx, r[0], r[1]); err == nil {
			t.Errorf("stages %v were accepted", r)
		}
	}
}

func TestSessionsRunAtTheSameTime(t *testing.T) {
	path := build(t, twoStage(), nil)
	m, err := runtime.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for k := range 3 {
		wg.Go(func() {
			s, err := m.NewSession(2)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for i := range uint64(50) {
				want := fill(t, s, m.Description(), uint64(k)<<32|i)
				if err := s.Run(context.Background()); err != nil || !bytes.Equal(s.Output(0), want) {
					t.Errorf("session %d, run %d: wrong (%v)", k, i, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

func TestLifeCycle(t *testing.T) {
	m, err := runtime.Load(build(t, twoStage(), nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, -1, 257} {
		if _, err := m.NewSession(n); err == nil || !strings.Contains(err.Error(), "1 to 256") {
			t.Errorf("%d threads: %v", n, err)
		}
	}
	s, err := m.NewSession(2)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err == nil || !strings.Contains(err.Error(), "1 sessions are open") {
		t.Errorf("module closed under a session: %v", err)
	}
	if s.Input(2) != nil || s.Output(-1) != nil || len(s.Input(0)) != 4096 || len(s.Input(1)) != 1024 || s.Threads() != 2 {
		t.Error("wrong buffers")
	}
	if err := s.SetInput(0, make([]byte, 5)); err == nil || !strings.Contains(err.Error(), "needs 4096 bytes") {
		t.Errorf("short input: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := s.Run(context.Background()); !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("run after close: %v", err)
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := m.NewSession(1); !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("session after close: %v", err)
	}
}

func TestStatus(t *testing.T) {
	_, s := open(t, build(t, twoStage(), nil), 17) // the network takes 16 at most
	var status *runtime.StatusError
	if err := s.Run(context.Background()); !errors.As(err, &status) || status.Code != 1 || !strings.Contains(err.Error(), "twostage_run returned 1: bad number of threads") {
		t.Errorf("17 threads: %v", err)
	}
}

// TestCloseMeanwhile closes a session that other goroutines use: each call is done or refused, and the race detector is content.
func TestCloseMeanwhile(t *testing.T) {
	m, err := runtime.Load(build(t, twoStage(), nil))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for range 50 {
		s, err := m.NewSession(1)
		if err != nil {
			t.Fatal(err)
		}
		numbers, err := runtime.Input[int32](s, 0)
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, len(s.Input(0)))
		own := make([]int32, len(numbers))
		var all sync.WaitGroup
		for _, use := range []func() error{
			func() error { return s.SetInput(0, data) },
			func() error { return runtime.SetInput(s, 0, own) },
			func() error { _, err := runtime.Output[int32](s, 0); return err },
			func() error { return s.Run(context.Background()) },
			func() error { s.Input(0); s.Output(0); s.Workspace(); return nil },
		} {
			all.Go(func() {
				for range 20 {
					if err := use(); err != nil && !errors.Is(err, runtime.ErrClosed) {
						t.Error(err)
					}
				}
			})
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
		if err := s.SetInput(0, data); !errors.Is(err, runtime.ErrClosed) {
			t.Errorf("SetInput after Close: %v", err)
		}
		if s.Input(0) != nil || s.Output(0) != nil || s.Workspace() != nil {
			t.Error("memory after Close")
		}
	}
}

func BenchmarkRun(b *testing.B) {
	path := build(b, twoStage(), nil)
	for _, threads := range []int{1, 2, 4} {
		b.Run(fmt.Sprint(threads), func(b *testing.B) {
			_, s := open(b, path, threads)
			for b.Loop() {
				if err := s.Run(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
