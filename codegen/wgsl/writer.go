package wgsl

import (
	"fmt"
	"strings"

	"ripc/codegen"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
	"ripc/runtime/describe"
)

// writer writes one kernel.
type writer struct {
	codegen.Lines
	head      strings.Builder // shared arrays, in front of the function
	f         *ir.Func
	k         deps.Kernel
	flushed   map[string]bool // buffers that hold flushed floats only
	bufs      map[string]ir.Buffer
	inMemory  map[string]bool   // parameters and scratch
	vars      map[string]string // names of loop variables, arrays and first places in memory
	usedNames map[string]bool
	ranges    arith.Ranges
	own       int  // bytes of a thread's arrays and loop variables
	bytes     bool // memory is seen as bytes
	inPhase   bool // the statements are those of one thread
}

// maxPlaces is the number of arguments that the prelude has room for.
const maxPlaces = 63

// maxOwn is the number of bytes that the variables of a function may have.
const maxOwn = 8192

// maxGrid is the number of blocks that a dimension of a grid may have.
const maxGrid = 65535

func newWriter(f *ir.Func, k deps.Kernel, floats *codegen.Floats) *writer {
	return &writer{Lines: codegen.Lines{Indent: "  "},
		f: f, k: k, flushed: floats.Flushed(f), bufs: f.Buffers(), inMemory: map[string]bool{},
		vars: map[string]string{}, usedNames: map[string]bool{}, ranges: arith.Ranges{}}
}

func (w *writer) fail(help, format string, args ...any) {
	panic(&ir.Error{Node: "@" + w.f.Name, Msg: fmt.Sprintf(format, args...), Help: help})
}

// name gives a buffer or a loop variable a name that is no keyword.
func (w *writer) name(s string) string {
	w.vars[s] = codegen.Unique(w.usedNames, "v_"+codegen.CleanName(s))
	return w.vars[s]
}

// kernel writes the function, and returns the bytes of its shared arrays: a word each element.
func (w *writer) kernel(d deps.Device, l describe.Launch) (shared int) {
	params, scratch := w.f.InputsFirst(), d.ScratchOffsets()
	if len(params) >= maxPlaces {
		w.fail("", "a kernel for WebGPU has at most %d buffers, and it has %d", maxPlaces-1, len(params))
	}
	w.Line("@compute @workgroup_size(%d)", l.Threads)
	w.Open("fn %s(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) local: u32) {", l.Kernel)
	w.Line("none = places[0].x;")
	first := func(b ir.Buffer, argument int, offset int64) {
		w.inMemory[b.Name] = true
		unit := 1
		if b.Type.Bits() == 32 {
			unit = 4
		}
		at := fmt.Sprintf("places[%d].%c", (argument+1)/4, "xyzw"[(argument+1)%4])
		w.Line("let %s = i32((%s + %du) / %du);", w.name(b.Name), at, offset, unit)
	}
	for i, p := range params {
		first(p.Buffer, i, 0)
	}
	for _, b := range d.Scratch {
		first(b, len(params), scratch[b.Name])
	}
	for s := range ir.Stmts(w.k.Body) {
		switch s := s.(type) {
		case *ir.Alloc:
			if s.Buf.Space == ir.Shared {
				name := w.name(s.Buf.Name)
				w.vars[s.Buf.Name] = l.Kernel + "_" + name
				n, t := max(s.Buf.Elems(), 1), w.valueType(s.Buf.Type)
				fmt.Fprintf(&w.head, "var<workgroup> %s: array<%s, %d>;\n", w.vars[s.Buf.Name], t, n)
				shared += 4 * n
			}
		case *ir.Store:
			w.bytes = w.bytes || w.inMemory[s.Buf] && w.bufs[s.Buf].Type.Bits() < 32
		}
	}
	w.Line("let tid = i32(local);")
	w.Line("let block = i32(group.y * %du + group.x);", maxGrid)
	if l.Blocks > maxGrid {
		w.Line("if (block >= %d) { return; }", l.Blocks)
	}
	w.positions(w.k.Blocks, "block")
	w.stmt(w.k.Body)
	w.Close("}")
	if w.own > maxOwn {
		w.fail("compute buffers at an inner loop (knobs filters and unroll)", "a thread takes %d bytes of its own, "+
			"and a function of WGSL has %d", w.own, maxOwn)
	}
	return shared
}

// positions declares the variables of loops, which number numbers in row-major order.
func (w *writer) positions(loops []*ir.For, number string) {
	inside := 1
	for _, l := range loops {
		inside *= l.Extent
	}
	for i, l := range loops {
		w.ranges = w.ranges.With(l.Var, l.Extent)
		inside /= l.Extent
		text := fmt.Sprintf("%s / %d", number, inside)
		switch {
		case l.Extent == 1:
			w.vars[l.Var] = "0"
			continue
		case i > 0:
			text += fmt.Sprintf(" %% %d", l.Extent)
		}
		w.Line("let %s = %s;", w.name(l.Var), text)
	}
}

