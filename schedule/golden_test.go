package schedule_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/internal/difftest"
	"ripc/internal/golden"
	"ripc/ir"
	"ripc/ir/irtext"
	"ripc/schedule"
)

// goldenCase is one func of a testdata file with the lines above it: "// RUN: steps" (several lines
// make one trace) and "// ERROR: text" where the trace must be refused with a message that contains
// it.
type goldenCase struct {
	line int
	head []string // all comment lines above the func, as they are
	run  string
	err  string
	src  []string
}

func readCases(t *testing.T, file string) []goldenCase {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenCase
	var c goldenCase
	for i, line := range strings.Split(string(data), "\n") {
		switch {
		case len(c.src) > 0:
			c.src = append(c.src, line)
			if line == "}" {
				cases = append(cases, c)
				c = goldenCase{}
			}
		case strings.HasPrefix(line, "func"):
			c.line, c.src = i+1, []string{line}
		case strings.HasPrefix(line, "//"):
			c.head = append(c.head, line)
			if s, ok := strings.CutPrefix(line, "// RUN: "); ok {
				c.run += s + "\n"
			}
			if s, ok := strings.CutPrefix(line, "// ERROR: "); ok {
				c.err = s
			}
		case line != "":
			t.Fatalf("%s:%d: %q is neither a comment nor in a func", file, i+1, line)
		}
	}
	return cases
}

// TestGolden runs the steps of every case, checks that the meaning is the same after each, and
// compares the text with the .out.ripir file. Refusals are compared in full as well, with their
// help.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.ripir")
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	instrs := instructions()
	for _, file := range files {
		if strings.HasSuffix(file, ".out.ripir") {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".ripir"), func(t *testing.T) {
			var out strings.Builder
			for i, c := range readCases(t, file) {
				if i > 0 {
					out.WriteByte('\n')
				}
				for _, l := range c.head {
					if !strings.HasPrefix(l, "// ERROR: ") {
						out.WriteString(l + "\n")
					}
				}
				out.WriteString(runCase(t, file, c, instrs))
			}
			golden.Check(t, strings.TrimSuffix(file, ".ripir")+".out.ripir", []byte(out.String()))
		})
	}
}

// applyEach is ApplyAll, and calls see after each step, with the packs so far.
func applyEach(tr schedule.Trace, f *ir.Func, instrs map[string]*ir.Func,
	see func(schedule.Step, schedule.Result)) (schedule.Result, error) {
	all := schedule.Result{Func: f}
	for _, s := range tr {
		r, err := schedule.Trace{s}.ApplyAll(all.Func, schedule.WithInstrs(instrs))
		if err != nil {
			return schedule.Result{}, err
		}
		all = schedule.Result{Func: r.Func, Packs: append(all.Packs, r.Packs...)}
		see(s, all)
	}
	return all, nil
}

func runCase(t *testing.T, file string, c goldenCase, instrs map[string]*ir.Func) string {
	t.Helper()
	where := fmt.Sprintf("%s:%d", file, c.line)
	src := strings.Repeat("\n", c.line-1) + strings.Join(c.src, "\n") + "\n"
	f, err := irtext.ParseFunc(file, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := schedule.ParseTrace(where, c.run)
	if err != nil {
		t.Fatal(err)
	}
	before := f
	res, err := applyEach(tr, f, instrs, func(_ schedule.Step, r schedule.Result) {
		after := r.PackingFunc()
		difftest.Same(t, before, after)
		difftest.Same(t, f, difftest.Backwards(after))
		checkFunc(t, r.Func)
		checkFunc(t, after)
		before = after
	})
	g := res.Func
	if err != nil {
		var e *ir.Error
		switch {
		case !errors.As(err, &e) || e.Op == "" || e.Node != "@"+f.Name || e.Pos.File != where || e.Pos.Line == 0:
			t.Fatalf("%s: the error is not complete: %v", where, err)
		case c.err == "":
			t.Errorf("%s: refused: %v", where, err)
		case !strings.Contains(err.Error(), c.err):
			t.Errorf("%s: refused with\n%v\nwhich does not contain\n%s", where, err, c.err)
		}
		placeless := *e
		placeless.Pos = ir.Pos{} // which the files need not show
		return "// ERROR: " + strings.ReplaceAll(placeless.Error(), "\n", "\n//        ") + "\n"
	}
	if c.err != "" {
		t.Errorf("%s: not refused, want: %s", where, c.err)
	}
	if back, err := irtext.ParseFunc(where, []byte(g.String())); err != nil || back.String() != g.String() {
		t.Errorf("%s: the result does not read back: %v", where, err)
	}
	again, err := schedule.ParseTrace(where, tr.String())
	if err != nil || again.String() != tr.String() {
		t.Fatalf("%s: the trace reads back as\n%s, %v", where, again, err)
	}
	h, err := again.ApplyAll(f, schedule.WithInstrs(instrs))
	if err != nil || h.Func.String() != g.String() {
		t.Errorf("%s: replaying the trace gives another func: %v", where, err)
	}
	text := g.String()
	for _, p := range res.Packs {
		text += "\n" + p.Func.String()
	}
	return text
}
