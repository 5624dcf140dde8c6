package schedule

import (
	"fmt"
	"strings"

	"ripc/internal/files"
	"ripc/ir"
)

// ReadFile reads a file of traces: sections that begin with "func NAME:", each followed by the steps of that Func's
// schedule, one a line. "#" starts a comment. Package compile checks the names.
func ReadFile(path string) (map[string]Trace, error) {
	text, err := files.ReadText(path)
	if err != nil {
		return nil, &ir.Error{Op: "schedules", Msg: "cannot read the file", Err: err}
	}
	traces := map[string]Trace{}
	bad := func(line int, msg string) error {
		return &ir.Error{Pos: ir.Pos{File: path, Line: line + 1}, Msg: msg, Help: "write `func NAME:`, then one step a line"}
	}
	name, lines := "", strings.Split(string(text), "\n")
	section := make([]string, len(lines)) // other lines stay empty, so that messages count right
	finish := func() error {
		if name == "" {
			return nil
		}
		t, err := ParseTrace(path, strings.Join(section, "\n"))
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
