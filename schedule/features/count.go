package features

import (
	"cmp"
	"math"
	"slices"

	"ripc/ir"
)

// Kinds of operations and widths of their elements.
const (
	opAdd = iota
	opMul
	opFma
	opBits
	opShift
	opCount
	opCompare
	opCast
	opDivide
	opRound
	operationKinds
)

func operationNames() [operationKinds]string {
	return [...]string{"add", "mul", "fma", "bits", "shift", "count", "compare", "cast", "divide", "round"}
}

const (
	w8 = iota
	w16
	w32
	w64
	wFloat
	widths
)

func widthNames() [widths]string { return [...]string{".8", ".16", ".32", ".64", ".f32"} }

func widthOf(t ir.Type) int {
	switch {
	case t.IsFloat():
		return wFloat
	case t.Bits() <= 8:
		return w8
	case t.Bits() <= 16:
		return w16
	case t.Bits() <= 32:
		return w32
	}
	return w64
}

// Ways to get at memory.
const (
	neighbours = iota // a vector of neighbours
	one               // one element, for all lanes if there are several
	scattered         // an element for each lane
	window            // an operand of an instruction

	// Accesses of one of the kinds above are counted here as well.
	pieces  // as many as blocks, a power of two of neighbouring lanes that read the same, of lanes that go one by one
	far     // from one iteration to the next the address moves by a page or more
	aliased // it moves by whole pages: to the same sets of a cache
	shared  // of a buffer that the threads of a block share
	accessKinds
)

func accessNames() [accessKinds]string {
	return [...]string{"neighbours", "one", "scattered", "window", "pieces", "far", "aliased", "shared"}
}

// page is the number of bytes of a page of memory. Caches of the first level have about as many
// bytes a way.
const page = 4096

// accesses are numbers of accesses of a kind.
type accesses struct{ loads, stores float64 }

// add adds more, times a factor.
func (m *accesses) add(more accesses, factor float64) {
	m.loads += more.loads * factor
	m.stores += more.stores * factor
}

// product is how often something is executed that depends on the loops at some depths: loops that
// are written out count where it depends on them, up to the first that is not. Lanes of a vector
// are executed together.
func product(path []*node, depend uint64) float64 {
	n, outside := 1.0, false
	for _, p := range slices.Backward(path) {
		switch {
		case p.share > 0:
			n *= p.share
		case p.lanes:
		case p.written && !outside && depend&p.bit() == 0:
		default:
			outside = outside || !p.written
			n *= float64(p.loop.Extent)
		}
	}
	return n
}

// written returns the depths of the loops around a statement that are written out, up to the first
// that is not.
func written(path []*node) (depths uint64) {
	for _, p := range slices.Backward(path) {
		switch {
		case p.share > 0 || p.lanes:
		case !p.written:
			return depths
		default:
			depths |= p.bit()
		}
	}
	return depths
}

// distinct is the share of the iterations of loops at some depths that read another address: a
// compiler loads an element of several windows once.
func (a *access) distinct(depths uint64) float64 {
	all, different := 1.0, 1.0
	for _, n := range a.path {
		if depths&a.depend&n.bit() != 0 {
			all *= float64(n.loop.Extent)
		}
	}
	for _, x := range a.dims {
		if x.any {
			return 1
		}
		different *= x.values(a.path, depths)
	}
	return min(1, different/all)
}

// values is the number of values that the loops at some depths give to an index.
func (x *index) values(path []*node, depths uint64) float64 {
	var terms []term
	for _, t := range x.terms {
		if depths>>t.depth&1 != 0 && t.coef != 0 {
			terms = append(terms, term{depth: t.depth, coef: math.Abs(t.coef)})
		}
	}
	if len(terms) == 0 {
		return 1
	}
	slices.SortFunc(terms, func(a, b term) int { return cmp.Compare(a.coef, b.coef) })
	n, unit, dense := 1.0, terms[0].coef, true // n multiples of unit, side by side if dense
	for _, t := range terms {
		extent, step := float64(path[t.depth].loop.Extent), t.coef/unit
		if dense = dense && step <= n && step == math.Trunc(step); dense {
			n += step * (extent - 1)
		} else {
			n *= extent
		}
	}
	return n
}

