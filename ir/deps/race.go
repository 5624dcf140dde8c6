package deps

import (
	"fmt"
	"maps"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
)

// Race is a pair of accesses to one element by two threads of a block, one of them a write, with no
// barrier between them.
type Race struct {
	Pair
	// Before is the later of the two phases. A barrier in front of it ends the race.
	Before ir.Stmt
	node   string
}

func (r *Race) Error() string {
	return (&ir.Error{Node: r.node, Msg: fmt.Sprintf("threads may touch the same element of %%%s without a barrier "+
		"in between: in %s", r.A.Buf, r.Pair), Help: "end the schedule with sync"}).Error()
}

// CheckDevice proves that the kernels of f are free from races: whatever the order of blocks, and
// of threads between two barriers, the result is that of the sequential order. It fails with *Race,
// or with *ir.Error if f has another form than DeviceOf wants or if iterations of a loop of blocks
// or threads depend on each other.
func CheckDevice(f *ir.Func) error {
	d, err := DeviceOf(f)
	if err != nil {
		return err
	}
	if err := Check(f); err != nil {
		return err
	}
	sc := ScopeOf(f.Body)
	for _, k := range d.Kernels {
		v := racer{sc: Scope{maps.Clone(sc.Ranges), sc.Outer}, node: "@" + f.Name}
		var held *Loops
		for _, l := range k.Blocks {
			held = held.With(l.Var)
		}
		if _, r := v.walk(k.Body, held, nil, nil); r != nil {
			return r
		}
	}
	return nil
}

// racer goes through the phases of a kernel in order.
type racer struct {
	sc   Scope
	node string
}

// touch is an access of a phase, in terms of the position of its thread.
type touch struct {
	Access
	shape string // of the phase's loops: two phases of one shape give a thread the same position
	names []string
	held  *Loops // blocks, and loops around the phase
}

// walk goes through s. pending are the accesses since the last barrier; it returns those behind s.
// again renames the loops that are in their second iteration.
func (v *racer) walk(s ir.Stmt, held *Loops, again map[string]ir.Expr, pending []touch) ([]touch, *Race) {
	if _, ok := s.(*ir.Barrier); ok {
		return nil, nil
	}
	if p, ok := AsPhase(s); ok {
		return v.phase(p, held, again, pending)
	}
	var r *Race
	switch s := s.(type) {
	case *ir.If:
		out, r := v.walk(s.Then, held, again, pending)
		if r != nil {
			return nil, r
		}
		other := pending
		if s.Else != nil {
			if other, r = v.walk(s.Else, held, again, pending); r != nil {
				return nil, r
			}
		}
		return append(slices.Clone(out), other...), nil
	case *ir.For: // accesses of one iteration meet those of the next
		if pending, r = v.walk(s.Body, held.With(s.Var), again, pending); r != nil || s.Extent < 2 {
			return pending, r
		}
		next := s.Var + "'"
		v.sc.Ranges[next] = v.sc.Ranges[s.Var]
		renamed := map[string]ir.Expr{s.Var: ir.V(next)}
		maps.Copy(renamed, again)
		return v.walk(s.Body, held.With(next), renamed, pending)
	}
	for _, t := range ir.Children(s) {
		if pending, r = v.walk(t, held, again, pending); r != nil {
			return nil, r
		}
	}
	return pending, nil
}

// phase compares the accesses of p with pending ones.
func (v *racer) phase(p Phase, held *Loops, again map[string]ir.Expr, pending []touch) ([]touch, *Race) {
	own := v.touches(p, held, again)
	for _, t := range own {
		for _, o := range pending {
			if v.meet(o, t) {
				return nil, &Race{Pair{o.Access, t.Access}, p.whole, v.node}
			}
		}
	}
	return append(slices.Clone(pending), own...), nil
}

// touches lists the accesses of p. Its loops are renamed by their position and the shape.
func (v *racer) touches(p Phase, held *Loops, again map[string]ir.Expr) []touch {
	renamed := maps.Clone(again)
	if renamed == nil {
		renamed = map[string]ir.Expr{}
	}
	t := touch{held: held}
	for _, l := range p.Loops {
		t.shape += fmt.Sprintf("x%d", l.Extent)
	}
	for i, l := range p.Loops {
		name := fmt.Sprintf("thread %d of %s", i, t.shape)
		t.names = append(t.names, name)
		renamed[l.Var] = ir.V(name)
		v.sc.Ranges = v.sc.Ranges.With(name, l.Extent)
	}
	var all []touch
	acc := Accesses(p.Body)
	for _, b := range slices.Sorted(maps.Keys(acc)) {
		for _, a := range acc[b] {
			idx := make([]ir.Expr, len(a.Idx))
			for d, e := range a.Idx {
				idx[d] = arith.Simplify(ir.Subst(e, renamed), v.sc.Ranges)
			}
			t.Access = a
			t.Idx = idx
			all = append(all, t)
		}
	}
	return all
}

// meet reports whether two threads may touch one element by a and b, one of them writing it.
func (v *racer) meet(a, b touch) bool {
	if a.Buf != b.Buf || !a.Write && !b.Write {
		return false
	}
	var held *Loops
	for l := a.held; l != nil; l = l.outer {
		if b.held.Has(l.name) {
			held = held.With(l.name)
		}
	}
	apart := func(loop string) bool {
		m := meeting{sc: v.sc, heldLoops: held, forms: map[formKey]form{}, device: true}
		return m.apart(a.Access, b.Access, loop)
	}
	if a.shape != b.shape { // a thread may have any position in the other phase
		return !apart(anyLoop)
	}
	for _, n := range a.names { // two threads of one shape differ in some position first
		if !apart(n) {
			return true
		}
		held = held.With(n)
	}
	return false
}
