package accelerator_test

import (
	"errors"
	"maps"
	"testing"

	"ripc/accelerator"
	"ripc/compile"
	"ripc/dataflow"
	"ripc/dataflow/fold"
	"ripc/targets/fpga"
)

// TestTrials: of what was synthesized, the smallest within the cycles or the fastest that fits is taken; trials of other networks
// and parts, and budgets that none keeps, change nothing.
func TestTrials(t *testing.T) {
	a := load(t, "fpga/every.json", "pynq-z2", 2)
	s, b := a.Design.Segment, a.Target
	folds := func(factor int) map[string]dataflow.Fold {
		return load(t, "fpga/every.json", "pynq-z2", factor).Point.Folds
	}
	trial := func(factor, cycles, luts int) accelerator.Trial {
		return accelerator.Trial{Network: accelerator.Key(s), Part: b.Part.Name, Folds: folds(factor), Cycles: cycles,
			Used: map[fpga.Resource]int{fpga.LUTs: luts}}
	}
	large, small, fast := trial(1, 5000, 3000), trial(3, 5000, 2000), trial(5, 2000, 5000)
	wide := trial(7, 1000, 1e6) // does not fit
	other := trial(2, 1, 1)
	other.Part = "another"
	illegal, none := trial(4, 900, 1), trial(4, 900, 1)
	for name, f := range illegal.Folds {
		f.PE, f.SIMD = 0, 5
		illegal.Folds[name] = f
	}
	none.Folds = nil
	all := []accelerator.Trial{large, small, fast, wide, other, illegal, none}
	for _, c := range []struct {
		o    accelerator.FoldOptions
		want accelerator.Trial
	}{{accelerator.FoldOptions{Cycles: 6000}, small}, {accelerator.FoldOptions{Cycles: 2000}, fast}, {accelerator.FoldOptions{}, fast},
		{accelerator.FoldOptions{FPS: 20000, ClockMHz: 100}, small}} {
		c.o.Trials = all
		got, err := accelerator.New(a.Graph, b, c.o, compile.Options{})
		if err != nil || !maps.Equal(got.Point.Folds, c.want.Folds) {
			t.Errorf("%+v: %v, want %v", c.o.Cycles, err, c.want.Folds)
		}
	}
	_, err := accelerator.New(a.Graph, b, accelerator.FoldOptions{Cycles: 10, Trials: all}, compile.Options{})
	if budget := (*fold.BudgetError)(nil); !errors.As(err, &budget) {
		t.Errorf("%v", err)
	}
}
