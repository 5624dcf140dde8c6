package features

import (
	"math"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
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
	accessKinds
)

func accessNames() [accessKinds]string {
	return [...]string{"neighbours", "one", "scattered", "window"}
}

// kernel is what is found out about a Func.
type kernel struct {
	*Describer
	bufs  map[string]*buffer
	root  *node
	sites []*site
	all   []access // in program order: a node's lie side by side

	work float64 // bits of elements of arithmetic, each as often as it is computed
	ops  [operationKinds][widths]float64
	// operations are instructions of arithmetic, vector those of them on vectors.
	operations, vector float64
	memory             [accessKinds]struct{ loads, stores float64 }
	calls              float64 // instructions of Calls
	called             []float64
	iterations         float64 // of loops that are not written out
	branches           float64
	addresses          float64 // indices that are more than a loop's variable
	spills             float64 // instructions by which registers that are too few go over memory
	kept               float64 // registers' worth of buffers that can be in registers, around the hottest statement
	onStack            float64 // bytes of buffers that cannot
	body               float64 // instructions of the hottest loop that is not written out, written out what it holds
	loopKinds          [4]float64
	parallel           float64
	hot                *site
}

// node is a loop, or the Func.
type node struct {
	loop     *ir.For
	parent   *node
	depth    int // of loops around it
	children []*node
	from, to int // its accesses in kernel.all
	lanes    bool
	written  bool // written out: unrolled, or a vector
	bytes    float64
}

// buffer is one of the Func.
type buffer struct {
	ir.Buffer
	number  int
	local   bool
	depth   int // of loops around its Alloc
	kept    bool
	touched []float64 // scratch
}

// term says that an index moves by coef when the loop at a depth does.
type term struct {
	depth int
	coef  float64
}

// index is what one index depends on.
type index struct {
	terms []term
	any   bool // it is looked up, or computed otherwise: all of the dimension
}

// access is one load or store, or the window of a Call.
type access struct {
	buf    *buffer
	dims   []index
	size   []int // of a window, in the trailing dimensions
	store  bool
	path   []*node
	depend uint64 // depths that the address depends on
	width  float64
	trips  float64 // how often it is executed, lanes together
}

// site is a statement that does something.
type site struct {
	stmt     ir.Stmt
	path     []*node
	from, to int // its accesses
	loads    map[*ir.Load]int
	value    ir.Expr
	cost     float64
	live     []*buffer // local buffers around it
}

func newKernel(f *ir.Func, d *Describer) *kernel {
	k := &kernel{Describer: d, bufs: map[string]*buffer{}, root: &node{depth: -1}, called: make([]float64, len(meanings()))}
	for _, p := range f.Params {
		k.buffer(p.Buffer, false, 0)
	}
	k.collect(f.Body, k.root, nil, nil)
	k.root.to = len(k.all)
	k.keep()
	for _, s := range k.sites {
		k.count(s)
		if k.hot == nil || s.cost > k.hot.cost {
			k.hot = s
		}
	}
	k.pressure()
	return k
}

func (k *kernel) buffer(b ir.Buffer, local bool, depth int) *buffer {
	x := &buffer{Buffer: b, number: len(k.bufs), local: local, depth: depth, kept: local, touched: make([]float64, max(1, len(b.Shape)))}
	k.bufs[b.Name] = x
	return x
}