func (w *writer) stmt(s ir.Stmt) {
	if !w.inPhase {
		if p, ok := deps.AsPhase(s); ok {
			w.phase(p)
			return
		}
	}
	switch s := s.(type) {
	case nil:
	case *ir.Comment:
		w.Line("/* %s */", codegen.Comment(s.Text))
	case *ir.Barrier:
		w.Line("workgroupBarrier();")
		w.Line("storageBarrier();")
	case *ir.Block:
		for _, t := range s.Stmts {
			w.stmt(t)
		}
	case *ir.For:
		w.loop(s)
	case *ir.Store:
		w.store(s)
	case *ir.If:
		w.Open("if (%s) {", w.expr(s.Cond))
		w.stmt(s.Then)
		if s.Else != nil {
			w.Depth--
			w.Open("} else {")
			w.stmt(s.Else)
		}
		w.Close("}")
	case *ir.Alloc:
		if s.Buf.Space == ir.Shared {
			w.stmt(s.Body)
			return
		}
		w.Open("{")
		n := max(s.Buf.Elems(), 1)
		w.own += 4 * n
		w.Line("var %s: array<%s, %d>;", w.name(s.Buf.Name), w.valueType(s.Buf.Type), n)
		w.stmt(s.Body)
		w.Close("}")
	default:
		w.fail("", "statement %T is unknown in WGSL", s)
	}
}

func (w *writer) phase(p deps.Phase) {
	before := w.ranges
	w.Open("{")
	w.positions(p.Loops, "tid")
	guarded := p.Threads() < w.k.Threads
	if guarded {
		w.Open("if (tid < %d) {", p.Threads())
	}
	w.inPhase = true
	w.stmt(p.Body)
	w.inPhase = false
	if guarded {
		w.Close("}")
	}
	w.Close("}")
	w.ranges = before
}

func (w *writer) loop(s *ir.For) {
	if s.Extent <= 0 {
		return
	}
	before := w.ranges
	w.ranges = w.ranges.With(s.Var, s.Extent)
	if s.Extent == 1 {
		w.vars[s.Var] = "0"
		w.stmt(s.Body)
	} else {
		w.own += 4
		w.Open("for (var %[1]s = 0; %[1]s < %[2]d; %[1]s++) {", w.name(s.Var), s.Extent)
		w.stmt(s.Body)
		w.Close("}")
	}
	w.ranges = before
}

// place is where buf[idx] lies: in words or bytes of memory, or in an array.
func (w *writer) place(buf string, idx []ir.Expr) string {
	b := w.bufs[buf]
	if b.Type.Bits() == 64 {
		w.failWide()
	}
	flat := ir.Int(0)
	for d, e := range idx {
		flat = ir.Bin(ir.Add, ir.Bin(ir.Mul, flat, ir.Int(b.Shape[d])), e)
	}
	at := w.index(arith.ToAffine(flat).Expr())
	if !w.inMemory[buf] {
		return w.vars[buf] + "[" + at + "]"
	}
	if b.Type.Bits() == 16 {
		at += " * 2"
	}
	return w.vars[buf] + " + " + at
}

// load is the value of buf[idx].
func (w *writer) load(buf string, idx []ir.Expr) string {
	at, t := w.place(buf, idx), w.bufs[buf].Type
	if !w.inMemory[buf] {
		return at
	}
	if t.Bits() == 32 {
		word := "memory[" + at + "]"
		if w.bytes {
			word = "atomicLoad(&bytes[" + at + "])"
		}
		if t == ir.U32 {
			return word
		}
		return fmt.Sprintf("bitcast<%s>(%s)", w.valueType(t), word)
	}
	shared, from := "", ir.U8
	if w.bytes {
		shared = "shared_"
	}
	if t.Bits() == 16 {
		from = ir.U16
	}
	v := fmt.Sprintf("rc_%sload%d(%s)", shared, from.Bits(), at)
	if t == ir.Bool {
		return "(" + v + " != 0u)"
	}
	return w.wrap(t, v, from)
}

func (w *writer) store(s *ir.Store) {
	t := w.bufs[s.Buf].Type
	v := w.expr(s.Val)
	if s.Op != ir.Assign {
		old := &ir.Load{Buf: s.Buf, Idx: s.Idx, T: t}
		v = w.expr(&ir.Binary{Op: s.Op.Operator(), A: old, B: s.Val})
	}
	at := w.place(s.Buf, s.Idx)
	if !w.inMemory[s.Buf] {
		w.Line("%s = %s;", at, v)
		return
	}
	switch {
	case t == ir.Bool:
		v = "select(0u, 1u, " + v + ")"
	case t != ir.U32:
		v = "bitcast<u32>(" + v + ")"
	}
	switch {
	case t.Bits() < 32:
		w.Line("rc_shared_store(%s, %du, %s);", at, 1<<(8*t.Bytes())-1, v)
	case w.bytes:
		w.Line("atomicStore(&bytes[%s], %s);", at, v)
	default:
		w.Line("memory[%s] = %s;", at, v)
	}
}
