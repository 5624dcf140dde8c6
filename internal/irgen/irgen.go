// Package irgen draws random Funcs for tests. They are well-formed, provably in bounds, and write
// every alloc before reading it. No float has undefined bits (NaN is never inspected bit by bit).
// Every engine must agree with the interpreter on them, and every rewrite must keep their results.
package irgen

import (
	"fmt"

	"pgregory.net/rapid"

	"ripc/ir"
)

const (
	maxDepth      = 4 // of loops and ifs
	maxStatements = 12
	maxExtent     = 4
)

// types is where buffers and expressions get their types from.
func types() []ir.Type {
	return []ir.Type{ir.I8, ir.I16, ir.I32, ir.I64, ir.U8, ir.U16, ir.U32, ir.U64, ir.F32}
}

// Func draws a Func. Nests are up to 4 deep, with extents of 1 to 4, so it runs in microseconds.
// Loops are serial or unroll; nests with independent iterations may have other kinds.
func Func(t *rapid.T) *ir.Func {
	g := &gen{t: t, statementsLeft: maxStatements}
	f := &ir.Func{Name: "f"}
	for range g.count(1, 3) {
		b := g.buffer(ir.Invalid)
		if g.chance(5) {
			b = g.planes()
		} else if b.Type.IsInt() && g.chance(4) {
			b.Range = g.numbers(b.Type)
		}
		f.Params = append(f.Params, ir.Param{Buffer: b})
		g.read = append(g.read, b)
	}
	for range g.count(1, 2) {
		b := g.buffer(ir.Invalid)
		f.Params = append(f.Params, ir.Param{Buffer: b, Out: true})
		g.write = append(g.write, b)
	}
	f.Body = g.block(0)
	return f
}

// gen is the state of drawing one Func.
type gen struct {
	t              *rapid.T
	names          int
	statementsLeft int         // statements that may still be drawn
	vars           []ir.Loop   // in scope
	read, write    []ir.Buffer // in scope and initialised; buffers in write can be read too
}

func (g *gen) count(lo, hi int) int { return rapid.IntRange(lo, hi).Draw(g.t, "count") }
func (g *gen) chance(of int) bool   { return g.count(1, of) == of }

func pick[T any](g *gen, from []T) T { return rapid.SampledFrom(from).Draw(g.t, "pick") }

func (g *gen) name(stem string) string {
	g.names++
	return fmt.Sprintf("%s%d", stem, g.names)
}

func (g *gen) buffer(t ir.Type) ir.Buffer {
	if t == ir.Invalid {
		t = pick(g, types())
	}
	b := ir.Buffer{Name: g.name("b"), Type: t}
	for range g.count(0, 3) {
		b.Shape = append(b.Shape, g.count(1, 5))
	}
	return b
}

// numbers draws some of those of a type, 0 among them.
func (g *gen) numbers(t ir.Type) ir.Range {
	r := ir.Range{To: int64(g.count(1, 100))}
	if t.Signed() {
		r.From = -int64(g.count(0, 100))
	}
	return r
}

func (g *gen) planes() ir.Buffer {
	t := pick(g, []ir.Type{ir.U8, ir.U16, ir.U32, ir.U64})
	words := g.count(1, 2)
	return ir.Buffer{
		Name: g.name("b"), Type: t, Shape: []int{g.count(1, 2), g.count(1, 3), words},
		Enc: ir.Encoding{
			Kind:     pick(g, []ir.EncodingKind{ir.Unipolar, ir.Bipolar, ir.BipolarInv}),
			Channels: words*t.Bits() - g.count(0, t.Bits()-1),
		},
	}
}

// block draws statements; its allocs, read and written by no one else, end with it.
func (g *gen) block(depth int) ir.Stmt {
	var ss []ir.Stmt
	for range g.count(1, 3) {
		if g.statementsLeft > 0 {
			ss = append(ss, g.statement(depth))
		}
	}
	return ir.Seq(ss...)
}

