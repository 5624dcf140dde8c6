package emit_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"ripc/codegen"
	"ripc/codegen/llvm/emit"
	"ripc/ir"
	"ripc/ir/deps"
)

// TestRandom compares native code with the interpreter on random nests of all loop kinds, as far as they are legal:
// deps.Check is what is tested, as much as the code. RandomArgs and the seed fix everything, so that a failure can be run again.
func TestRandom(t *testing.T) {
	tg := host(t)
	for batch := range uint64(3) {
		var fs []*ir.Func
		vectors := 0
		for i := range uint64(40) {
			g := &gen{r: rand.New(rand.NewPCG(batch, i)), apart: i%2 == 0}
			f, marked := legal(g.fn(fmt.Sprintf("r%d_%d", batch, i)))
			if _, err := emit.Kernel(f, "f", tg, nil); err != nil {
				var large *codegen.SizeError
				if !errors.As(err, &large) {
					t.Fatalf("%v\n%s", err, f)
				}
				continue
			}
			fs = append(fs, f)
			vectors += marked
		}
		if vectors < 20 {
			t.Errorf("batch %d: %d kernels with only %d vectorized loops", batch, len(fs), vectors)
		}
		checkAll(t, fs...)
	}
}

// legal makes serial again whatever deps.Check refuses, one loop after the other, and counts the vectorized loops that
// are left.
func legal(f *ir.Func) (*ir.Func, int) {
	var marked []string
	mark := func(f *ir.Func, name string, kind ir.LoopKind) *ir.Func {
		return f.WithBody(ir.MapStmt(f.Body, func(s ir.Stmt) ir.Stmt {
			if l, ok := s.(*ir.For); ok && l.Var == name {
				return &ir.For{Var: l.Var, Extent: l.Extent, Kind: kind, Body: l.Body}
			}
			return s
		}, nil))
	}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.For); ok && l.Kind == ir.Vectorize {
			marked = append(marked, l.Var)
		}
		return true
	})
	for _, name := range marked {
		f = mark(f, name, ir.Serial)
	}
	n := 0
	for _, name := range marked {
		if g := mark(f, name, ir.Vectorize); deps.Check(g) == nil {
			f = g
			n++
		}
	}
	return f, n
}

const genSize = 96 // elements of every buffer

// gen makes random Funcs. Indices are affine, sometimes divided or wrapped, and always in bounds.
type gen struct {
	r    *rand.Rand
	vars []ir.Loop
	n    int
	bufs []ir.Buffer
	// apart: nothing that is written is read, so that most lanes do not disturb each other
	apart bool
}

func (g *gen) fn(name string) *ir.Func {
	x, q, y, z, a := buf("x", ir.I32, genSize), buf("q", ir.U8, genSize), buf("y", ir.I32, genSize), buf("z", ir.U8, genSize), buf("a", ir.I32, genSize)
	g.bufs = []ir.Buffer{x, q, y, z, a}
	p := ir.V("p")
	body := ir.Seq(loop([]ir.LoopKind{ir.Serial, ir.Vectorize}[g.r.IntN(2)], "p", genSize, set(a, ir.At(x, p), p)), g.stmts(3))
	return &ir.Func{Name: name, Params: []ir.Param{in(x), in(q), out(y), out(z)}, Body: &ir.Alloc{Buf: a, Body: body}}
}

func (g *gen) stmts(depth int) ir.Stmt {
	var out []ir.Stmt
	for range 1 + g.r.IntN(2) {
		switch k := g.r.IntN(8); {
		case depth > 0 && (k < 5 || len(g.vars) == 0):
			g.n++
			l := ir.Loop{Var: fmt.Sprintf("v%d", g.n), Extent: []int{1, 2, 3, 4, 5, 8}[g.r.IntN(6)]}
			kind := []ir.LoopKind{ir.Serial, ir.Vectorize, ir.Unroll, ir.Vectorize}[g.r.IntN(4)]
			g.vars = append(g.vars, l)
			out = append(out, loop(kind, l.Var, l.Extent, g.stmts(depth-1)))
			g.vars = g.vars[:len(g.vars)-1]
		case k == 5:
			out = append(out, &ir.If{Cond: g.cond(), Then: g.store(), Else: g.store()})
		case k == 6:
			g.n++
			own := buf(fmt.Sprintf("own%d", g.n), ir.I32, 2)
			first := ir.Seq(set(own, g.expr(ir.I32, 1), ir.Int(0)), set(own, g.expr(ir.I32, 1), ir.Int(1)))
			g.bufs = append(g.bufs, own)
			out = append(out, &ir.Alloc{Buf: own, Body: ir.Seq(first, g.stmts(depth-1))})
			g.bufs = g.bufs[:len(g.bufs)-1]
		default:
			out = append(out, g.store())
		}
	}
	return ir.Seq(out...)
}

