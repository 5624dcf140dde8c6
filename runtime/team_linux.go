//go:build (amd64 || arm64 || arm || riscv64) && !ripc_static

package runtime

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebitengine/purego"
)

// task is one call of an entry point, the same for all threads but for the thread's number.
type task struct {
	fn, in, out, work, threads, sync, first, last uintptr
}

// call calls the entry point as thread tid and returns its value. NAME_run ignores the last two
// arguments.
func (t *task) call(tid int) int {
	r, _, _ := purego.SyscallN(t.fn, t.in, t.out, t.work, uintptr(tid), t.threads, t.sync, t.first, t.last)
	return int(int32(r))
}

// team is a group of threads; its caller is thread 0. A nil team is one thread.
type team struct {
	spin    time.Duration
	task    *task         // the task of this generation; nil ends the workers
	gen     atomic.Uint32 // counts tasks; moving it on starts one
	pending atomic.Int32  // calls of workers that have not ended in this generation
	code    atomic.Int32  // a call's return value that is not 0
	done    parker        // the caller waits here
	workers []*worker
	exited  sync.WaitGroup
}

// worker is a thread of a team.
type worker struct {
	parker
	tid  int
	last atomic.Uint32 // the generation of the last task that was begun in its place
}

// begin reports whether nobody has begun the worker's call of a generation. Who asks makes the call
// if so.
func (w *worker) begin(gen uint32) bool { return w.last.CompareAndSwap(gen-1, gen) }

// newTeam starts n-1 workers, n >= 2, each on its own thread, and calls before ahead of each.
func newTeam(n int, spin time.Duration, before func()) *team {
	t := &team{spin: spin, done: newParker()}
	for tid := 1; tid < n; tid++ {
		w := &worker{parker: newParker(), tid: tid}
		t.workers = append(t.workers, w)
		before()
		begun := make(chan struct{})
		t.exited.Go(func() {
			goruntime.LockOSThread()
			defer goruntime.UnlockOSThread()
			close(begun)
			t.work(w)
		})
		<-begun
	}
	return t
}

// run calls tk on all threads and returns when all calls have ended; the value is 0 or one of those
// that are not. The caller makes the calls of workers that have not begun when its own ends: there
// is nothing left to do in them, and the workers may not get a processor soon.
func (t *team) run(tk *task) int {
	if t == nil {
		return tk.call(0)
	}
	gen := t.start(tk)
	code := tk.call(0)
	for _, w := range t.workers {
		if w.begin(gen) {
			t.call(tk, w)
		}
	}
	t.done.wait(t.spin, func() bool { return t.pending.Load() == 0 })
	if code == 0 {
		code = int(t.code.Load())
	}
	return code
}

// call makes a worker's call. It reports whether that was the last of its generation.
func (t *team) call(tk *task, w *worker) (last bool) {
	if code := tk.call(w.tid); code != 0 {
		t.code.Store(int32(code))
	}
	return t.pending.Add(-1) == 0
}

// start publishes a task (nil: the end) and wakes who sleeps. No worker reads task before gen has
// moved on.
func (t *team) start(tk *task) (gen uint32) {
	t.task = tk
	t.code.Store(0)
	t.pending.Store(int32(len(t.workers)))
	gen = t.gen.Add(1)
	for _, w := range t.workers {
		w.wake()
	}
	return gen
}

// stop ends the workers and waits for them.
func (t *team) stop() {
	if t == nil {
		return
	}
	t.start(nil)
	t.exited.Wait()
}

// work is a worker's life. While it is between begin and the end of its call, run does not return,
// so task is that of the generation.
func (t *team) work(w *worker) {
	for seen := uint32(0); ; {
		w.wait(t.spin, func() bool { return t.gen.Load() != seen })
		seen = t.gen.Load()
		if !w.begin(seen) {
			continue
		}
		if t.task == nil {
			return
		}
		if t.call(t.task, w) {
			t.done.wake()
		}
	}
}

// parker is a place where one goroutine waits for a condition: watching it first, then asleep. Who
// makes the condition true calls wake afterwards.
type parker struct {
	asleep *atomic.Bool // set by the waiter before it sleeps, cleared by whoever takes that back
	signal chan struct{}
}

func newParker() parker { return parker{asleep: new(atomic.Bool), signal: make(chan struct{}, 1)} }

// wait returns when ready does. It watches for the given time, then sleeps.
func (p *parker) wait(spin time.Duration, ready func() bool) {
	if ready() {
		return
	}
	for end := time.Now().Add(spin); spin > 0 && time.Now().Before(end); {
		for range 32 {
			if ready() {
				return
			}
		}
	}
	for {
		p.asleep.Store(true)
		if ready() {
			if !p.asleep.CompareAndSwap(true, false) {
				<-p.signal // a waker was faster; take its signal, or it would end the next sleep
			}
			return
		}
		<-p.signal
		if ready() {
			return
		}
	}
}

// wake ends the sleep of the waiter, if it sleeps.
func (p *parker) wake() {
	if p.asleep.CompareAndSwap(true, false) {
		p.signal <- struct{}{}
	}
}
