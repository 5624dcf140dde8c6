package judge

import (
	"fmt"
	"math"
	"math/rand/v2"

	"ripc/ir"
)

// draw makes random Funcs and expressions that provers find hard: conditions and indices that read
// memory stored in between, constants at the ends of all integer types, sums of all widths. A Func
// need not be right, only well-formed.
type draw struct {
	*rand.Rand
	names            int
	statementsLeft   int       // statements that may still be drawn
	vars             []ir.Loop // loops around
	bufs             []ir.Buffer
	writable         map[string]bool
	within           []within               // enclosing conditions on indices
	used             map[string][][]ir.Expr // indices of elements that were touched, by buffer
	independentLoops []string               // loops in which each iteration has elements of its own
}

// within says that an index is in 0..n-1, as far as a condition around says so.
type within struct {
	index ir.Expr
	n     int
}

func newDraw(number uint64) *draw {
	return &draw{Rand: rand.New(rand.NewPCG(number, 38)), writable: map[string]bool{}, used: map[string][][]ir.Expr{}}
}

func (d *draw) count(lo, hi int) int { return lo + d.IntN(hi-lo+1) }
func (d *draw) chance(of int) bool   { return d.IntN(of) == 0 }

func pickOne[T any](d *draw, from ...T) T { return from[d.IntN(len(from))] }

func (d *draw) name(stem string) string {
	d.names++
	return fmt.Sprintf("%s%d", stem, d.names)
}

func ints() []ir.Type {
	return []ir.Type{ir.I8, ir.I16, ir.I32, ir.I64, ir.U8, ir.U16, ir.U32, ir.U64}
}

func bin(op ir.BinOp, a, b ir.Expr) ir.Expr { return &ir.Binary{Op: op, A: a, B: b} }

// constant is a number of type t, mostly a small one or one near an end.
func (d *draw) constant(t ir.Type) ir.Expr {
	if t == ir.Bool {
		return ir.Const(t, int64(d.IntN(2)))
	}
	lo, hi := t.Limits().From, t.Limits().To
	if t == ir.U64 && d.chance(4) {
		return ir.Const(t, pickOne(d, int64(-1), -2, math.MinInt64, math.MinInt64+1, -17))
	}
	switch d.IntN(4) {
	case 0:
		return ir.Const(t, pickOne(d, lo, lo+1, hi, hi-1, hi/2+1, lo/2))
	case 1:
		return ir.Const(t, lo+int64(d.Uint64()%max(uint64(hi-lo), 1)))
	}
	return ir.Const(t, min(hi, max(lo, int64(d.count(-3, 12)))))
}

// expr is an expression of type t, an integer or bool, up to depth operators deep.
func (d *draw) expr(t ir.Type, depth int) ir.Expr {
	if depth <= 0 || d.chance(5) {
		return d.leaf(t)
	}
	sub := func() ir.Expr { return d.expr(t, depth-1) }
	if t == ir.Bool {
		switch d.IntN(6) {
		case 0:
			return ir.Un(ir.Not, sub())
		case 1:
			return bin(pickOne(d, ir.And, ir.Or, ir.Xor, ir.Eq, ir.Ne), sub(), sub())
		}
		return d.compare(depth - 1)
	}
	bits := int64(t.Bits())
	switch d.IntN(16) {
	case 0:
		return ir.Un(pickOne(d, ir.Neg, ir.Not, ir.Popcount, ir.Abs), sub())
	case 1, 2:
		divisor := int64(d.count(1, 9))
		if d.chance(4) {
			divisor = pickOne(d, t.Limits().To, t.Limits().To/2+1, 100)
		}
		return bin(pickOne(d, ir.Div, ir.Mod), sub(), ir.Const(t, divisor))
	case 3:
		n := ir.Const(t, int64(d.IntN(int(bits))))
		if d.chance(3) {
			n = bin(ir.And, sub(), ir.Const(t, bits-1))
		}
		return bin(pickOne(d, ir.Shl, ir.Shr), sub(), n)
	case 4:
		return &ir.Select{Cond: d.expr(ir.Bool, depth-1), A: sub(), B: sub()}
	case 5, 6:
		return ir.CastTo(t, d.expr(pickOne(d, append(ints(), ir.Bool)...), depth-1))
	case 7:
		for _, from := range ints() {
			if from.Bits() == t.Bits() && from != t {
				return &ir.Bitcast{T: t, A: d.expr(from, depth-1)}
			}
		}
	case 8, 9, 10:
		return bin(pickOne(d, ir.Min, ir.Max), sub(), sub())
	}
	return bin(pickOne(d, ir.Add, ir.Sub, ir.Mul, ir.Add, ir.Sub, ir.And, ir.Or, ir.Xor), sub(), sub())
}

