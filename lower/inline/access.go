package inline

import (
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
	"ripc/targets"
)

// redirectRead returns f with parameter k, the result of move m, replaced by m's operand; nil if
// that costs more than a stage that moves elements.
func redirectRead(f *ir.Func, k int, m move, t targets.Target) *ir.Func {
	if f.Params[k].Type != m.y.Type || f.Params[k].Enc.Kind != ir.NoEncoding || hasCalls(f) {
		return nil
	}
	name := f.Name + "_from_" + m.axes()
	if sums(f) && !rowsOfSums(f) && !m.keepsRows() {
		return nil // each block of channels would make a copy of its own
	}
	same := slices.Equal(f.Params[k].Shape, m.y.Shape)
	switch {
	case !same:
		return nil
	case m.keepsRows():
		return indexed(f, k, name, m.x, m.source)
	case sums(f):
		return copyForSums(f, k, name, m, t)
	case t.InOrder && m.y.Shape[len(m.y.Shape)-1] > mostLanes:
		return nil
	case deps.Once(f, f.Params[k].Name):
		return indexed(f, k, name, m.x, m.source)
	}
	return copyPixels(f, k, name, m)
}

// mostLanes is the most channels that code for cores that wait for each operand brings together
// from planes: lanes that are loaded one by one take registers.
const mostLanes = 16

// redirectWrite returns f with parameter k, the operand of move m, replaced by m's result; nil if
// that is not possible or costs more.
func redirectWrite(f *ir.Func, k int, m move, t targets.Target) *ir.Func {
	if f.Params[k].Type != m.x.Type || f.Params[k].Enc.Kind != ir.NoEncoding || hasCalls(f) || !m.bijective() {
		return nil
	}
	name := f.Name + "_to_" + m.axes()
	if !slices.Equal(f.Params[k].Shape, m.x.Shape) || !m.keepsRows() &&
		(!deps.Once(f, f.Params[k].Name) || !t.ScatteredStores(m.strideBytes())) {
		return nil
	}
	g := indexed(f, k, name, m.y, m.target)
	if l, ok := g.Body.(*ir.For); ok {
		return g.WithBody(imageOrder(reorderToMemory(l, g.Params[k].Name)))
	}
	return g
}

// indexed is f, under another name, where parameter k has the shape of b and at gives its indices.
func indexed(f *ir.Func, k int, name string, b ir.Buffer, at func([]ir.Expr) []ir.Expr) *ir.Func {
	p := f.Params[k].Name
	g := f.WithBody(ir.Reindex(f.Body, p, p, at))
	return as(g, k, name, b)
}

// hasCalls reports whether f has instructions with windows of buffers as operands.
func hasCalls(f *ir.Func) bool {
	for range ir.StmtsOf[*ir.Call](f.Body) {
		return true
	}
	return false
}

// sums reports whether f adds up over windows.
func sums(f *ir.Func) bool { return tallest(f.Body, ir.TapRow, ir.Reduce) > 0 }

// rowsOfSums reports whether there are several rows of sums, which a schedule computes a few at a
// time; else it computes each block of channels by itself.
func rowsOfSums(f *ir.Func) bool { return tallest(f.Body, ir.Row, ir.TapRow, ir.Reduce) > 1 }

// tallest is the largest extent of a loop of the first axis with loops of the other axes inside, 0
// if there is none.
func tallest(s ir.Stmt, axes ...ir.Axis) int {
	most := 0
	for l := range ir.StmtsOf[*ir.For](s) {
		if l.Axis == axes[0] && (len(axes) == 1 || tallest(l.Body, axes[1:]...) > 0) {
			most = max(most, l.Extent)
		}
	}
	return most
}

// copyName is the buffer of a copy.
const copyName = "xm"

// fewChannels is the most channels of an image that are brought from planes to pixels where a layer
// copies its input, pixel by pixel: of more, each row of a tile would make these copies of its own.
const fewChannels = 4

// copyForSums returns f, which sums windows of parameter k, the result of m. Its copy of the input,
// or a new one, reads m's operand. It goes in the same order of axes if all lanes of a product
// share a number wherever it lies, else pixel by pixel.
func copyForSums(f *ir.Func, k int, name string, m move, t targets.Target) *ir.Func {
	p := f.Params[k]
	loops, i, ok := positions(m.y.Shape)
	if !ok || !m.permutes() || f.Buffers()[copyName].Name != "" {
		return nil
	}
	g, copied := indexed(f, k, name, m.x, m.source), copyName
	switch {
	case deps.Once(f, p.Name):
		copied = inputCopy(f, p.Name)
	case !t.BroadcastLoads():
		return nil // putting pixels together for each tile is dearer than for all at once
	default:
		nest := ir.Nest(loops, copyElement(p, i, m, i))
		g = as(f.WithBody(&ir.Alloc{Buf: ir.Buffer{Name: copyName, Type: p.Type, Shape: p.Shape, Role: ir.RolePad},
			Body: prepend(nest, fromCopy(f.Body, p, 0))}), k, name, m.x)
	}
	switch {
	case copied == "" || !shared(g, copied):
		return nil
	case t.BroadcastLoads():
		return relayout(g, copied, m)
	case p.Shape[len(p.Shape)-1] <= fewChannels:
		return g
	}
	return nil
}

