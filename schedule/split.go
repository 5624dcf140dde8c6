package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"ripc/ir"
	"ripc/ir/deps"
)

// Tail is how Split handles a remainder. All are the same if the extent is a multiple of the
// factor.
type Tail uint8

// The tails.
const (
	// TailGuard runs the last tile under a condition. Always legal; the condition costs.
	TailGuard Tail = iota
	// TailCut runs whole tiles, then a loop of its own over the rest. Always legal; doubles the
	// code.
	TailCut
	// TailPerfect insists that nothing remains.
	TailPerfect
	// TailShift moves the last tile back so that it ends with the extent; it does some elements
	// twice. Legal if an iteration done twice writes the same values: no code for the rest, but
	// such a loop cannot be parallel.
	TailShift
)

// String is the tail's name in a Step.
func (t Tail) String() string { return [...]string{"guard", "cut", "perfect", "shift"}[t] }

// ParseTail is the inverse of Tail.String.
func ParseTail(s string) (Tail, error) {
	for t := TailGuard; t <= TailShift; t++ {
		if t.String() == s {
			return t, nil
		}
	}
	return 0, &ir.Error{Msg: fmt.Sprintf("unknown tail %q", s), Help: "tails: guard, cut, perfect, shift"}
}

// split replaces a loop of extent E by an outer loop over tiles and an inner loop within a tile of
// size factor. Other systems: Halide and TVM split, Exo divide_loop.
//
//	for %l in 0:E { S }
//	=> guard
//	for %l.o in 0:ceil(E/f) { for %l.i in 0:f { if %l.o * f + %l.i < E { S[l := %l.o * f + %l.i] } } }
//	=> cut
//	for %l.o in 0:E/f { for %l.i in 0:f { S[l := %l.o * f + %l.i] } }   for %l.t in 0:E%f { S[l := E/f*f + %l.t] }
//	=> shift
//	for %l.o in 0:ceil(E/f) { for %l.i in 0:f { S[l := min(%l.o * f, E - f) + %l.i] } }
//
// An empty outer or inner gives l.o, l.i. It is refused if there is no such loop, if it is not
// serial any more, and if the factor is below 1. It is refused with perfect if a remainder is left,
// and with cut or shift if the factor exceeds the extent. With shift it is refused if doing an
// iteration of l twice could change the result. As a step it is also refused with guard where l
// counts a shift of bits.
func split(f *ir.Func, loop string, factor int, tail Tail, outer, inner string) *ir.Func {
	l := findLoop(f, loop)
	checkSplit(l, factor, tail)
	outer, inner = cmp.Or(outer, l.Var+".o"), cmp.Or(inner, l.Var+".i")
	names := namesOf(f)
	delete(names, l.Var)
	for _, n := range []string{outer, inner} {
		names.take(n)
	}

	base := ir.Bin(ir.Mul, ir.V(outer), ir.Int(factor))
	tiles, rest := (l.Extent+factor-1)/factor, l.Extent%factor
	var after ir.Stmt
	var cond ir.Expr
	switch {
	case rest == 0:
	case tail == TailGuard:
		cond = ir.Bin(ir.Lt, ir.Bin(ir.Add, base, ir.V(inner)), ir.Int(l.Extent))
	case tail == TailCut:
		tiles--
		after = cutTail(f, l, factor, names)
	case tail == TailShift:
		checkRepeatable(f, l)
		base = ir.Bin(ir.Min, base, ir.Int(l.Extent-factor))
	}
	r := deps.ScopeOf(f.Body).Ranges.With(outer, tiles).With(inner, factor)
	body := substitute(l.Body, map[string]ir.Expr{l.Var: ir.Bin(ir.Add, base, ir.V(inner))}, r)
	if cond != nil {
		body = &ir.If{Cond: cond, Then: body}
	}
	nest := ir.Nest([]ir.Loop{{Var: outer, Extent: tiles, Axis: l.Axis}, {Var: inner, Extent: factor, Axis: l.Axis}},
		body)
	return replaceLoop(f, l.Var, ir.Seq(nest, after))
}

func checkSplit(l *ir.For, factor int, tail Tail) {
	unmarked(l, "split it")
	switch {
	case factor < 1:
		refuse("", "factor %d is below 1", factor)
	case tail > TailShift:
		refuse("", "unknown tail")
	case factor > 1<<24:
		refuse("", "factor %d is far beyond the extent %d of loop %%%s", factor, l.Extent, l.Var)
	case l.Extent%factor == 0 || tail == TailGuard:
		return
	case tail == TailPerfect:
		refuse("use tail=guard, tail=cut or tail=shift, or factor "+divisors(l.Extent),
			"extent %d of loop %%%s is not a multiple of %d", l.Extent, l.Var, factor)
	case factor > l.Extent:
		refuse(fmt.Sprintf("use tail=guard, or a factor up to %d", l.Extent),
			"factor %d exceeds the extent %d of loop %%%s", factor, l.Extent, l.Var)
	}
}

// divisors writes them as "1, 2, 4 or 8", at most the twelve smallest.
func divisors(n int) string {
	var ds []string
	for d := 1; d <= n && len(ds) < 12; d++ {
		if n%d == 0 {
			ds = append(ds, fmt.Sprint(d))
		}
	}
	if len(ds) < 2 {
		return strings.Join(ds, "")
	}
	return strings.Join(ds[:len(ds)-1], ", ") + " or " + ds[len(ds)-1]
}

// cutTail is the loop over the remainder. Loops and buffers inside it are copies and get names of
// their own.
func cutTail(f *ir.Func, l *ir.For, factor int, names used) ir.Stmt {
	v := names.tailOf(l.Var)
	body := copied(l.Body, names.tailOf)
	r := deps.ScopeOf(body).Ranges
	maps.Copy(r, deps.ScopeOf(f.Body).Ranges)
	rest := l.Extent % factor
	body = substitute(body, map[string]ir.Expr{l.Var: ir.Bin(ir.Add, ir.V(v), ir.Int(l.Extent-rest))}, r.With(v, rest))
	return &ir.For{Var: v, Extent: rest, Axis: l.Axis, Body: body}
}
