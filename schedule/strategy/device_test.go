package strategy_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"ripc/codegen"
	"ripc/internal/difftest"
	"ripc/ir"
	"ripc/ir/deps"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// device is a target that has all strategies for devices.
func device(t testing.TB) targets.Target {
	t.Helper()
	m, err := targets.Lookup("sm_90")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestDevice builds each strategy for devices at its first and at random points: the schedules are proved to be free from races,
// have the same meaning in any order of blocks and threads, and a Func made of it with a loop bound that must not be is refused.
func TestDevice(t *testing.T) {
	m, r := device(t), rand.New(rand.NewPCG(3, 4))
	built, mutants, ballots := map[string]int{}, 0, map[string]bool{}
	for name, f := range layers() {
		if difftest.Iterations(f.Body) > 1<<20 {
			continue // the interpreter runs them three times
		}
		l := strategy.LayerOf(f, m)
		if ok, why := named(t, "tiles").Applies(l); !ok && strings.HasPrefix(name, "tiles") {
			t.Errorf("%s: %s", name, why)
		}
		for _, s := range strategy.For(l) {
			for i := range 3 {
				var v strategy.Values
				if i > 0 {
					v = s.Random(l, r)
				}
				c, err := s.Build(l, v)
				if err != nil {
					if i == 0 || !strings.Contains(err.Error(), "bytes of shared memory") {
						t.Errorf("%s: %v", name, err)
					}
					continue
				}
				built[s.Name]++
				ballots[s.Name] = ballots[s.Name] || strings.Contains(c.Func.String(), "call @nv_pack_le_x32")
				if err := codegen.CheckBlocks(c.Func, m); err != nil {
					t.Errorf("%s, %s %v: %v", name, s.Name, v, err)
				}
				if err := deps.CheckDevice(c.Func); err != nil {
					t.Errorf("%s, %s %v: %v", name, s.Name, v, err)
				}
				difftest.Same(t, f, c.PackingFunc(), 1)
				if i > 0 {
					continue
				}
				for _, g := range wrong(c.Func) {
					mutants++
					if deps.CheckDevice(g) == nil {
						t.Errorf("%s, %s %v: not refused:\n%s", name, s.Name, v, g)
					}
				}
			}
		}
	}
	t.Logf("%v schedules, %d mutants", built, mutants)
	for _, s := range strategy.All() {
		if s.Machine == strategy.Device && built[s.Name] == 0 {
			t.Errorf("no schedule by %s", s.Name)
		}
	}
	if !ballots["tiles"] || !ballots["lanes"] {
		t.Errorf("ballots by %v", ballots)
	}
	if mutants < 50 {
		t.Errorf("only %d mutants", mutants)
	}
}

// wrong lists f with one reduction loop each made threads, so that iterations touch the same sum, and with other races.
func wrong(f *ir.Func) (all []*ir.Func) {
	for s := range ir.Stmts(f.Body) {
		l, ok := s.(*ir.For)
		if !ok || l.Kind != ir.Serial || l.Extent < 2 || l.Axis != ir.Reduce && l.Axis != ir.TapCol && l.Axis != ir.TapRow {
			continue
		}
		all = append(all, f.WithBody(ir.MapStmt(f.Body, func(t ir.Stmt) ir.Stmt {
			if o, ok := t.(*ir.For); ok && o.Var == l.Var {
				return &ir.For{Var: o.Var, Extent: o.Extent, Kind: ir.Threads, Axis: o.Axis, Body: o.Body}
			}
			return t
		}, nil)))
	}
	return append(all, difftest.Races(f)...)
}
