package arith_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"ripc/internal/difftest"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/interp"
)

func run(t *testing.T, rt *rapid.T, f *ir.Func) [][]byte {
	p, err := interp.CompileChecked(f)
	if err != nil {
		rt.Fatalf("%v\n%s", err, f)
	}
	args := difftest.RandomArgs(f, 1)
	if err := p.Run(t.Context(), args); err != nil {
		rt.Fatalf("%v\n%s", err, f)
	}
	return args
}

// genSums draws statements that add to elements of %acc: [3, 4], whose type is left open.
func genSums(rt *rapid.T, vars []ir.Loop, depth int) func(ir.Type) ir.Stmt {
	count := func(lo, hi int) int { return rapid.IntRange(lo, hi).Draw(rt, "count") }
	acc := func(t ir.Type) ir.Buffer { return buf("acc", t, 3, 4) }
	index := func(size int) ir.Expr {
		if len(vars) == 0 || count(0, 3) == 0 {
			return n(int64(count(0, size-1)))
		}
		v, w := rapid.SampledFrom(vars).Draw(rt, "v"), rapid.SampledFrom(vars).Draw(rt, "w")
		switch e := ir.V(v.Var); count(0, 4) {
		case 0:
			return mod(add(e, ir.V(w.Var)), int64(size))
		case 1:
			return b(ir.Min, add(e, ir.V(w.Var)), n(int64(size-1)))
		case 2:
			if v.Extent <= size {
				return b(ir.Sub, n(int64(size-1)), e)
			}
		case 3:
			if 2*(v.Extent-1)+w.Extent <= size {
				return add(mul(e, 2), ir.V(w.Var))
			}
		default:
			if v.Extent <= size {
				return add(e, n(int64(count(0, size-v.Extent))))
			}
		}
		return mod(ir.V(v.Var), int64(size))
	}
	var parts []func(ir.Type) ir.Stmt
	for range count(1, 3) {
		kind := count(0, 6)
		switch {
		case kind <= 2 && depth > 0:
			l := ir.Loop{Var: fmt.Sprintf("l%d", rapid.Uint32().Draw(rt, "name")), Extent: count(1, 4)}
			body := genSums(rt, append(vars[:len(vars):len(vars)], l), depth-1)
			parts = append(parts, func(t ir.Type) ir.Stmt { return loop(l.Var, l.Extent, body(t)) })
			continue
		case kind == 3 && depth > 0 && len(vars) > 0:
			cond := b(ir.Lt, ir.V(vars[count(0, len(vars)-1)].Var), n(int64(count(0, 3))))
			then, els := genSums(rt, vars, depth-1), genSums(rt, vars, depth-1)
			parts = append(parts, func(t ir.Type) ir.Stmt { return &ir.If{Cond: cond, Then: then(t), Else: els(t)} })
			continue
		}
		i, j, c := index(3), index(4), int64(count(0, 9))
		parts = append(parts, func(t ir.Type) ir.Stmt {
			a := acc(t)
			switch kind {
			case 4:
				return store(ir.Assign, a, ir.Const(t, c), i, j)
			case 5:
				return store(ir.Assign, a, b(ir.Add, ir.At(a, i, j), ir.At(a, i, j)), i, j)
			case 6:
				return store(ir.Assign, a, b(ir.Sub, ir.At(a, i, j), ir.Const(t, c)), i, j)
			}
			return store(ir.AddTo, a, ir.Const(t, c), i, j)
		})
	}
	return func(t ir.Type) ir.Stmt {
		var ss []ir.Stmt
		for _, p := range parts {
			ss = append(ss, p(t))
		}
		return ir.Seq(ss...)
	}
}

// Where VerifyWidths accepts i8, the sums are those of i64.
func TestVerifyWidthsIsSound(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(rt *rapid.T) {
		sums := genSums(rt, nil, 4)
		build := func(ty ir.Type) *ir.Func {
			a, y := buf("acc", ty, 3, 4), buf("y", ir.I64, 3, 4)
			each := func(pre string, s func(i, j ir.Expr) ir.Stmt) ir.Stmt {
				return loop(pre+"i", 3, loop(pre+"j", 4, s(ir.V(pre+"i"), ir.V(pre+"j"))))
			}
			return &ir.Func{Name: "f", Params: []ir.Param{{Buffer: y, Out: true}}, Body: &ir.Alloc{Buf: a, Body: ir.Seq(
				each("z", func(i, j ir.Expr) ir.Stmt { return store(ir.Assign, a, ir.Const(ty, 0), i, j) }),
				sums(ty),
				each("y", func(i, j ir.Expr) ir.Stmt { return store(ir.Assign, y, ir.CastTo(ir.I64, ir.At(a, i, j)), i, j) }),
			)}}
		}
		narrow, wide := build(ir.I8), build(ir.I64)
		if err := ir.Verify(narrow); err != nil {
			return // two loops of one name
		}
		if arith.VerifyWidths(narrow) != nil {
			return
		}
		accepted++
		if d := difftest.Diff(run(t, rt, wide)[0], run(t, rt, narrow)[0], wide.Params[0].Buffer); d != "" {
			rt.Fatalf("accepted, but wraps: %s\n%s", d, narrow)
		}
	})
	if accepted < 10 {
		t.Errorf("only %d were accepted: the test shows nothing", accepted)
	}
}
