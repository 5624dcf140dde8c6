package inline

import (
	"fmt"
	"maps"
	"slices"

	"ripc/ir"
)

// mostNodes bounds the formula of an element, so that the text of a kernel stays short.
const mostNodes = 1 << 11

// joinStages makes one stage of those that compute a tensor, where some of them read or write the
// same tensor, and no other stage reads the tensors between them. The new stage has one formula for
// each element. It loads no more elements than the others load and store.
func (in *inliner) joinStages(out string) bool {
	if in.kinds[out] != ir.ArenaBuf {
		return false
	}
	group, refused := in.makersOf(out), map[string]bool{}
	f, args := in.joinGroup(group, out)
	for more := f != nil; more; {
		more = false
		for _, i := range group {
			for _, a := range in.Stages[i].Args {
				makers := in.makersOf(a)
				if a == out || refused[a] || len(makers) == 0 || slices.Contains(group, makers[0]) ||
					in.kinds[a] != ir.ArenaBuf || !in.closed(a, group) {
					continue
				}
				larger := slices.Concat(makers, group)
				slices.Sort(larger)
				if g, with := in.joinGroup(larger, out); g != nil {
					group, f, args, more = larger, g, with, true
					break
				}
				refused[a] = true
			}
			if more {
				break
			}
		}
	}
	if f == nil || !in.branches(group, out) {
		return false
	}
	last := group[len(group)-1]
	facts, names := in.Stages[last], []string(nil)
	var sum ir.Stage
	for _, i := range group {
		s := in.Stages[i]
		names = append(names, s.Layer.Names(s.Name)...)
		sum.MACs += s.MACs
		sum.Layer.Weights += s.Layer.Weights
		sum.Layer.FloatBytes += s.Layer.FloatBytes
		if s.MACs > facts.MACs {
			facts = s
		}
	}
	facts.MACs, facts.Args, facts.Layer.Merged = sum.MACs, args, slices.Compact(names)
	facts.Layer.Weights, facts.Layer.FloatBytes = sum.Layer.Weights, sum.Layer.FloatBytes
	for _, i := range group {
		in.drop(i, in.resultOf(i))
	}
	delete(in.gone, last)
	delete(in.dropped, out)
	facts.Func = in.add(f)
	in.Stages[last] = facts
	for k, a := range args {
		in.usesOf(a, last, k)[use{last, k}] = true
	}
	return true
}

// makersOf lists the stages that write a buffer.
func (in *inliner) makersOf(buf string) (all []int) {
	for _, u := range ordered(in.writers[buf]) {
		all = append(all, u.stage)
	}
	return all
}

// resultOf is the buffer that stage i writes, "" if it writes several.
func (in *inliner) resultOf(i int) (out string) {
	s := in.Stages[i]
	for k, q := range in.funcs[s.Func].Params {
		switch {
		case !q.Out:
		case out != "" || q.Over != "":
			return ""
		default:
			out = s.Args[k]
		}
	}
	return out
}

// closed reports whether only stages of a group read a buffer.
func (in *inliner) closed(buf string, group []int) bool {
	for u := range in.readers[buf] {
		if !slices.Contains(group, u.stage) {
			return false
		}
	}
	return true
}

// overwritten reports whether a stage may write its result over a buffer. Then the buffer is not
// there for a stage further behind.
func (in *inliner) overwritten(buf string) bool {
	for u := range in.readers[buf] {
		f := in.funcs[in.Stages[u.stage].Func]
		if !f.Apart(f.Params[u.param]) {
			return true
		}
	}
	return false
}

// branches reports whether stages of a group, which come to out, are more than a chain.
func (in *inliner) branches(group []int, out string) bool {
	return len(in.writers[out]) > 1 || slices.ContainsFunc(group, func(i int) bool {
		made := in.resultOf(i)
		return len(in.writers[made]) > 1 || made != out && len(in.readers[made]) > 1
	})
}

