package network

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"ripc/core"
	"ripc/ir"
	"ripc/ir/arith"
)

// printer turns scheduled Funcs into instructions. A call in loops becomes one instruction if three
// things hold: the loops are few enough, every address is a sum of multiples of loops, and the
// loops of a reduction are the innermost. Otherwise the outermost loop is written out.
//
// An alloc in a loop takes turns between places, so that loads run ahead. Each instruction waits
// for the last one that wrote an operand, and for the last that read a place which it overwrites.
type printer struct {
	c       core.Config
	turns   int // places of an alloc in a loop
	most    int // instructions, if not 0
	out     []core.Instr
	near    [core.Sums + 1][]use // by memory and place
	stored  map[int]int          // by a tensor's place: the last instruction that wrote it
	seen    [3][3]int            // by unit: the last instruction of another one that it waited for
	pending []bool               // sums that are 0 without an instruction yet

	l      *layer
	top    [core.Sums + 1]int // places that are taken
	buffer map[string]*buffer
}

// use is the last instruction that wrote a place, and the last that read it, plus one.
type use struct{ wrote, computed, stored int }

// buffer is how a parameter or an alloc lies.
type buffer struct {
	view
	memory core.Memory
	tensor *tensor // of levels
	at     int
	turn   int // for allocs in loops: the size and number of places, and the one in turn
	turns  int
	base   int
}

// SpaceError says that a schedule's tile is too large for a memory of the core.
type SpaceError struct {
	Layer  string
	Memory core.Memory
	Size   int
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("layer %s: its smallest tile takes %d places in the core's memory of %s", e.Layer, e.Size,
		e.Memory)
}

// BadInput reports that the input is at fault.
func (*SpaceError) BadInput() bool { return true }

// errSlow says that a schedule cannot be as fast as another one.
var errSlow = errors.New("more instructions than a faster schedule can have")

func newPrinter(c core.Config) *printer {
	p := &printer{c: c, stored: map[int]int{}, pending: make([]bool, c.Capacity(core.Sums))}
	for m := core.Inputs; m <= core.Sums; m++ {
		p.near[m] = make([]use, c.Capacity(m))
	}
	for u := range p.seen {
		p.seen[u] = [3]int{-1, -1, -1}
	}
	return p
}

// layer prints a scheduled Func of l, with a number of places for allocs in loops. It fails with
// *SpaceError, or if the Func is not in the form of instructions.
func (p *printer) layer(l *layer, f *ir.Func, turns int) error {
	p.l, p.turns, p.buffer, p.top = l, turns, map[string]*buffer{}, [core.Sums + 1]int{}
	for _, q := range f.Params {
		b := &buffer{memory: core.Outside, tensor: l.tensors[q.Name]}
		if b.tensor != nil {
			b.view, b.at = b.tensor.view(p.c, q.Shape...), b.tensor.at*p.c.Lanes/p.c.Rows
		} else {
			b.view, b.at = p.rows(q.Buffer), l.constants[q.Name].at
		}
		p.buffer[q.Name] = b
	}
	return ir.Try(func() { p.stmt(f.Body, map[string]int64{}, false) })
}

func (p *printer) fail(format string, args ...any) {
	panic(&ir.Error{Node: "@" + p.l.name, Msg: fmt.Sprintf(format, args...)})
}

// rows is the view of weights in rows, of tables in words outside, and of sums in vectors.
func (p *printer) rows(b ir.Buffer) view {
	lead, n := len(b.Shape)-1, 1
	switch {
	case b.Type == ir.U8 || b.Type == ir.I8:
		lead, n = lead-1, p.c.Rows
	case b.Name == "t" || b.Name == "ts":
		n = p.c.TableBeats()
	}
	v := view{strides: make([]int, len(b.Shape)), parts: 1}
	for d := lead - 1; d >= 0; d-- {
		v.strides[d] = n
		n *= b.Shape[d]
	}
	v.size = n
	return v
}

func (p *printer) stmt(s ir.Stmt, env map[string]int64, loop bool) {
	switch s := s.(type) {
	case *ir.Block:
		for _, t := range s.Stmts {
			p.stmt(t, env, loop)
		}
	case *ir.Comment:
	case *ir.Alloc:
		p.alloc(s.Buf, s.Body, loop)
		p.stmt(s.Body, env, loop)
	case *ir.For:
		var loops []span
		var at ir.Stmt = s
		for l, ok := at.(*ir.For); ok; l, ok = at.(*ir.For) {
			loops = append(loops, span{l.Var, 0, l.Extent})
			at = l.Body
		}
		if call, ok := at.(*ir.Call); ok {
			p.call(call, loops, env)
			return
		}
		for i := range s.Extent {
			env[s.Var] = int64(i)
			p.stmt(s.Body, env, true)
		}
		delete(env, s.Var)
	case *ir.Call:
		p.call(s, nil, env)
	default:
		p.fail("%s is no instruction of the core", ir.StmtString(s))
	}
}

