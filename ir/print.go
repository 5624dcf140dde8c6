package ir

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// String returns the Func in .ripir text, the instructions that it calls first. irtext.Parse is the
// inverse.
func (f *Func) String() string { return f.text(&printer{}) }

// Meaning is String without the roles of buffers, which do not change results. Keys and hashes use
// it.
func (f *Func) Meaning() string { return f.text(&printer{bare: true}) }

// Key is equal for Funcs that differ only in their own names, comments and roles.
func (f *Func) Key() string {
	g := *f
	g.Name = ""
	sum := sha256.New()
	for line := range strings.Lines(g.Meaning()) {
		if !strings.HasPrefix(strings.TrimSpace(line), "//") {
			sum.Write([]byte(line))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

func (f *Func) text(p *printer) string {
	p.instrs(map[string]bool{}, f)
	p.fn("func", f)
	return p.String()
}

// ExprString returns e in .ripir text.
func ExprString(e Expr) string { return expr(e, 0) }

// StmtString returns s in .ripir text.
func StmtString(s Stmt) string {
	p := &printer{}
	p.stmt(s, true)
	return p.String()
}

// BufferString returns b as a declaration: "%x: u32[2, 1, 8, 8, 2] unipolar c=64", "%w: i8[8, 4]
// from -127 to 127".
func BufferString(b Buffer) string {
	s := fmt.Sprintf("%%%s: %s", b.Name, b.Type)
	if len(b.Shape) > 0 {
		s += strings.ReplaceAll(fmt.Sprint(b.Shape), " ", ", ")
	}
	if b.Enc.Kind != NoEncoding {
		s += fmt.Sprintf(" %s c=%d", b.Enc.Kind, b.Enc.Channels)
	}
	if !b.Range.Any() {
		s += fmt.Sprintf(" from %d to %d", b.Range.From, b.Range.To)
	}
	if b.Space == Shared {
		s += " shared"
	}
	return s
}

type printer struct {
	strings.Builder
	depth int
	bare  bool // without roles
}

func (p *printer) line(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if s != "" {
		p.WriteString(strings.Repeat("  ", p.depth))
		p.WriteString(s)
	}
	p.WriteByte('\n')
}

func (p *printer) instrs(seen map[string]bool, f *Func) {
	for s := range Stmts(f.Body) {
		if c, ok := s.(*Call); ok && !seen[c.Fn.Name] {
			seen[c.Fn.Name] = true
			p.instrs(seen, c.Fn)
			p.fn("instr", c.Fn)
		}
	}
}

func (p *printer) fn(kind string, f *Func) {
	var ps []string
	for _, q := range f.Params {
		s := BufferString(q.Buffer)
		if q.Out {
			s = "out " + s
		}
		if q.Over != "" {
			s += " over %" + q.Over
		}
		ps = append(ps, s)
	}
	threads := ""
	if f.Threads > 0 {
		threads = fmt.Sprintf(" threads=%d", f.Threads)
	}
	p.line("%s @%s(%s)%s {", kind, f.Name, strings.Join(ps, ", "), threads)
	p.depth++
	p.stmt(f.Body, true)
	p.depth--
	p.line("}")
}

// stmt prints s; last says that s ends its block, so that an alloc needs no braces.
func (p *printer) stmt(s Stmt, last bool) {
	switch s := s.(type) {
	case *Block:
		for i, t := range s.Stmts {
			p.stmt(t, last && i == len(s.Stmts)-1)
		}
	case *For:
		kind := ""
		if s.Kind != Serial {
			kind = " " + s.Kind.String()
		}
		if s.Axis != NoAxis {
			kind += " axis=" + s.Axis.String()
		}
		p.line("for %%%s in 0:%d%s {", s.Var, s.Extent, kind)
		p.body(s.Body)
		p.line("}")
	case *Store:
		p.line("%s %s %s", element(s.Buf, s.Idx), s.Op, expr(s.Val, 0))
	case *If:
		p.line("if %s {", expr(s.Cond, 0))
		p.body(s.Then)
		if s.Else != nil {
			p.line("} else {")
			p.body(s.Else)
		}
		p.line("}")
	case *Alloc:
		if !last {
			p.line("{")
			p.depth++
		}
		role := ""
		if s.Buf.Role != NoRole && !p.bare {
			role = " role=" + s.Buf.Role.String()
		}
		p.line("alloc %s%s", BufferString(s.Buf), role)
		p.stmt(s.Body, true)
		if !last {
			p.depth--
			p.line("}")
		}
	case *Barrier:
		p.line("barrier")
	case *Comment:
		p.line("// %s", s.Text)
	case *Call:
		var ws []string
		for _, w := range s.Args {
			ws = append(ws, element(w.Buf, w.Idx))
		}
		p.line("call @%s(%s)", s.Fn.Name, strings.Join(ws, ", "))
	}
}

func (p *printer) body(s Stmt) {
	p.depth++
	p.stmt(s, true)
	p.depth--
}

func element(buf string, idx []Expr) string {
	if len(idx) == 0 {
		return "%" + buf
	}
	return "%" + buf + "[" + list(idx) + "]"
}

func list(es []Expr) string {
	var ss []string
	for _, e := range es {
		ss = append(ss, expr(e, 0))
	}
	return strings.Join(ss, ", ")
}

// Precedence is the binding strength of an infix operator, loosest first: "|" 1, "^" 2, "&" 3,
// comparisons 4, shifts 5, sums 6, products 7; 0 for min and max, which are written as calls.
func (o BinOp) Precedence() int {
	return [...]int{Or: 1, Xor: 2, And: 3, Eq: 4, Ne: 4, Lt: 4, Le: 4, Gt: 4, Ge: 4, Shl: 5, Shr: 5, Add: 6, Sub: 6,
		Mul: 7, Div: 7, Mod: 7}[o]
}

func expr(e Expr, min int) string {
	switch e := e.(type) {
	case *IntImm:
		return intString(e)
	case *FloatImm:
		return FloatString(e.V)
	case *Var:
		return "%" + e.Name
	case *Load:
		return element(e.Buf, e.Idx)
	case *Binary:
		prec := e.Op.Precedence()
		if prec == 0 {
			return fmt.Sprintf("%s(%s, %s)", e.Op, expr(e.A, 0), expr(e.B, 0))
		}
		s := fmt.Sprintf("%s %s %s", expr(e.A, prec), e.Op, expr(e.B, prec+1))
		if prec < min {
			return "(" + s + ")"
		}
		return s
	case *Unary:
		switch e.Op {
		case Not:
			return "~" + expr(e.A, 8)
		case Neg:
			return fmt.Sprintf("neg(%s)", expr(e.A, 0))
		}
		return fmt.Sprintf("%s(%s)", e.Op, expr(e.A, 0))
	case *Select:
		return fmt.Sprintf("select(%s, %s, %s)", expr(e.Cond, 0), expr(e.A, 0), expr(e.B, 0))
	case *Cast:
		return fmt.Sprintf("cast<%s>(%s)", e.T, expr(e.A, 0))
	case *Bitcast:
		return fmt.Sprintf("bitcast<%s>(%s)", e.T, expr(e.A, 0))
	case *Fma:
		return fmt.Sprintf("fma(%s, %s, %s)", expr(e.A, 0), expr(e.B, 0), expr(e.C, 0))
	}
	return "?"
}

// intString writes i64 constants plainly and others with their type: 3, 3i32, 255u8, true.
func intString(e *IntImm) string {
	switch e.T {
	case I64:
		return strconv.FormatInt(e.V, 10)
	case Bool:
		return strconv.FormatBool(e.V != 0)
	case U64:
		return strconv.FormatUint(uint64(e.V), 10) + "u64"
	}
	return strconv.FormatInt(e.V, 10) + e.T.String()
}

// FloatString writes an f32 constant so that it reads back exactly: shortest decimal with "." or
// "e", inf, -inf, nan.
func FloatString(v float32) string {
	switch {
	case v != v:
		return "nan"
	case math.IsInf(float64(v), 1):
		return "inf"
	case math.IsInf(float64(v), -1):
		return "-inf"
	}
	s := strconv.FormatFloat(float64(v), 'g', -1, 32)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// String returns the Program in .ripir text: buffers and stages, then the Funcs. Constants appear
// as hashes.
func (g *Program) String() string { return g.text(&printer{}) }

// Meaning is String without the roles of buffers, as Func.Meaning is.
func (g *Program) Meaning() string { return g.text(&printer{bare: true}) }

func (g *Program) text(p *printer) string {
	p.line("program @%s {", g.Name)
	p.depth++
	for _, b := range g.Buffers {
		s := fmt.Sprintf("%s %s", b.Kind, BufferString(b.Buffer))
		switch b.Kind {
		case ConstBuf:
			s += fmt.Sprintf(" sha256=%x", sha256.Sum256(b.Data))
		case ArenaBuf:
			s += fmt.Sprintf(" at %d", b.Offset)
		}
		if b.Layout != "" {
			s += " layout=" + b.Layout
		}
		if b.Levels != (Levels{}) {
			s += " " + b.Levels.String()
		}
		if b.Label != "" {
			s += fmt.Sprintf(" label=%q", b.Label)
		}
		p.line("%s", s)
	}
	p.line("arena_bytes %d", g.Arena)
	for _, s := range g.Stages {
		var args []string
		for _, a := range s.Args {
			args = append(args, "%"+a)
		}
		t := fmt.Sprintf("stage %q %s @%s(%s) macs=%d", s.Name, s.Op, s.Func, strings.Join(args, ", "), s.MACs)
		t += layerText(s.Layer)
		if s.Note != "" {
			t += fmt.Sprintf(" note=%q", s.Note)
		}
		p.line("%s", t)
	}
	p.depth--
	p.line("}")
	seen := map[string]bool{}
	for _, f := range g.Funcs {
		p.line("")
		p.instrs(seen, f)
		p.fn("func", f)
	}
	return p.String()
}

// layerText returns a stage's layer in .ripir text: " name=value" for each field that is not zero.
func layerText(l Layer) string {
	t := ""
	for _, f := range Facts(&l) {
		if f.Zero() {
			continue
		}
		switch v := f.Get().(type) {
		case string:
			t += fmt.Sprintf(" %s=%q", f.Name, v)
		case []string:
			t += fmt.Sprintf(" %s=%q", f.Name, strings.Join(v, " "))
		case map[string]int64:
			var pairs []string
			for _, name := range slices.Sorted(maps.Keys(v)) {
				pairs = append(pairs, fmt.Sprintf("%s %d", name, v[name]))
			}
			t += fmt.Sprintf(" %s=%q", f.Name, strings.Join(pairs, " "))
		case bool:
			t += " " + f.Name + "=1"
		default:
			t += fmt.Sprintf(" %s=%d", f.Name, v)
		}
	}
	return t
}