// collect makes nodes, sites and accesses.
func (k *kernel) collect(s ir.Stmt, at *node, path []*node, live []*buffer) {
	switch s := s.(type) {
	case *ir.For:
		n := &node{loop: s, parent: at, depth: len(path), from: len(k.all)}
		n.lanes = s.Kind == ir.Vectorize && !arith.Scattered(s)
		n.written = s.Kind == ir.Unroll || s.Kind == ir.Vectorize
		at.children = append(at.children, n)
		k.loopKinds[s.Kind]++
		if s.Kind == ir.Parallel {
			k.parallel = max(k.parallel, float64(s.Extent))
		}
		path = append(path[:len(path):len(path)], n)
		if !n.written {
			k.iterations += product(path, math.MaxUint64)
		}
		k.collect(s.Body, n, path, live)
		n.to = len(k.all)
	case *ir.Block:
		for _, t := range s.Stmts {
			k.collect(t, at, path, live)
		}
	case *ir.Alloc:
		b := k.buffer(s.Buf, true, len(path))
		k.collect(s.Body, at, path, append(live[:len(live):len(live)], b))
	case *ir.If:
		x := k.site(s, path, live)
		k.reads(x, s.Cond)
		x.to = len(k.all)
		k.branches += product(path, math.MaxUint64)
		k.collect(s.Then, at, path, live)
		if s.Else != nil {
			k.collect(s.Else, at, path, live)
		}
	case *ir.Store:
		x := k.site(s, path, live)
		k.reads(x, s.Val)
		k.access(s.Buf, s.Idx, nil, true, path)
		x.to = len(k.all)
	case *ir.Call:
		x := k.site(s, path, live)
		for i, w := range s.Args {
			k.access(w.Buf, w.Idx, s.Fn.Params[i].Shape, s.Fn.Params[i].Out, path)
		}
		x.to = len(k.all)
	}
}

func (k *kernel) site(s ir.Stmt, path []*node, live []*buffer) *site {
	x := &site{stmt: s, path: path, live: live, from: len(k.all)}
	k.sites = append(k.sites, x)
	return x
}

// reads finds the loads of an expression, equal ones once.
func (k *kernel) reads(s *site, e ir.Expr) {
	s.value = ir.Share(e)
	s.loads = map[*ir.Load]int{}
	ir.WalkExpr(s.value, func(e ir.Expr) bool {
		if l, ok := e.(*ir.Load); ok {
			if _, seen := s.loads[l]; seen {
				return false
			}
			s.loads[l] = len(k.all)
			k.access(l.Buf, l.Idx, nil, false, s.path)
		}
		return true
	})
}

func (k *kernel) access(name string, idx []ir.Expr, size []int, store bool, path []*node) {
	b := k.bufs[name]
	if b == nil { // of a Func that nobody has verified
		b = k.buffer(ir.Buffer{Name: name, Type: ir.I32}, false, 0)
	}
	a := access{buf: b, size: size, store: store, path: path, width: 1, dims: make([]index, len(idx))}
	for i, e := range idx {
		x := &a.dims[i]
		linear(e, 1, path, x)
		a.depend |= x.depths()
		if len(x.terms) > 0 && !simple(e) {
			k.addresses++
		}
	}
	for _, n := range size {
		a.width *= float64(n)
	}
	k.all = append(k.all, a)
}

func simple(e ir.Expr) bool {
	_, v := e.(*ir.Var)
	return v
}

func (x *index) depths() uint64 {
	var m uint64
	for _, t := range x.terms {
		m |= 1 << t.depth
	}
	return m
}

func (x *index) add(depth int, coef float64) {
	for i := range x.terms {
		if x.terms[i].depth == depth {
			x.terms[i].coef += coef
			return
		}
	}
	x.terms = append(x.terms, term{depth, coef})
}