// alloc gives a buffer its places, and the next of them in each iteration of a loop.
func (p *printer) alloc(buf ir.Buffer, body ir.Stmt, loop bool) {
	b := p.buffer[buf.Name]
	if b == nil {
		b = p.place(buf, body)
		if b.turns = 1; loop {
			b.turns = p.turns
		}
		unit := map[core.Memory]int{core.Inputs: p.c.Lanes / p.c.Rows, core.Weights: p.c.Rows,
			core.Tables: p.c.TableBeats(), core.Sums: 1}[b.memory]
		b.size = (b.size + unit - 1) / unit * unit
		b.base = p.top[b.memory]
		p.top[b.memory] += b.size * b.turns
		if n := p.top[b.memory] / unit; n > p.c.Capacity(b.memory) {
			panic(&ir.Error{Err: &SpaceError{p.l.name, b.memory, n}})
		}
		p.buffer[buf.Name] = b
	}
	b.at = b.base + b.turn*b.size
	b.turn = (b.turn + 1) % b.turns
}

// place finds the memory of an alloc by the instruction that fills it.
func (p *printer) place(buf ir.Buffer, body ir.Stmt) *buffer {
	for s := range ir.Stmts(body) {
		c, ok := s.(*ir.Call)
		if !ok || c.Args[0].Buf != buf.Name {
			continue
		}
		switch c.Fn.Name {
		case "load_input", "load_slots":
			t := p.buffer[c.Args[1].Buf].tensor
			return &buffer{memory: core.Inputs, tensor: t, view: t.view(p.c, buf.Shape...)}
		case "load_bits", "load_bytes":
			return &buffer{memory: core.Weights, view: p.rows(buf)}
		case "load_table":
			return &buffer{memory: core.Tables, view: p.rows(buf)}
		}
		return &buffer{memory: core.Sums, view: p.rows(buf)}
	}
	p.fail("no instruction fills %%%s", buf.Name)
	return nil
}

// span is a part of a loop.
type span struct {
	loop     string
	first, n int
}

// operand is an address as a function of loops.
type operand struct {
	at      arith.Affine
	buf     *buffer
	divisor int // of its unit
}

// call prints a call in loops, the outermost first.
func (p *printer) call(c *ir.Call, loops []span, env map[string]int64) {
	values := map[string]ir.Expr{}
	for v, n := range env {
		values[v] = &ir.IntImm{T: ir.I64, V: n}
	}
	var ops []operand
	for i, w := range c.Args {
		b := p.buffer[w.Buf]
		if b == nil {
			p.fail("%%%s has no place", w.Buf)
		}
		o := operand{buf: b, divisor: p.divisor(c.Fn.Name, i)}
		for d, e := range w.Idx {
			if b.strides[d] != 0 {
				o.at = o.at.Plus(int64(b.strides[d]), arith.ToAffine(ir.Subst(e, values)))
			}
		}
		o.at.Const += int64(b.at)
		ops = append(ops, o)
	}
	p.spans(c, ops, loops)
}

// divisor is the number of finer units in the unit that an instruction counts operand i in.
func (p *printer) divisor(name string, i int) int {
	switch {
	case name == "load_input" || name == "load_slots" || (name == "planes" || name == "bytes") && i == 1:
		return p.c.Lanes / p.c.Rows
	case (name == "planes" || name == "bytes") && i == 2:
		return p.c.Rows
	case name == "level" && i == 2:
		return p.c.TableBeats()
	}
	return 1
}

// value is an address at the beginnings of loops.
func (o operand) value(loops []span) int {
	v := o.at.Const
	for _, t := range o.at.Terms {
		v += t.Coef * eval(t.Atom, loops)
	}
	return int(v)
}

// eval is an expression of loops at their beginnings.
func eval(e ir.Expr, loops []span) int64 {
	switch e := e.(type) {
	case *ir.IntImm:
		return e.V
	case *ir.Var:
		return int64(loops[slices.IndexFunc(loops, func(s span) bool { return s.loop == e.Name })].first)
	case *ir.Binary:
		if v, ok := arith.FoldInts(e.Op, ir.I64, eval(e.A, loops), eval(e.B, loops)).(*ir.IntImm); ok {
			return v.V
		}
	}
	panic("BUG: an index that cannot be computed: " + ir.ExprString(e))
}

// moveSpan is loops with one of them at another place.
func moveSpan(loops []span, k, first, n int) []span {
	out := slices.Clone(loops)
	out[k].first, out[k].n = first, n
	return out
}

