package ripc

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"ripc/ir"
	"ripc/schedule"
)

// ReadSchedule reads a file of traces: sections that begin with "func NAME:", each followed by the steps of that Func's
// schedule, one a line. "#" starts a comment. Compile checks the names.
func ReadSchedule(path string) (map[string]schedule.Trace, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &ir.Error{Op: "--schedule", Msg: "cannot read the file", Err: err}
	}
	traces := map[string]schedule.Trace{}
	bad := func(line int, msg string) error {
		return &ir.Error{Pos: ir.Pos{File: path, Line: line + 1}, Msg: msg, Help: "write `func NAME:`, then one step a line"}
	}
	name, lines := "", strings.Split(string(text), "\n")
	section := make([]string, len(lines)) // other lines stay empty, so that messages count right
	finish := func() error {
		if name == "" {
			return nil
		}
		t, err := schedule.ParseTrace(path, strings.Join(section, "\n"))
		traces[name] = t
		clear(section)
		return err
	}
	for i, line := range lines {
		line, _, _ = strings.Cut(line, "#")
		word := strings.TrimSpace(line)
		head, isHead := strings.CutPrefix(word, "func ")
		switch {
		case isHead:
			if err := finish(); err != nil {
				return nil, err
			}
			head, colon := strings.CutSuffix(strings.TrimSpace(head), ":")
			name = strings.TrimPrefix(strings.TrimSpace(head), "@")
			if _, twice := traces[name]; twice || !colon || name == "" {
				return nil, bad(i, fmt.Sprintf("%q begins no section (or one that was there before)", word))
			}
		case word != "" && name == "":
			return nil, bad(i, fmt.Sprintf("step %q stands before the first section", word))
		default:
			section[i] = line
		}
	}
	return traces, finish()
}

// checkTraces returns traces (Options.Traces) by the names of c's Funcs, and fails if c does not have one of them. The
// name of a Func's kernel, as inspect prints it, stands for the Func.
func (c *Compiled) checkTraces(traces map[string]schedule.Trace) (map[string]schedule.Trace, error) {
	var have []string
	for _, f := range c.Program.Funcs {
		have = append(have, f.Name)
	}
	byFunc := map[string]schedule.Trace{}
	for _, name := range slices.Sorted(maps.Keys(traces)) {
		fn := name
		if !slices.Contains(have, fn) {
			fn = strings.TrimPrefix(name, "ripc_")
		}
		if !slices.Contains(have, fn) {
			return nil, &ir.Error{Op: "--schedule", Msg: "the network has no func " + name, Help: "there are " + strings.Join(have, ", ")}
		}
		if _, twice := byFunc[fn]; twice {
			return nil, &ir.Error{Op: "--schedule", Msg: fmt.Sprintf("%s and %s are the same func", fn, name), Help: "leave one of the two sections out"}
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
