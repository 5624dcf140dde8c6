package schedule

import (
	"fmt"
	"maps"
	"slices"

	"ripc/ir"
	"ripc/ir/deps"
)

// checkInterchange refuses to swap perfectly nested loops a (outer) and b around body, unless no
// element ties an iteration (a, b) to a later one (a' > a, b' < b).
func checkInterchange(f *ir.Func, a, b *ir.For, body ir.Stmt) {
	acc := deps.Accesses(body)
	maps.DeleteFunc(acc, func(_ string, as []deps.Access) bool { return !deps.May(as, as, deps.Reductions) })
	if len(acc) == 0 { // mostly
		return
	}
	sc := deps.ScopeOf(f.Body)
	for _, buf := range slices.Sorted(maps.Keys(acc)) {
		as := acc[buf]
		if _, meet := sc.Meet(as, as, deps.Reductions, a.Var, b.Var); !meet {
			continue
		}
		help := ""
		if isFloat(as) {
			help = fmt.Sprintf("float accumulations keep their order: leave %%%s outside %%%s", a.Var, b.Var)
		}
		refuse(help, "moving loop %%%s out of %%%s changes the order of %s", b.Var, a.Var, storeText(as))
	}
}

// checkFission refuses to split loop l into one over first and one over second, unless nothing that
// second does in an iteration is seen by first in a later one.
func checkFission(f *ir.Func, l *ir.For, first, second []ir.Stmt) {
	if len(first) == 0 || len(second) == 0 {
		return
	}
	x, y := deps.Accesses(first...), deps.Accesses(second...)
	maps.DeleteFunc(x, func(buf string, as []deps.Access) bool {
		return !deps.May(as, y[buf], deps.Reductions)
	})
	if len(x) == 0 { // mostly
		return
	}
	sc := deps.ScopeOf(f.Body)
	for _, buf := range slices.Sorted(maps.Keys(x)) {
		p, meet := sc.Meet(x[buf], y[buf], deps.Reductions, l.Var)
		if !meet {
			continue
		}
		refuse(fmt.Sprintf("keep %%%s outside, or compute %%%s at a loop inside it", l.Var, buf),
			"cannot distribute loop %%%s over its body: iterations share elements of %%%s in %s", l.Var, buf, p)
	}
}

// storeText shows the store that stands in the way: the last that writes, which is where a
// reduction happens.
func storeText(as []deps.Access) string {
	text := "a call"
	for _, a := range as {
		if a.Store != nil {
			text = deps.Shorten(ir.StmtString(&ir.Store{Buf: a.Store.Buf, Idx: a.Store.Idx, Op: a.Store.Op,
				Val: a.Store.Val}))
		}
	}
	return text
}

func isFloat(as []deps.Access) bool {
	return slices.ContainsFunc(as, func(a deps.Access) bool { return a.Store != nil && a.Store.Val.Type().IsFloat() })
}
