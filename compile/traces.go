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

// checkTraces returns traces (Options.Traces) by the names of c's Funcs, and fails if c does not have one of them. The
// names of a Func's kernel, as inspect prints it, and of a layer that it computes stand for the Func.
func (c *Compiled) checkTraces(traces map[string]schedule.Trace) (map[string]schedule.Trace, error) {
	var have []string
	for _, f := range c.Program.Funcs {
		have = append(have, f.Name)
	}
	funcOf := map[string]string{} // by layer and kernel
	for _, s := range c.Program.Stages {
		funcOf[s.Name] = s.Func
	}
	for fn, kernel := range codegen.Symbols(c.Program) {
		funcOf[kernel] = fn
	}
	byFunc := map[string]schedule.Trace{}
	for _, name := range slices.Sorted(maps.Keys(traces)) {
		fn := name
		if !slices.Contains(have, fn) {
			fn = funcOf[name]
		}
		if !slices.Contains(have, fn) {
			return nil, &ir.Error{Op: "schedules", Msg: "the network has no func " + name, Help: suggest.DidYouMean(name, slices.Concat(slices.Sorted(maps.Keys(funcOf)), have)) + "there are " + strings.Join(slices.Sorted(slices.Values(have)), ", ")}
		}
		if _, twice := byFunc[fn]; twice {
			return nil, &ir.Error{Op: "schedules", Msg: fmt.Sprintf("%s and %s are the same func", fn, name), Help: "leave one of the two sections out"}
		}
		byFunc[fn] = traces[name]
	}
	return byFunc, nil
}

// hasPlace reports whether err names a file.
func hasPlace(err error) bool {
	var e *ir.Error
	return errors.As(err, &e) && e.Pos.File != ""
}