// lane is the loop with lanes as iterations, nil if there is none.
func lane(path []*node) *node {
	for _, p := range slices.Backward(path) {
		if p.lanes {
			return p
		}
	}
	return nil
}

// vectorBits are those of a register; chips without vectors have words.
func (k *kernel) vectorBits() float64 { return float64(max(ir.U32.Bits(), k.target.VectorBits)) }

// registers is how many vector registers hold n elements, 1 if they are one.
func (k *kernel) registers(n int, t ir.Type) float64 {
	if n <= 1 {
		return 1
	}
	return max(1, math.Ceil(float64(n*max(8, t.Bits()))/k.vectorBits()))
}

// count counts the instructions of a statement.
func (k *kernel) count(s *site) {
	l := lane(s.path)
	var vector uint64
	lanes := 1
	if l != nil {
		vector, lanes = l.bit(), l.loop.Extent
	}
	s.written = written(s.path)
	for i := s.from; i < s.to; i++ {
		k.move(s, &k.all[i], vector, lanes)
	}
	counted := map[ir.Expr]bool{}
	if st, ok := s.stmt.(*ir.Store); ok {
		for _, i := range st.Idx {
			k.address(s, i, counted)
		}
	}
	for ld := range s.loads {
		for _, i := range ld.Idx {
			k.address(s, i, counted)
		}
	}
	if c, ok := s.stmt.(*ir.Call); ok {
		n, bits := product(s.path, math.MaxUint64), k.bitsOf(c.Fn)
		if m, ok := k.Describer.instructions[c.Fn.Name]; ok {
			k.called[m] += n
			k.calledWork[m] += n * max(1, bits/k.vectorBits())
		}
		k.work += n * bits
		n *= max(1, bits/k.vectorBits())
		k.calls += n
		s.cost += n
	}
	if s.value == nil {
		return
	}
	seen := map[ir.Expr]value{}
	k.value(s, s.value, vector, lanes, seen)
	if st, ok := s.stmt.(*ir.Store); ok && st.Op != ir.Assign {
		op := opAdd
		switch st.Op {
		case ir.OrTo:
			op = opBits
		case ir.MinTo, ir.MaxTo:
			op = opCompare
		}
		k.operate(s, op, st.Val.Type(), value{math.MaxUint64, 1}, vector, lanes)
	}
}

// move counts a load or store of memory; a store that adds loads, too.
func (k *kernel) move(s *site, a *access, vector uint64, lanes int) {
	depend := a.depend
	if st, ok := s.stmt.(*ir.Store); ok && a.store && st.Op == ir.Assign {
		depend = math.MaxUint64
	}
	a.trips = product(s.path, depend)
	if !a.store && a.size == nil {
		a.share = a.distinct(s.written)
		a.trips *= a.share
	}
	if a.buf.kept {
		return
	}
	kind, n := one, 1.0
	switch {
	case a.size != nil:
		kind, n = window, k.registers(int(a.width), a.buf.Type)
	case depend&vector != 0 && a.depend&vector != 0:
		kind, n = neighbours, k.registers(lanes, a.buf.Type)
		if !a.contiguous(vector) {
			kind, n = scattered, float64(lanes)
		}
	}
	n *= a.trips
	var moves accesses
	st, isStore := s.stmt.(*ir.Store)
	switch {
	case !a.store:
		moves.loads = n
	case isStore && st.Op == ir.Assign:
		moves.stores = n
	default: // adds to the element in memory
		moves = accesses{n, n}
	}
	k.memory[kind].add(moves, 1)
	if each := a.each(); each > 0 {
		k.memory[pieces].add(moves, 1/float64(each&-each))
	}
	if a.buf.Space == ir.Shared {
		k.memory[shared].add(moves, 1)
	}
	switch step := math.Abs(a.step()); {
	case step >= page && math.Mod(step, page) == 0:
		k.memory[aliased].add(moves, 1)
	case step >= page:
		k.memory[far].add(moves, 1)
	}
	s.cost += moves.loads + moves.stores
}

