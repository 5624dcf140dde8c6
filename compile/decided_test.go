package compile

import (
	"maps"
	"slices"
	"testing"

	"ripc/caches"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/schedule/machine"
)

// TestRecall: what a search has found is found again without a search, whatever was known before; a
// damaged cache is no cache.
func TestRecall(t *testing.T) {
	target, model := modelled(t, "rpi3")
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

// TestRecallRecorded: beside a measurement, a strategy that has none is searched once, and its schedule is taken where it promises to be faster.
func TestRecallRecorded(t *testing.T) {
	target, model := modelled(t, "rpi3")
	f := layerOf(target, layout.Popcount, 40, 40, 9)
	for _, c := range []struct {
		time  float64
		taken bool
	}{{1e12, true}, {1, false}} {
		kept, err := caches.Open(t.TempDir(), caches.DefaultLimit)
		if err != nil {
			t.Fatal(err)
		}
		records := []machine.Record{{Strategy: "words", Cost: c.time, Time: c.time}}
		var before found
		for i := range 2 {
			s := &finder{model: model, target: target, known: map[string]found{}, kept: kept}
			k, err := s.bestRecorded(t.Context(), f, f.Key(), records)
			if taken := k.Strategy != "" && k.Strategy != "words" && k.records == nil; err != nil || taken != c.taken {
				t.Fatalf("beside a time of %g: %s, %v", c.time, k.Strategy, err)
			}
			if n := kept.Stats(); n.Hits != i || n.Misses != 1 {
				t.Errorf("beside a time of %g: %+v after %d searches", c.time, n, i+1)
			}
			if i == 1 && (k.Strategy != before.Strategy || !maps.Equal(k.Values, before.Values) || k.time != before.time) {
				t.Errorf("%s %v, and the second time %s %v", before.Strategy, before.Values, k.Strategy, k.Values)
			}
			before = k
		}
	}
}