// joinGroup returns a Func that computes buffer out as the stages of a group do, and its operands.
// It is nil if a stage has no formula for its elements, or more products than elements to read. It
// is also nil if the Func would load more elements than the stages load and store.
func (in *inliner) joinGroup(group []int, out string) (*ir.Func, []string) {
	fs := formulas{of: map[string]ir.Expr{}}
	moved, result := 0, ir.Param{}
	var operands []ir.Param
	var args []string
	for _, i := range group {
		s := in.Stages[i]
		f := in.funcs[s.Func]
		made := in.resultOf(i)
		if made == "" || hasCalls(f) || s.MACs > int64(f.Params[0].Elems()) {
			return nil, nil
		}
		fs.names = map[string]string{}
		for k, q := range f.Params {
			b := in.BufferByName(s.Args[k])
			if b.Type != q.Type || !slices.Equal(b.Shape, q.Shape) {
				return nil, nil
			}
			fs.names[q.Name] = b.Name
			switch _, inside := fs.of[b.Name]; {
			case q.Out:
				moved += q.Elems()
				if b.Name == out {
					result = q
				}
			case inside:
				moved += ir.CountLoads(f.Body, q.Name)
			case in.overwritten(b.Name):
				return nil, nil
			default:
				moved += ir.CountLoads(f.Body, q.Name)
				if !slices.Contains(args, b.Name) {
					q.Name = b.Name
					operands, args = append(operands, q), append(args, b.Name)
				}
			}
		}
		own, nests := scope(f.Body)
		for _, b := range own {
			fs.names[b.Name] = s.Name + " " + b.Name // no buffer of the Program has a blank
			delete(fs.of, fs.names[b.Name])
		}
		if !fs.runStage(f, nests) {
			return nil, nil
		}
	}
	val := ir.Share(fs.of[out])
	loads := map[*ir.Load]bool{}
	for ld := range ir.ExprsOf[*ir.Load](val) {
		loads[ld] = true
	}
	if (len(loads)+1)*result.Elems() > moved {
		return nil, nil
	}
	f := in.funcs[in.Stages[group[len(group)-1]].Func]
	h := &ir.Func{Name: "join_" + f.Name}
	names := map[string]string{}
	for k, q := range operands {
		names[q.Name] = fmt.Sprintf("%s_in%d", result.Name, k)
		q.Name = names[q.Name]
		h.Params = append(h.Params, q)
	}
	names[out] = result.Name
	h.Params = append(h.Params, result)
	h.Body = ir.Nest(fs.loops, &ir.Store{Buf: out, Idx: fs.idx, Val: ir.Subst(val, dimensions(fs.idx))})
	h.Body = ir.Rename(h.Body, nil, names)
	return h, append(args, out)
}

// formulas are the values of elements, by buffer, at the position of variables (dimension).
type formulas struct {
	of    map[string]ir.Expr
	names map[string]string // of the operands and tensors of the stage that runs
	whole map[string][]int  // shapes of the stage's own tensors and results
	fills map[string]bool   // buffers with stores in the nest that runs
	loops []ir.Loop         // around the last store
	idx   []ir.Expr         // of the last store
}

// dimension is the variable for the position in dimension d of a buffer.
func dimension(d int) string { return fmt.Sprintf("dim %d", d) } // no loop's name has a blank

// dimensions maps the variables of dimensions to indices.
func dimensions(idx []ir.Expr) map[string]ir.Expr {
	m := map[string]ir.Expr{}
	for d, i := range idx {
		m[dimension(d)] = i
	}
	return m
}

// runStage makes the formulas of a stage's Func. It fails if the nests do not store all elements of
// a buffer in the same way.
func (fs *formulas) runStage(f *ir.Func, nests ir.Stmt) bool {
	fs.whole = map[string][]int{}
	for name, b := range f.Buffers() {
		if !slices.ContainsFunc(f.Params, func(q ir.Param) bool { return !q.Out && q.Name == name }) {
			fs.whole[name] = b.Shape
		}
	}
	all := []ir.Stmt{nests}
	if b, ok := nests.(*ir.Block); ok {
		all = b.Stmts
	}
	for _, s := range all {
		fs.fills = map[string]bool{}
		for st := range ir.StmtsOf[*ir.Store](s) {
			fs.fills[st.Buf] = true
		}
		if !fs.run(s, nil, nil) {
			return false
		}
	}
	return true
}