// linear adds e, times scale, to x: by how much each loop moves it, exactly for sums and multiples, and about right otherwise.
func linear(e ir.Expr, scale float64, path []*node, x *index) {
	switch e := e.(type) {
	case *ir.Var:
		for _, n := range slices.Backward(path) {
			if n.loop.Var == e.Name {
				if n.depth < 64 {
					x.add(n.depth, scale)
				}
				return
			}
		}
	case *ir.Binary:
		switch c, constant := e.B.(*ir.IntImm); {
		case e.Op == ir.Add:
			linear(e.A, scale, path, x)
			linear(e.B, scale, path, x)
		case e.Op == ir.Sub:
			linear(e.A, scale, path, x)
			linear(e.B, -scale, path, x)
		case e.Op == ir.Mul && constant:
			linear(e.A, scale*float64(c.V), path, x)
		case e.Op == ir.Shl && constant && c.V < 63:
			linear(e.A, scale*float64(int64(1)<<c.V), path, x)
		case (e.Op == ir.Div) && constant && c.V > 0:
			linear(e.A, scale/float64(c.V), path, x)
		case e.Op == ir.Mod && constant && c.V > 0:
			var in index
			linear(e.A, 1, path, &in)
			for _, t := range in.terms { // no loop moves it by more than the modulus in all
				n := float64(path[t.depth].loop.Extent)
				x.add(t.depth, scale*min(math.Abs(t.coef), float64(c.V)/n))
			}
			x.any = x.any || in.any
		default:
			linear(e.A, scale, path, x)
			linear(e.B, scale, path, x)
		}
	case *ir.Select:
		linear(e.A, scale, path, x)
	case *ir.Cast:
		linear(e.A, scale, path, x)
	case *ir.Load:
		x.any = true
		for _, i := range e.Idx {
			var in index
			linear(i, 1, path, &in)
			for _, t := range in.terms {
				x.add(t.depth, scale)
			}
		}
	case *ir.Unary:
		linear(e.A, scale, path, x)
	}
}

// keep finds the local buffers that can be in registers: within their scope nothing but what is written out chooses an element.
func (k *kernel) keep() {
	for _, a := range k.all {
		if !a.buf.local {
			continue
		}
		for _, x := range a.dims {
			if x.any {
				a.buf.kept = false
			}
			for _, t := range x.terms {
				if n := a.path[t.depth]; t.coef != 0 && (!n.written || n.loop.Kind == ir.Vectorize && !n.lanes) && n.loop.Extent > 1 {
					a.buf.kept = false
				}
			}
		}
	}
	for _, b := range k.bufs {
		if b.local && !b.kept {
			k.onStack += float64(b.Bytes())
		}
	}
}

// product is how often something is executed that depends on the loops at some depths: loops that are written out count where it depends
// on them, up to the first that is not. Lanes of a vector are executed together.
func product(path []*node, depend uint64) float64 {
	n, outside := 1.0, false
	for _, p := range slices.Backward(path) {
		switch {
		case p.lanes:
		case p.written && !outside && depend&(1<<min(p.depth, 63)) == 0:
		default:
			outside = outside || !p.written
			n *= float64(p.loop.Extent)
		}
	}
	return n
}

// lane is the loop whose iterations are lanes, nil if there is none.
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
		vector, lanes = 1<<min(l.depth, 63), l.loop.Extent
	}
	for i := s.from; i < s.to; i++ {
		k.move(s, &k.all[i], vector, lanes)
	}
	if c, ok := s.stmt.(*ir.Call); ok {
		n, bits := product(s.path, math.MaxUint64), k.bitsOf(c.Fn)
		if m, ok := k.Describer.instructions[c.Fn.Name]; ok {
			k.called[m] += n
		}
		k.work += n * bits
		n *= max(1, bits/k.vectorBits())
		k.calls += n
		s.cost += n
	}
	if s.value == nil {
		return
	}
	seen := map[ir.Expr]uint64{}
	k.value(s, s.value, vector, lanes, seen)
	if st, ok := s.stmt.(*ir.Store); ok && st.Op != ir.Assign {
		op := opAdd
		switch st.Op {
		case ir.OrTo:
			op = opBits
		case ir.MinTo, ir.MaxTo:
			op = opCompare
		}
		k.operate(s, op, st.Val.Type(), math.MaxUint64, vector, lanes)
	}
}

