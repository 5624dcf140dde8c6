package compile

import (
	"maps"
	"slices"
	"testing"

	"ripc/caches"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/schedule/machine"
	"ripc/targets"
)

// TestRecall: what a search has found is found again without a search, whatever was known before; a
// damaged cache is no cache.
func TestRecall(t *testing.T) {
	target, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	model, _, err := machine.Of(target)
	if err != nil {
		t.Fatal(err)
	}
	kernel := func(by layout.Algorithm, out int) *ir.Func { return layerOf(target, by, 40, out, 9) }
	groups := [][]*ir.Func{
		{kernel(layout.Popcount, 40), kernel(layout.Dot, 40), kernel(layout.Table4, 40)}, {kernel(layout.Dot, 40), kernel(layout.Dot, 72)}, {kernel(layout.Popcount, 72)},
	}
	kept, err := caches.Open(t.TempDir(), caches.DefaultLimit)
	if err != nil {
		t.Fatal(err)
	}
	run := func(kept *caches.Cache, program string) (all []found) {
		s := &finder{model: model, target: target, known: map[string]found{}, kept: kept, program: []byte(program)}
		for _, funcs := range groups {
			out, err := s.best(t.Context(), funcs)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, out...)
			k, err := s.scheduleOf(t.Context(), funcs[0])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, k)
		}
		return all
	}
	same := func(how string, got, want []found) {
		t.Helper()
		for i, k := range got {
			if w := want[i]; k.Strategy != w.Strategy || !maps.Equal(k.Values, w.Values) || k.cost != w.cost || k.time != w.time || len(k.next) != len(w.next) {
				t.Errorf("%s: %d is %s %v, not %s %v", how, i, k.Strategy, k.Values, w.Strategy, w.Values)
			}
			if k.Func != nil && want[i].Func != nil && k.Func.Key() != want[i].Func.Key() {
				t.Errorf("%s: %d is another Func", how, i)
			}
		}
	}
	want := run(nil, "a")
	same("at first", run(kept, "a"), want)
	if n := kept.Stats(); n.Hits != 0 || n.Misses == 0 {
		t.Errorf("at first: %+v", n)
	}
	misses := kept.Stats().Misses
	same("again", run(kept, "a"), want)
	if n := kept.Stats(); n.Hits != misses || n.Misses != misses {
		t.Errorf("again: %+v, %d before", n, misses)
	}
	same("another program", run(kept, "b"), want)
	if n := kept.Stats(); n.Misses != 2*misses {
		t.Errorf("another program: %+v", n)
	}
	s := &finder{model: model, target: target, known: map[string]found{}, kept: kept, program: []byte("c")}
	k := groups[0][0]
	other := &finder{target: target, program: s.program}
	other.target.Features = append(slices.Clone(target.Features), "dotprod")
	if keys := []string{k.Key()}; other.question(keys, make([]found, 1)) == s.question(keys, make([]found, 1)) {
		t.Error("one answer for two instruction sets")
	}
	kept.Put(s.question([]string{k.Key()}, make([]found, 1)), []byte("rubbish"))
	if got, err := s.scheduleOf(t.Context(), k); err != nil || got.Func == nil {
		t.Errorf("rubbish: %v", err)
	}
}