func (g *gen) store() ir.Stmt {
	b := g.bufs[2+g.r.IntN(len(g.bufs)-2)]
	op := []ir.StoreOp{ir.Assign, ir.Assign, ir.AddTo, ir.OrTo, ir.MinTo, ir.MaxTo}[g.r.IntN(6)]
	return combine(op, b, g.expr(b.Type, 2), g.index(b))
}

// led is an index below genSize that elements lead to, of inputs or of what is written, and loops a little further.
func (g *gen) led() ir.Expr {
	from := g.bufs[[]int{1, 1, 3}[g.r.IntN(3)]]
	at := mul(ir.Bin(ir.And, ir.CastTo(ir.I64, ir.At(from, g.index(from))), ir.Int(7)), ir.Int([]int{1, 4, 8}[g.r.IntN(3)]))
	if len(g.vars) > 0 && g.r.IntN(4) != 0 {
		at = add(at, ir.Bin(ir.Min, ir.V(g.vars[g.r.IntN(len(g.vars))].Var), ir.Int(3)))
	}
	return ir.Bin(ir.Mod, add(at, ir.Int(g.r.IntN(10))), ir.Int(genSize))
}

// index is a random expression in 0..size-1.
func (g *gen) index(b ir.Buffer) ir.Expr {
	size := b.Elems()
	e, lo, hi := ir.Int(0), 0, 0
	for _, v := range g.vars {
		if c := []int{0, 1, 1, 1, 2, 4, 8, -1}[g.r.IntN(8)]; c != 0 {
			e = add(e, mul(ir.V(v.Var), ir.Int(c)))
			lo, hi = lo+min(0, c*(v.Extent-1)), hi+max(0, c*(v.Extent-1))
		}
	}
	e, hi = add(e, ir.Int(-lo)), hi-lo
	if g.r.IntN(6) == 0 {
		e, hi = ir.Bin(ir.Div, e, ir.Int(3)), hi/3
	}
	if hi >= size || g.r.IntN(8) == 0 {
		return ir.Bin(ir.Mod, e, ir.Int(size))
	}
	return add(e, ir.Int(g.r.IntN(size-hi)))
}

func (g *gen) cond() ir.Expr {
	op := []ir.BinOp{ir.Lt, ir.Ge, ir.Eq}[g.r.IntN(3)]
	if g.r.IntN(2) == 0 && len(g.vars) > 0 {
		return ir.Bin(op, ir.V(g.vars[g.r.IntN(len(g.vars))].Var), ir.Int(g.r.IntN(4)))
	}
	return ir.Bin(op, g.expr(ir.I32, 1), g.expr(ir.I32, 1))
}

func (g *gen) expr(t ir.Type, depth int) ir.Expr {
	if depth > 0 {
		switch g.r.IntN(5) {
		case 0, 1:
			op := []ir.BinOp{ir.Add, ir.Sub, ir.Mul, ir.Xor, ir.Min, ir.Max}[g.r.IntN(6)]
			return &ir.Binary{Op: op, A: g.expr(t, depth-1), B: g.expr(t, depth-1)}
		case 2:
			return &ir.Select{Cond: g.cond(), A: g.expr(t, depth-1), B: g.expr(t, depth-1)}
		case 3: // a load that only the guard keeps in bounds
			b := g.bufs[g.r.IntN(2)]
			at := ir.Bin(ir.Sub, g.index(buf("", ir.I32, genSize)), ir.Int(3))
			return &ir.Select{Cond: ir.Bin(ir.Ge, at, ir.Int(0)), A: ir.CastTo(t, ir.At(b, at)), B: ir.Const(t, 7)}
		}
	}
	switch k := g.r.IntN(6); {
	case k == 0:
		return ir.Const(t, int64(g.r.IntN(100)))
	case k == 1 && len(g.vars) > 0:
		return ir.CastTo(t, ir.V(g.vars[g.r.IntN(len(g.vars))].Var))
	case k == 2: // through a table
		return ir.CastTo(t, ir.At(g.bufs[g.r.IntN(2)], g.led()))
	}
	b := g.bufs[g.r.IntN(2)]
	if !g.apart {
		b = g.bufs[g.r.IntN(len(g.bufs))]
	}
	return ir.CastTo(t, ir.At(b, g.index(b)))
}
