package arith

import (
	"fmt"
	"math/big"

	"ripc/ir"
)

// VerifyWidths proves that no integer accumulator of f wraps: in every buffer that f allocates or
// writes, sums stay inside the buffer's type or Range. Sums are "+=", b[i] = b[i] + e, b[i] + b[i]
// and the like (ir.Accumulates).
//
// It follows one interval per buffer, with the loops' extents. An iteration counts as another
// update of the same element unless the index shows otherwise. It fails with an *ir.Error that
// names the buffer and the largest sum.
//
// f should be well-formed (ir.Verify). An accumulator that is a parameter must be given a value by
// f itself.
func VerifyWidths(f *ir.Func) error { return newWidths(f).verify() }

func (w *widths) verify() error {
	f := w.f
	for _, p := range f.Params {
		if !p.Out || !p.Type.IsInt() {
			continue
		}
		lo, hi := limitsOf(p.Buffer)
		start := constLine(lo, hi)
		if err := w.report(p.Buffer, w.effect(p.Name, f.Body, w.loops), start); err != nil {
			return err
		}
	}
	for s := range ir.Stmts(f.Body) {
		if a, ok := s.(*ir.Alloc); ok && a.Buf.Type.IsInt() {
			if err := w.report(a.Buf, w.effect(a.Buf.Name, a.Body, w.scopes[a.Buf.Name].r), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// VerifyWidthsWithin is VerifyWidths of part, a piece of f as a Func of its own. Its parameters
// hold the values that f stores in its buffers of these names.
func VerifyWidthsWithin(f, part *ir.Func) error {
	whole, w := newWidths(f), newWidths(part)
	for _, p := range part.Params {
		if iv, ok := whole.load(&ir.Load{Buf: p.Name, T: p.Type}); ok {
			w.values[p.Name] = iv
		}
	}
	return w.verify()
}

// widths computes effects in one Func.
type widths struct {
	f      *ir.Func
	bufs   map[string]ir.Buffer
	loops  Ranges
	scopes map[string]scope
	values map[string]Interval // possible values of loads, of buffers already followed (during that: all values)
}

type scope struct {
	body ir.Stmt
	r    Ranges
}

func newWidths(f *ir.Func) *widths {
	w := &widths{f: f, bufs: f.Buffers(), loops: Loops(f.Body), scopes: map[string]scope{},
		values: map[string]Interval{}}
	for _, p := range f.Params {
		if !p.Range.Any() {
			w.values[p.Name] = span(p.Range.From, p.Range.To)
		}
	}
	w.collect(f.Body, w.loops)
	return w
}

func (w *widths) collect(s ir.Stmt, r Ranges) {
	switch s := s.(type) {
	case *ir.For:
		w.collect(s.Body, r)
	case *ir.Block:
		for _, t := range s.Stmts {
			w.collect(t, r)
		}
	case *ir.If:
		w.collect(s.Then, r.Assume(s.Cond))
		w.collect(s.Else, r.Assume(ir.Un(ir.Not, s.Cond)))
	case *ir.Alloc:
		w.scopes[s.Buf.Name] = scope{s.Body, r}
		w.collect(s.Body, r)
	}
}

func typeLine(t ir.Type) lines {
	lo, hi := limits(t)
	return constLine(lo, hi)
}

// limitsOf returns the limits of b's elements: those of its Range, or of its type.
func limitsOf(b ir.Buffer) (lo, hi *big.Int) {
	if b.Range.Any() {
		return limits(b.Type)
	}
	return big.NewInt(b.Range.From), big.NewInt(b.Range.To)
}

func limits(t ir.Type) (lo, hi *big.Int) {
	if t == ir.U64 {
		return new(big.Int), new(big.Int).SetUint64(1<<64 - 1)
	}
	w := typeRange(t)
	return big.NewInt(w.Lo), big.NewInt(w.Hi)
}

// load returns the values an allocated buffer can hold; whole(type) while these are being computed.
func (w *widths) load(l *ir.Load) (Interval, bool) {
	if iv, ok := w.values[l.Buf]; ok {
		return iv, true
	}
	sc, ok := w.scopes[l.Buf]
	b := w.bufs[l.Buf]
	if !ok || !b.Type.IsInt() {
		return Interval{}, false
	}
	all := typeRange(b.Type)
	if !b.Range.Any() {
		all = span(b.Range.From, b.Range.To)
	}
	w.values[l.Buf] = all
	e := w.effect(l.Buf, sc.body, sc.r)
	if e == nil || e.lost {
		return all, true
	}
	out, found := Interval{}, false
	for _, p := range e.peak {
		if p.a.Sign() != 0 {
			continue // would need an element that was never written
		}
		iv := all
		if p.lo.IsInt64() && p.hi.IsInt64() {
			iv = fit(b.Type, span(p.lo.Int64(), p.hi.Int64()), true)
		}
		if iv.Lo < all.Lo || all.Hi < iv.Hi { // report says so
			iv = all
		}
		if found {
			iv = hull(iv, out)
		}
		out, found = iv, true
	}
	if found {
		w.values[l.Buf] = out
	}
	return w.values[l.Buf], true
}

// effect returns the effect of s on the elements of buffer name.
func (w *widths) effect(name string, s ir.Stmt, r Ranges) *effect {
	b := w.bufs[name]
	switch s := s.(type) {
	case *ir.For:
		if s.Extent < 1 {
			return nil
		}
		return w.effect(name, s.Body, r).loop(s.Var, s.Extent, b)
	case *ir.Block:
		var runs []*effect // of consecutive statements on the same elements
		for _, t := range s.Stmts {
			e := w.effect(name, t, r)
			if n := len(runs) - 1; e != nil && n >= 0 && runs[n].at.equal(e.at) {
				runs[n] = runs[n].chain(e, b)
			} else if e != nil {
				runs = append(runs, e)
			}
		}
		var out, part *effect // part is the effect of consecutive runs on elements side by side
		for _, e := range runs {
			if part != nil {
				if _, ok := part.at.join(e.at); !ok {
					out, part = out.chain(part, b), nil
				}
			}
			part = part.chain(e, b)
		}
		return out.chain(part, b)
	case *ir.If:
		not := ir.Un(ir.Not, s.Cond)
		then, els := w.effect(name, s.Then, r.Assume(s.Cond)), w.effect(name, s.Else, r.Assume(not))
		switch {
		case CanProve(s.Cond, r):
			return then
		case CanProve(not, r):
			return els
		}
		return then.merge(els, b)
	case *ir.Alloc:
		return w.effect(name, s.Body, r)
	case *ir.Store:
		if s.Buf == name {
			return w.store(s, r)
		}
	case *ir.Call:
		return w.call(name, s)
	}
	return nil
}

// call returns the effect of an instruction on the windows of name that it writes.
func (w *widths) call(name string, c *ir.Call) *effect {
	b := w.bufs[name]
	var out *effect
	for i, p := range c.Fn.Params {
		if i >= len(c.Args) || c.Args[i].Buf != name || !p.Out {
			continue
		}
		if overlaps(b, c, i) { // another parameter overlaps this one
			return lostEffect(b)
		}
		in := newWidths(c.Fn)
		for j, q := range c.Fn.Params {
			if j < len(c.Args) && q.Type.IsInt() {
				if iv, ok := w.load(&ir.Load{Buf: c.Args[j].Buf, T: q.Type}); ok {
					in.values[q.Name] = iv
				}
			}
		}
		e := in.effect(p.Name, c.Fn.Body, in.loops)
		if e == nil {
			continue
		}
		if !e.at.isAll(p.Buffer) {
			e = e.maybe()
		}
		out = out.chain(e.restrict(window(b, c.Args[i], p.Buffer), b), b)
	}
	return out
}

// overlaps reports whether operand i of c, a window of b, may have elements in common with another
// operand.
func overlaps(b ir.Buffer, c *ir.Call, i int) bool {
	mine := window(b, c.Args[i], c.Fn.Params[i].Buffer)
	for j, w := range c.Args {
		if j != i && j < len(c.Fn.Params) && w.Buf == b.Name && !mine.apart(window(b, w, c.Fn.Params[j].Buffer)) {
			return true
		}
	}
	return false
}

func window(b ir.Buffer, w ir.Window, p ir.Buffer) region {
	g := element(b, w.Idx)
	stride := int64(1)
	for d := range b.Shape {
		if k := len(p.Shape) - 1 - d; k >= 0 {
			g.dims = append(g.dims, dim{stride, int64(p.Shape[k])})
		}
		stride *= int64(b.Shape[len(b.Shape)-1-d])
	}
	g.dims = joinDims(g.dims)
	return g
}

func (w *widths) store(s *ir.Store, r Ranges) *effect {
	b := w.bufs[s.Buf]
	v := env{r: r, load: w.load}
	val := v.linear(s.Val, s)
	out := &effect{}
	switch s.Op {
	case ir.Assign:
		out.end = val
	case ir.AddTo:
		out.end = lines{{new(big.Int).Add(val[0].a, big.NewInt(1)), val[0].lo, val[0].hi}}
	case ir.MinTo, ir.MaxTo: // either the old element or the new one
		out.end = val.union(identityLine())
	default:
		out.end = typeLine(b.Type)
	}
	out.peak = out.end
	return out.restrict(element(b, s.Idx), b)
}

// linear writes e as a*x + [lo, hi], one line, where x is the element that s stores to.
func (v env) linear(e ir.Expr, s *ir.Store) lines {
	switch x := e.(type) {
	case *ir.Load:
		if x.Buf == s.Buf && len(x.Idx) == len(s.Idx) {
			equal := true
			for i := range x.Idx {
				d := ToAffine(x.Idx[i]).Plus(-1, ToAffine(s.Idx[i]))
				equal = equal && d.Const == 0 && len(d.Terms) == 0
			}
			if equal {
				return identityLine()
			}
		}
	case *ir.Binary:
		if !ir.Accumulates(x, s.Buf) {
			break
		}
		a, b := v.linear(x.A, s), v.linear(x.B, s)
		switch one := big.NewInt(1); x.Op {
		case ir.Add:
			return sumLines(a, b, one)
		case ir.Sub:
			return sumLines(a, b, big.NewInt(-1))
		case ir.Mul:
			if isConst(x.A) {
				a, b = b, a
			}
			return lines{{b[0].lo, new(big.Int), new(big.Int)}}.compose(a)
		case ir.Shl:
			return lines{{one.Lsh(one, uint(x.B.(*ir.IntImm).V)), new(big.Int), new(big.Int)}}.compose(a)
		}
	case *ir.IntImm:
		k := big.NewInt(x.V)
		if x.T == ir.U64 {
			k.SetUint64(uint64(x.V))
		}
		return constLine(k, k)
	}
	lo, hi := limits(e.Type())
	if e.Type().IsInt() {
		if iv, ok := v.bounds(e); ok {
			lo, hi = big.NewInt(iv.Lo), big.NewInt(iv.Hi)
		}
	}
	return constLine(lo, hi)
}

// sumLines is a + k*b for k = 1 or -1.
func sumLines(a, b lines, k *big.Int) lines {
	m := lines{{k, new(big.Int), new(big.Int)}}.compose(b)[0]
	add := func(x, y *big.Int) *big.Int { return new(big.Int).Add(x, y) }
	return lines{{add(a[0].a, m.a), add(a[0].lo, m.lo), add(a[0].hi, m.hi)}}
}

// report turns the effect on b into an error if a sum does not fit. start has the elements' initial
// values (nil: none).
func (w *widths) report(b ir.Buffer, e *effect, start lines) error {
	if e == nil {
		return nil
	}
	fail := func(help, format string, args ...any) error {
		return &ir.Error{Op: ir.BufferString(b), Node: "@" + w.f.Name, Msg: fmt.Sprintf(format, args...), Help: help}
	}
	if e.lost {
		return fail("split the loops that add to it with tail=cut, shift or perfect: under a condition, or where "+
			"tiles overlap, too many sums are possible", "cannot bound the sums that %%%s accumulates", b.Name)
	}
	lo, hi := limitsOf(b)
	written := false
	for _, p := range e.peak {
		if p.a.Sign() == 0 {
			written = true
		} else if start == nil || p.a.Cmp(big.NewInt(1)) == 0 && p.lo.Sign() == 0 && p.hi.Sign() == 0 {
			continue
		} else {
			p = lines{p}.compose(start)[0]
		}
		worst := p.hi
		if p.lo.Cmp(lo) < 0 {
			worst = p.lo
		} else if p.hi.Cmp(hi) <= 0 {
			continue
		}
		if !b.Range.Any() {
			return fail("declare the range of the stored numbers, or leave it out",
				"elements can be %s, but are said to be from %s to %s", worst, lo, hi)
		}
		return fail(suggestType(b.Type, p), "the accumulator can reach %s, but %s holds %s..%s", worst, b.Type, lo, hi)
	}
	if start == nil && !written {
		return fail("", "%%%s is added to before it is given a value", b.Name)
	}
	return nil
}

// suggestType suggests a type that holds p.
func suggestType(t ir.Type, p line) string {
	for u := ir.I8; u <= ir.U64; u++ {
		lo, hi := limits(u)
		if u.Signed() == t.Signed() && p.lo.Cmp(lo) >= 0 && p.hi.Cmp(hi) <= 0 {
			return fmt.Sprintf("use %s, or widen the sum after fewer terms", u)
		}
	}
	return "give the accumulator a value before adding to it"
}
