package space_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/autotune/space"
	"ripc/graph"
	"ripc/internal/difftest"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/schedule"
	"ripc/schedule/strategy"
	"ripc/targets"
	"ripc/targets/isa"
)

// drawSpace is the space of a random small layer.
func drawSpace(t *rapid.T) *space.Space {
	target, err := targets.Lookup(rapid.SampledFrom([]string{"x86-64-v4", "rpi3", "rpi2", "x86-64"}).Draw(t, "target"))
	if err != nil {
		t.Fatal(err)
	}
	k, h, w := rapid.SampledFrom([]int{1, 3}).Draw(t, "window"), rapid.IntRange(3, 6).Draw(t, "h"), rapid.IntRange(3, 9).Draw(t, "w")
	a := &graph.FusedConv{KH: k, KW: k, SH: 1, SW: 1, In: rapid.SampledFrom([]int{3, 32, 64}).Draw(t, "in"), Out: rapid.SampledFrom([]int{8, 32, 64}).Draw(t, "out")}
	var f *ir.Func
	if rapid.Bool().Draw(t, "reals") {
		f = testlayer.Reals(a, 1, h, w, ops.Slice{})
	} else {
		f = testlayer.Integers(a, target, layout.Popcount, ir.Bipolar, rapid.IntRange(1, 2).Draw(t, "bits"), 1, h, w, ops.Slice{})
	}
	s, err := space.New(space.TaskOf(f, target, ir.Stage{Name: "layer", Op: "bconv2d"}, nil))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func random(t *rapid.T) *rand.Rand { return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)) }

// TestPoints: At and Index are inverse; random points, neighbours and crosses are of the space, and a neighbour differs in one knob or in
// the strategy.
func TestPoints(t *testing.T) {
	crossed := 0
	rapid.Check(t, func(t *rapid.T) {
		s, r := drawSpace(t), random(t)
		for range 20 {
			i := r.IntN(s.Size())
			if p := s.At(i); s.Index(p) != i {
				t.Fatalf("point %d, %v, is number %d of %d", i, p, s.Index(p), s.Size())
			}
			p, q := s.Random(r), s.At(i)
			n, c := s.Neighbour(p, r), s.Cross(p, q, r)
			for _, x := range []space.Point{p, n, c} {
				if !s.Contains(x) || s.Key(s.At(s.Index(x))) != s.Key(x) {
					t.Fatalf("%v is no point of %v", x, s.Strategies())
				}
			}
			differ := 0
			for k, v := range n.Values {
				if p.Values[k] != v {
					differ++
				}
			}
			if n.Strategy == p.Strategy && differ != 1 {
				t.Fatalf("%v has the neighbour %v", p, n)
			}
			for k, v := range c.Values {
				if p.Values[k] != v && q.Values[k] != v {
					t.Fatalf("%v and %v give %v", p, q, c)
				}
			}
			if !maps.Equal(c.Values, p.Values) && !maps.Equal(c.Values, q.Values) {
				crossed++
			}
		}
		for _, bad := range []space.Point{{}, {Strategy: "none"}, {Strategy: s.At(0).Strategy, Values: strategy.Values{"none": 1}}} {
			var at *strategy.PointError
			if _, err := s.Build(bad); s.Contains(bad) || !errors.As(err, &at) {
				t.Fatalf("%v: %v", bad, err)
			}
		}
	})
	if crossed == 0 {
		t.Error("nothing was crossed")
	}
}

// TestBuild: a point gives the same schedule each time, or none with a *strategy.PointError, and so do steps behind it; the schedule
// computes what the definition does.
func TestBuild(test *testing.T) {
	extended := map[string]int{}
	rapid.Check(test, func(t *rapid.T) {
		s, r := drawSpace(t), random(t)
		d, err := s.Default()
		if err != nil || d.Key() == "" || !s.Contains(d.Point) {
			t.Fatalf("default %+v, %v", d, err)
		}
		p := s.Random(r)
		if q, ok := s.Extend(p, r); ok {
			p = q
			for _, st := range q.Steps {
				extended[st.Op]++
			}
		}
		c, err := s.Build(p)
		if at := (*strategy.PointError)(nil); err != nil {
			if !errors.As(err, &at) || len(p.Steps) > 0 {
				t.Fatal(err)
			}
			return
		}
		again, err := s.Build(p)
		if err != nil || again.Key() != c.Key() || again.Func.String() != c.Func.String() || s.Key(c.Point) != s.Key(p) {
			t.Fatalf("%v: %v\n%s\n%s", p, err, c.Key(), again.Key())
		}
		whole, err := c.Trace.ApplyAll(s.Task.Func, schedule.WithInstrs(isa.For(s.Task.Target)))
		if err != nil || !reflect.DeepEqual(whole, c.Result) {
			t.Fatalf("the trace of %v does not give its Func and its packs: %v", p, err)
		}
		if got, err := c.Trace.ApplyAll(s.Task.Func); err == nil { // without instructions
			difftest.Same(test, s.Task.Func, got.Whole(), 1)
		}
	})
	for _, op := range []string{"unroll", "reorder", "split"} {
		if extended[op] == 0 {
			test.Errorf("no point has %s behind it", op)
		}
	}
}

// TestWorkload: the key knows what a Func computes, and nothing of its name.
func TestWorkload(t *testing.T) {
	layer := func(out int) *ir.Func {
		return testlayer.Integers(&graph.FusedConv{KH: 3, KW: 3, SH: 1, SW: 1, In: 64, Out: out}, targets.Target{}, layout.Popcount, ir.Bipolar, 2, 1, 8, 8, ops.Slice{})
	}
	a, b := layer(32), layer(32)
	b.Name = "other"
	b.Body = ir.Seq(&ir.Comment{Text: "a remark"}, b.Body)
	stage := ir.Stage{Op: "bconv2d", MACs: 5, Layer: ir.Layer{ActivationBits: 2, WeightBits: 1}}
	w := space.WorkloadOf(a, stage)
	if w != space.WorkloadOf(b, stage) || w.Key == layer(64).Key() || len(w.Key) != 32 {
		t.Errorf("%+v, %+v", w, space.WorkloadOf(b, stage))
	}
	if want := "8x8x64 -> 6x6x32, 3x3, 2 bits by 1"; w.Shape != want || w.MACs != 5 || w.Op != "bconv2d" {
		t.Errorf("%+v, want %s", w, want)
	}
	target, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.New(space.TaskOf(a, target, stage, nil))
	if err != nil || !slices.Contains(s.Strategies(), "words") || len(s.Knobs("words")) == 0 || s.Knobs("none") != nil {
		t.Errorf("%v, %v", s, err)
	}
}

// BenchmarkBuild is the schedules of random points of a convolution as digits has it, of which a tuner builds several for each that it measures.
func BenchmarkBuild(b *testing.B) {
	for _, name := range []string{"x86-64-v4", "rpi3"} {
		b.Run(name, func(b *testing.B) {
			target, err := targets.Lookup(name)
			if err != nil {
				b.Fatal(err)
			}
			f := testlayer.Integers(&graph.FusedConv{KH: 3, KW: 3, SH: 1, SW: 1, In: 64, Out: 128}, target, layout.Popcount, ir.Bipolar, 1, 1, 14, 14, ops.Slice{})
			s, err := space.New(space.TaskOf(f, target, ir.Stage{Name: "layer", Op: "bconv2d"}, nil))
			if err != nil {
				b.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 0))
			for b.Loop() {
				_, _ = s.Build(s.Random(r))
			}
		})
	}
}
