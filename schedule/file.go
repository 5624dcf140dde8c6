package schedule

import (
	"fmt"
	"slices"
	"strings"

	"ripc/internal/files"
	"ripc/ir"
)

// Section is a schedule of a file, with the name of its stage or layer.
type Section struct {
	Pos   ir.Pos // of its first line; the zero value if it is of no file
	Layer bool   // Name is that of a layer, and of nothing else
	Name  string // of a Func, of its kernel, or of a layer that it computes
	Trace Trace
}

// Title returns the first line of the section in a file.
func (s Section) Title() string {
	if s.Layer {
		return "layer " + s.Name
	}
	return "func " + s.Name
}

// ReadFile reads a file of schedules: sections that begin with "func NAME:" or "layer NAME:", each
// followed by the steps of that schedule, one a line. "#" starts a comment. Package compile checks
// the names.
func ReadFile(path string) ([]Section, error) {
	text, err := files.ReadText(path)
	if err != nil {
		return nil, &ir.Error{Op: "schedules", Msg: "cannot read the file", Err: err}
	}
	var all []Section
	bad := func(line int, msg string) error {
		return &ir.Error{Pos: ir.Pos{File: path, Line: line + 1}, Msg: msg,
			Help: "write `func NAME:` or `layer NAME:`, then one step a line"}
	}
	lines := strings.Split(string(text), "\n")
	steps := make([]string, len(lines)) // other lines stay empty, so that messages count right
	finish := func() (err error) {
		if len(all) > 0 {
			all[len(all)-1].Trace, err = ParseTrace(path, strings.Join(steps, "\n"))
			clear(steps)
		}
		return err
	}
	for i, line := range lines {
		line, _, _ = strings.Cut(line, "#")
		word := strings.TrimSpace(line)
		name, isFunc := strings.CutPrefix(word, "func ")
		name, isLayer := strings.CutPrefix(name, "layer ")
		switch {
		case isFunc != isLayer:
			if err := finish(); err != nil {
				return nil, err
			}
			name, colon := strings.CutSuffix(strings.TrimSpace(name), ":")
			s := Section{Pos: ir.Pos{File: path, Line: i + 1}, Layer: isLayer, Name: strings.TrimSpace(name)}
			if isFunc {
				s.Name = strings.TrimPrefix(s.Name, "@")
			}
			if !colon || s.Name == "" {
				return nil, bad(i, fmt.Sprintf("%q begins no section", word))
			}
			if at := slices.IndexFunc(all, func(o Section) bool { return o.Title() == s.Title() }); at >= 0 {
				return nil, bad(i, fmt.Sprintf("%s has a section in line %d", s.Title(), all[at].Pos.Line))
			}
			all = append(all, s)
		case word != "" && len(all) == 0:
			return nil, bad(i, fmt.Sprintf("step %q stands before the first section", word))
		default:
			steps[i] = line
		}
	}
	return all, finish()
}
