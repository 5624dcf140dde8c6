package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// Pack is a change of the layout of a parameter: the caller of the Func passes the result of Func
// on the old contents. For weights the compiler does that once, at compile time.
type Pack struct {
	Param string
	Func  *ir.Func // parameters: the old layout, and (out) the new one
	View  bool     // both are the same bytes: nothing has to be done, the parameter sees them as another type
	Step  Step     // that asks for it; zero where a primitive was called without one
}

// parameter is the number of the parameter that buffer is, -1 if it is an alloc. It refuses
// outputs.
func parameter(f *ir.Func, buffer string) int {
	i := slices.IndexFunc(f.Params, func(p ir.Param) bool { return p.Name == buffer })
	if i >= 0 && f.Params[i].Out {
		refuse("", "%%%s is an output, and its layout is the caller's", buffer)
	}
	return i
}

// withParam is f with b as parameter i.
func withParam(f *ir.Func, i int, b ir.Buffer) *ir.Func {
	g := f.WithBody(f.Body)
	g.Params = slices.Clone(f.Params)
	g.Params[i].Buffer = b
	return g
}

// withBuffer is f with b as parameter i or, if that is negative, as the alloc of its name.
func withBuffer(f *ir.Func, i int, b ir.Buffer) *ir.Func {
	if i >= 0 {
		return withParam(f, i, b)
	}
	return f.WithBody(ir.MapStmt(f.Body, func(s ir.Stmt) ir.Stmt {
		if x, ok := s.(*ir.Alloc); ok && x.Buf.Name == b.Name {
			return &ir.Alloc{Buf: b, Body: x.Body}
		}
		return s
	}, nil))
}

// relayoutFunc returns the Func that makes the contents of to from those of from. It has a loop for
// each dimension of one of them; element takes their variables and returns the place and the value
// that an iteration stores.
func relayoutFunc(verb string, from, to ir.Buffer, shape []int,
	element func(from ir.Buffer, i []ir.Expr) (at []ir.Expr, val ir.Expr)) *ir.Func {
	name := verb + "_" + from.Name
	from.Name, to.Name = "from", "to"
	var loops []ir.Loop
	var i []ir.Expr
	for d, n := range shape {
		v := fmt.Sprintf("i%d", d)
		loops = append(loops, ir.Loop{Var: v, Extent: n})
		i = append(i, ir.V(v))
	}
	at, val := element(from, i)
	return &ir.Func{
		Name:   name,
		Params: []ir.Param{{Buffer: from}, {Buffer: to, Out: true}},
		Body:   ir.Nest(loops, &ir.Store{Buf: "to", Idx: at, Val: val}),
	}
}

// packDim is a dimension of a new layout: dimension of of the old one, or a part of it.
type packDim struct {
	of   int
	part byte // 0: all of it; 'o': the index divided by the factor; 'i': the remainder
}

// pack lays a buffer out anew, so that a kernel finds its weights in the order in which it
// uses them. Other systems: TVM transform_layout and layout_free_buffers, Halide reorder_storage.
//
//	@f(%w: u32[3, 3, 4, 64], ...) { ... %w[%kh, %kw, %c, %q * 32 + %l] ... }
//	=> pack w 3.o 0 1 2 3.i factor=32
//	@f(%w: u32[2, 3, 3, 4, 32], ...) { ... %w[%q, %kh, %kw, %c, %l] ... }
//	@pack_w(%from: u32[3, 3, 4, 64], out %to: u32[2, 3, 3, 4, 32]) { ... }
//
// dims lists the new dimensions, outermost first: each old one by its number once, or one of them
// as N.o and N.i, its index divided by factor and the remainder. Where the factor does not divide,
// elements of a parameter that nobody reads are zero. A trace that packs a parameter needs
// ApplyAll; of an alloc only the indices change. It is refused for outputs, if a dimension is
// missing or named twice, and if a call takes the buffer. It is refused if an index cannot be shown
// to lie inside the buffer where the loops alone are known.
func pack(f *ir.Func, buffer string, dims []string, factor int) (*ir.Func, *Pack) {
	from := findBuffer(f, buffer)
	param := parameter(f, buffer)
	noCalls(f, buffer, "pack")
	layout := parseLayout(from, dims, factor)
	to := ir.Buffer{Name: buffer, Type: from.Type, Range: from.Range, Role: from.Role}
	for _, d := range layout {
		n := from.Shape[d.of]
		switch d.part {
		case 'o':
			n = (n + factor - 1) / factor
		case 'i':
			n = factor
		}
		to.Shape = append(to.Shape, n)
	}
	if !to.Range.Any() && to.Elems() > from.Elems() { // zeros are added
		to.Range = ir.Range{From: min(0, to.Range.From), To: max(0, to.Range.To)}
	}
	ranges := deps.ScopeOf(f.Body).Ranges
	body := ir.Reindex(f.Body, buffer, buffer, func(old []ir.Expr) []ir.Expr {
		idx := make([]ir.Expr, len(layout))
		for i, d := range layout {
			idx[i] = old[d.of]
			switch d.part {
			case 'o':
				idx[i] = arith.Simplify(ir.Bin(ir.Div, idx[i], ir.Int(factor)), ranges)
			case 'i':
				idx[i] = arith.Simplify(ir.Bin(ir.Mod, idx[i], ir.Int(factor)), ranges)
			}
		}
		return idx
	})
	g := withBuffer(f.WithBody(body), param, to)
	if err := arith.VerifyBoundsOf(g, buffer); err != nil && arith.VerifyBoundsOf(f, buffer) == nil {
		refuse("", "an index of %%%s cannot be followed into the new layout: %v", buffer, err)
	}
	if param < 0 {
		return g, nil
	}
	return g, &Pack{Param: buffer, Func: packing(from, to, layout, factor)}
}

