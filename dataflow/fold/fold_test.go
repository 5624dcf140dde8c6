package fold_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"ripc/compile"
	"ripc/dataflow"
	"ripc/dataflow/fold"
	"ripc/graph"
	"ripc/internal/models"
	"ripc/targets/fpga"
)

func segment(t *testing.T, name string) *dataflow.Segment {
	t.Helper()
	load := func(ctx context.Context) (*graph.Graph, error) {
		return models.Load(ctx, "../../testdata/"+name, compile.Options{})
	}
	g, err := compile.Fused(t.Context(), load, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataflow.NewSegment(g)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFront: along the front cycles rise and cost falls, and each point is the one that its cycles give.
func TestFront(t *testing.T) {
	s, board := segment(t, "qonnx/digits_w1a2.onnx"), lookup(t, "pynq-z2")
	front := fold.Front(s, board)
	if len(front) < 10 {
		t.Fatalf("%d points", len(front))
	}
	for i, p := range front {
		q, err := fold.FindWithin(s, p.Cycles, board)
		if err != nil || q.Text(s) != p.Text(s) {
			t.Errorf("within %d cycles: %s, want %s (%v)", p.Cycles, q.Text(s), p.Text(s), err)
		}
		if i > 0 && p.Cycles <= front[i-1].Cycles {
			t.Errorf("%d cycles behind %d", p.Cycles, front[i-1].Cycles)
		}
		if d := dataflow.Build(s, p.Folds); d.Cycles != p.Cycles {
			t.Errorf("%s: the design takes %d cycles, the folds %d", p.Text(s), d.Cycles, p.Cycles)
		}
	}
}

func lookup(t *testing.T, name string) fpga.Target {
	t.Helper()
	b, ok := fpga.Lookup(name)
	if !ok {
		t.Fatal(name)
	}
	return b
}

// TestErrors: budgets below the least, and parts that are too small, are named with what would do.
func TestErrors(t *testing.T) {
	s := segment(t, "fpga/cnv8half.json")
	least, layer := fold.Least(s)
	budget, small := (*fold.BudgetError)(nil), (*fold.PartError)(nil)
	if _, err := fold.FindWithin(s, least-1, lookup(t, "pynq-z2")); !errors.As(err, &budget) || budget.Least != least ||
		!strings.Contains(err.Error(), layer) || !budget.BadInput() {
		t.Errorf("%v", err)
	}
	if _, err := fold.FindWithin(s, least, lookup(t, "pynq-z2")); err != nil {
		t.Error(err)
	}
	if _, err := fold.Fit(s, lookup(t, "icebreaker")); !errors.As(err, &small) || !small.BadInput() {
		t.Errorf("%v", err)
	}
	m, part := segment(t, "fpga/mlp4.json"), lookup(t, "icebreaker")
	fits, _ := fold.Fit(m, part)
	p, _ := fold.FindWithin(m, fits.Cycles-1, part)
	if err := fold.Check(m, p, part); !errors.As(err, &small) || small.Fastest != fits.Cycles || small.Folds != fits.Text(m) {
		t.Errorf("%v", err)
	}
	if err := fold.Check(m, fits, part); err != nil {
		t.Error(err)
	}
	if p, err := fold.Fit(s, lookup(t, "zcu104")); err != nil || p.Cost.LUTs > float64(lookup(t, "zcu104").Part.LUTs) {
		t.Errorf("%v %v", p.Cost, err)
	}
}

// TestReuse: the largest legal factor that is not above the one asked for, or the least.
func TestReuse(t *testing.T) {
	s := segment(t, "fpga/cnv4.json")
	for _, factor := range []int{1, 8, 64, 1 << 20} {
		p := fold.Reuse(s, factor, lookup(t, "pynq-z2"))
		for _, st := range s.MVUs() {
			m := st.Engine.(*dataflow.MVU)
			got := m.Reuse(p.Folds[st.Name])
			for _, f := range m.Folds() {
				if r := m.Reuse(f); r <= factor && (r > got || got > factor) || got > factor && r < got {
					t.Errorf("layer %s, factor %d: %d, but %s has %d", st.Name, factor, got, f, r)
				}
			}
		}
	}
}

// TestBlocks: block RAM in idle parts holds the weights, and the less a part has, the fewer blocks
// the same cycles take.
func TestBlocks(t *testing.T) {
	for name, want := range map[string]struct{ cycles, most int }{"fpga/mlp4.json": {64, 27}, "fpga/cnv4.json": {8712, 43}} {
		s, part, before := segment(t, name), lookup(t, "pynq-z2"), float64(want.most)
		for ; part.Part.RAMKbits > 36; part.Part.RAMKbits /= 2 {
			p, err := fold.FindWithin(s, want.cycles, part)
			if err != nil || p.Cost.Blocks > before {
				t.Errorf("%s in %d Kbit: %v blocks, want at most %v (%v)", name, part.Part.RAMKbits, p.Cost.Blocks, before, err)
			}
			before = p.Cost.Blocks
		}
		if before == float64(want.most) {
			t.Errorf("%s: %v blocks in every part", name, before)
		}
	}
}

// TestOneWord: engines that take all of their weights in one cycle hold them as constants.
func TestOneWord(t *testing.T) {
	s, folds := segment(t, "fpga/mlp4.json"), map[string]dataflow.Fold{}
	for _, st := range s.MVUs() {
		m := st.Engine.(*dataflow.MVU)
		folds[st.Name] = slices.MinFunc(m.Folds(), func(f, g dataflow.Fold) int { return m.Reuse(f) - m.Reuse(g) })
	}
	for name, f := range fold.Given(s, folds, lookup(t, "zcu104")).Folds {
		if f.Block && name != "fc0" { // the widest takes several cycles
			t.Errorf("layer %s: %+v", name, f)
		}
	}
}
