package clike

import (
	"fmt"
	"math"
	"strings"

	"ripc/codegen"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// writer writes the body of one function.
type writer struct {
	codegen.Lines
	u           *Unit
	f           *ir.Func
	frame       codegen.Frame
	flushed     map[string]bool      // buffers that hold flushed floats only
	bufs        map[string]ir.Buffer // all of f
	vars        map[string]string    // C names of loop variables and buffers in scope
	usedNames   map[string]bool      // C names
	ranges      arith.Ranges
	scratch     bool            // whether anything lies there
	readBuffers map[string]bool // buffers that the text reads
	instr       bool            // f is an instruction: its operands may coincide
	chooses     bool            // the condition being written decides between floats
	kernel      *deps.Kernel    // of a device; nil for a function of C99
	inPhase     bool            // the statements are those of one thread
}

func newWriter(u *Unit, f *ir.Func) *writer {
	w := &writer{Lines: codegen.Lines{Indent: "    "},
		u: u, f: f, frame: codegen.Layout(f), flushed: u.floats.Flushed(f), bufs: f.Buffers(),
		vars: map[string]string{}, readBuffers: map[string]bool{},
		usedNames: map[string]bool{"tid": true, "none": true, "nthreads": true, "scratch": true},
		ranges:    arith.Ranges{}}
	for _, s := range w.frame.Slots {
		w.scratch = w.scratch || !s.OnStack
	}
	return w
}

func (w *writer) fail(op, format string, args ...any) {
	panic(abort{&ir.Error{Op: op, Node: "@" + w.f.Name, Msg: fmt.Sprintf(format, args...)}})
}

// name gives a buffer or a loop variable a C name.
func (w *writer) name(s string) string {
	c := codegen.CleanName(s)
	if w.u.device || codegen.Identifier(c) != c || strings.HasPrefix(c, "rc_") || strings.HasPrefix(c, "ripc_") ||
		strings.HasSuffix(c, "_t") ||
		strings.ToLower(c) != c || strings.HasPrefix(c, "_") || c == "unix" || c == "linux" || c == "i386" {
		c = "v_" + c // keywords, types, and possible macros
	}
	c = codegen.Unique(w.usedNames, c)
	w.vars[s] = c
	return c
}

// params declares the parameters of f; apart says that they are restrict, but those that may lie in
// one place.
func (w *writer) params(apart bool) []string {
	var out []string
	for _, p := range w.f.Params {
		c, qualifier := "const ", ""
		if p.Out {
			c = ""
		}
		if apart && w.f.Apart(p) {
			qualifier = "restrict "
		}
		out = append(out, c+Memory(p.Type)+" *"+qualifier+w.name(p.Name))
	}
	return out
}

// body writes the statements of f.
func (w *writer) body() {
	w.stmt(w.f.Body)
	for _, p := range w.f.Params {
		if !p.Out {
			w.markUsed(p.Name)
		}
	}
}

// markUsed silences compiler warnings about a buffer that nothing reads.
func (w *writer) markUsed(buf string) {
	if !w.readBuffers[buf] {
		w.Line("(void)%s;", w.vars[buf])
	}
}

// parallel reports whether threads share loops of f.
func (w *writer) parallel() bool {
	shared, err := codegen.CheckLoops(w.f)
	if err != nil {
		panic(abort{err})
	}
	return shared
}

func (w *writer) stmt(s ir.Stmt) {
	if w.kernel != nil && w.deviceStmt(s) {
		return
	}
	switch s := s.(type) {
	case nil:
	case *ir.Comment:
		w.Line("/* %s */", codegen.Comment(s.Text))
	case *ir.Block:
		for _, t := range s.Stmts {
			w.stmt(t)
		}
	case *ir.For:
		w.loop(s)
	case *ir.Store:
		w.store(s)
	case *ir.If:
		w.Open("if (RIPC_COND(%s)) {", w.choice(s.Cond, true))
		w.stmt(s.Then)
		if s.Else != nil {
			w.Depth--
			w.Open("} else {")
			w.stmt(s.Else)
		}
		w.Close("}")
	case *ir.Alloc:
		w.alloc(s)
	case *ir.Call:
		w.call(s)
	default:
		w.fail("", "statement %T is unknown", s)
	}
}

// fewLanes is up to how many lanes of a vector loop are copies where a chip has no vectors: so few
// elements can be in registers.
const fewLanes = 8

// loop writes a For. Copies of unrolled loops are left to the compiler, which is told to make them.
func (w *writer) loop(s *ir.For) {
	if s.Extent <= 0 {
		return
	}
	if either := unswitch(s); either != nil {
		w.stmt(either)
		return
	}
	if s.Extent > math.MaxInt32-1 {
		w.fail("for %"+s.Var, "extent %d; at most %d is supported in C", s.Extent, math.MaxInt32-1)
	}
	old, had := w.vars[s.Var]
	i := w.name(s.Var)
	before := w.ranges
	w.ranges = w.ranges.With(s.Var, s.Extent)
	switch {
	case s.Kind == ir.Parallel:
		share := w.u.use("rc_share")
		end := codegen.Unique(w.usedNames, i+"_end")
		w.Open("{")
		w.Line("int32_t %s;", i)
		w.Line("const int32_t %s = %s(tid + 1u, nthreads, %d);", end, share, s.Extent)
		w.Open("for (%s = %s(tid, nthreads, %d); %s < %s; %s++) {", i, share, s.Extent, i, end, i)
		w.stmt(s.Body)
		w.Close("}")
		w.Close("}")
	case s.Extent == 1:
		w.vars[s.Var] = "0"
		w.stmt(s.Body)
	default:
		if s.Kind == ir.Unroll && s.Extent > 1 {
			w.Line(w.unrolling(), s.Extent)
		}
		if s.Kind == ir.Vectorize && s.Extent > 1 && !w.instr &&
			deps.Independent(w.f, s, "vectorize", deps.Nothing) == nil {
			if s.Extent <= fewLanes {
				w.Line("RIPC_LANES(%d)", s.Extent)
			} else {
				w.Line("RIPC_VECTOR")
			}
		}
		w.Open("for (int32_t %[1]s = 0; %[1]s < %[2]d; %[1]s++) {", i, s.Extent)
		w.stmt(s.Body)
		w.Close("}")
	}
	w.ranges = before
	delete(w.vars, s.Var)
	if had {
		w.vars[s.Var] = old
	}
}

func (w *writer) alloc(s *ir.Alloc) {
	old, had := w.vars[s.Buf.Name]
	n := w.name(s.Buf.Name)
	m := Memory(s.Buf.Type)
	w.Open("{")
	if slot := w.frame.Slots[s.Buf.Name]; slot.OnStack {
		w.Line("%s %s[%d];", m, n, max(s.Buf.Elems(), 1))
	} else {
		w.Line("%s *const %s = (%s *)(void *)(scratch + %d);", m, n, m, slot.Offset)
	}
	w.stmt(s.Body)
	w.markUsed(s.Buf.Name)
	w.Close("}")
	delete(w.vars, s.Buf.Name)
	if had {
		w.vars[s.Buf.Name] = old
	}
}

// element is buf[idx].
func (w *writer) element(buf string, idx []ir.Expr) string {
	return w.vars[buf] + "[" + w.flatIndex(buf, idx) + "]"
}

// flatIndex returns the index of buf[idx] in memory.
func (w *writer) flatIndex(buf string, idx []ir.Expr) string {
	b, ok := w.bufs[buf]
	if !ok || w.vars[buf] == "" {
		w.fail("", "%%%s is not a buffer in scope", buf)
	}
	w.readBuffers[buf] = true
	if len(idx) != len(b.Shape) {
		w.fail("", "%%%s has %d dimensions but is indexed with %d", buf, len(b.Shape), len(idx))
	}
	flat := ir.Int(0)
	for d, e := range idx {
		flat = ir.Bin(ir.Add, ir.Bin(ir.Mul, flat, ir.Int(b.Shape[d])), e)
	}
	return w.index(w.dropZeros(arith.ToAffine(flat)).Expr()).bare
}

// dropZeros returns a without variables that are always 0.
func (w *writer) dropZeros(a arith.Affine) arith.Affine {
	out := arith.Affine{Const: a.Const}
	for _, t := range a.Terms {
		if v, ok := t.Atom.(*ir.Var); !ok || w.ranges[v.Name] != (arith.Interval{}) {
			out.Terms = append(out.Terms, t)
		}
	}
	return out
}

func (w *writer) store(s *ir.Store) {
	b := w.bufs[s.Buf]
	read := w.readBuffers[s.Buf] || s.Op != ir.Assign
	at := w.element(s.Buf, s.Idx)
	w.readBuffers[s.Buf] = read
	v := w.expr(s.Val)
	switch {
	case s.Op == ir.Assign:
	case b.Type.IsFloat():
		old := &ir.Load{Buf: s.Buf, Idx: s.Idx, T: b.Type}
		if s.Op == ir.AddTo {
			v = w.floats(ir.Add, w.operand(old), w.operand(s.Val))
		} else {
			v = w.extreme(s.Op.Operator(), w.flush(old), s.Val)
		}
	case s.Op == ir.OrTo && b.Type == ir.Bool:
		v = fmt.Sprintf("(%s | %s)", at, v)
	default:
		v = w.integers(s.Op.Operator(), b.Type, at, v)
	}
	w.Line("%s = %s;", at, v)
}

func (w *writer) call(s *ir.Call) {
	if w.u.device {
		w.fail("call @"+s.Fn.Name, "devices of OpenCL have no instructions of their own")
	}
	if len(s.Args) != len(s.Fn.Params) {
		w.fail("call @"+s.Fn.Name, "%d operands for %d parameters", len(s.Args), len(s.Fn.Params))
	}
	var args []string
	for i, a := range s.Args {
		p := s.Fn.Params[i]
		if err := codegen.Contiguous(p, w.bufs[a.Buf]); err != nil {
			w.fail("call @"+s.Fn.Name, "operand %s for %s: %v", ir.BufferString(w.bufs[a.Buf]),
				ir.BufferString(p.Buffer), err)
		}
		args = append(args, "&"+w.element(a.Buf, a.Idx))
	}
	w.Line("%s(%s);", w.u.instruction(s.Fn), strings.Join(args, ", "))
}
