//go:build (amd64 || arm64 || arm || riscv64) && !ripc_static

package runtime

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"sync"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// places are threads that wait, so that the system has let this process have them. Go ends the
// program where it cannot start a thread; so threads are asked for in C first, where that is an
// error. Each is given up just before Go starts one in its place.
type places struct {
	memory []byte // one mapping: a place each
	taken  int
	libc
}

// place is the layout of a place, as large as any system's types.
type place struct {
	_         uintptr // pthread_t, which C writes
	semaphore [120]byte
}

const placeSize = int(unsafe.Sizeof(place{}))

// libc are the functions of the C library that make places.
type libc struct{ create, join, semInit, semWait, semPost uintptr }

// reserve takes n places. It fails with the error of the thread that cannot be had, and then got is
// how many can.
func reserve(n int) (p *places, got int, err error) {
	startThreads(goruntime.GOMAXPROCS(0) + 1)
	p = &places{}
	for _, f := range []struct {
		name string
		to   *uintptr
	}{{"pthread_create", &p.create}, {"pthread_join", &p.join}, {"sem_init", &p.semInit}, {"sem_wait", &p.semWait},
		{"sem_post", &p.semPost}} {
		if *f.to, err = purego.Dlsym(purego.RTLD_DEFAULT, f.name); err != nil {
			return nil, 0, fmt.Errorf("the C library lacks %s: %w", f.name, err)
		}
	}
	if p.memory, err = unix.Mmap(-1, 0, n*placeSize, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON); err != nil {
		return nil, 0, err
	}
	// The new threads are not Go's and take no signals, which they have from this one.
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before); err != nil {
		return nil, 0, errors.Join(err, p.release())
	}
	for p.taken < n && err == nil {
		err = p.take()
	}
	err = errors.Join(err, unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil))
	if err != nil {
		got = p.taken
		return nil, got, errors.Join(err, p.release())
	}
	return p, n, nil
}

// startThreads makes Go start n threads, which it keeps for its goroutines. It then needs no new
// one while places take all that there are.
func startThreads(n int) {
	var locked sync.WaitGroup
	all := make(chan struct{})
	locked.Add(n)
	for range n {
		go func() {
			goruntime.LockOSThread()
			defer goruntime.UnlockOSThread()
			locked.Done()
			<-all
		}()
	}
	locked.Wait()
	close(all)
}

// address is that of place i.
func (p *places) address(i int) uintptr {
	return uintptr(unsafe.Pointer(&p.memory[i*placeSize]))
}

// take starts a thread that waits at its semaphore.
func (p *places) take() error {
	thread := p.address(p.taken)
	semaphore := thread + unsafe.Offsetof(place{}.semaphore)
	if r, _, errno := purego.SyscallN(p.semInit, semaphore, 0, 0); int32(r) != 0 {
		return syscall.Errno(errno)
	}
	if r, _, _ := purego.SyscallN(p.create, thread, 0, p.semWait, semaphore); int32(r) != 0 {
		return syscall.Errno(r)
	}
	p.taken++
	return nil
}

// give gives up the last place.
func (p *places) give() {
	if p.taken == 0 {
		return
	}
	p.taken--
	thread := p.address(p.taken)
	purego.SyscallN(p.semPost, thread+unsafe.Offsetof(place{}.semaphore))
	purego.SyscallN(p.join, *(*uintptr)(unsafe.Pointer(&p.memory[p.taken*placeSize])), 0)
}

// release gives up all places.
func (p *places) release() error {
	for p.taken > 0 {
		p.give()
	}
	return unix.Munmap(p.memory)
}