func (d *draw) leaf(t ir.Type) ir.Expr {
	switch d.IntN(4) {
	case 0:
		return d.constant(t)
	case 1:
		if e := d.load(t); e != nil {
			return e
		}
	}
	if len(d.vars) == 0 || t == ir.Bool {
		if e := d.load(t); e != nil {
			return e
		}
		return d.constant(t)
	}
	return ir.CastTo(t, ir.V(pickOne(d, d.vars...).Var))
}

// compare compares integers, at times with the least or the largest one.
func (d *draw) compare(depth int) ir.Expr {
	op := ir.BinOp(d.count(int(ir.Eq), int(ir.Ge)))
	t := ir.I64
	if d.chance(3) {
		t = pickOne(d, ints()...)
	}
	a, b := d.expr(t, depth), d.expr(t, depth)
	if d.chance(3) {
		b = d.constant(t)
	}
	if d.chance(2) {
		a, b = b, a
	}
	return bin(op, a, b)
}

// load is an element of a buffer of type t, nil if there is none.
func (d *draw) load(t ir.Type) ir.Expr {
	var of []ir.Buffer
	for _, b := range d.bufs {
		if b.Type == t {
			of = append(of, b)
		}
	}
	if len(of) == 0 {
		return nil
	}
	b := pickOne(d, of...)
	return ir.At(b, d.places(b.Shape)...)
}

// constantIndex is an index in 0..n-1 that reads nothing.
func (d *draw) constantIndex(n int) ir.Expr {
	if len(d.vars) > 0 && !d.chance(4) {
		if v := pickOne(d, d.vars...); v.Extent <= n {
			return ir.V(v.Var)
		} else if d.chance(2) {
			return bin(ir.Min, ir.V(v.Var), ir.Int(n-1))
		}
	}
	return ir.Int(d.IntN(n))
}

// read is an i64 that reads a buffer, if there is one to read.
func (d *draw) read() ir.Expr {
	b := pickOne(d, d.bufs...)
	if e := d.load(b.Type); e != nil {
		return ir.CastTo(ir.I64, e)
	}
	return ir.Int(1)
}

// index is meant to be in 0..n-1, for a reason that holds or not.
func (d *draw) index(n int) ir.Expr {
	switch d.IntN(12) {
	case 0, 1, 2:
		return d.constantIndex(n)
	case 3, 4: // of a condition around
		if len(d.within) > 0 {
			return pickOne(d, d.within...).index
		}
	case 5, 6:
		return bin(ir.Max, bin(ir.Min, d.read(), ir.Int(n-1)), ir.Int(0))
	case 7: // of numbers without a sign
		t := pickOne(d, ir.U8, ir.U16, ir.U32, ir.U64, ir.U64)
		return bin(ir.Min, ir.CastTo(ir.I64, d.expr(t, 3)), ir.Int(n-1))
	case 8:
		return bin(ir.Mod, d.expr(ir.I64, 2), ir.Int(n))
	case 9:
		return bin(ir.Min, bin(ir.Max, d.expr(ir.I64, 2), ir.Int(0)), ir.Int(n-1))
	case 10:
		if len(d.vars) > 0 {
			return bin(pickOne(d, ir.Add, ir.Sub), ir.V(pickOne(d, d.vars...).Var), ir.Int(d.IntN(2)))
		}
	case 11: // wrong, but where nothing gets
		if len(d.within) > 0 {
			return ir.Int(n + 90)
		}
	}
	return d.constantIndex(n)
}

// element is indices of b, often ones that were used before.
func (d *draw) element(b ir.Buffer) []ir.Expr {
	if old := d.used[b.Name]; len(old) > 0 && d.chance(2) {
		if idx := pickOne(d, old...); d.inScope(idx) {
			return idx
		}
	}
	var idx []ir.Expr
	for _, n := range b.Shape {
		idx = append(idx, d.index(n))
	}
	d.used[b.Name] = append(d.used[b.Name], idx)
	return idx
}

