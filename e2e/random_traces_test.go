package e2e_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

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

// randomAlgorithms draws algorithms for half of the layers that have a choice.
func randomAlgorithms(t *testing.T, p *ir.Program, r *rand.Rand) map[string]layout.Algorithm {
	drawn := map[string]layout.Algorithm{}
	for _, s := range p.Stages {
		names := slices.Sorted(maps.Keys(s.Layer.Algorithm.Costs))
		if len(names) == 0 || r.IntN(2) == 0 {
			continue
		}
		by, err := layout.ParseAlgorithm(names[r.IntN(len(names))])
		if err != nil {
			t.Fatal(err)
		}
		drawn[s.Name] = by
	}
	return drawn
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
