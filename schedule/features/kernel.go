package features

import (
	"math"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// kernel is an analysis of a Func.
type kernel struct {
	*Describer
	f      *ir.Func
	shares bool // the bodies of conditions count as often as those hold
	bufs   map[string]*buffer
	root   *node
	sites  []*site
	all    []access // in program order: a node's lie side by side

	work float64 // bits of elements of arithmetic, each as often as it is computed
	ops  [operationKinds][widths]float64
	// operations are instructions of arithmetic, vector those of them on vectors.
	operations, vector float64
	vectors            [operationKinds][widths]float64 // of ops, those on vectors
	memory             [accessKinds]accesses
	indexed            float64   // operations of indices, see address
	calls              float64   // instructions of Calls
	called, calledWork []float64 // by meaning: instructions, and the operations on vectors that they stand for
	iterations         float64   // of loops that are not written out
	entries            float64   // to such loops
	branches           float64
	kernels            float64 // of a device
	blocks, threads    float64 // of all kernels
	barriers           float64 // that blocks wait at
	addresses          float64 // indices that are more than a loop's variable
	spills             float64 // instructions by which registers that are too few go over memory
	kept               float64 // registers' worth of buffers that can be in registers, around the hottest statement
	onStack            float64 // bytes of buffers that cannot
	// instructions of the hottest loop that is not written out, with those of loops in it that are
	body      float64
	loopKinds [ir.Threads + 1]float64
	parallel  float64 // iterations of a loop that cores share
	full      float64 // the part of them that is there: the last may be cut off; 0 where no condition says so
	hot       *site
}

// node is a loop, the Func, or one of the two sides of a condition.
type node struct {
	loop     *ir.For
	parent   *node
	depth    int // of loops around it
	children []*node
	from, to int // its accesses in kernel.all
	lanes    bool
	written  bool // written out: unrolled, or a vector
	bytes    float64
	share    float64 // of the side of a condition: how often it is taken; 0 of others
}

// bit is n's in sets of depths, where all loops that are too deep share the last.
func (n *node) bit() uint64 { return 1 << min(n.depth, 63) }

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
	each  int // iterations for which a quotient stays the same, 0 where there is none
}

// index says which variables one index depends on.
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
	share  float64 // of a load: see distinct
	trips  float64 // how often it is executed, lanes together
}

// site is a statement that does something.
type site struct {
	stmt     ir.Stmt
	path     []*node
	from, to int // its accesses
	loads    map[*ir.Load]int
	value    ir.Expr
	written  uint64 // see written
	cost     float64
	live     []*buffer // local buffers around it
}

func newKernel(f *ir.Func, d *Describer, shares bool) *kernel {
	k := &kernel{Describer: d, f: f, shares: shares, bufs: map[string]*buffer{}, root: &node{depth: -1},
		called: make([]float64, len(meanings())), calledWork: make([]float64, len(meanings()))}
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
	k.launch()
	return k
}

// launch counts a device's kernels. A Func that makes none has features, too.
func (k *kernel) launch() {
	if !k.target.IsDevice() {
		return
	}
	d, err := deps.DeviceOf(k.f)
	if err != nil {
		return
	}
	for _, one := range d.Kernels {
		l := one.Launch("")
		k.kernels++
		k.blocks += float64(l.Blocks)
		k.threads += float64(l.Blocks * l.Threads)
	}
}

func (k *kernel) buffer(b ir.Buffer, local bool, depth int) *buffer {
	x := &buffer{Buffer: b, number: len(k.bufs), local: local, depth: depth, kept: local,
		touched: make([]float64, max(1, len(b.Shape)))}
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
		if !n.written {
			k.entries += product(path, math.MaxUint64)
		}
		path = append(path[:len(path):len(path)], n)
		k.cut(s.Body, path)
		if !n.written {
			k.iterations += product(path, math.MaxUint64)
		}
		k.collect(s.Body, n, path, live)
		n.to = len(k.all)
	case *ir.Block:
		for _, t := range s.Stmts {
			k.collect(t, at, path, live)
		}
	case *ir.Barrier:
		k.barriers += product(path, math.MaxUint64)
	case *ir.Alloc:
		b := k.buffer(s.Buf, true, len(path))
		k.collect(s.Body, at, path, append(live[:len(live):len(live)], b))
	case *ir.If:
		x := k.site(s, path, live)
		k.reads(x, s.Cond)
		x.to = len(k.all)
		k.branches += product(path, math.MaxUint64)
		then, otherwise := path, path
		if share, known := k.share(s.Cond, path); known {
			then, otherwise = side(path, at, share), side(path, at, 1-share)
		}
		k.collect(s.Then, at, then, live)
		if s.Else != nil {
			k.collect(s.Else, at, otherwise, live)
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

// cut looks for a condition that the last block of a parallel loop does not always meet: the whole
// body of a loop within.
func (k *kernel) cut(body ir.Stmt, path []*node) {
	c, ok := body.(*ir.If)
	if !ok || c.Else != nil || !slices.ContainsFunc(path, func(n *node) bool {
		return n.loop.Kind == ir.Parallel && arith.Mentions(c.Cond, n.loop.Var)
	}) {
		return
	}
	if share, known := k.share(c.Cond, path); known {
		k.full = max(k.full, share)
	}
}

// share is shareOf where shares count.
func (k *kernel) share(cond ir.Expr, path []*node) (share float64, known bool) {
	if !k.shares {
		return 0, false
	}
	return shareOf(cond, path)
}

// side is the path into one side of a condition that is taken so often.
func side(path []*node, at *node, share float64) []*node {
	const never = 1e-9 // the share of code that is never executed, which has a path as well
	return append(path[:len(path):len(path)], &node{loop: &ir.For{Extent: 1}, parent: at, depth: len(path),
		written: true, share: max(share, never)})
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
	x.terms = append(x.terms, term{depth: depth, coef: coef})
}

// repeat notes that the index stays the same for each iterations of the loop at a depth.
func (x *index) repeat(depth, each int) {
	for i := range x.terms {
		if x.terms[i].depth == depth {
			x.terms[i].each = each
		}
	}
}

// linear adds e, times scale, to x: by how much each loop moves it, exactly for sums and multiples,
// and about right otherwise.
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
			var in index
			linear(e.A, 1, path, &in)
			for _, t := range in.terms {
				x.add(t.depth, scale*t.coef/float64(c.V))
				if t.coef == 1 {
					x.repeat(t.depth, int(c.V))
				}
			}
			x.any = x.any || in.any
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

// keep finds the local buffers that can be in registers: within their scope only loops that are
// written out choose an element.
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
				if n := a.path[t.depth]; t.coef != 0 && (!n.written || n.loop.Kind == ir.Vectorize && !n.lanes) &&
					n.loop.Extent > 1 {
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
