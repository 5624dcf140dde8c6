package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"ripc"
	"ripc/codegen"
	"ripc/compile"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/schedule"
	"ripc/targets"
)

// randomTraces draws schedules for half of the Funcs.
func randomTraces(p *ir.Program, target string, r *rand.Rand) []schedule.Section {
	machine, err := targets.Lookup(target)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	var drawn []schedule.Section
	for _, f := range p.Funcs {
		if r.IntN(2) == 0 {
			continue
		}
		choice, err := testlayer.Random(f, machine, r)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		var large *codegen.SizeError
		if errors.As(compile.Fits(p, f, choice.Trace, machine), &large) { // than the back end takes, which alone counts code
			continue
		}
		tr := choice.Trace
		packed := slices.ContainsFunc(tr, func(s schedule.Step) bool { return s.Op == "pack" })
		if len(f.Params) > 1 && f.Params[1].Name == "wt" && !packed && r.IntN(2) == 0 {
			tr = append(tr, packFilters(f.Params[1].Shape)...)
		}
		drawn = append(drawn, schedule.Section{Name: f.Name, Trace: tr})
	}
	return drawn
}

// randomAlgorithms draws algorithms for layers that have a choice: for all of them, or for half.
func randomAlgorithms(ctx context.Context, path string, all bool, r *rand.Rand) (map[string]layout.Algorithm, error) {
	drawn := map[string]layout.Algorithm{}
	applying, err := ripc.Applying(ctx, path, ripc.Options{})
	for _, layer := range slices.Sorted(maps.Keys(applying)) {
		if by := applying[layer]; len(by) > 1 && (all || r.IntN(2) == 0) {
			drawn[layer] = by[r.IntN(len(by))]
		}
	}
	return drawn, err
}

// drawnDefinition is the unscheduled Program of a model with random algorithms, which it writes to o: there is nothing to search for.
func drawnDefinition(ctx context.Context, path string, o *ripc.Options, r *rand.Rand) (*ir.Program, error) {
	g, err := ripc.Load(ctx, path)
	if err == nil {
		o.Algorithms, err = randomAlgorithms(ctx, path, true, r)
	}
	if err != nil {
		return nil, err
	}
	return compile.Definition(ctx, g, *o)
}

// packFilters puts weights into blocks of 64 filters, which every vector of a random trace lies in; where filters do not
// fill the blocks it does nothing.
func packFilters(shape []int) schedule.Trace {
	last := len(shape) - 1
	if shape[last]%64 != 0 {
		return nil
	}
	text := fmt.Sprintf("pack wt %d.o ", last)
	for d := range last {
		text += fmt.Sprint(d, " ")
	}
	step, err := schedule.ParseStep(text + fmt.Sprintf("%d.i factor=64", last))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return schedule.Trace{step}
}