// inScope reports whether all loops and buffers that idx names are there.
func (d *draw) inScope(idx []ir.Expr) bool {
	ok := true
	for _, e := range idx {
		ir.WalkExpr(e, func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Var:
				found := false
				for _, l := range d.vars {
					found = found || l.Var == e.Name
				}
				ok = ok && found
			case *ir.Load:
				found := false
				for _, b := range d.bufs {
					found = found || b.Name == e.Buf
				}
				ok = ok && found
			}
			return ok
		})
	}
	return ok
}

// buffer is one of a few elements.
func (d *draw) buffer(t ir.Type) ir.Buffer {
	b := ir.Buffer{Name: d.name("b"), Type: t, Shape: []int{d.count(1, 4)}}
	if d.chance(3) {
		b.Shape = append(b.Shape, d.count(1, 3))
	}
	return b
}

// function is a whole Func.
func (d *draw) function() *ir.Func {
	f := &ir.Func{Name: "f"}
	d.statementsLeft = d.count(3, 9)
	for range d.count(1, 2) {
		b := d.buffer(pickOne(d, ints()...))
		f.Params = append(f.Params, ir.Param{Buffer: b})
		d.bufs = append(d.bufs, b)
	}
	for range d.count(1, 2) {
		b := d.buffer(pickOne(d, ints()...))
		f.Params = append(f.Params, ir.Param{Buffer: b, Out: true})
		d.bufs = append(d.bufs, b)
		d.writable[b.Name] = true
	}
	if d.chance(2) {
		f.Body = d.alloc(0)
	} else {
		f.Body = d.block(0)
	}
	return f
}

func (d *draw) block(depth int) ir.Stmt {
	var ss []ir.Stmt
	for range d.count(1, 4) {
		if d.statementsLeft > 0 {
			ss = append(ss, d.statement(depth))
		}
	}
	return ir.Seq(ss...)
}

func (d *draw) statement(depth int) ir.Stmt {
	d.statementsLeft--
	if d.chance(6) {
		return d.moveStatement()
	}
	if depth < 3 {
		switch d.IntN(10) {
		case 0, 1:
			return d.loop(depth)
		case 2, 3:
			return d.branch(depth)
		case 4:
			return d.alloc(depth)
		}
	}
	return d.store()
}

func (d *draw) loop(depth int) ir.Stmt {
	l := ir.Loop{Var: d.name("i"), Extent: d.count(1, 5)}
	d.vars = append(d.vars, l)
	body := d.block(depth + 1)
	d.vars = d.vars[:len(d.vars)-1]
	kind := ir.Serial
	if d.chance(6) {
		kind = pickOne(d, ir.Vectorize, ir.Parallel, ir.Unroll)
	}
	return &ir.For{Var: l.Var, Extent: l.Extent, Kind: kind, Body: body}
}

// branch is an If, mostly of a condition that says that an index is inside.
func (d *draw) branch(depth int) ir.Stmt {
	cond := d.expr(ir.Bool, 2)
	known, n := d.expr(ir.I64, 1), d.count(1, 4)
	if d.chance(2) {
		known = d.read()
	}
	negated := false
	switch d.IntN(4) {
	case 0:
	case 1:
		cond = d.compare(0)
	case 2:
		negated = true
		cond = bin(ir.Or, bin(ir.Lt, known, ir.Int(0)), bin(ir.Ge, known, ir.Int(n)))
	default:
		cond = bin(ir.And, bin(ir.Ge, known, ir.Int(0)), bin(ir.Lt, known, ir.Int(n)))
	}
	inside := func(guarded bool) ir.Stmt {
		old := d.within
		if guarded {
			d.within = append(old[:len(old):len(old)], within{known, n})
		}
		s := d.block(depth + 1)
		d.within = old
		return s
	}
	s := &ir.If{Cond: cond, Then: inside(!negated)}
	if negated || d.chance(3) {
		s.Else = inside(negated)
	}
	return s
}

// alloc is a buffer, a nest that fills it, and statements that may use it.
func (d *draw) alloc(depth int) ir.Stmt {
	b := d.buffer(pickOne(d, ints()...))
	var nest []ir.Loop
	var idx []ir.Expr
	for _, n := range b.Shape {
		l := ir.Loop{Var: d.name("z"), Extent: n}
		nest, idx = append(nest, l), append(idx, ir.V(l.Var))
	}
	var val ir.Expr = ir.Const(b.Type, int64(d.IntN(3)))
	if d.chance(2) {
		d.vars = append(d.vars, nest...)
		val = d.expr(b.Type, 1)
		d.vars = d.vars[:len(d.vars)-len(nest)]
	}
	fill := ir.Nest(nest, &ir.Store{Buf: b.Name, Idx: idx, Val: val})
	d.bufs = append(d.bufs, b)
	d.writable[b.Name] = true
	rest := d.block(depth + 1)
	out := ir.Stmt(&ir.Alloc{Buf: b, Body: ir.Seq(fill, rest)})
	d.bufs = d.bufs[:len(d.bufs)-1]
	return out
}