// contiguous reports whether the lanes are neighbours in memory.
func (a *access) contiguous(vector uint64) bool {
	if len(a.dims) == 0 {
		return false
	}
	last := len(a.dims) - 1
	for _, x := range a.dims[:last] {
		if x.depths()&vector != 0 {
			return false
		}
	}
	for _, t := range a.dims[last].terms {
		if vector == 1<<t.depth {
			return t.coef == 1 && !a.dims[last].any
		}
	}
	return false
}

// address counts the operations of an index that no address mode does: all but sums and multiples.
// It returns the depths that e depends on.
func (k *kernel) address(s *site, e ir.Expr, seen map[ir.Expr]bool) uint64 {
	var d uint64
	counted := true
	switch e := e.(type) {
	case *ir.Var:
		for _, n := range slices.Backward(s.path) {
			if n.loop.Var == e.Name {
				return n.bit()
			}
		}
		return 0
	case *ir.Binary:
		d = k.address(s, e.A, seen) | k.address(s, e.B, seen)
		counted = e.Op != ir.Add && e.Op != ir.Sub && e.Op != ir.Mul && e.Op != ir.Shl
	case *ir.Select:
		d = k.address(s, e.Cond, seen) | k.address(s, e.A, seen) | k.address(s, e.B, seen)
	case *ir.Unary:
		d = k.address(s, e.A, seen)
	case *ir.Cast:
		d, counted = k.address(s, e.A, seen), false
	case *ir.Load: // its own index is counted where it is read
		for _, i := range e.Idx {
			d |= k.address(s, i, seen)
		}
		counted = false
	default:
		counted = false
	}
	if counted && d != 0 && !seen[e] {
		seen[e] = true
		k.indexed += product(s.path, d)
	}
	return d
}

// each returns for how many neighbouring lanes, which go one by one, the address stays the same; 0
// if it is no quotient.
func (a *access) each() int {
	for _, n := range a.path {
		if n.loop.Kind != ir.Vectorize || n.lanes {
			continue
		}
		for _, x := range a.dims {
			for _, t := range x.terms {
				if t.depth == n.depth && t.each > 0 {
					return t.each
				}
			}
		}
	}
	return 0
}

// step returns the number of bytes by which the address moves in the innermost loop that it depends
// on.
func (a *access) step() float64 {
	for _, n := range slices.Backward(a.path) {
		if n.lanes || a.depend&n.bit() == 0 {
			continue
		}
		step, size := 0.0, float64(max(8, a.buf.Type.Bits()))/8
		for i, x := range slices.Backward(a.dims) {
			for _, t := range x.terms {
				if n.bit() == 1<<t.depth {
					step += t.coef * size
				}
			}
			size *= float64(a.buf.Shape[i])
		}
		return step
	}
	return 0
}

// value describes an expression: the depths of loops that it depends on, and the share of their
// iterations with operands of their own.
type value struct {
	depths uint64
	share  float64
}

// combine is the value of an expression of both, in which loops at some depths are written out.
func (v value) combine(o value, written uint64) value {
	share := 1.0
	switch {
	case o.depths&written == 0 || v == o:
		share = v.share
	case v.depths&written == 0:
		share = o.share
	}
	return value{v.depths | o.depths, share}
}