// inputCopy returns the buffer of f that one nest of loops over its dimensions copies from a
// parameter, or "".
func inputCopy(f *ir.Func, param string) string {
	buf := ""
	for st := range ir.StmtsOf[*ir.Store](f.Body) {
		eachLoad(st, param, func(*ir.Load) { buf = st.Buf })
	}
	for _, p := range f.Params {
		if p.Name == buf {
			return ""
		}
	}
	return buf
}

// shared reports whether the sums of f read f32 of a buffer, and each the same for all of its
// channels.
func shared(f *ir.Func, buf string) bool {
	same := f.Buffers()[buf].Type == ir.F32
	for l := range ir.StmtsOf[*ir.For](f.Body) {
		if l.Axis != ir.Channel || tallest(l.Body, ir.TapRow, ir.Reduce) == 0 {
			continue
		}
		eachLoad(l, buf, func(ld *ir.Load) {
			for _, e := range ld.Idx {
				same = same && !arith.Mentions(e, l.Var)
			}
		})
	}
	return same
}

// relayout returns f with the dimensions of a buffer, and the nest that fills it, in the order of
// m's operand.
func relayout(f *ir.Func, buf string, m move) *ir.Func {
	ordered := func(i []ir.Expr) []ir.Expr {
		out := make([]ir.Expr, len(i))
		for d, p := range m.from {
			out[d] = i[p.dim]
		}
		return out
	}
	return f.WithBody(ir.MapStmt(ir.Reindex(f.Body, buf, buf, ordered), func(s ir.Stmt) ir.Stmt {
		switch s := s.(type) {
		case *ir.Alloc:
			if s.Buf.Name == buf {
				b := s.Buf
				b.Shape = make([]int, len(m.from))
				for d, p := range m.from {
					b.Shape[d] = s.Buf.Shape[p.dim]
				}
				return &ir.Alloc{Buf: b, Body: s.Body}
			}
		case *ir.For:
			return reorderToMemory(s, buf)
		}
		return s
	}, nil))
}

// copyPixels returns f with a copy of each pixel, if f reads parameter k, the result of m, pixel by
// pixel; else nil.
func copyPixels(f *ir.Func, k int, name string, m move) *ir.Func {
	p := f.Params[k]
	loops, i, ok := positions(m.y.Shape)
	if !ok || f.Buffers()[copyName].Name != "" {
		return nil
	}
	last := len(i) - 1
	var around []*ir.For
	s := f.Body
	for range last {
		l, isLoop := s.(*ir.For)
		if !isLoop {
			return nil
		}
		around, s = append(around, l), l.Body
	}
	pixel := make([]ir.Expr, last)
	for d, l := range around {
		pixel[d] = ir.V(l.Var)
	}
	same := true
	eachLoad(s, p.Name, func(ld *ir.Load) {
		for d, e := range pixel {
			same = same && ir.ExprString(ld.Idx[d]) == ir.ExprString(e)
		}
	})
	if !same {
		return nil
	}
	i = append(pixel, i[last])
	nest := ir.Nest(loops[last:], copyElement(p, i[last:], m, i))
	s = &ir.Alloc{Buf: ir.Buffer{Name: copyName, Type: p.Type, Shape: p.Shape[last:]},
		Body: prepend(nest, fromCopy(s, p, last))}
	for d := len(around) - 1; d >= 0; d-- {
		s = around[d].WithBody(s)
	}
	return as(f.WithBody(s), k, name, m.x)
}

// positions are loops over an image, and their variables.
func positions(shape []int) (loops []ir.Loop, i []ir.Expr, ok bool) {
	axes, names := []ir.Axis{ir.Batch, ir.Row, ir.Col, ir.Channel}, []string{"b", "h", "w", "c"}
	if len(shape) != len(axes) {
		return nil, nil, false
	}
	for d, n := range shape {
		loops = append(loops, ir.Loop{Var: copyName + "." + names[d], Extent: n, Axis: axes[d]})
		i = append(i, ir.V(loops[d].Var))
	}
	return loops, i, true
}

// copyElement stores element i of parameter p, the result of m, at a position of the copy.
func copyElement(p ir.Param, at []ir.Expr, m move, i []ir.Expr) ir.Stmt {
	return &ir.Store{Buf: copyName, Idx: at, Op: ir.Assign, Val: ir.At(p.Buffer, m.source(i)...)}
}

// fromCopy is s where the copy is read in the place of p, without the first dimensions.
func fromCopy(s ir.Stmt, p ir.Param, without int) ir.Stmt {
	return ir.Reindex(s, p.Name, copyName, func(idx []ir.Expr) []ir.Expr { return idx[without:] })
}

// as is g under a name, with parameter k of b's shape.
func as(g *ir.Func, k int, name string, b ir.Buffer) *ir.Func {
	g.Name, g.Params = name, slices.Clone(g.Params)
	g.Params[k].Shape = slices.Clone(b.Shape)
	return g
}

// prepend is s with another statement before those in the scope of its buffers.
func prepend(first, s ir.Stmt) ir.Stmt {
	if a, ok := s.(*ir.Alloc); ok {
		return &ir.Alloc{Buf: a.Buf, Body: prepend(first, a.Body)}
	}
	return ir.Seq(first, s)
}

// eachLoad calls f for the loads of a buffer.
func eachLoad(s ir.Stmt, buf string, f func(*ir.Load)) {
	for ld := range ir.NodesOf[*ir.Load](s) {
		if ld.Buf == buf {
			f(ld)
		}
	}
}