// move counts a load or store of memory; a store that adds loads, too.
func (k *kernel) move(s *site, a *access, vector uint64, lanes int) {
	depend := a.depend
	if st, ok := s.stmt.(*ir.Store); ok && a.store && st.Op == ir.Assign {
		depend = math.MaxUint64
	}
	a.trips = product(s.path, depend)
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
	m, moves := &k.memory[kind], n
	st, isStore := s.stmt.(*ir.Store)
	switch {
	case !a.store:
		m.loads += n
	case isStore && st.Op == ir.Assign:
		m.stores += n
	default: // adds to what is there
		m.loads += n
		m.stores += n
		moves *= 2
	}
	s.cost += moves
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

// value counts the operations of an expression, parts that are equal once, and gives the depths that it depends on.
func (k *kernel) value(s *site, e ir.Expr, vector uint64, lanes int, seen map[ir.Expr]uint64) uint64 {
	if d, ok := seen[e]; ok {
		return d
	}
	var d uint64
	switch e := e.(type) {
	case *ir.Var:
		for _, n := range s.path {
			if n.loop.Var == e.Name {
				d = 1 << min(n.depth, 63)
			}
		}
	case *ir.Load:
		d = k.all[s.loads[e]].depend
		if e.Idx == nil || k.all[s.loads[e]].buf.local { // it may change from one iteration to the next
			d |= outer(s.path)
		}
	case *ir.Binary:
		d = k.value(s, e.A, vector, lanes, seen) | k.value(s, e.B, vector, lanes, seen)
		k.operate(s, binaryKind(e.Op), e.A.Type(), d, vector, lanes)
	case *ir.Unary:
		d = k.value(s, e.A, vector, lanes, seen)
		k.operate(s, unaryKind(e.Op), e.Type(), d, vector, lanes)
	case *ir.Select:
		d = k.value(s, e.Cond, vector, lanes, seen) | k.value(s, e.A, vector, lanes, seen) | k.value(s, e.B, vector, lanes, seen)
		k.operate(s, opCompare, e.Type(), d, vector, lanes)
	case *ir.Cast:
		d = k.value(s, e.A, vector, lanes, seen)
		t := e.T
		if e.A.Type().Bits() > t.Bits() {
			t = e.A.Type()
		}
		k.operate(s, opCast, t, d, vector, lanes)
	case *ir.Bitcast:
		d = k.value(s, e.A, vector, lanes, seen)
	case *ir.Fma:
		d = k.value(s, e.A, vector, lanes, seen) | k.value(s, e.B, vector, lanes, seen) | k.value(s, e.C, vector, lanes, seen)
		k.operate(s, opFma, ir.F32, d, vector, lanes)
	}
	seen[e] = d
	return d
}

// outer are the depths of loops that are not written out.
func outer(path []*node) uint64 {
	var d uint64
	for _, n := range path {
		if !n.written {
			d |= 1 << min(n.depth, 63)
		}
	}
	return d
}

// operate counts one operation of a statement.
func (k *kernel) operate(s *site, op int, t ir.Type, depend, vector uint64, lanes int) {
	if t == ir.Bool {
		t = ir.U8
	}
	n, trips := 1.0, product(s.path, depend)
	elements := trips
	if depend&vector != 0 {
		n, elements = k.registers(lanes, t), trips*float64(lanes)
		k.vector += n * trips
	}
	n *= trips
	if op == opCount {
		n *= float64(max(1, k.target.CountOps))
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

// bitsOf is what an instruction of targets/isa means in bits of elements that are computed.
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

func (k *kernel) loads() float64 {
	n := 0.0
	for _, m := range k.memory {
		n += m.loads
	}
	return n
}

func (k *kernel) stores() float64 {
	n := 0.0
	for _, m := range k.memory {
		n += m.stores
	}
	return n
}

// instructions is about how many there are.
func (k *kernel) instructions() float64 {
	return k.operations + k.calls + k.loads() + k.stores() + 2*k.iterations + k.branches + k.spills
}
