//go:build (amd64 || arm64 || arm) && !ripc_static

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
	pending atomic.Int32  // workers that have not finished this generation
	code    atomic.Int32  // a worker's return value that is not 0
	done    parker        // the caller waits here
	workers []*parker     // the workers wait here
	exited  sync.WaitGroup
}

// newTeam starts n-1 workers, n >= 2, each on its own thread, and calls before ahead of each.
func newTeam(n int, spin time.Duration, before func()) *team {
	t := &team{spin: spin, done: newParker()}
	for tid := 1; tid < n; tid++ {
		p := newParker()
		t.workers = append(t.workers, &p)
		before()
		begun := make(chan struct{})
		t.exited.Go(func() {
			goruntime.LockOSThread()
			defer goruntime.UnlockOSThread()
			close(begun)
			t.work(tid, &p)
		})
		<-begun
	}
	return t
}

// run calls tk on all threads and returns when all of them have; the value is 0 or one of those
// that are not.
func (t *team) run(tk *task) int {
	if t == nil {
		return tk.call(0)
	}
	t.start(tk)
	code := tk.call(0)
	t.done.wait(t.spin, func() bool { return t.pending.Load() == 0 })
	if code == 0 {
		code = int(t.code.Load())
	}
	return code
}

// start publishes a task (nil: the end) and wakes who sleeps. No worker reads task before gen has
// moved on.
func (t *team) start(tk *task) {
	t.task = tk
	t.code.Store(0)
	t.pending.Store(int32(len(t.workers)))
	t.gen.Add(1)
	for _, p := range t.workers {
		p.wake()
	}
}

// stop ends the workers and waits for them.
func (t *team) stop() {
	if t == nil {
		return
	}
	t.start(nil)
	t.exited.Wait()
}

// work is a worker's life.
func (t *team) work(tid int, p *parker) {
	for gen := uint32(1); ; gen++ {
		p.wait(t.spin, func() bool { return t.gen.Load() == gen })
		tk := t.task
		if tk == nil {
			return
		}
		if code := tk.call(tid); code != 0 {
			t.code.Store(int32(code))
		}
		if t.pending.Add(-1) == 0 {
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
