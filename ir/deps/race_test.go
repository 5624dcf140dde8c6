package deps_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"ripc/internal/difftest"
	"ripc/ir"
	"ripc/ir/deps"
	"ripc/ir/interp"
	"ripc/ir/irtext"
)

// deviceFunc draws a kernel of blocks: phases with threads in several shapes, which read and write a shared buffer and a parameter,
// with or without a serial loop around and with barriers here and there.
func deviceFunc(t *rapid.T) *ir.Func {
	blocks, rounds := rapid.IntRange(1, 3).Draw(t, "blocks"), rapid.IntRange(1, 2).Draw(t, "rounds")
	const size = 8
	n := 0
	index := func(vars []*ir.For, odd int) ir.Expr {
		e, extent := ir.Expr(ir.Int(0)), 1
		usual := rapid.IntRange(0, odd).Draw(t, "odd") > 0
		for i := len(vars) - 1; i >= 0; i-- {
			f := extent
			if !usual {
				f = rapid.IntRange(0, 3).Draw(t, "factor")
			}
			e = ir.Bin(ir.Add, e, ir.Bin(ir.Mul, ir.V(vars[i].Var), ir.Int(f)))
			extent *= vars[i].Extent
		}
		if usual {
			return e
		}
		return ir.Bin(ir.Mod, ir.Bin(ir.Add, e, ir.Int(rapid.IntRange(0, 7).Draw(t, "const"))), ir.Int(size))
	}
	phase := func() ir.Stmt {
		n++
		var loops []*ir.For
		for i, e := range rapid.SampledFrom([][]int{{8}, {8}, {2, 4}, {4, 2}, {3}, nil}).Draw(t, "shape") {
			loops = append(loops, &ir.For{Var: fmt.Sprintf("t%d.%d", n, i), Extent: e, Kind: ir.Threads})
		}
		load := func() ir.Expr { return &ir.Load{Buf: "s", Idx: []ir.Expr{index(loops, 3)}, T: ir.I32} }
		var body ir.Stmt
		if rapid.IntRange(0, 2).Draw(t, "out") == 0 {
			body = &ir.Store{Buf: "y", Idx: []ir.Expr{ir.V("b"), index(loops, 20)}, Val: load()}
		} else {
			body = &ir.Store{Buf: "s", Idx: []ir.Expr{index(loops, 20)}, Val: ir.Bin(ir.Add, load(), &ir.IntImm{T: ir.I32, V: 1})}
		}
		for i := len(loops) - 1; i >= 0; i-- {
			body = loops[i].WithBody(body)
		}
		return body
	}
	phases := func(n int) (all []ir.Stmt) {
		for range n {
			if rapid.IntRange(0, 4).Draw(t, "barrier") > 0 {
				all = append(all, &ir.Barrier{})
			}
			all = append(all, phase())
		}
		return all
	}
	fill := &ir.For{Var: "z", Extent: size, Kind: ir.Threads, Body: &ir.Store{Buf: "s", Idx: []ir.Expr{ir.V("z")}, Val: &ir.IntImm{T: ir.I32, V: 7}}}
	body := append([]ir.Stmt{fill}, phases(1)...)
	body = append(body, &ir.For{Var: "k", Extent: rounds, Body: ir.Seq(phases(2)...)})
	body = append(body, phases(1)...)
	alloc := &ir.Alloc{Buf: ir.Buffer{Name: "s", Type: ir.I32, Shape: []int{size}, Space: ir.Shared}, Body: ir.Seq(body...)}
	return &ir.Func{Name: "f", Params: []ir.Param{{Buffer: ir.Buffer{Name: "y", Type: ir.I32, Shape: []int{blocks, size}}, Out: true}},
		Body: &ir.For{Var: "b", Extent: blocks, Kind: ir.Blocks, Body: alloc}}
}

// racesIn runs a kernel of deviceFunc by hand: two threads that touch one element between two barriers, one of them writing it.
func racesIn(f *ir.Func) bool {
	type touch struct {
		thread int
		write  bool
	}
	found := false
	seen := map[string][]touch{} // since the last barrier
	env := map[string]int64{}
	note := func(buf string, idx []ir.Expr, thread int, write bool) {
		at := buf
		for _, e := range idx {
			at += fmt.Sprintf(",%d", deps.Evaluate(e, env))
		}
		for _, o := range seen[at] {
			found = found || o.thread != thread && (o.write || write)
		}
		seen[at] = append(seen[at], touch{thread, write})
	}
	var run func(s ir.Stmt, thread int)
	run = func(s ir.Stmt, thread int) {
		switch s := s.(type) {
		case *ir.Barrier:
			clear(seen)
		case *ir.Block:
			for _, t := range s.Stmts {
				run(t, thread)
			}
		case *ir.Alloc:
			run(s.Body, thread)
		case *ir.For:
			for i := range s.Extent {
				env[s.Var] = int64(i)
				switch s.Kind {
				case ir.Blocks:
					clear(seen)
					run(s.Body, 0)
				case ir.Threads:
					run(s.Body, thread*s.Extent+i)
				default:
					run(s.Body, thread)
				}
			}
		case *ir.Store:
			for e := range ir.Nodes(s) {
				if l, ok := e.(*ir.Load); ok {
					note(l.Buf, l.Idx, thread, false)
				}
			}
			note(s.Buf, s.Idx, thread, true)
		}
	}
	run(f.Body, 0)
	return found
}

