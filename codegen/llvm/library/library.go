// Package library makes objects of LLVM IR as opt and llc do, but by LLVM's shared library in child
// processes that stay. A tool takes longer to start than a kernel to compile, mostly for the
// relocations of that library. The objects equal those of the tools byte for byte. After an error
// the caller runs the tools, which give the same object or the error message.
//
//	file, ok := library.Of(opt, llc) // of these programs, so that it is their version
//	l := library.New(file, version)
//	object, err := l.Compile(ctx, settings, ll)
//
// LLVM's flags are global, and it ends the process on some errors. So each child has one set of
// flags, and an error ends no more than a child. A child is the program itself, started once more:
// see the init function of this package.
package library

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Settings are the arguments of opt and llc, apart from files: a child is started for them. LLVM's
// library parses the same flags as the tools.
type Settings struct {
	Backend            string // LLVM's name of the code generator, as in LLVMInitialize<Backend>Target
	Triple, CPU, Attrs string // -mtriple, -mcpu, -mattr
	Passes             string // opt's -passes
	Opt, LLC           []string
	Level              int // llc's -O
}

// key tells settings apart.
func (s Settings) key() string { return fmt.Sprintf("%#v", s) }

const (
	// uses is the number of kernels that a child compiles. It bounds the memory that LLVM leaks.
	uses = 256
	// patience is the time a child waits for the next kernel. Starting one takes a hundredth of it.
	patience = 3 * time.Second
	// beginning is the time a child may take to get ready.
	beginning = 10 * time.Second
	// compiling is the time a child may take for a kernel before the tools take over. The largest
	// kernels need a small part of it.
	compiling = 10 * time.Minute
)

// Library is LLVM's shared library. It may be used from several goroutines; up to GOMAXPROCS
// children are there at a time.
type Library struct {
	file, version string
	limit         time.Duration // for a kernel
	busy          chan struct{} // has one element for each child that is compiling

	mu    sync.Mutex
	idle  []*child         // longest idle first
	unfit map[string]error // settings for which no child begins, or survives its first kernel
}

// New is the library in a file, or with a name that the dynamic linker finds, which has to be of a
// version of LLVM such as 22.1.8. Nothing is loaded before something is compiled.
func New(file, version string) *Library {
	return &Library{file: file, version: version, limit: compiling, busy: make(chan struct{}, runtime.GOMAXPROCS(0)),
		unfit: map[string]error{}}
}

// File is the library's path or name.
func (l *Library) File() string { return l.file }

// Compile makes an object of LLVM IR. It fails with ctx's error, or with one that only says that
// the tools are to be asked.
func (l *Library) Compile(ctx context.Context, s Settings, ll []byte) ([]byte, error) {
	select {
	case l.busy <- struct{}{}:
		defer func() { <-l.busy }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c, err := l.child(ctx, s)
	if err != nil {
		return nil, err
	}
	object, err := c.compile(ctx, l.limit, ll)
	if ctx.Err() != nil { // it may have been killed after its answer
		c.end()
		return nil, context.Cause(ctx)
	}
	l.put(c)
	return object, err
}

// child gives a child for s, which was idle or starts.
func (l *Library) child(ctx context.Context, s Settings) (*child, error) {
	key := s.key()
	l.mu.Lock()
	if err := l.unfit[key]; err != nil {
		l.mu.Unlock()
		return nil, err
	}
	c := l.take(func(c *child) bool { return c.key == key })
	if c == nil && len(l.idle)+len(l.busy) > cap(l.busy) {
		if oldest := l.take(func(*child) bool { return true }); oldest != nil {
			oldest.end()
		}
	}
	l.mu.Unlock()
	if c != nil {
		return c, nil
	}
	c, err := start(ctx, order{File: l.file, Version: l.version, Settings: s})
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		l.refuse(key, err)
		return nil, err
	}
	c.key = key
	return c, nil
}

// take removes the first idle child that is wanted; mu is locked.
func (l *Library) take(wanted func(*child) bool) *child {
	for i, c := range l.idle {
		if wanted(c) {
			c.waiting.Stop()
			l.idle = append(l.idle[:i:i], l.idle[i+1:]...)
			return c
		}
	}
	return nil
}

// put keeps a child for the next kernel, unless it has ended or has compiled enough.
func (l *Library) put(c *child) {
	if c.broken != nil && c.compiled == 0 {
		l.refuse(c.key, c.broken)
	}
	if c.broken != nil || c.compiled >= uses {
		c.end()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.waiting = time.AfterFunc(patience, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.take(func(other *child) bool { return other == c }) != nil {
			c.end()
		}
	})
	l.idle = append(l.idle, c)
}

// refuse leaves these settings to the tools.
func (l *Library) refuse(key string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unfit[key] = err
}
