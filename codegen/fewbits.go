package codegen

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
)

// dataMagnitude is the largest magnitude of the floats of data.
func dataMagnitude(data []byte) float64 {
	most := 0.0
	for i := 0; i+4 <= len(data); i += 4 {
		most = max(most, math.Abs(float64(math.Float32frombits(binary.LittleEndian.Uint32(data[i:])))))
	}
	return most
}

// mostBits are those of any float.
const mostBits = 24

// FewBits returns an input p of f, and a number n. Suppose that all elements of p are multiples of
// 2^(k-n), and less than 2^k in magnitude, for any k. Then all multiply-adds of f have sums that
// are exact in double. n is 0 if it knows no such input: the multiply-adds are to add elements of
// p, or of its padded copy, times constants to elements of an Alloc that are 0 before.
func (x *Floats) FewBits(f *ir.Func) (p ir.Param, n int) {
	if x == nil {
		return p, 0
	}
	x.once.Do(x.find)
	s := sums{magnitudes: x.magnitudes[f.Name], grains: x.grains[f.Name], scopes: map[string]scope{},
		terms: map[string]int{}, sources: map[string][]string{}, inputs: map[string]bool{}, grain: zeroGrain}
	if !s.stmt(f.Body) {
		return p, 0
	}
	most, input := 0, ""
	for buf, terms := range s.terms {
		if len(s.sources[buf]) > 0 {
			return p, 0
		}
		most = max(most, terms)
	}
	for buf := range s.inputs {
		from := s.origin(buf)
		if from == "" || input != "" && from != input {
			return p, 0
		}
		input = from
	}
	for _, p := range f.Params {
		if p.Name == input && !p.Out {
			// Sums are multiples of 2^(k-n) * 2^(grain-WholeGrain), less than most *
			// magnitude * 2^k. Roundings raise that by 2^-24 each.
			top := math.Log2(float64(most)*s.magnitude) + float64(most)*0x1p-23 + 1e-9
			return p, int(max(0, min(mostBits, math.Floor(53-top+float64(s.grain-WholeGrain)))))
		}
	}
	return p, 0
}

// sums finds the multiply-adds of a Func.
type sums struct {
	magnitudes map[string]float64 // of parameters: see dataMagnitude
	terms      map[string]int     // of an Alloc: the most multiply-adds of one element
	grains     Grains
	scopes     map[string]scope
	sources    map[string][]string // where stored elements other than 0 come from; "" is no buffer
	loops      []*ir.For
	inputs     map[string]bool
	magnitude  float64 // of the constants
	grain      int
}

// scope is that of an Alloc, inside a number of loops.
type scope struct {
	shape []int
	loops int
}

// stmt reports whether each multiply-add of t is one of FewBits.
func (s *sums) stmt(t ir.Stmt) bool {
	switch t := t.(type) {
	case *ir.Block:
		return !slices.ContainsFunc(t.Stmts, func(t ir.Stmt) bool { return !s.stmt(t) })
	case *ir.For:
		s.loops = append(s.loops, t)
		defer func() { s.loops = s.loops[:len(s.loops)-1] }()
		return s.stmt(t.Body)
	case *ir.If:
		for range ir.ExprsOf[*ir.Fma](t.Cond) {
			return false
		}
		return s.stmt(t.Then) && (t.Else == nil || s.stmt(t.Else))
	case *ir.Alloc:
		s.scopes[t.Buf.Name] = scope{t.Buf.Shape, len(s.loops)}
		return s.stmt(t.Body)
	case *ir.Store:
		return s.store(t)
	case *ir.Call:
		return false
	}
	return true
}

func (s *sums) store(t *ir.Store) bool {
	sum, ok := t.Val.(*ir.Fma)
	if !ok {
		s.addSources(t.Buf, t.Val)
		if t.Op != ir.Assign {
			s.sources[t.Buf] = append(s.sources[t.Buf], "")
		}
		for range ir.NodesOf[*ir.Fma](t) {
			return false
		}
		return true
	}
	x, ok1 := sum.A.(*ir.Load)
	w, ok2 := sum.B.(*ir.Load)
	c, ok3 := sum.C.(*ir.Load)
	in, ok4 := s.scopes[t.Buf]
	if !ok1 || !ok2 || !ok3 || !ok4 || t.Op != ir.Assign || c.Buf != t.Buf ||
		!slices.EqualFunc(c.Idx, t.Idx, ir.Equal) {
		return false
	}
	if s.isConstant(x.Buf) {
		x, w = w, x
	}
	n, ok := repeats(t.Idx, in.shape, s.loops[in.loops:])
	if !ok || !s.isConstant(w.Buf) {
		return false
	}
	s.inputs[x.Buf] = true
	s.terms[t.Buf] += n
	s.magnitude, s.grain = max(s.magnitude, s.magnitudes[w.Buf]), min(s.grain, s.grains[w.Buf])
	return true
}

func (s *sums) isConstant(buf string) bool {
	most, ok := s.magnitudes[buf]
	return ok && most <= math.MaxFloat32
}

// addSources notes that buf has elements x.
func (s *sums) addSources(buf string, x ir.Expr) {
	from := ""
	switch x := x.(type) {
	case *ir.FloatImm:
		if x.V == 0 {
			return
		}
	case *ir.Select:
		s.addSources(buf, x.A)
		s.addSources(buf, x.B)
		return
	case *ir.Load:
		from = x.Buf
	}
	s.sources[buf] = append(s.sources[buf], from)
}

// origin is the buffer that buf is a copy of, "" if it is none.
func (s *sums) origin(buf string) string {
	for range len(s.sources) + 1 {
		from := s.sources[buf]
		if len(from) == 0 {
			return buf
		}
		if slices.ContainsFunc(from, func(f string) bool { return f != from[0] }) {
			return ""
		}
		buf = from[0]
	}
	return ""
}

// repeats returns how often loops visit an element idx of an Alloc of the given shape, if each does
// so equally often.
func repeats(idx []ir.Expr, shape []int, loops []*ir.For) (n int, ok bool) {
	at, stride := arith.Affine{}, int64(1)
	for d := len(idx) - 1; d >= 0; d-- {
		at = at.Plus(stride, arith.ToAffine(idx[d]))
		stride *= int64(shape[d])
	}
	if slices.ContainsFunc(at.Terms, func(t arith.Term) bool { return ir.ReadsMemory(t.Atom) }) {
		return 0, false
	}
	n = 1
	type step struct{ by, times int64 }
	var steps []step
	for _, l := range loops {
		by, ok := at.Coef(l.Var)
		switch {
		case !ok || by < 0:
			return 0, false
		case by == 0:
			n *= l.Extent
		default:
			steps = append(steps, step{by, int64(l.Extent)})
		}
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.by, b.by) })
	reach := int64(0)
	for _, s := range steps {
		if s.by <= reach {
			return 0, false
		}
		reach += s.by * (s.times - 1)
	}
	return n, true
}