// parseLayout reads the new dimensions and checks that they cover the old ones.
func parseLayout(from ir.Buffer, dims []string, factor int) []packDim {
	help := fmt.Sprintf("name dimensions 0 to %d once each, or one of them as N.o and N.i", len(from.Shape)-1)
	refuse := func(format string, args ...any) { refuse(help, format, args...) }
	var layout []packDim
	parts := map[int]string{}
	split := -1
	for _, text := range dims {
		num, part, cut := strings.Cut(text, ".")
		n, err := strconv.Atoi(num)
		switch {
		case err != nil || n < 0 || n >= len(from.Shape):
			refuse("%%%s has no dimension %q", from.Name, text)
		case cut && part != "o" && part != "i":
			refuse("%q is neither a dimension nor its part .o or .i", text)
		case cut && split >= 0 && split != n:
			refuse("dimensions %d and %d are both split: write two steps", split, n)
		case strings.Contains(parts[n], part+" ") || !cut && parts[n] != "" || parts[n] == " ":
			refuse("dimension %s of %%%s is named twice", text, from.Name)
		}
		parts[n] += part + " "
		d := packDim{of: n}
		if cut {
			split, d.part = n, part[0]
		}
		layout = append(layout, d)
	}
	for n := range from.Shape {
		if parts[n] != " " && len(parts[n]) != 4 {
			refuse("dimension %d of %%%s is not covered by %s", n, from.Name, strings.Join(dims, " "))
		}
	}
	if split >= 0 && (factor < 1 || factor > from.Shape[split]) {
		help = fmt.Sprintf("write factor=1 to factor=%d", from.Shape[split])
		refuse("factor %d does not split dimension %d of %d elements", factor, split, from.Shape[split])
	}
	if split < 0 && factor != 0 {
		refuse("factor %d splits no dimension", factor)
	}
	return layout
}

// packing is the Func that makes the new layout out of the old one.
func packing(from, to ir.Buffer, layout []packDim, factor int) *ir.Func {
	return relayoutFunc("pack", from, to, to.Shape, func(from ir.Buffer, idx []ir.Expr) ([]ir.Expr, ir.Expr) {
		src := make([]ir.Expr, len(from.Shape))
		var cond ir.Expr
		for i, d := range layout {
			part := idx[i]
			if d.part == 'o' {
				part = ir.Bin(ir.Mul, part, ir.Int(factor))
			}
			if src[d.of] == nil {
				src[d.of] = part
				continue
			}
			src[d.of] = ir.Bin(ir.Add, src[d.of], part)
			if d.part == 'o' { // the multiple first, as elsewhere
				src[d.of] = ir.Bin(ir.Add, part, src[d.of].(*ir.Binary).A)
			}
			if from.Shape[d.of]%factor != 0 {
				cond = ir.Bin(ir.Lt, src[d.of], ir.Int(from.Shape[d.of]))
			}
		}
		val := ir.Expr(ir.At(from, src...))
		if cond != nil {
			zero := ir.Const(from.Type, 0)
			if from.Type.IsFloat() {
				zero = ir.Float(0)
			}
			val = &ir.Select{Cond: cond, A: val, B: zero}
		}
		return idx, val
	})
}
