package figures

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

// Stale prints a line for the newest figures of each date and commit: how many commits have changed
// the code since. code lists folders that the figures measure besides Compiler. Stale reports
// whether figures are older than their code.
func (s *Store) Stale(w io.Writer, code ...string) (old bool, err error) {
	all := s.Latest()
	count := map[Mark]int{}
	for _, f := range all {
		count[Mark{Date: f.Date, Commit: f.Commit}]++
	}
	var marks []Mark
	for m := range count {
		marks = append(marks, m)
	}
	slices.SortFunc(marks, func(a, b Mark) int {
		return cmp.Or(strings.Compare(a.Date, b.Date), strings.Compare(a.Commit, b.Commit))
	})
	for _, m := range marks {
		age, err := m.age(append(Compiler(), code...))
		if err != nil {
			return old, fmt.Errorf("%s: %w", s.path, err)
		}
		old = old || age != current
		fmt.Fprintf(w, "%s: %d of %d figures of %s, commit %s: %s\n", s.path, count[m], len(all),
			cmp.Or(m.Date, "no date"), cmp.Or(m.Commit, "unknown"), age)
	}
	return old, nil
}

// Fresh returns the commits of figures with code that no commit has changed since, and that was
// committed. code lists folders as for Stale.
func (s *Store) Fresh(code ...string) (map[string]bool, error) {
	fresh := map[string]bool{}
	for _, f := range s.Latest() {
		if _, ok := fresh[f.Commit]; ok {
			continue
		}
		age, err := f.age(append(Compiler(), code...))
		if err != nil {
			return nil, err
		}
		fresh[f.Commit] = age == current
	}
	return fresh, nil
}

// current is the age of figures of unchanged code.
const current = "as new as the code"

// age says how many commits changed folders since the mark's.
func (m Mark) age(folders []string) (string, error) {
	commit, changed := strings.CutSuffix(m.Commit, "+")
	if commit == "" {
		return "the code is unknown", nil
	}
	var errs bytes.Buffer
	cmd := exec.Command("git", append([]string{"rev-list", commit + "..HEAD", "--"}, folders...)...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "the commit is not in this repository (" + strings.TrimSpace(errs.String()) + ")", nil
	} else if err != nil {
		return "", err
	}
	switch n := bytes.Count(out, []byte("\n")); {
	case n == 0 && changed:
		return "of code that was not committed", nil
	case n == 0:
		return current, nil
	case n == 1:
		return "1 commit since changed the code", nil
	default:
		return fmt.Sprintf("%d commits since changed the code", n), nil
	}
}