// TestRaces compares the proof with running all threads: a kernel that passes has no race, in any order the same bits, and with
// a barrier dropped or the shared buffer made own it passes only if that is right.
func TestRaces(t *testing.T) {
	passed, free, mutants, caught := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		f := deviceFunc(t)
		race := racesIn(f)
		err := deps.CheckDevice(f)
		if race && err == nil {
			t.Fatalf("a race is not found:\n%s", f)
		}
		if !race {
			free++
		}
		if err != nil {
			if r := (*deps.Race)(nil); errors.As(err, &r) && r.Before == nil {
				t.Fatalf("no place for a barrier: %v", err)
			}
			return
		}
		passed++
		sameInAnyOrder(t, f)
		for _, m := range mutate(f) {
			mutants++
			bad := deps.CheckDevice(m) != nil
			if bad {
				caught++
			}
			if !bad && racesIn(m) {
				t.Fatalf("a race of a mutant is not found:\n%s", m)
			}
		}
	})
	t.Logf("%d free from races, %d proved; %d mutants, %d refused", free, passed, mutants, caught)
	if passed < free/3 || mutants == 0 {
		t.Errorf("proved %d of %d, %d mutants", passed, free, mutants)
	}
}

// mutate lists f without one of its barriers each, and with the shared buffer made each thread's own.
func mutate(f *ir.Func) (all []*ir.Func) {
	for s := range ir.Stmts(f.Body) {
		if _, ok := s.(*ir.Barrier); ok {
			n, which := 0, len(all)
			all = append(all, f.WithBody(ir.MapStmt(f.Body, func(t ir.Stmt) ir.Stmt {
				if _, ok := t.(*ir.Barrier); ok {
					if n++; n == which+1 {
						return nil
					}
				}
				return t
			}, nil)))
		}
	}
	return append(all, f.WithBody(ir.MapStmt(f.Body, func(t ir.Stmt) ir.Stmt {
		if a, ok := t.(*ir.Alloc); ok {
			own := a.Buf
			own.Space = ir.Own
			return &ir.Alloc{Buf: own, Body: a.Body}
		}
		return t
	}, nil)))
}

// sameInAnyOrder runs f with blocks and threads in three orders.
func sameInAnyOrder(t *rapid.T, f *ir.Func) {
	var want [][]byte
	for _, o := range []interp.Order{interp.InOrder, interp.Reversed, interp.Shuffled} {
		c, err := interp.CompileWith(f, interp.Checks{Reads: true, Order: o})
		if err != nil {
			t.Fatal(err)
		}
		args := difftest.RandomArgs(f, 1)
		if err := c.Run(t.Context(), args); err != nil {
			t.Fatalf("%v\n%s", err, f)
		}
		if want == nil {
			want = args
		}
		for i := range args {
			if d := difftest.Diff(want[i], args[i], f.Params[i].Buffer); d != "" {
				t.Fatalf("order %d: %s\n%s", o, d, f)
			}
		}
	}
}

// TestTogether: an iteration around an instruction of 32 threads takes as many, and does nothing else.
func TestTogether(t *testing.T) {
	const head = `instr @i(out %c: i32[1], %x: i32[1]) threads=32 {
  for %l in 0:1 {
    %c[%l] += %x[%l]
  }
}
instr @j(out %c: i32[1], %x: i32[1]) threads=8 {
  for %l in 0:1 {
    %c[%l] += %x[%l]
  }
}
func @f(%x: i32[8], out %c: i32[8], out %y: i32[8]) {
  for %i in 0:8 thread {
`
	for _, c := range []struct{ body, want string }{
		{"call @i(%c[%i], %x[%i])", "256"},
		{"if %i < 7 { call @i(%c[%i], %x[%i]) }", "256"},
		{"%y[%i] = 1i32", "8"},
		{"call @i(%c[%i], %x[%i]) %y[%i] = 1i32", "call: @f: 32 threads run an instruction together, and beside it is a store to %y\n    help: compute it in a nest of its own"},
		{"call @i(%c[%i], %x[%i]) call @j(%c[%i], %x[%i])", "call: @f: 32 threads run an instruction together, and beside it is @j of 8 threads\n    help: compute it in a nest of its own"},
		{"if %x[%i] > 0i32 { call @i(%c[%i], %x[%i]) }", "call: @f: 32 threads run an instruction together, and beside it is a condition that reads memory\n    help: compute it in a nest of its own"},
	} {
		file, err := irtext.Parse("f", []byte(head+c.body+"}}"))
		if err != nil {
			t.Fatal(err)
		}
		d, err := deps.DeviceOf(file.Funcs[len(file.Funcs)-1])
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(d.Kernels[0].Threads)
		}
		if got != c.want {
			t.Errorf("%s: %s, not %s", c.body, got, c.want)
		}
	}
}
