package machine_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"ripc/graph"
	"ripc/internal/need"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/schedule/costmodel"
	"ripc/schedule/features"
	"ripc/schedule/machine"
	"ripc/targets"
)

// madePoints are schedules, drawn at random, of small layers, with costs that no prices give: loops cost more where there are few loads.
func madePoints(t *testing.T, m targets.Target) []machine.Point {
	d := features.For(m)
	names := d.CountNames()
	r := rand.New(rand.NewPCG(1, 2))
	var all []machine.Point
	for i, in := range []int{32, 64, 96, 160} {
		a := &graph.FusedConv{SH: 1, SW: 1, In: in, Out: 64, KH: 3, KW: 3, Bias: make([]float32, 64)}
		f := testlayer.Integers(a, m, layout.Popcount, ir.Unipolar, 1, 1, 8+i, 9, ops.Slice{})
		for range 30 {
			c, err := testlayer.Random(f, m, r)
			if err != nil {
				t.Fatal(err)
			}
			p := machine.Describe(m, d, f, c.Func, c.Strategy, c.Values)
			loads, loops := 0.0, 0.0
			for k, n := range p.Counts {
				switch names[k] {
				case "load.neighbours", "load.one":
					loads += n
				case "iterations":
					loops = n
				}
				p.Cost += 2 * n
			}
			p.Cost *= 1 + loops/(loops+loads)
			p.Group = fmt.Sprint(in)
			all = append(all, p)
		}
	}
	return all
}

// TestLearn: trees predict what prices alone do not, a sieve ranks points without their Funcs, and files keep both.
func TestLearn(t *testing.T) {
	l, err := costmodel.Open("")
	need.OK(t, err)
	m, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	points := madePoints(t, m)
	w := machine.Weights{Target: m.Name, Unit: "cycles"}
	learned, err := machine.Learn(t.Context(), l, m, w, points)
	if err != nil {
		t.Fatal(err)
	}
	var linear, trees []float64
	var guesses []machine.Guess
	var sketches []machine.Sketch
	for _, p := range points {
		sketches = append(sketches, p.Sketch)
		linear = append(linear, math.Abs(learned.Linear(p)/p.Cost-1))
		trees = append(trees, math.Abs(learned.Predict(p)/p.Cost-1))
		guesses = append(guesses, learned.Guess(p))
	}
	slices.Sort(linear)
	slices.Sort(trees)
	median := func(all []float64) float64 { return stat.Quantile(0.5, stat.Empirical, all, nil) }
	if median(trees) >= median(linear) || median(trees) > 0.1 {
		t.Errorf("trees are off by %.3f, prices alone by %.3f", median(trees), median(linear))
	}
	if learned.Sifts() {
		t.Error("a model without a sieve sifts")
	}
	if err := learned.LearnSieve(t.Context(), l, guesses); err != nil {
		t.Fatal(err)
	}
	sifted := learned.Sift(sketches)
	costs := make([]float64, len(points))
	for i, p := range points {
		costs[i] = math.Log(p.Cost * learned.Turns(p))
	}
	if c := stat.Correlation(sifted, costs, nil); c < 0.9 {
		t.Errorf("guesses have a correlation of %.2f with costs", c)
	}

	dir := t.TempDir()
	if err := learned.Write(dir); err != nil {
		t.Fatal(err)
	}
	again, err := machine.Read(os.DirFS(dir), m.Name, m)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range points {
		if again.Predict(p) != learned.Predict(p) || again.Sift([]machine.Sketch{p.Sketch})[0] != sifted[i] {
			t.Fatalf("point %d: a model that was read predicts %v and %v, not %v and %v", i, again.Predict(p), again.Sift([]machine.Sketch{p.Sketch})[0], learned.Predict(p), sifted[i])
		}
	}
}