// run makes the formulas of the stores in s, which is inside of loops over positions. The variables
// of other loops are constants, at.
func (fs *formulas) run(s ir.Stmt, loops []ir.Loop, at map[string]ir.Expr) bool {
	switch s := s.(type) {
	case *ir.Comment:
		return true
	case *ir.Block:
		return !slices.ContainsFunc(s.Stmts, func(s ir.Stmt) bool { return !fs.run(s, loops, at) })
	case *ir.Store:
		return fs.store(s, loops, at)
	case *ir.For:
		for st := range ir.StmtsOf[*ir.Store](s.Body) {
			if slices.ContainsFunc(st.Idx, func(e ir.Expr) bool { return ir.Mentions(e, s.Var) }) {
				l := ir.Loop{Var: s.Var, Extent: s.Extent, Axis: s.Axis}
				return fs.run(s.Body, append(slices.Clip(loops), l), at)
			}
		}
		if s.Axis == ir.Bit && s.Extent > 1 || s.Extent > mostNodes {
			return false // threads together pack a word
		}
		turn := map[string]ir.Expr{}
		maps.Copy(turn, at)
		for i := range s.Extent {
			if turn[s.Var] = ir.Int(i); !fs.run(s.Body, loops, turn) {
				return false
			}
		}
		return true
	}
	return false
}

// store makes the formula of the element at the position of loops, one for each dimension that has
// several elements.
func (fs *formulas) store(s *ir.Store, loops []ir.Loop, at map[string]ir.Expr) bool {
	shape, buf := fs.whole[s.Buf], fs.names[s.Buf]
	place := map[string]ir.Expr{}
	for d, e := range s.Idx {
		switch e := e.(type) {
		case *ir.IntImm:
			if shape[d] != 1 {
				return false
			}
		case *ir.Var:
			k := slices.IndexFunc(loops, func(l ir.Loop) bool { return l.Var == e.Name })
			if k < 0 || loops[k].Extent != shape[d] || place[e.Name] != nil {
				return false
			}
			place[e.Name] = ir.V(dimension(d))
		default:
			return false
		}
	}
	if len(place) != len(loops) {
		return false
	}
	ok := true
	val := ir.MapExpr(ir.Subst(s.Val, at), func(e ir.Expr) ir.Expr {
		ld, isLoad := e.(*ir.Load)
		if !isLoad {
			return e
		}
		inside, made := fs.of[fs.names[ld.Buf]]
		switch _, own := fs.whole[ld.Buf]; {
		case own && !made,
			fs.fills[ld.Buf] && (ld.Buf != s.Buf || !slices.EqualFunc(ld.Idx, s.Idx, ir.Equal)):
			ok = false // whether another element has its value yet depends on the order
			return e
		case made:
			return ir.Subst(inside, dimensions(ld.Idx))
		}
		return &ir.Load{Buf: fs.names[ld.Buf], T: ld.T, Idx: ld.Idx}
	})
	val = ir.Subst(val, place)
	if s.Op != ir.Assign {
		old, made := fs.of[buf]
		if !made || s.Op == ir.MinTo || s.Op == ir.MaxTo { // of these, NaNs need care
			return false
		}
		if zero, isInt := old.(*ir.IntImm); s.Op != ir.OrTo || !isInt || zero.V != 0 {
			val = ir.Bin(s.Op.Operator(), old, val)
		}
	}
	nodes := 0
	for range ir.ExprsOf[ir.Expr](val) {
		if nodes++; nodes > mostNodes {
			return false
		}
	}
	fs.of[buf], fs.loops, fs.idx = val, loops, s.Idx
	return ok
}
