package compile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ripc/codegen"
	"ripc/internal/suggest"
	"ripc/ir"
	"ripc/schedule"
)

// checkSchedules returns the traces of sections (Options.Schedules) by the names of c's Funcs, and
// fails if c does not have one of them, or two are of one. The names of a Func's kernel, as inspect
// prints it, and of a layer that it computes stand for the Func.
func (c *Compiled) checkSchedules(sections []schedule.Section) (map[string]schedule.Trace, error) {
	layers, kernels := map[string]string{}, map[string]string{} // Funcs by the names that stand for them
	for _, s := range c.Program.Stages {
		for _, name := range slices.Concat(s.Layer.Names(s.Name), []string{s.Layer.Title(s.Name)}) {
			layers[name] = s.Func
		}
	}
	for _, f := range c.Program.Funcs {
		kernels[f.Name] = f.Name
	}
	for fn, kernel := range codegen.Symbols(c.Program) {
		kernels[kernel] = fn
	}
	traces, given := map[string]schedule.Trace{}, map[string]schedule.Section{}
	for _, s := range sections {
		fn, ok := "", false
		if !s.Layer {
			fn, ok = kernels[s.Name]
		}
		if !ok {
			fn, ok = layers[s.Name]
		}
		if !ok {
			return nil, &ir.Error{Pos: s.Pos, Op: "schedules", Msg: "the network has no " + s.Title(),
				Help: c.scheduleNames(s, layers, kernels)}
		}
		if other, twice := given[fn]; twice {
			return nil, &ir.Error{Pos: s.Pos, Op: "schedules", Help: "leave one of the two sections out",
				Msg: fmt.Sprintf("%s and %s are the same kernel", other.Title(), s.Title())}
		}
		traces[fn], given[fn] = s.Trace, s
	}
	return traces, nil
}

// scheduleNames says which names section s could have.
func (c *Compiled) scheduleNames(s schedule.Section, layers, kernels map[string]string) string {
	const most = 8
	near := slices.Collect(maps.Keys(layers))
	if !s.Layer {
		near = slices.AppendSeq(near, maps.Keys(kernels))
	}
	slices.Sort(near)
	if help := suggest.DidYouMean(s.Name, near); help != "" {
		return strings.TrimSpace(help)
	}
	var busy []string // layers with sums, which schedules are for
	for _, st := range c.Program.Stages {
		if st.Layer.Weights > 0 && !slices.Contains(busy, st.Name) {
			busy = append(busy, st.Name)
		}
	}
	slices.Sort(busy)
	return "layers with sums are " + suggest.List(busy, most)
}

// hasPlace reports whether err names a file.
func hasPlace(err error) bool {
	var e *ir.Error
	return errors.As(err, &e) && e.Pos.File != ""
}