// TestTurns: the last turn of a parallel loop's blocks may leave cores idle, and the last block may be less than the others.
func TestTurns(t *testing.T) {
	const cores = 4
	m, err := targets.Lookup("rpi3")
	if err != nil || m.Cores != cores {
		t.Fatal(m.Cores, err)
	}
	model, err := machine.New(m, machine.Weights{Target: m.Name})
	if err != nil {
		t.Fatal(err)
	}
	for rows := 1; rows < 30; rows++ {
		for tile := 1; tile <= rows; tile++ {
			blocks, row := (rows+tile-1)/tile, ir.Bin(ir.Add, ir.Bin(ir.Mul, ir.V("o"), ir.Int(tile)), ir.V("i"))
			y := ir.Buffer{Name: "y", Type: ir.F32, Shape: []int{rows}}
			var body ir.Stmt = &ir.Store{Buf: "y", Idx: []ir.Expr{row}, Val: ir.Float(1)}
			if rows%tile > 0 {
				body = &ir.If{Cond: ir.Bin(ir.Lt, row, ir.Int(rows)), Then: body}
			}
			f := &ir.Func{Name: "f", Params: []ir.Param{{Buffer: y, Out: true}}, Body: &ir.For{Var: "o", Extent: blocks, Kind: ir.Parallel, Body: &ir.For{Var: "i", Extent: tile, Body: body}}}
			want := float64((blocks+cores-1)/cores*tile) * cores / float64(rows)
			p := model.Scheduled(f, nil)
			if got, half := model.Idle(p), model.Turns(p); math.Abs(got-want) > 1e-6 || math.Abs(half*half-want) > 1e-6 {
				t.Errorf("%d rows, %d at once: %v and %v, want %v and its root", rows, tile, got, half, want)
			}
		}
	}
}

// TestStarts: a search begins at what was best for the kernels most alike, with as many blocks of rows.
func TestStarts(t *testing.T) {
	l, err := costmodel.Open("")
	need.OK(t, err)
	m, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	f := func(size int) *ir.Func {
		a := &graph.FusedConv{SH: 1, SW: 1, In: 32, Out: 64, KH: 1, KW: 1, Bias: make([]float32, 64)}
		return testlayer.Integers(a, m, layout.Popcount, ir.Unipolar, 1, 1, size, size, ops.Slice{})
	}
	points := madePoints(t, m)
	d := features.For(m)
	for _, size := range []int{8, 40} { // of which the best has blocks of 4 rows
		g := f(size)
		for _, rows := range []int{4, 2} {
			p := machine.Describe(m, d, g, g, "words", map[string]int{"tile_h": rows, "lanes": size})
			p.Group, p.Kernel, p.Cost = fmt.Sprint(size), g.Key(), float64(1000-100*rows)
			points = append(points, p)
		}
	}
	learned, err := machine.Learn(t.Context(), l, m, machine.Weights{Target: m.Name, Unit: "cycles"}, points)
	if err != nil {
		t.Fatal(err)
	}
	domains := map[string][]int{"tile_h": {1, 2, 3, 4, 5, 6, 8, 10}, "lanes": {8, 40}, "unroll": {0, 1}}
	got := learned.Starts(learned.Define(f(12)), "words", domains)
	if want := map[string]int{"tile_h": 6, "lanes": 8, "unroll": 0}; len(got) == 0 || !maps.Equal(got[0], want) {
		t.Errorf("starts %v, want first %v", got, want)
	}
	if got := learned.Records(f(40).Key()); len(got) != 1 || got[0].Cost != 600 {
		t.Errorf("records of a kernel that was measured: %v", got)
	}
	if got := learned.Records(f(12).Key()); len(got) != 0 {
		t.Errorf("records of another: %v", got)
	}
	like, err := targets.Lookup("riscv64-v128")
	if err != nil {
		t.Fatal(err)
	}
	learned, err = machine.Learn(t.Context(), l, like, machine.Weights{Target: m.Name, Unit: "cycles"}, points)
	if err != nil {
		t.Fatal(err)
	}
	if got := learned.Starts(learned.Define(f(12)), "words", domains); len(got) == 0 {
		t.Error("no starts on another architecture")
	}
	if got := learned.Records(f(40).Key()); len(got) != 0 {
		t.Errorf("records of another architecture: %v", got)
	}
}

// TestKnows: a model of another machine does not know the instructions that this one lacks.
func TestKnows(t *testing.T) {
	target, err := targets.Lookup("rpi5")
	if err != nil {
		t.Fatal(err)
	}
	for fitted, knows := range map[string]bool{"rpi5": true, "rpi4": false} {
		m, err := machine.New(target, machine.Weights{Target: fitted})
		if err != nil {
			t.Fatal(err)
		}
		names := features.For(target).CountNames()
		p := machine.Point{Counts: make([]float64, len(names))}
		if !m.Knows(p) {
			t.Errorf("like %s: a point without instructions is not known", fitted)
		}
		p.Counts[slices.Index(names, "call.dot_bytes")] = 1
		if m.Knows(p) != knows {
			t.Errorf("like %s: products of bytes: %v, not %v", fitted, m.Knows(p), knows)
		}
	}
}
