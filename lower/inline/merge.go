package inline

import (
	"fmt"
	"maps"
	"slices"

	"ripc/ir"
	"ripc/targets"
)

// Merge makes one stage of two where a device gains from it: each stage costs launches, and the
// tensor between them would go through the device's memory. Only the second stage may read it. It
// becomes an alloc of the merged Func, which a schedule computes in a block or a thread. Before,
// stages that branch and meet again are joined (joinStages). Three kinds of neighbours merge:
//
//   - a stage whose elements each need one position, with at most one product for each element of
//     its input, and the stage that reads it
//
//   - a stage, and one whose elements each need one position of it, or of sums a window, together
//     no more than there are, unless its result is the larger one, so that the stage behind may
//     take it
//
//   - stages whose operands, with constants, fit into the shared memory of a block, and whose
//     results have one position
func Merge(p *ir.Program, t targets.Target) {
	if !t.IsDevice() {
		return
	}
	in := newInliner(p, t)
	for _, b := range p.Buffers {
		in.joinStages(b.Name)
	}
	in.finish()
	for merged := true; merged; { // a merged stage may suit the one before it
		merged = false
		in := newInliner(p, t)
		for i := 1; i < len(p.Stages); i++ {
			if !in.gone[i-1] && in.mergeStages(i-1, i) {
				merged = true
			}
		}
		in.finish()
	}
}

// mergeStages merges stage i into the next one, j, if the two suit each other.
func (in *inliner) mergeStages(i, j int) bool {
	a, b := in.Stages[i], in.Stages[j]
	f, g := in.funcs[a.Func], in.funcs[b.Func]
	between, outputs := "", 0
	var made ir.Buffer
	for k, q := range f.Params {
		if q.Out {
			between, made, outputs = a.Args[k], q.Buffer, outputs+1
		}
	}
	if outputs > 1 || in.kinds[between] != ir.ArenaBuf || len(in.readers[between]) != 1 ||
		len(in.writers[between]) != 1 {
		return false
	}
	reader := ordered(in.readers[between])[0]
	if reader.stage != j {
		return false
	}
	named, role := func(b string) bool { return b == made.Name }, ir.NoRole
	switch sums := hasRole(f, ir.RoleSum); {
	case elementwise(f, "", ir.Reduce) && a.MACs <= int64(f.Params[0].Elems()) && hasRole(g, ir.RoleSum):
		role = ir.RolePad
		named = func(b string) bool { return b == made.Name || ir.FindAlloc(f.Body, b) != nil }
	case !hasRole(f, ir.RoleMean) && !expands(g, made) &&
		(elementwise(g, g.Params[reader.param].Name) || sums && pools(g, g.Params[reader.param].Buffer)):
		if sums {
			role = ir.RoleValue
		}
	case elementwise(f, ""):
	case in.small(a) && in.small(b):
		named = func(string) bool { return true } // strategies for one layer do not know the merged one
	default:
		return false
	}
	for k, arg := range b.Args {
		if k != reader.param && in.kinds[arg] != ir.ConstBuf && slices.Contains(a.Args, arg) {
			return false
		}
	}
	h, args := mergeFuncs(f, g, a.Args, b.Args, between)
	if h == nil {
		return false
	}
	h.Body = ir.MapStmt(h.Body, func(s ir.Stmt) ir.Stmt { return withRole(s, named, role) }, nil)
	facts := a // and the name of the stage with the most work, by which users and tuners know its layer
	if b.MACs >= a.MACs {
		facts = b
	}
	facts.MACs, facts.Args = a.MACs+b.MACs, args
	facts.Layer.Merged = slices.Compact(slices.Concat(a.Layer.Names(a.Name), b.Layer.Names(b.Name)))
	facts.Layer.Weights = a.Layer.Weights + b.Layer.Weights
	facts.Layer.FloatBytes = a.Layer.FloatBytes + b.Layer.FloatBytes
	in.drop(i, between)
	for k, arg := range b.Args {
		delete(in.usesOf(arg, j, k), use{j, k})
	}
	facts.Func = in.add(h)
	in.Stages[j] = facts
	for k, arg := range args {
		in.usesOf(arg, j, k)[use{j, k}] = true
	}
	return true
}

// withRole gives the alloc of a named buffer a role.
func withRole(s ir.Stmt, named func(string) bool, role ir.Role) ir.Stmt {
	if a, ok := s.(*ir.Alloc); ok && named(a.Buf.Name) {
		b := a.Buf
		b.Role = role
		return &ir.Alloc{Buf: b, Body: a.Body}
	}
	return s
}

// elementwise reports whether an element of f's result needs one position of its inputs. The input
// called from and the tensors of f are read at the position of the loops. Loops of the axes more
// are allowed, too.
func elementwise(f *ir.Func, from string, more ...ir.Axis) bool {
	tensors, nests := scope(f.Body)
	still := map[string]bool{from: true}
	for _, b := range tensors {
		still[b.Name] = true
	}
	elements := append(more, ir.Batch, ir.Row, ir.Col, ir.Channel, ir.Word, ir.Bit, ir.Plane)
	if ir.HasLoop(nests, func(l *ir.For) bool { return l.Extent > 1 && !slices.Contains(elements, l.Axis) }) {
		return false
	}
	for e := range ir.Nodes(nests) {
		if ld, ok := e.(*ir.Load); ok && still[ld.Buf] && slices.ContainsFunc(ld.Idx, moves) {
			return false
		}
	}
	return true
}

