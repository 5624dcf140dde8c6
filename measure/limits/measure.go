// Package limits measures what the machine at hand can do at most: multiply-adds of f32, of bytes and of bits, and look-ups of sums
// in tables, each by a loop of nothing else (kernels.json) that LLVM compiles for it.
package limits

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"ripc/codegen/llvm/toolchain"
	"ripc/measure"
	"ripc/targets"
)

// Set is the kernels that this machine can run, loaded.
type Set struct {
	Kernels []Kernel
	handle  uintptr
	entries []uintptr
}

// Rate is what a kernel reached.
type Rate struct {
	PerSecond float64 // multiply-adds, of all threads together
	PerCycle  float64 // of all threads together, in cycles of one core
	GHz       float64 // of one core, directly behind it
}

// Open compiles and loads all kernels that t, which must be this machine, can run.
func Open(ctx context.Context, t targets.Target) (*Set, error) {
	tools, err := toolchain.Find()
	if err != nil {
		return nil, err
	}
	cache, err := toolchain.DefaultCache()
	if err != nil {
		return nil, err
	}
	all, err := Kernels()
	if err != nil {
		return nil, err
	}
	s := &Set{}
	var jobs []toolchain.Job
	var exports []string
	for _, k := range all {
		if k.Runs(t) {
			s.Kernels = append(s.Kernels, k)
			jobs = append(jobs, toolchain.Job{Name: k.Name, LL: k.LLVM(), Target: t, Kind: toolchain.Obj})
			exports = append(exports, k.symbol())
		}
	}
	if len(jobs) == 0 {
		return s, nil
	}
	codes, err := tools.CompileAll(ctx, cache, jobs)
	if err != nil {
		return nil, err
	}
	var objects []toolchain.Object
	for i, c := range codes {
		objects = append(objects, toolchain.Object{Name: jobs[i].Name, Data: c})
	}
	dir, err := os.MkdirTemp("", "ripc-limits-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // what is mapped stays
	file := filepath.Join(dir, "limits.so")
	if err := tools.LinkShared(ctx, t, objects, exports, "limits.so", file); err != nil {
		return nil, err
	}
	return s, s.load(file)
}

// load maps the library. dlerror's text belongs to the OS thread of the failing call.
func (s *Set) load(file string) (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if s.handle, err = purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	for _, k := range s.Kernels {
		entry, err := purego.Dlsym(s.handle, k.symbol())
		if err != nil {
			return errors.Join(fmt.Errorf("limits: %w", err), s.Close())
		}
		s.entries = append(s.entries, entry)
	}
	return nil
}

// Close unmaps the library.
func (s *Set) Close() error {
	if s.handle == 0 {
		return nil
	}
	return purego.Dlclose(s.handle)
}

// Measure runs kernel i on so many threads at once, about a millisecond each time, and gives the best of several times: what
// else the machine does can only make it slower.
func (s *Set) Measure(i, threads, times int) Rate {
	const wanted = time.Millisecond
	turns := int64(1000)
	for { // how many turns take so long
		took := s.together(i, threads, turns)[0].Took
		if took >= wanted/2 || turns >= 1<<40 {
			break
		}
		turns = turns * int64(wanted) / max(1, int64(took))
	}
	var best Rate
	for range times {
		var longest measure.Timing
		for _, t := range s.together(i, threads, turns) {
			if t.Took > longest.Took {
				longest = t
			}
		}
		macs := float64(turns) * float64(s.Kernels[i].MACs) * float64(s.Kernels[i].Lanes) * float64(threads)
		if r := macs / longest.Took.Seconds(); r > best.PerSecond {
			best = Rate{PerSecond: r, PerCycle: macs / longest.Cycles(), GHz: longest.GHz}
		}
	}
	return best
}

// together runs kernel i on several threads at the same time and gives the time of each.
func (s *Set) together(i, threads int, turns int64) []measure.Timing {
	timings := make([]measure.Timing, threads)
	var ready atomic.Int64
	var all sync.WaitGroup
	for n := range threads {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			memory := make([]byte, s.Kernels[i].Bytes())
			for at := range memory {
				memory[at] = 0x3f // no f32 of it is slow
			}
			ready.Add(1)
			for ready.Load() < int64(threads) {
				runtime.Gosched()
			}
			start := time.Now()
			purego.SyscallN(s.entries[i], uintptr(unsafe.Pointer(&memory[0])), uintptr(turns))
			timings[n] = measure.Since(start)
			runtime.KeepAlive(memory)
		})
	}
	all.Wait()
	return timings
}
