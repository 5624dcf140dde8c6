// Package task runs the tasks of the lab: it measures their cases in rounds, keeps each figure as
// soon as it is measured, goes on where a run was stopped, and writes the pages.
package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ripc/codegen/llvm/toolchain"
	"ripc/internal/stop"
	"ripc/internal/svg"
	"ripc/lab/figures"
	"ripc/measure"
)

// Data is the folder of the figures that are committed.
const Data = "lab/data"

// Task is a kind of measurement with its pages.
type Task struct {
	Name        string
	Short, Long string   // help
	Code        []string // folders that figures depend on, besides the compiler's
	Dir         string   // of the store; "" is Data
	Rounds      int      // the usual number of rounds, in which all cases take turns
	// Flags adds flags of the task's own; nil if it has none.
	Flags func(*pflag.FlagSet)
	// Before handles flags of the task's own, before the first measurement. done says that nothing
	// is to be measured; nil does nothing.
	Before func(ctx context.Context, only *regexp.Regexp, out io.Writer) (done bool, err error)
	// Versions lists the programs that are run besides ripc's own tools; nil if nothing is.
	Versions func(context.Context) ([]string, error)
	// Cases lists the measurements. only is nil if all are wanted; Run drops the cases with
	// subjects that it does not match.
	Cases func(ctx context.Context, only *regexp.Regexp) ([]Case, error)
	// Kept returns the figures that the pages below root have of a store that is not committed; nil
	// if they have none.
	Kept func(root string) (*figures.Store, error)
	// Pages returns the texts of the task's files, by path below root. It may read the pages that
	// it fills. Pages of figures that are not committed are printed, too.
	Pages func(root string, s *figures.Store) (map[string]string, error)
}

// Case is one measurement.
type Case struct {
	figures.Key
	Once bool // every round would measure the same
	// Measure returns figures. The first is of the case's key, which it need not name; others are
	// measured along with it.
	Measure func(ctx context.Context, m figures.Mark) ([]figures.Figure, error)
}

// Options say how a task runs.
type Options struct {
	Only    string // regular expression of subjects; "" for all
	Store   string // file of figures; pages are made of the task's own only
	Rounds  int
	Anew    bool      // measure also cases that were measured today, with the same code
	Missing bool      // measure only cases without any figure, unless Anew is set
	Page    bool      // measure nothing
	Log     io.Writer // progress
}

// File returns the path of the task's store.
func (t *Task) File() string { return filepath.Join(cmp.Or(t.Dir, Data), t.Name+".jsonl") }

// Committed reports whether the store is part of the repository.
func (t *Task) Committed() bool { return t.Dir == "" }

// Run measures a task and writes its pages.
func (t *Task) Run(ctx context.Context, o Options, out io.Writer) (err error) {
	defer stop.Catch(&err)
	var only *regexp.Regexp
	if o.Only != "" {
		only = stop.Must(regexp.Compile(o.Only))
	}
	file := cmp.Or(o.Store, t.File())
	s := stop.Must(figures.Open(file))
	if !o.Page {
		cases := stop.Must(t.cases(ctx, only))
		if t.Before != nil {
			if done, err := t.Before(ctx, only, out); err != nil || done {
				return err
			}
		}
		stop.Check(t.measure(ctx, s, cases, o))
	}
	if file != t.File() {
		return nil
	}
	if len(s.Latest()) == 0 {
		return fmt.Errorf("%s has no figures", file)
	}
	pages, err := t.Pages(".", s)
	if !t.Committed() {
		for path, text := range pages {
			if filepath.Ext(path) == ".md" {
				fmt.Fprint(out, text)
			}
		}
	}
	return errors.Join(err, write(pages))
}

// cases returns the cases with a subject or a target that only matches.
func (t *Task) cases(ctx context.Context, only *regexp.Regexp) (some []Case, err error) {
	all, err := t.Cases(ctx, only)
	if err != nil || only == nil {
		return all, err
	}
	var names []string
	for _, c := range all {
		names = append(names, c.Subject, c.Target)
		if only.MatchString(c.Subject) || c.Target != "" && only.MatchString(c.Target) {
			some = append(some, c)
		}
	}
	if len(some) == 0 {
		slices.Sort(names)
		names = slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == "" })
		return nil, fmt.Errorf("no subject or target matches %s: there are %s", only, strings.Join(names, ", "))
	}
	return some, nil
}

// measure measures the cases that have no figures yet.
func (t *Task) measure(ctx context.Context, s *figures.Store, cases []Case, o Options) (err error) {
	defer stop.Catch(&err)
	tool := stop.Must(t.tool(ctx))
	mark := figures.Now(tool, t.Code...)
	fresh := stop.Must(s.Fresh(t.Code...))
	known := func(f figures.Figure) bool {
		switch {
		case o.Anew || f.CPU != mark.CPU && !f.Simulated():
			return false
		case o.Missing:
			return true
		case f.Simulated(): // the day does not matter
			return fresh[f.Commit] && f.Tool == mark.Tool
		}
		return f.Date == mark.Date && f.Commit == mark.Commit && f.Tool == mark.Tool
	}
	had := make([]int, len(cases)) // before this run
	for i, c := range cases {
		had[i] = s.Count(c.Key, known)
	}
	for round := range o.Rounds {
		for i, c := range cases {
			if had[i] > round || c.Once && (round > 0 || had[i] > 0) || o.Missing && had[i] > 0 {
				continue
			}
			fmt.Fprintf(o.Log, "%s: round %d of %d, %d of %d: %s\n", t.Name, round+1, o.Rounds, i+1, len(cases), c.Key)
			fs, err := c.Measure(ctx, mark)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Key, err)
			}
			for i := range fs {
				fs[i].Task = t.Name
				if fs[i].Key == (figures.Key{}) {
					fs[i].Key = c.Key
				}
				if fs[i].Mark == (figures.Mark{}) {
					fs[i].Mark = mark
				}
			}
			stop.Check(s.Append(fs...))
		}
	}
	return nil
}

// tool names the system and the versions of the tools.
func (t *Task) tool(ctx context.Context) (_ string, err error) {
	defer stop.Catch(&err)
	tools := stop.Must(toolchain.Find())
	words := []string{fmt.Sprintf("%d cores", runtime.NumCPU()), measure.System(), "LLVM " + tools.Version(),
		runtime.Version()}
	if t.Versions != nil {
		words = append(words, stop.Must(t.Versions(ctx))...)
	}
	return strings.Join(words, ", "), nil
}

// write writes files by path. A picture with a number that is not finite is refused before any file
// is written.
func write(pages map[string]string) error {
	for path, text := range pages {
		if filepath.Ext(path) == ".svg" {
			if err := svg.Finite([]byte(text)); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(pages)) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(pages[path]), 0o644); err != nil {
			return err
		}
	}
	return nil
}