// pools reports whether elements of f's result need windows of input x, in several rows. Together
// they load no more than x has elements, so that x can be computed for each window.
func pools(f *ir.Func, x ir.Buffer) bool {
	return elementwise(f, "", ir.TapRow, ir.TapCol) && ir.CountLoads(f.Body, x.Name) <= x.Elems() &&
		ir.HasLoop(f.Body, func(l *ir.For) bool { return l.Axis == ir.Row && l.Extent > 1 })
}

// moves reports whether an index is more than the position of a loop, or of a bit in words.
func moves(i ir.Expr) bool {
	switch i := i.(type) {
	case *ir.Var, *ir.IntImm:
		return false
	case *ir.Binary:
		return ir.ReadsMemory(i) || i.Op != ir.Add && i.Op != ir.Div
	}
	return true
}

// expands reports whether f makes more bytes than its operand from has.
func expands(f *ir.Func, from ir.Buffer) bool {
	return slices.ContainsFunc(f.Params, func(q ir.Param) bool { return q.Out && q.Bytes() > from.Bytes() })
}

func hasRole(f *ir.Func, role ir.Role) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(f.Buffers())),
		func(b ir.Buffer) bool { return b.Role == role })
}

// small reports whether a block can do a stage by itself.
func (in *inliner) small(s ir.Stage) bool {
	bytes := 0
	for _, b := range in.funcs[s.Func].Buffers() {
		bytes += b.Bytes()
	}
	single := true
	for l := range ir.Stmts(in.funcs[s.Func].Body) {
		if l, ok := l.(*ir.For); ok && (l.Axis == ir.Row || l.Axis == ir.Col) {
			single = single && l.Extent == 1
		}
	}
	return single && bytes <= in.target.Device.SharedBytes
}

// mergeFuncs returns the Func of f and then g, and its operands. The buffer between them, from in
// the Program, is an alloc with the name of f's output. It is nil where g views that in another
// shape, but for dimensions of one element. A constant of both, as equal ones are, stays two
// parameters.
func mergeFuncs(f, g *ir.Func, fArgs, gArgs []string, from string) (*ir.Func, []string) {
	h := &ir.Func{Name: f.Name + "_" + g.Name}
	taken := map[string]bool{}
	for l := range ir.StmtsOf[*ir.For](f.Body) {
		taken[l.Var] = true
	}
	for b := range f.Buffers() {
		taken[b] = true
	}
	g = renamed(g, taken)
	var args []string
	var between ir.Buffer
	for i, q := range f.Params {
		if q.Out {
			between = q.Buffer
			continue
		}
		h.Params, args = append(h.Params, q), append(args, fArgs[i])
	}
	body := g.Body
	for i, q := range g.Params {
		if gArgs[i] == from {
			at, ok := reshaped(q.Buffer, between)
			if !ok {
				return nil, nil
			}
			body = ir.Reindex(body, q.Name, between.Name, at)
			continue
		}
		q.Over = ""
		h.Params, args = append(h.Params, q), append(args, gArgs[i])
	}
	between.Enc = ir.Encoding{}
	first, nests := scope(f.Body)
	second, rest := scope(body)
	h.Body = ir.Seq(nests, rest)
	for _, b := range slices.Backward(slices.Concat(first, []ir.Buffer{between}, second)) {
		h.Body = &ir.Alloc{Buf: b, Body: h.Body}
	}
	return h, args
}

// scope returns the allocs around all nests of a body, outermost first, and the nests.
func scope(s ir.Stmt) (all []ir.Buffer, nests ir.Stmt) {
	for {
		a, ok := s.(*ir.Alloc)
		if !ok {
			return all, s
		}
		all, s = append(all, a.Buf), a.Body
	}
}

// reshaped translates indices of buffer a into those of b. ok is false if they differ in more than
// dimensions of one element.
func reshaped(a, b ir.Buffer) (at func([]ir.Expr) []ir.Expr, ok bool) {
	long := func(shape []int) (dims, sizes []int) {
		for d, n := range shape {
			if n > 1 {
				dims, sizes = append(dims, d), append(sizes, n)
			}
		}
		return dims, sizes
	}
	from, n := long(a.Shape)
	to, m := long(b.Shape)
	return func(idx []ir.Expr) []ir.Expr {
		out := make([]ir.Expr, len(b.Shape))
		for d := range out {
			out[d] = ir.Int(0)
		}
		for k, d := range to {
			out[d] = idx[from[k]]
		}
		return out
	}, a.Type == b.Type && slices.Equal(n, m)
}

// renamed returns f with other names for loops and buffers that are taken.
func renamed(f *ir.Func, taken map[string]bool) *ir.Func {
	names := map[string]string{}
	name := func(old string) {
		if names[old] != "" {
			return
		}
		now := old
		for n := 2; taken[now]; n++ {
			now = fmt.Sprintf("%s_%d", old, n)
		}
		names[old], taken[now] = now, true
	}
	g := &ir.Func{Name: f.Name, Params: slices.Clone(f.Params)}
	for i, q := range f.Params {
		name(q.Name)
		g.Params[i].Name = names[q.Name]
	}
	for s := range ir.Stmts(f.Body) {
		switch s := s.(type) {
		case *ir.For:
			name(s.Var)
		case *ir.Alloc:
			name(s.Buf.Name)
		}
	}
	g.Body = ir.Rename(f.Body, names, names)
	return g
}
