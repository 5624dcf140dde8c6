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
	c      core.Config
	out    []core.Instr
	uses   [core.Sums + 1][]use // by memory and place; outside by word of the tensors
	seen   [3][3]int            // by unit: the last instruction of another one that it waited for, plus one
	top    [core.Sums + 1]int   // where the places of the last layer end
	most   int                  // instructions
	l      *layer
	buffer map[string]*buffer
}

// use is the last instruction that wrote a place, and the last that read it, plus one. A zero is
// pending if the place is 0 without an instruction yet.
type use struct {
	wrote, read int
	pending     bool
}

// buffer is how a parameter or an alloc lies. Addresses count pieces, rows, beats and vectors.
type buffer struct {
	view
	memory core.Memory
	tensor *tensor // of levels
	at     int
	base   int // of an alloc: the first of its places, their number, and the one in turn
	turns  int
	turn   int
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

func newPrinter(c core.Config, words int) *printer {
	p := &printer{c: c}
	for m := range p.uses {
		p.uses[m] = make([]use, c.Capacity(core.Memory(m)))
	}
	p.uses[core.Outside] = make([]use, words)
	return p
}

// clone is a printer that goes on from here.
func (p *printer) clone() *printer {
	q := *p
	q.out = slices.Clone(p.out)
	for m := range q.uses {
		q.uses[m] = slices.Clone(p.uses[m])
	}
	return &q
}

// layer prints a scheduled Func of l, with a number of places for allocs in loops. It fails with
// *SpaceError, or if the Func is not in the form of instructions.
func (p *printer) layer(l *layer, f *ir.Func, turns int) error {
	if err := p.prepare(l, f, turns); err != nil {
		return err
	}
	return ir.Try(func() { p.stmt(f.Body, map[string]int64{}) })
}

// prepare gives the parameters and allocs of f their places.
func (p *printer) prepare(l *layer, f *ir.Func, turns int) error {
	p.l, p.buffer = l, map[string]*buffer{}
	for _, q := range f.Params {
		b := &buffer{memory: core.Outside, tensor: l.tensors[q.Name]}
		if b.tensor != nil {
			b.view, b.at = b.tensor.view(p.c, q.Shape...), b.tensor.at*p.c.Unit(core.Inputs)
		} else {
			b.view, b.at = p.rows(q.Buffer), l.constants[q.Name].at
		}
		p.buffer[q.Name] = b
	}
	return ir.Try(func() { p.allocate(f.Body, turns) })
}

func (p *printer) fail(format string, args ...any) {
	panic(&ir.Error{Node: "@" + p.l.name, Msg: fmt.Sprintf(format, args...)})
}

// rows is the view of weights in rows, of tables in words outside, and of sums in vectors.
func (p *printer) rows(b ir.Buffer) view {
	lead, v := len(b.Shape)-1, view{strides: make([]int, len(b.Shape)), parts: 1}
	switch {
	case b.Type == ir.U8 || b.Type == ir.I8:
		lead, v.parts, v.plane = lead-1, p.c.Rows, 1
	case b.Name == "t" || b.Name == "ts":
		v.parts, v.plane = p.c.TableBeats(), 1
	}
	v.size = v.parts
	for d := lead - 1; d >= 0; d-- {
		v.strides[d] = v.size
		v.size *= b.Shape[d]
	}
	return v
}

// allocate gives the allocs of body their places, behind those of the last layer where there is
// room, so that loads run ahead of it. An alloc that two units use takes turns.
func (p *printer) allocate(body ir.Stmt, turns int) {
	var need [core.Sums + 1]int
	var all []*buffer
	var walk func(s ir.Stmt, times int)
	walk = func(s ir.Stmt, times int) {
		switch s := s.(type) {
		case *ir.Block:
			for _, t := range s.Stmts {
				walk(t, times)
			}
		case *ir.For:
			walk(s.Body, times*s.Extent)
		case *ir.Alloc:
			b := p.place(s)
			if b.turns == 0 {
				b.turns = min(turns, times)
			}
			unit := p.c.Unit(b.memory)
			b.size = (b.size + unit - 1) / unit * unit
			b.base = need[b.memory]
			need[b.memory] += b.size * b.turns
			p.buffer[s.Buf.Name], all = b, append(all, b)
			walk(s.Body, times)
		}
	}
	walk(body, 1)
	for m, n := range need {
		unit, has := p.c.Unit(core.Memory(m)), len(p.uses[m])
		if n > has*unit && m > 0 {
			panic(&ir.Error{Err: &SpaceError{p.l.name, core.Memory(m), n / unit}})
		}
		if p.top[m]+n > has*unit {
			p.top[m] = 0
		}
	}
	for _, b := range all {
		b.base += p.top[b.memory]
	}
	for m, n := range need {
		p.top[m] += n
	}
}

// place finds the memory of an alloc by the instruction that fills it. Sums that no instruction
// stores have one place.
func (p *printer) place(a *ir.Alloc) *buffer {
	var b *buffer
	turns := 1
	for s := range ir.Stmts(a.Body) {
		c, ok := s.(*ir.Call)
		if !ok {
			continue
		}
		switch to := operations[c.Fn.Name].Target(); {
		case c.Args[0].Buf == a.Buf.Name && b == nil:
			b = &buffer{memory: to}
			if to == core.Inputs {
				b.tensor = p.buffer[c.Args[1].Buf].tensor
				b.view = b.tensor.view(p.c, a.Buf.Shape...)
			} else {
				b.view = p.rows(a.Buf)
			}
		case to == core.Outside && c.Args[1].Buf == a.Buf.Name:
			turns = 0
		}
	}
	if b == nil {
		p.fail("no instruction fills %%%s", a.Buf.Name)
	}
	if b.memory == core.Sums {
		b.turns = turns
	}
	return b
}

func (p *printer) stmt(s ir.Stmt, env map[string]int64) {
	switch s := s.(type) {
	case *ir.Block:
		for _, t := range s.Stmts {
			p.stmt(t, env)
		}
	case *ir.Comment:
	case *ir.Alloc:
		b := p.buffer[s.Buf.Name]
		b.at = b.base + b.turn*b.size
		b.turn = (b.turn + 1) % b.turns
		p.stmt(s.Body, env)
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
			p.stmt(s.Body, env)
		}
		delete(env, s.Var)
	case *ir.Call:
		p.call(s, nil, env)
	default:
		p.fail("%s is no instruction of the core", ir.StmtString(s))
	}
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
	divisor int // of addresses in an instruction
}