// spans prints a call in loops. It cuts a loop where an address ceases to grow evenly.
func (p *printer) spans(c *ir.Call, ops []operand, loops []span) {
	for k, s := range loops {
		for _, o := range ops {
			even := true
			for _, t := range o.at.Terms {
				if _, ok := t.Atom.(*ir.Var); !ok && ir.Mentions(t.Atom, s.loop) {
					even = false
				}
			}
			if even {
				continue
			}
			for i := 2; i < s.n; i++ {
				at := func(i int) int { return o.value(moveSpan(loops, k, s.first+i, 1)) }
				if at(i)-at(i-1) != at(1)-at(0) {
					p.spans(c, ops, moveSpan(loops, k, s.first, i))
					p.spans(c, ops, moveSpan(loops, k, s.first+i, s.n-i))
					return
				}
			}
		}
	}
	if i, ok := p.instr(c, ops, loops); ok {
		p.emit(i)
		return
	}
	for k, s := range loops { // the outermost loop is written out
		if s.n > 1 {
			for i := range s.n {
				p.spans(c, ops, moveSpan(loops, k, s.first+i, 1))
			}
			return
		}
	}
	p.fail("@%s has too many loops", c.Fn.Name)
}

// emitted is an instruction with the ranges of its operands.
type emitted struct {
	core.Instr
	name string
	ops  []operand
}

// instr is the instruction for a call in loops; false if it cannot have these loops.
func (p *printer) instr(c *ir.Call, ops []operand, loops []span) (emitted, bool) {
	e := emitted{name: c.Fn.Name, ops: ops}
	e.At = [3]int{}
	stride := func(f, k int) int {
		return (ops[f].value(moveSpan(loops, k, loops[k].first+1, 1)) - ops[f].value(loops)) / ops[f].divisor
	}
	for f, o := range ops {
		e.At[f] = o.value(loops) / o.divisor
	}
	first := core.Loop{Count: 1}
	own := true // loop 0 has a meaning of its own
	switch x := ops[len(ops)-1].buf; e.name {
	case "load_input", "load_slots":
		e.Op, own = core.LoadInput, false
		s := p.c.Lanes / p.c.Rows
		n := ops[0].buf
		first = core.Loop{Count: n.parts, Strides: [3]int{n.plane / s, x.plane / s}}
		if x.tensor.bytes {
			words := c.Fn.Params[0].Elems() * 8 / p.c.Lanes
			first = core.Loop{Count: words, Strides: [3]int{1, 1}}
		}
	case "load_bits", "load_bytes":
		e.Op, own, first = core.LoadWeight, false, core.Loop{Count: p.c.Rows, Strides: [3]int{1, 1}}
	case "load_table":
		e.Op, own, first = core.LoadTable, false, core.Loop{Count: p.c.TableBeats(), Strides: [3]int{1, 1}}
	case "planes":
		x = ops[1].buf
		e.Op, first = core.Planes, core.Loop{Count: x.parts, Strides: [3]int{0, x.plane * p.c.Rows / p.c.Lanes}}
	case "bytes":
		e.Op, own = core.Bytes, false
	case "take", "take_add":
		e.Op, e.Reset = core.Take, e.name == "take"
		if x.tensor.bytes {
			e.Op = core.TakeBytes
		}
		first = core.Loop{Count: x.parts, Strides: [3]int{0, x.plane}}
	case "level":
		e.Op, own = core.Level, false
	case "largest":
		e.Op, own = core.Largest, false
	case "zero":
		e.Op, own = core.Zero, false
	case "store", "store_sums":
		y := ops[0].buf
		e.Op = core.Store
		if y.tensor.bytes {
			e.Op = core.StoreBytes
		}
		e.At[0], e.At[1] = e.At[1], e.At[0]
		first = core.Loop{Count: y.parts, Strides: [3]int{0, y.plane}}
	default:
		p.fail("@%s is no instruction of the core", e.name)
	}
	if own || first.Count > 1 {
		e.Loops = append(e.Loops, first)
	}
	for k, s := range slices.Backward(loops) {
		if s.n == 1 {
			continue
		}
		l := core.Loop{Count: s.n}
		for f := range ops {
			l.Strides[f] = stride(f, k)
		}
		if e.Op.Unit() == core.Storing {
			l.Strides[0], l.Strides[1] = l.Strides[1], l.Strides[0]
		}
		if n := len(e.Loops); n > 0 && !(own && n == 1) { // one loop of two that follow each other
			in := &e.Loops[n-1]
			if l.Strides == [3]int{in.Count * in.Strides[0], in.Count * in.Strides[1], in.Count * in.Strides[2]} {
				in.Count *= l.Count
				continue
			}
		}
		e.Loops = append(e.Loops, l)
	}
	if e.Op.Unit() == core.Computing && e.Op != core.Zero {
		for e.Inner < len(e.Loops) && e.Loops[e.Inner].Strides[0] == 0 {
			e.Inner++
		}
	}
	for k, l := range e.Loops {
		if e.Op.Unit() == core.Computing && k >= e.Inner && l.Strides[0] == 0 || l.Count > math.MaxUint16 {
			return e, false
		}
	}
	return e, len(e.Loops) <= e.Op.Unit().MaxLoops()
}