// moveStatement is stores to elements at an index that reads an element, which changes in between:
// under a condition on it, or where the index is clamped; at times in a loop of its own, in which
// each iteration has elements of its own.
func (d *draw) moveStatement() ir.Stmt {
	read, b := pickOne(d, d.outputs()...), pickOne(d, d.outputs()...)
	at, idx := d.places(read.Shape), d.places(b.Shape)
	guarded, own := d.chance(2), len(b.Shape) == 2 && b.Shape[0] > 1 && d.chance(2)
	l := ir.Loop{Var: d.name("i"), Extent: b.Shape[0]}
	if own {
		d.independentLoops = append(d.independentLoops, l.Var)
		read = ir.Buffer{Name: d.name("b"), Type: read.Type, Shape: b.Shape[:1]}
		at, idx, guarded = []ir.Expr{ir.V(l.Var)}, []ir.Expr{ir.V(l.Var), nil}, false
	}
	set := func() ir.Stmt {
		val := ir.Expr(ir.Const(read.Type, int64(d.IntN(4))))
		if d.chance(3) {
			val = d.leaf(read.Type)
		}
		return &ir.Store{Buf: read.Name, Idx: at, Val: val}
	}
	last := len(b.Shape) - 1
	n := b.Shape[last]
	index := ir.CastTo(ir.I64, ir.At(read, at...))
	if idx[last] = index; !guarded {
		idx[last] = bin(ir.Max, bin(ir.Min, index, ir.Int(n-1)), ir.Int(0))
	}
	use := func(op ir.StoreOp) ir.Stmt {
		return &ir.Store{Buf: b.Name, Idx: idx, Op: op,
			Val: ir.Const(b.Type, pickOne(d, 1, min(200, b.Type.Limits().To), 100))}
	}
	ss := []ir.Stmt{use(ir.Assign), set(), use(pickOne(d, ir.AddTo, ir.AddTo, ir.Assign))}
	if d.chance(2) {
		ss = append(ss, set(), use(ir.AddTo))
	}
	if guarded {
		inside := bin(ir.And, bin(ir.Ge, index, ir.Int(0)), bin(ir.Lt, index, ir.Int(n)))
		return &ir.If{Cond: inside, Then: ir.Seq(ss...)}
	}
	all := ir.Seq(append([]ir.Stmt{set()}, ss...)...)
	if own {
		return &ir.Alloc{Buf: read, Body: ir.Nest([]ir.Loop{l}, all)}
	}
	return all
}

// places are indices of an element that read nothing.
func (d *draw) places(shape []int) (idx []ir.Expr) {
	for _, n := range shape {
		idx = append(idx, d.constantIndex(n))
	}
	return idx
}

// outputs are the buffers that may be written here.
func (d *draw) outputs() []ir.Buffer {
	var of []ir.Buffer
	for _, b := range d.bufs {
		if d.writable[b.Name] {
			of = append(of, b)
		}
	}
	return of
}

func (d *draw) store() ir.Stmt {
	b := pickOne(d, d.outputs()...)
	s := &ir.Store{Buf: b.Name, Idx: d.element(b),
		Op: pickOne(d, ir.Assign, ir.Assign, ir.Assign, ir.AddTo, ir.AddTo, ir.AddTo, ir.OrTo, ir.MinTo, ir.MaxTo)}
	switch d.IntN(5) {
	case 0:
		s.Val = d.expr(b.Type, 2)
	case 1: // a sum
		s.Op = ir.Assign
		s.Val = bin(pickOne(d, ir.Add, ir.Sub), ir.At(b, s.Idx...), d.constant(b.Type))
	case 2:
		s.Val = d.leaf(b.Type)
	default: // some of them fit
		s.Val = ir.Const(b.Type, pickOne(d, int64(0), 1, 1, 3, 100, min(200, b.Type.Limits().To)))
	}
	return s
}