// value counts the operations of an expression, parts that are equal once.
func (k *kernel) value(s *site, e ir.Expr, vector uint64, lanes int, seen map[ir.Expr]value) value {
	if v, ok := seen[e]; ok {
		return v
	}
	v := value{share: 1}
	visit := func(parts ...ir.Expr) {
		for _, p := range parts {
			v = k.value(s, p, vector, lanes, seen).combine(v, s.written)
		}
	}
	operate := func(op int, t ir.Type) { k.operate(s, op, t, v, vector, lanes) }
	switch e := e.(type) {
	case *ir.Var:
		for _, n := range s.path {
			if n.loop.Var == e.Name {
				v.depths = n.bit()
			}
		}
	case *ir.Load:
		a := &k.all[s.loads[e]]
		v = value{a.depend, a.share}
		if e.Idx == nil || a.buf.local { // it may change from one iteration to the next
			v.depths |= outer(s.path)
		}
	case *ir.Binary:
		visit(e.A, e.B)
		operate(binaryKind(e.Op), e.A.Type())
	case *ir.Unary:
		visit(e.A)
		operate(unaryKind(e.Op), e.Type())
	case *ir.Select:
		visit(e.Cond, e.A, e.B)
		operate(opCompare, e.Type())
	case *ir.Cast:
		visit(e.A)
		t := e.T
		if e.A.Type().Bits() > t.Bits() {
			t = e.A.Type()
		}
		operate(opCast, t)
	case *ir.Bitcast:
		visit(e.A)
	case *ir.Fma:
		visit(e.A, e.B, e.C)
		operate(opFma, ir.F32)
	}
	seen[e] = v
	return v
}

// outer are the depths of loops that are not written out.
func outer(path []*node) uint64 {
	var d uint64
	for _, n := range path {
		if !n.written {
			d |= n.bit()
		}
	}
	return d
}

// operate counts one operation of a statement.
func (k *kernel) operate(s *site, op int, t ir.Type, v value, vector uint64, lanes int) {
	if t == ir.Bool {
		t = ir.U8
	}
	n, elements, depend := 1.0, product(s.path, v.depths), v.depths
	trips := v.share * elements
	if depend&vector != 0 {
		n, elements = k.registers(lanes, t), elements*float64(lanes)
		k.vector += n * trips
	}
	n *= trips
	if op == opCount {
		n *= float64(max(1, k.target.CountOps))
	}
	if depend&vector != 0 {
		k.vectors[op][widthOf(t)] += n
	}
	k.ops[op][widthOf(t)] += n
	k.operations += n
	k.work += elements * float64(t.Bits())
	s.cost += n
}

func binaryKind(op ir.BinOp) int {
	switch op {
	case ir.Add, ir.Sub:
		return opAdd
	case ir.Mul:
		return opMul
	case ir.Div, ir.Mod:
		return opDivide
	case ir.And, ir.Or, ir.Xor:
		return opBits
	case ir.Shl, ir.Shr:
		return opShift
	}
	return opCompare
}

func unaryKind(op ir.UnOp) int {
	switch op {
	case ir.Neg:
		return opAdd
	case ir.Not:
		return opBits
	case ir.Popcount:
		return opCount
	case ir.Sqrt:
		return opDivide
	}
	return opRound
}

// bitsOf is the number of bits of elements that an instruction of targets/isa computes.
func (k *kernel) bitsOf(f *ir.Func) float64 {
	bits := 0.0
	var walk func(s ir.Stmt, trips float64)
	walk = func(s ir.Stmt, trips float64) {
		switch s := s.(type) {
		case *ir.For:
			walk(s.Body, trips*float64(s.Extent))
		case *ir.Block:
			for _, t := range s.Stmts {
				walk(t, trips)
			}
		case *ir.Store:
			n := 1.0
			ir.WalkExpr(s.Val, func(e ir.Expr) bool {
				switch e := e.(type) {
				case *ir.Load:
					return false
				case *ir.Binary:
					n++
				case *ir.Unary:
					n++
					if e.Op == ir.Popcount && e.Type().Bits() > 8 {
						n += float64(k.target.CountOps - 1)
					}
				}
				return true
			})
			bits += n * trips * float64(s.Val.Type().Bits())
		}
	}
	walk(f.Body, 1)
	return bits
}

// moves are the accesses of all kinds.
func (k *kernel) moves() (all accesses) {
	for _, m := range k.memory[:pieces] {
		all.add(m, 1)
	}
	return all
}

// instructions is about how many there are.
func (k *kernel) instructions() float64 {
	moves := k.moves()
	return k.operations + k.calls + moves.loads + moves.stores + 2*k.iterations + k.branches + k.spills
}
