package space_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
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

// TestPoints: points have different numbers; a neighbour of a point differs in one knob or in the
// strategy.
func TestPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, r := drawSpace(t), random(t)
		for range 20 {
			i, j := r.IntN(s.Size()), r.IntN(s.Size())
			if (i == j) != (s.At(i).String() == s.At(j).String()) {
				t.Fatalf("points %d and %d are %v and %v", i, j, s.At(i), s.At(j))
			}
			p := s.Random(r)
			n := s.Neighbour(p, r)
			differ := 0
			for k, v := range n.Values {
				if p.Values[k] != v {
					differ++
				}
			}
			if n.Strategy == p.Strategy && differ != 1 {
				t.Fatalf("%v has the neighbour %v", p, n)
			}
		}
		for _, bad := range []space.Point{{}, {Strategy: "none"}, {Strategy: s.At(0).Strategy, Values: strategy.Values{"none": 1}}} {
			var at *strategy.PointError
			if _, err := s.Build(bad); !errors.As(err, &at) {
				t.Fatalf("%v: %v", bad, err)
			}
		}
	})
}

// TestBuild: a point gives the same schedule each time, or none with a *strategy.PointError; the
// schedule computes what the definition does.
func TestBuild(test *testing.T) {
	rapid.Check(test, func(t *rapid.T) {
		s, r := drawSpace(t), random(t)
		if d, err := s.Default(); err != nil || d.Key() == "" {
			t.Fatalf("default %+v, %v", d, err)
		}
		p := s.Random(r)
		c, err := s.Build(p)
		if at := (*strategy.PointError)(nil); err != nil {
			if !errors.As(err, &at) {
				t.Fatal(err)
			}
			return
		}
		again, err := s.Build(p)
		if err != nil || again.Key() != c.Key() || again.Func.String() != c.Func.String() || c.Point.String() != p.String() {
			t.Fatalf("%v: %v\n%s\n%s", p, err, c.Key(), again.Key())
		}
		whole, err := c.Trace.ApplyAll(s.Task.Func, schedule.WithInstrs(isa.For(s.Task.Target)))
		if err != nil || !reflect.DeepEqual(whole, c.Result) {
			t.Fatalf("the trace of %v does not give its Func and its packs: %v", p, err)
		}
		if got, err := c.Trace.ApplyAll(s.Task.Func); err == nil { // without instructions
			difftest.Same(test, s.Task.Func, got.PackingFunc(), 1)
		}
	})
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
	if err != nil || s.Size() < 2 {
		t.Errorf("%v, %v", s, err)
	}
}

// BenchmarkBuild is the schedules of random points of a convolution as digits has it, of which a
// tuner builds several for each that it measures.
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
