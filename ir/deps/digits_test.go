package deps

import (
	"testing"

	"pgregory.net/rapid"

	"ripc/ir"
	"ripc/ir/arith"
)

// rule is one of the proofs for loops of devices, alone.
type rule struct {
	name  string
	apart func(m *meeting, a, b Access, v string) bool
}

func rules() []rule {
	return []rule{
		{"apart", (*meeting).apart},
		{"composed", (*meeting).composedApart},
		{"digits", (*meeting).digitsApart},
		{"scales", (*meeting).scalesApart},
	}
}

// deviceIndex draws an index as fuse and split leave it: quotients and remainders of t, and of the number b*T + t.
func deviceIndex(t *rapid.T, extentT int) ir.Expr {
	number := ir.Bin(ir.Add, ir.Bin(ir.Mul, ir.V("b"), ir.Int(extentT)), ir.V("t"))
	sum := ir.Expr(ir.Int(rapid.IntRange(0, 2).Draw(t, "const")))
	for range rapid.IntRange(1, 3).Draw(t, "terms") {
		v := rapid.SampledFrom([]ir.Expr{ir.V("t"), ir.V("t"), ir.V("s"), ir.V("b"), number, number}).Draw(t, "of")
		k := ir.Int(rapid.IntRange(1, 6).Draw(t, "by"))
		switch rapid.IntRange(0, 5).Draw(t, "form") {
		case 0:
			v = ir.Bin(ir.Div, v, k)
		case 1:
			v = ir.Bin(ir.Mod, v, k)
		case 2:
			v = ir.Bin(ir.Mod, ir.Bin(ir.Div, v, k), ir.Int(rapid.IntRange(1, 5).Draw(t, "mod")))
		case 3:
			v = ir.Bin(ir.Add, ir.Bin(ir.Mul, v, k), ir.Bin(ir.Mul, ir.V("s"), ir.Int(rapid.IntRange(0, 3).Draw(t, "inner"))))
			v = ir.Bin(ir.Min, v, ir.Int(rapid.IntRange(0, 40).Draw(t, "cap")))
		}
		sum = ir.Bin(ir.Add, sum, ir.Bin(ir.Mul, v, ir.Int(rapid.SampledFrom([]int{1, 1, 2, 3, 4, 6, 8, 12, -1, -2}).Draw(t, "factor"))))
	}
	return sum
}

// TestCapped: 3*min(t+s, 4) - 2*t is 3 where t is 3 and where it is 0.
func TestCapped(t *testing.T) {
	number := ir.Bin(ir.Min, ir.Bin(ir.Add, ir.V("t"), ir.V("s")), ir.Int(4))
	a := Access{Buf: "y", Write: true, Idx: []ir.Expr{ir.Bin(ir.Sub, ir.Bin(ir.Mul, number, ir.Int(3)),
		ir.Bin(ir.Mul, ir.V("t"), ir.Int(2)))}}
	m := &meeting{sc: Scope{arith.Ranges{}.With("t", 4).With("s", 2), nil}, forms: map[formKey]form{}}
	if m.apart(a, a, "t") {
		t.Error("two iterations write one element, and are taken for apart")
	}
}

// TestRules compares each rule with trying all iterations: what it takes for apart never touches one element. b holds still where
// t differs, and the serial loop s is anywhere.
func TestRules(t *testing.T) {
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			proved := 0
			check := func(t *rapid.T) {
				extents := map[string]int{"b": rapid.IntRange(1, 4).Draw(t, "b"), "t": rapid.IntRange(2, 12).Draw(t, "t"), "s": rapid.IntRange(1, 4).Draw(t, "s")}
				v := rapid.SampledFrom([]string{"t", "t", "b"}).Draw(t, "loop")
				sc := Scope{arith.Ranges{}, map[string]*Loops{}}
				for n, e := range extents {
					sc.Ranges = sc.Ranges.With(n, e)
				}
				var held *Loops
				if v == "t" {
					held = held.With("b")
				}
				a := Access{Buf: "y", Write: true}
				for range rapid.IntRange(1, 3).Draw(t, "dims") {
					a.Idx = append(a.Idx, deviceIndex(t, extents["t"]))
				}
				b := a
				if rapid.IntRange(0, 3).Draw(t, "other") == 0 {
					b.Idx = append([]ir.Expr{deviceIndex(t, extents["t"])}, a.Idx[1:]...)
				}
				m := &meeting{sc: sc, heldLoops: held, forms: map[formKey]form{}, device: true}
				if !r.apart(m, a, b, v) {
					return
				}
				proved++
				if touches(a, b, v, extents) {
					t.Fatalf("%v and %v touch one element in iterations that differ in %s of %v", a, b, v, extents)
				}
			}
			for range 30 { // a rule proves few random accesses, so one check may see none
				rapid.Check(t, check)
			}
			if proved == 0 {
				t.Error("it proves nothing")
			}
			t.Logf("proved apart: %d", proved)
		})
	}
}

// touches tries all pairs of iterations that differ in v, those of t with one b.
func touches(a, b Access, v string, extents map[string]int) bool {
	type point struct{ b, t, s int }
	var all []point
	for b := range extents["b"] {
		for t := range extents["t"] {
			for s := range extents["s"] {
				all = append(all, point{b, t, s})
			}
		}
	}
	at := func(x Access, p point) (e [3]int64) {
		for d, i := range x.Idx {
			e[d] = Evaluate(i, map[string]int64{"b": int64(p.b), "t": int64(p.t), "s": int64(p.s)})
		}
		return e
	}
	for _, p := range all {
		for _, q := range all {
			if (v == "t" && p.b == q.b && p.t != q.t || v == "b" && p.b != q.b) && at(a, p) == at(b, q) {
				return true
			}
		}
	}
	return false
}

// Evaluate computes an index.
func Evaluate(e ir.Expr, env map[string]int64) int64 {
	switch e := e.(type) {
	case *ir.IntImm:
		return e.V
	case *ir.Var:
		return env[e.Name]
	case *ir.Binary:
		a, b := Evaluate(e.A, env), Evaluate(e.B, env)
		switch e.Op {
		case ir.Add:
			return a + b
		case ir.Sub:
			return a - b
		case ir.Mul:
			return a * b
		case ir.Min:
			return min(a, b)
		case ir.Div:
			return arith.FloorDiv(a, b)
		case ir.Mod:
			return a - b*arith.FloorDiv(a, b)
		}
	}
	panic("BUG: " + ir.ExprString(e))
}
