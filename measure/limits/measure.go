// Package limits measures the peak rates of this machine: multiply-adds of f32, of bytes and of
// bits, and look-ups of sums in tables. Each is a loop of nothing else (kernels.json), compiled by
// LLVM.
package limits

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"ripc/caches"
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

// Rate is the rate of a kernel.
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
	cache, err := caches.Objects()
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
	defer os.RemoveAll(dir) // mapped files stay
	file := filepath.Join(dir, "limits.so")
	if err := tools.LinkShared(ctx, t, objects, exports, "limits.so", file); err != nil {
		return nil, err
	}
	return s, s.load(file)
}

// Measure runs kernel i on threads at once, about a millisecond each time, and returns the best of
// several times: other work on the machine can only make it slower.
func (s *Set) Measure(i, threads, times int) Rate {
	const wanted = time.Millisecond
	turns := int64(1000)
	for { // find the number of turns for that time
		took := s.runThreads(i, threads, turns)[0].Took
		if took >= wanted/2 || turns >= 1<<40 {
			break
		}
		turns = turns * int64(wanted) / max(1, int64(took))
	}
	var best Rate
	for range times {
		var longest measure.Timing
		for _, t := range s.runThreads(i, threads, turns) {
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

// runThreads runs kernel i on several threads at the same time and gives the time of each.
func (s *Set) runThreads(i, threads int, turns int64) []measure.Timing {
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

// Limit is the highest rate of one sort of multiply-add on one thread.
type Limit struct {
	Name         string  `json:"name"` // one of Names
	What         string  `json:"what"`
	MACsPerCycle float64 `json:"macs_per_cycle"`
}

// Best measures the limits of this machine.
func Best(ctx context.Context) (list []Limit, err error) {
	t, err := targets.Host()
	if err != nil {
		return nil, err
	}
	set, err := Open(ctx, t)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := set.Close(); err == nil {
			err = cerr
		}
	}()
	best := map[string]Limit{}
	for i, k := range set.Kernels {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		const times = 5
		if rate := set.Measure(i, 1, times).PerCycle; rate > best[k.Limit].MACsPerCycle {
			best[k.Limit] = Limit{Name: k.Limit, What: k.What, MACsPerCycle: rate}
		}
	}
	for _, name := range Names() {
		if l, ok := best[name]; ok {
			list = append(list, l)
		}
	}
	return list, nil
}
