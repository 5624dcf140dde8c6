package schedule_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/internal/difftest"
	"ripc/ir"
	"ripc/schedule"
)

// apply runs a trace given as text and compares each step with the func before it.
func apply(t testing.TB, f *ir.Func, text string) *ir.Func {
	t.Helper()
	tr, err := schedule.ParseTrace("trace", text)
	if err != nil {
		t.Fatal(err)
	}
	before := f
	r, err := applyEach(tr, f, nil, func(_ schedule.Step, after schedule.Result) {
		difftest.Same(t, before, after.Func)
		before = after.Func
	})
	if err != nil {
		t.Fatalf("%v\nin\n%s\n%s", err, text, before)
	}
	return r.Func
}

// The kind of trace that strategies write must go through whatever the shape, whichever producer is placed first.
func TestStrategyTraces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(label string, n int) int { return rapid.IntRange(0, n-1).Draw(rt, label) }
		s := randomShape(draw)
		f := conv(s)
		ws := s.out(s.W)
		if s.Pool > 0 {
			ws /= s.Pool
		}
		var b strings.Builder
		step := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
		tail := func(n, f int) string { // shift wants a factor up to the extent, and parallel none of it
			if f <= n && draw("shift", 2) == 0 {
				return "shift"
			}
			return "guard"
		}
		fh, fw := 1+draw("fh", 4), 1+draw("fw", 4)
		step("split h %d tail=guard", fh)
		step("split w %d tail=%s", fw, tail(ws, fw))
		step("reorder h.o q h.i w.o w.i")
		if draw("parallel", 2) == 0 {
			step("parallel h.o")
		}
		spots := []string{"h.o", "q", "h.i", "w.o"}
		order := []string{"acc"}
		at := map[string]int{"acc": draw("acc at", 4)}
		if s.Pad > 0 {
			at["xp"] = draw("xp at", at["acc"]+1)
			order = append(order, "xp")
		}
		if s.Pool > 0 {
			at["pool"] = at["acc"] + draw("pool at", 4-at["acc"])
			order = append(order, "pool")
		}
		for len(order) > 0 {
			i := draw("which", len(order))
			step("compute_at %s %s", order[i], spots[at[order[i]]])
			order = append(order[:i], order[i+1:]...)
		}
		g := apply(tb{t, rt}, f, b.String())
		loops := "acc.kh acc.kw acc.c"
		if !s.Float {
			loops = "acc.n " + loops
		}
		if ir.FindLoop(g.Body, "acc.w") != nil {
			loops += " acc.w"
		}
		g = apply(tb{t, rt}, g, "reorder "+loops+" acc.o; vectorize acc.o*; unroll acc.c; vectorize l")
		difftest.Same(tb{t, rt}, f, difftest.Backwards(g))
	})
}