// places lists the places of operand f, those of loops from on.
func (i *emitted) places(f, from int) []int {
	all := []int{i.At[f]}
	for _, l := range i.Loops[from:] {
		if l.Strides[f] == 0 {
			continue
		}
		base := all
		for k := 1; k < l.Count; k++ {
			for _, at := range base {
				all = append(all, at+k*l.Strides[f])
			}
		}
	}
	return all
}

// emit adds an instruction. A zero waits for the reduction that begins with it.
func (p *printer) emit(i emitted) {
	unit := i.Op.Unit()
	if i.Op == core.Zero {
		for _, at := range i.places(0, 0) {
			p.pending[at] = true
		}
		return
	}
	if unit == core.Computing {
		results := i.places(0, i.Inner)
		n := 0
		for _, at := range results {
			if p.pending[at] {
				n++
			}
		}
		if n == len(results) {
			i.Reset = true
		} else if n > 0 {
			p.flush(results)
		}
		for _, at := range results {
			p.pending[at] = false
		}
		if i.Op == core.Level || i.Op == core.Largest {
			p.flush(i.places(1, 0))
		}
	} else if unit == core.Storing {
		p.flush(i.places(0, 0))
	}
	p.add(i)
}

// flush makes those of some sums 0 that are pending.
func (p *printer) flush(at []int) {
	for _, k := range at {
		if p.pending[k] {
			p.pending[k] = false
			p.add(emitted{Instr: core.Instr{Op: core.Zero, Reset: true, At: [3]int{k}}})
		}
	}
}

// add adds an instruction, with its tokens.
func (p *printer) add(i emitted) {
	n, unit := len(p.out), i.Op.Unit()
	if p.most > 0 && n >= p.most {
		panic(&ir.Error{Err: errSlow})
	}
	p.out = append(p.out, i.Instr)
	var last [3]int // by unit: the last instruction to wait for, plus one
	after := func(other core.Unit, n int) { last[other] = max(last[other], n) }
	each := func(m core.Memory, f, divisor int, do func(u *use)) {
		before := -1
		for _, at := range i.places(f, 0) {
			if at /= divisor; at != before {
				if at >= len(p.near[m]) {
					p.fail("place %d of the memory of %s is beyond its end", at, m)
				}
				do(&p.near[m][at])
				before = at
			}
		}
	}
	reads := func(m core.Memory, f, divisor int) {
		each(m, f, divisor, func(u *use) {
			if unit == core.Storing {
				after(core.Computing, u.wrote)
				u.stored = n + 1
				return
			}
			if m != core.Sums {
				after(core.Loading, u.wrote)
			}
			u.computed = n + 1
		})
	}
	slots := p.c.Lanes / p.c.Rows
	switch i.Op {
	case core.LoadInput, core.LoadWeight, core.LoadTable:
		if t := i.ops[1].buf.tensor; t != nil {
			after(core.Storing, p.stored[t.at])
		}
		m := i.ops[0].buf.memory
		divisor := map[core.Memory]int{core.Inputs: 1, core.Weights: p.c.Rows, core.Tables: p.c.TableBeats()}[m]
		each(m, 0, divisor, func(u *use) {
			after(core.Computing, u.computed)
			u.wrote = n + 1
		})
	case core.Store, core.StoreBytes:
		reads(core.Sums, 0, 1)
		p.stored[i.ops[0].buf.tensor.at] = n + 1
	default:
		switch i.Op {
		case core.Planes, core.Bytes:
			reads(core.Inputs, 1, 1)
			reads(core.Weights, 2, 1)
		case core.Take, core.TakeBytes:
			reads(core.Inputs, 1, slots)
		case core.Level:
			reads(core.Tables, 2, 1)
		}
		each(core.Sums, 0, 1, func(u *use) {
			after(core.Storing, u.stored)
			u.wrote = n + 1
		})
	}
	for other, k := range last {
		if k--; k > p.seen[unit][other] {
			p.seen[unit][other] = k
			way := 1 // behind
			if (core.Unit(other)+1)%3 == unit {
				way = 0
			}
			p.out[n].Pop[way], p.out[k].Push[1-way] = true, true
		}
	}
}