// operations are those of the instructions in tensor IR.
var operations = map[string]core.Op{"load_input": core.LoadInput, "load_weight": core.LoadWeight,
	"load_table": core.LoadTable, "planes": core.Planes, "bytes": core.Bytes, "take": core.Take, "take_add": core.Take,
	"level": core.Level, "largest": core.Largest, "zero": core.Zero, "store": core.Store}

// call prints a call in loops, the outermost first.
func (p *printer) call(c *ir.Call, loops []span, env map[string]int64) {
	values := map[string]ir.Expr{}
	for v, n := range env {
		values[v] = &ir.IntImm{T: ir.I64, V: n}
	}
	op := operations[c.Fn.Name]
	var ops []operand
	for _, w := range c.Args {
		o := operand{buf: p.buffer[w.Buf], divisor: 1}
		switch m := o.buf.memory; {
		case op == core.LoadInput, op.Unit() == core.Computing && op != core.Take:
			o.divisor = p.c.Unit(m)
		}
		for d, e := range w.Idx {
			if o.buf.strides[d] != 0 {
				o.at = o.at.Plus(int64(o.buf.strides[d]), arith.ToAffine(ir.Subst(e, values)))
			}
		}
		o.at.Const += int64(o.buf.at)
		ops = append(ops, o)
	}
	if op == core.Store {
		slices.Reverse(ops)
	}
	p.spans(c, ops, loops)
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

// emitted is an instruction with its operands.
type emitted struct {
	core.Instr
	ops []operand
}

// instr is the instruction for a call in loops; false if it cannot have these loops.
func (p *printer) instr(c *ir.Call, ops []operand, loops []span) (emitted, bool) {
	e := emitted{core.Instr{Op: operations[c.Fn.Name], Reset: c.Fn.Name == "take"}, ops}
	computes := e.Op.Unit() == core.Computing
	own := e.Op == core.Planes || e.Op == core.Take || e.Op == core.Store // loop 0 has a meaning of its own
	for f, o := range ops {
		e.At[f] = o.value(loops) / o.divisor
	}
	if own || !computes {
		x := ops[1].buf
		first := core.Loop{Count: x.parts}
		for f, o := range ops[:2] {
			first.Strides[f] = o.buf.plane / o.divisor
		}
		switch bytes := x.tensor != nil && x.tensor.bytes; {
		case e.Op == core.LoadInput && bytes:
			first = core.Loop{Count: c.Fn.Params[0].Elems() * 8 / p.c.Lanes, Strides: [3]int{1, 1}}
		case bytes:
			e.Op++ // TakeBytes, StoreBytes
		}
		if own || first.Count > 1 {
			e.Loops = append(e.Loops, first)
		}
	}
	for k, s := range slices.Backward(loops) {
		if s.n == 1 {
			continue
		}
		l := core.Loop{Count: s.n}
		for f, o := range ops {
			l.Strides[f] = (o.value(moveSpan(loops, k, s.first+1, 1)) - o.value(loops)) / o.divisor
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
	if computes && e.Op != core.Zero {
		for e.Inner < len(e.Loops) && e.Loops[e.Inner].Strides[0] == 0 {
			e.Inner++
		}
	}
	for k, l := range e.Loops {
		if computes && k >= e.Inner && l.Strides[0] == 0 || l.Count > math.MaxUint16 {
			return e, false
		}
	}
	return e, len(e.Loops) <= e.Op.Unit().MaxLoops()
}

// places lists the places of operand f, those of loops from on.
func (i *emitted) places(c core.Config, f, from int) []int {
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
	for k := range all {
		all[k] = all[k] * i.ops[f].divisor / c.Unit(i.ops[f].buf.memory)
	}
	return all
}

// emit adds an instruction. A zero waits for the reduction that begins with it.
func (p *printer) emit(i emitted) {
	sums := p.uses[core.Sums]
	switch unit := i.Op.Unit(); {
	case i.Op == core.Zero:
		for _, at := range i.places(p.c, 0, 0) {
			sums[at].pending = true
		}
		return
	case unit == core.Storing:
		p.flush(i.places(p.c, 0, 0))
	case unit == core.Computing:
		results, n := i.places(p.c, 0, i.Inner), 0
		for _, at := range results {
			if sums[at].pending {
				n++
			}
		}
		if i.Reset = i.Reset || n == len(results); !i.Reset && n > 0 {
			p.flush(results)
		}
		for _, at := range results {
			sums[at].pending = false
		}
		if i.ops[1].buf.memory == core.Sums {
			p.flush(i.places(p.c, 1, 0))
		}
	}
	p.add(i)
}

// flush makes those of some sums 0 that are pending.
func (p *printer) flush(at []int) {
	for _, k := range at {
		if u := &p.uses[core.Sums][k]; u.pending {
			u.pending = false
			p.add(emitted{core.Instr{Op: core.Zero, Reset: true, At: [3]int{k}},
				[]operand{{buf: &buffer{memory: core.Sums}, divisor: 1}}})
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
	for f, o := range i.ops {
		m := o.buf.memory
		writer := m.Writer()
		reader := (writer + 1) % 3
		writes := unit == writer && f == i.Op.Result()
		if !writes && unit != reader || m == core.Outside && o.buf.tensor == nil {
			continue
		}
		before := -1
		for _, at := range i.places(p.c, f, 0) {
			if at == before {
				continue
			}
			before = at
			if at >= len(p.uses[m]) {
				p.fail("place %d of the memory of %s is beyond its end", at, m)
			}
			if u := &p.uses[m][at]; writes {
				last[reader] = max(last[reader], u.read)
				u.wrote = n + 1
			} else {
				last[writer] = max(last[writer], u.wrote)
				u.read = n + 1
			}
		}
	}
	for other, k := range last {
		if k > p.seen[unit][other] {
			p.seen[unit][other] = k
			way := 1 // behind
			if (core.Unit(other)+1)%3 == unit {
				way = 0
			}
			p.out[n].Pop[way], p.out[k-1].Push[1-way] = true, true
		}
	}
}
