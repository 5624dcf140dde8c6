package schedule

import (
	"fmt"
	"sort"

	"ripc/ir"
)

// checkIndependent refuses loop l unless its iterations may be carried out in any order or at once: each buffer written
// is told apart by the loop, or only reduced into.
func checkIndependent(f *ir.Func, l *ir.For, what string, reductions bool) error {
	sc := scopeOf(f.Body)
	acc := accesses(l.Body)
	for _, b := range sortedKeys(acc) {
		as := acc[b]
		if !written(as) || sc.separates(as, l.Var, sc.outer[l.Var]) || reductions && commute(as) {
			continue
		}
		return &ir.Error{
			Msg:  fmt.Sprintf("cannot %s loop %%%s: its iterations may touch the same element of %%%s in %s", what, l.Var, b, storeText(as)),
			Help: "choose a loop that indexes every buffer written inside it" + orReduction(reductions),
		}
	}
	return nil
}

func orReduction(reductions bool) string {
	if reductions {
		return ", or that only reduces integers with +=, |=, min= or max="
	}
	return ""
}

// checkInterchange refuses to swap perfectly nested loops a (outer) and b around body, unless no element ties an
// iteration (a, b) to a later one (a' > a, b' < b).
func checkInterchange(f *ir.Func, a, b *ir.For, body ir.Stmt) error {
	sc := scopeOf(f.Body)
	still := sc.outer[a.Var]
	acc := accesses(body)
	for _, buf := range sortedKeys(acc) {
		as := acc[buf]
		if !written(as) || commute(as) || sc.separates(as, a.Var, still) || sc.separates(as, b.Var, still) {
			continue
		}
		e := &ir.Error{Msg: fmt.Sprintf("moving loop %%%s out of %%%s changes the order of %s", b.Var, a.Var, storeText(as))}
		if isFloat(as) {
			e.Help = fmt.Sprintf("float accumulations keep their order: leave %%%s outside %%%s", a.Var, b.Var)
		}
		return e
	}
	return nil
}

// checkFission refuses to split loop l into one over first and one over second, unless nothing that second does in an
// iteration is seen by first in a later one.
func checkFission(f *ir.Func, l *ir.For, first, second []ir.Stmt) error {
	sc := scopeOf(f.Body)
	x, y := accesses(first...), accesses(second...)
	for _, buf := range sortedKeys(x) {
		as := append(append([]access{}, x[buf]...), y[buf]...)
		if len(y[buf]) == 0 || !written(as) || commute(as) || sc.separates(as, l.Var, sc.outer[l.Var]) {
			continue
		}
		return &ir.Error{
			Msg:  fmt.Sprintf("cannot distribute loop %%%s over its body: iterations share elements of %%%s in %s", l.Var, buf, storeText(as)),
			Help: fmt.Sprintf("keep %%%s outside, or compute %%%s at a loop inside it", l.Var, buf),
		}
	}
	return nil
}

// storeText shows the store that stands in the way: the last that writes, which is where a reduction happens.
func storeText(as []access) string {
	text := "a call"
	for _, a := range as {
		if a.store != nil {
			text = shorten(ir.StmtString(&ir.Store{Buf: a.store.Buf, Idx: a.store.Idx, Op: a.store.Op, Val: a.store.Val}))
		}
	}
	return text
}

func shorten(s string) string {
	for len(s) > 0 && s[len(s)-1] == '\n' {
		s = s[:len(s)-1]
	}
	if len(s) > 120 {
		s = s[:117] + "..."
	}
	return `"` + s + `"`
}

func isFloat(as []access) bool {
	for _, a := range as {
		if a.store != nil && a.store.Val.Type().IsFloat() {
			return true
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