func (g *gen) statement(depth int) ir.Stmt {
	g.statementsLeft--
	kind := g.count(0, 9)
	if depth >= maxDepth && kind < 6 {
		kind = 9
	}
	switch kind {
	case 0, 1, 2:
		return g.loop(depth)
	case 3:
		return g.branch(depth)
	case 4:
		return g.alloc(depth)
	case 5:
		return g.elementwise(depth)
	case 6:
		return &ir.Comment{Text: pick(g, []string{"a remark", "", " indented // twice ", "%x[0] = 1"})}
	}
	b := pick(g, g.write)
	return g.store(b, g.indices(b))
}

func (g *gen) loop(depth int) ir.Stmt {
	l := ir.Loop{Var: g.name(pick(g, []string{"i", "h.o", "k_"})), Extent: g.count(1, maxExtent)}
	kind := ir.Serial
	if g.chance(4) {
		kind = ir.Unroll
	}
	g.vars = append(g.vars, l)
	body := g.block(depth + 1)
	g.vars = g.vars[:len(g.vars)-1]
	return &ir.For{Var: l.Var, Extent: l.Extent, Kind: kind,
		Axis: pick(g, []ir.Axis{ir.NoAxis, ir.Batch, ir.TapCol, ir.Copy}), Body: body}
}

func (g *gen) branch(depth int) ir.Stmt {
	s := &ir.If{Cond: g.expr(ir.Bool, 2), Then: g.block(depth + 1)}
	if g.chance(2) {
		s.Else = g.block(depth + 1)
	}
	return s
}

// alloc draws a buffer, a nest that fills it, and statements that may use it.
func (g *gen) alloc(depth int) ir.Stmt {
	t := pick(g, append(types(), ir.Bool))
	b := g.buffer(t)
	var nest []ir.Loop
	var idx []ir.Expr
	for _, n := range b.Shape {
		l := ir.Loop{Var: g.name("z"), Extent: n}
		nest, idx = append(nest, l), append(idx, ir.V(l.Var))
	}
	g.vars = append(g.vars, nest...)
	init := ir.Nest(nest, &ir.Store{Buf: b.Name, Idx: idx, Val: g.expr(t, 2)})
	g.vars = g.vars[:len(g.vars)-len(nest)]
	g.write = append(g.write, b)
	rest := g.block(depth + 1)
	g.write = g.write[:len(g.write)-1]
	return &ir.Alloc{Buf: b, Body: ir.Seq(init, rest)}
}

// elementwise draws a nest over all elements of a buffer that reads nothing that it writes, but for
// the element itself; so its loops may run in any order.
func (g *gen) elementwise(depth int) ir.Stmt {
	k := g.count(0, len(g.write)-1)
	b, old := g.write[k], g.write
	var nest []ir.Loop
	var idx []ir.Expr
	for _, n := range b.Shape {
		l := ir.Loop{Var: g.name("e"), Extent: n}
		nest, idx = append(nest, l), append(idx, ir.V(l.Var))
	}
	g.vars = append(g.vars, nest...)
	g.write = append(append([]ir.Buffer{}, old[:k]...), old[k+1:]...)
	body := g.store(b, idx)
	g.vars, g.write = g.vars[:len(g.vars)-len(nest)], old
	shared := false // a loop inside is parallel
	for i := len(nest) - 1; i >= 0; i-- {
		kind := pick(g, []ir.LoopKind{ir.Serial, ir.Unroll, ir.Parallel})
		if i == len(nest)-1 && g.chance(2) {
			kind = ir.Vectorize
		}
		if shared || kind == ir.Parallel && depth > 0 { // one level of it, in serial loops
			kind = ir.Serial
		}
		shared = shared || kind == ir.Parallel
		body = &ir.For{Var: nest[i].Var, Extent: nest[i].Extent, Kind: kind, Body: body}
	}
	return body
}

func (g *gen) store(b ir.Buffer, idx []ir.Expr) ir.Stmt {
	ops := []ir.StoreOp{ir.Assign, ir.AddTo, ir.OrTo, ir.MinTo, ir.MaxTo}
	switch {
	case b.Type == ir.Bool:
		ops = []ir.StoreOp{ir.Assign, ir.OrTo}
	case b.Type.IsFloat():
		ops = []ir.StoreOp{ir.Assign, ir.AddTo, ir.MinTo, ir.MaxTo}
	}
	return &ir.Store{Buf: b.Name, Idx: idx, Op: pick(g, ops), Val: g.expr(b.Type, g.count(0, 3))}
}
