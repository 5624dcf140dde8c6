// Command stale lists the figures of the documents that are older than the code that they measure. It runs in the module's root:
//
//	go run ./scripts/stale [-fail] [FILE.json...]
//
// For each file and each commit of which it has figures, a line says how many figures, and how many commits since then changed the code.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"ripc/measure/provenance"
)

func main() {
	fail := flag.Bool("fail", false, "exit with 1 if there are such figures")
	flag.Parse()
	files := flag.Args()
	if len(files) == 0 {
		var err error
		if files, err = documents("."); err != nil {
			fmt.Fprintln(os.Stderr, "stale:", err)
			os.Exit(1)
		}
	}
	old, err := list(os.Stdout, files)
	if err != nil {
		fmt.Fprintln(os.Stderr, "stale:", err)
	}
	if err != nil || old && *fail {
		os.Exit(1)
	}
}

// documents finds the files of figures below the module's root.
func documents(root string) ([]string, error) {
	var all []string
	for _, pattern := range []string{"docs/*.json", "bench/shipped/gains.json"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// list prints the lines of all files. old is whether one is of figures that are older than their code.
func list(w io.Writer, files []string) (old bool, err error) {
	for _, file := range files {
		marks, err := marksOf(file)
		if err != nil {
			return old, err
		}
		for _, g := range grouped(marks) {
			since, err := g.since()
			if err != nil {
				return old, fmt.Errorf("%s: %w", file, err)
			}
			if since != current {
				old = true
			}
			fmt.Fprintf(w, "%s: %d of %d figures of %s, commit %s: %s\n", file, g.figures, len(marks), cmp.Or(g.Date, "no date"), cmp.Or(g.Commit, "unknown"), since)
		}
	}
	return old, nil
}

// marksOf collects the marks of a file of JSON: of every object that has a commit.
func marksOf(file string) ([]provenance.Mark, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []provenance.Mark
	var walk func(text json.RawMessage) error
	walk = func(text json.RawMessage) error {
		switch trimmed := bytes.TrimSpace(text); {
		case len(trimmed) > 0 && trimmed[0] == '{':
			fields := map[string]json.RawMessage{}
			if err := json.Unmarshal(trimmed, &fields); err != nil {
				return err
			}
			if _, ok := fields["commit"]; ok {
				var m provenance.Mark
				if err := json.Unmarshal(trimmed, &m); err != nil {
					return err
				}
				all = append(all, m)
			}
			for _, f := range fields {
				if err := walk(f); err != nil {
					return err
				}
			}
		case len(trimmed) > 0 && trimmed[0] == '[':
			var list []json.RawMessage
			if err := json.Unmarshal(trimmed, &list); err != nil {
				return err
			}
			for _, f := range list {
				if err := walk(f); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := walk(data); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return all, nil
}

// group is what figures of one date, commit and code have in common.
type group struct {
	provenance.Mark
	figures int
}

// grouped sorts marks into groups, the oldest first.
func grouped(marks []provenance.Mark) []*group {
	var all []*group
	for _, m := range marks {
		i := slices.IndexFunc(all, func(g *group) bool {
			return g.Date == m.Date && g.Commit == m.Commit && slices.Equal(g.Code, m.Code)
		})
		if i < 0 {
			i = len(all)
			all = append(all, &group{Mark: m})
		}
		all[i].figures++
	}
	slices.SortStableFunc(all, func(a, b *group) int {
		return cmp.Or(strings.Compare(a.Date, b.Date), strings.Compare(a.Commit, b.Commit))
	})
	return all
}

// current says that a group is as new as its code.
const current = "as new as the code"

// since says how many commits changed the code after the group was measured.
func (g *group) since() (string, error) {
	commit, changed := strings.CutSuffix(g.Commit, "+")
	if commit == "" {
		return "the code is unknown", nil
	}
	var errs bytes.Buffer
	cmd := exec.Command("git", append([]string{"rev-list", commit + "..HEAD", "--"}, g.Folders()...)...)
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
