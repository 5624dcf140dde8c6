// Package interp runs ir.Funcs and ir.Programs. It is their definition: package ir's comment in
// executable form, the reference for schedules and generated code. A Func is compiled to Go
// closures, one per expression and statement. Integers are carried as int64 (sign- or zero-extended
// from their own width) and f32 as float32. Every index is checked in every dimension: at compile
// time if the loop extents prove it in range, at run time otherwise.
//
// Memory is viewed in place as little-endian elements, so the host must be little endian (as all of
// ripc's hosts are).
package interp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"unsafe"

	"ripc/ir"
)

// Poison fills alloc buffers, fresh activations and outputs, so that a missing initialisation shows
// in the result.
const Poison = 0xCB

// pollEvery is the number of loop iterations between two checks of the context.
const pollEvery = 1 << 16

type (
	intFn  func(*frame) int64   // an integer or bool expression
	f32Fn  func(*frame) float32 // an f32 expression
	stmtFn func(*frame)         // a statement; stops with panic(*RuntimeError), which Run recovers
)

// frame is the state of one Run.
type frame struct {
	ctx  context.Context
	fuel int
	v    []int64  // loop variables, and the byte offsets of call windows
	mem  [][]byte // parameters, then allocs
	init [][]bool // with Checks.Reads: the written elements of an alloc
}

// cancelled is the value of the panic that leaves the loops when the context is done.
type cancelled struct{ err error }

// spend counts n iterations, and checks the context once in a while.
func (fr *frame) spend(n int) {
	if fr.fuel -= n; fr.fuel < 0 {
		fr.fuel = pollEvery
		if err := fr.ctx.Err(); err != nil {
			panic(cancelled{err})
		}
	}
}

// Compiled is a Func ready to run. It is immutable: several goroutines may run it at once.
type Compiled struct {
	fn     *ir.Func
	body   stmtFn
	vars   int
	allocs []ir.Buffer
	checks Checks
}

// Checks enables checks besides those of indices, shift counts and ranges of buffers, which are
// always on. Each costs some time.
type Checks struct {
	// Reads of alloc elements that were not written since their scope was entered. Costs a byte of
	// memory per element.
	Reads bool
	// Sums that wrap: of "+=", and of values that continue an element of their own buffer
	// (ir.Accumulates). All other integers wrap by definition.
	Sums bool
	// Order is that of blocks and threads. Without races, all orders give the same bits.
	Order Order
}

// Order is an order of the iterations of block and thread loops.
type Order uint8

// Orders.
const (
	InOrder Order = iota
	Reversed
	Shuffled // at random, but the same in each run
)

// turns lists the iterations of l in order; nil stands for 0, 1, 2, ...
func (o Order) turns(l *ir.For) []int {
	switch o {
	case Reversed:
		all := make([]int, l.Extent)
		for i := range all {
			all[i] = l.Extent - 1 - i
		}
		return all
	case Shuffled:
		return rand.New(rand.NewPCG(uint64(l.Extent), uint64(len(l.Var)))).Perm(l.Extent)
	}
	return nil
}

// All is every check.
func All() Checks { return Checks{Reads: true, Sums: true} }

// Compile prepares f. It fails with *ir.Error if f is not well formed: unknown names, wrong types
// or ranks, a write to an input, a divisor that is not a positive constant.
func Compile(f *ir.Func) (*Compiled, error) { return CompileWith(f, Checks{}) }

// CompileChecked is Compile with Checks.Reads.
func CompileChecked(f *ir.Func) (*Compiled, error) { return CompileWith(f, Checks{Reads: true}) }

// CompileWith is Compile with these checks.
func CompileWith(f *ir.Func, checks Checks) (out *Compiled, err error) {
	err = ir.Try(func() {
		c := &compiler{fn: f, bufs: map[string]*bufRef{}, checks: checks}
		for i, p := range f.Params {
			if _, dup := c.bufs[p.Name]; dup {
				c.fail("two parameters are called %%%s", p.Name)
			}
			c.bufs[p.Name] = c.bufRef(p.Buffer, i, p.Out)
		}
		body := c.stmt(f.Body)
		out = &Compiled{fn: f, body: body, vars: len(c.extents), allocs: c.allocs, checks: checks}
	})
	return out, err
}

// Run applies the Func to args, the little-endian contents of its parameters in order; outputs are
// written in place. It fails with *RuntimeError for undefined behaviour, or with ctx's error when
// ctx is done; outputs are then partly written.
func (c *Compiled) Run(ctx context.Context, args [][]byte) (err error) {
	if len(args) != len(c.fn.Params) {
		return &ir.Error{Node: "@" + c.fn.Name, Msg: fmt.Sprintf("%d arguments for %d parameters", len(args),
			len(c.fn.Params))}
	}
	fr := &frame{ctx: ctx, v: make([]int64, c.vars), mem: make([][]byte, 0, len(args)+len(c.allocs))}
	for i, p := range c.fn.Params {
		if len(args[i]) != p.Bytes() {
			return &ir.Error{Node: "@" + c.fn.Name, Msg: fmt.Sprintf("argument %d has %d bytes, but %s needs %d",
				i, len(args[i]), ir.BufferString(p.Buffer), p.Bytes())}
		}
		if e, found := p.FirstOutside(args[i]); found && !p.Out {
			return &ir.Error{Node: "@" + c.fn.Name,
				Msg: fmt.Sprintf("element %d of argument %d is not one of %s", e, i, ir.BufferString(p.Buffer))}
		}
		a := aligned(args[i])
		fr.mem = append(fr.mem, a)
		if p.Out && len(a) > 0 && &a[0] != &args[i][0] {
			defer copy(args[i], a)
		}
	}
	fr.init = make([][]bool, len(args), len(args)+len(c.allocs))
	for _, b := range c.allocs {
		fr.mem = append(fr.mem, make([]byte, b.Bytes()))
		if c.checks.Reads {
			fr.init = append(fr.init, make([]bool, b.Elems()))
		}
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *RuntimeError:
			err = r
		case cancelled:
			err = r.err
		default:
			panic(r)
		}
	}()
	c.body(fr)
	return nil
}

// aligned returns b, or a copy if its address is not aligned for elements of eight bytes.
func aligned(b []byte) []byte {
	if len(b) == 0 || uintptr(unsafe.Pointer(&b[0]))%8 == 0 {
		return b
	}
	return append(make([]byte, 0, len(b)+8), b...)
}

// elem is the element at byte offset off of b. Offsets come from access, which keeps them within
// the buffer and at a multiple of the element's size; b starts at an aligned address, and its
// length is a multiple of the size too, so the slice's own check covers the whole element.
func elem[T any](b []byte, off int64) *T { return (*T)(unsafe.Pointer(&b[off])) }
