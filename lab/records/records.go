// Package records makes the records that come with ripc (autotune/shipped): it tunes the networks
// of runs.json, each for its target, and keeps the best schedule of each kernel beside the default
// one. Boards are simulated, and give the same records each time.
package records

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ripc"
	"ripc/autotune/records"
	"ripc/examples/networks/zoo"
	"ripc/internal/stop"
	"ripc/lab/figures"
	"ripc/lab/task"
	"ripc/targets"
)

const (
	dir    = "build/shipped"                     // has the measurements
	packed = "autotune/shipped/records.jsonl.gz" // comes with ripc
	seed   = 1                                   // of all runs
)

//go:embed runs.json
var runsText []byte

// run is a network that is tuned for a target.
type run struct {
	Target  string `json:"target"`
	Network string `json:"network"` // of examples/networks
	Trials  int    `json:"trials"`
	Runner  string `json:"runner"`
}

// key is that of a run's figure: the costs of all kernels of the network together. Records alone do
// not have them, since a network takes a kernel as often as it has a layer of its shape, and one
// algorithm for each.
func (r run) key() figures.Key { return figures.Key{Subject: r.Network, Target: r.Target} }

func runs() ([]run, error) {
	var all []run
	return all, json.Unmarshal(runsText, &all)
}

// Task returns the task.
func Task() *task.Task {
	return &task.Task{
		Name: "records", Code: []string{"autotune"}, Short: "the records that come with ripc, and " +
			"docs/shipped-records.md",
		Cases: func(context.Context, *regexp.Regexp) (all []task.Case, err error) {
			rs, err := runs()
			for _, r := range rs {
				all = append(all, task.Case{Key: r.key(), Measure: r.tune})
			}
			return all, errors.Join(err, os.MkdirAll(dir, 0o755))
		},
		Pages: pages,
	}
}

// tune does a run, as far as its measurements are not in the folder, and packs the records.
func (r run) tune(ctx context.Context, mark figures.Mark) (_ []figures.Figure, err error) {
	defer stop.Catch(&err)
	n := stop.Must(zoo.Find(r.Network))
	path := stop.Must(n.Write(dir))
	t := stop.Must(targets.Lookup(r.Target))
	res := stop.Must(ripc.Tune(ctx, ripc.TuneRequest{Path: path, Options: ripc.Options{Target: r.Target},
		Runner: r.Runner, Records: file(r.Target), Trials: r.Trials, Seed: seed, Alone: true}))
	if !t.Native() {
		mark = mark.Estimated(t.CPU)
	}
	f := figures.Figure{Values: map[string]float64{"trials": float64(res.Trials), "default_cost": res.Default,
		"best_cost": res.Best}, Unit: string(res.Unit), Mark: mark}
	return []figures.Figure{f}, pack()
}

// file is where the measurements for a target are.
func file(target string) string { return filepath.Join(dir, target+".records") }

// pack writes the records of all targets. Those of a target without measurements in the folder stay
// as they are.
func pack() (err error) {
	defer stop.Catch(&err)
	old, _ := stop.Must2(unpack(packed))
	rs := stop.Must(runs())
	var sets []*records.Set
	seen := map[string]bool{}
	for _, r := range rs {
		if seen[r.Target] {
			continue
		}
		seen[r.Target] = true
		s := &records.Set{Records: slices.DeleteFunc(slices.Clone(old.Records), func(x records.Record) bool {
			return x.Target != r.Target
		})}
		if _, err := os.Stat(file(r.Target)); !errors.Is(err, fs.ErrNotExist) {
			s = stop.Must(records.Load(file(r.Target)))
		}
		sets = append(sets, s)
	}
	all := stop.Must(records.Merge(sets...))
	text := stop.Must(packedText(all))
	return os.WriteFile(packed, text, 0o644)
}

// packedText has of each kernel the default schedule and the best one, without the samples: the
// same bytes for the same records.
func packedText(all *records.Set) (_ []byte, err error) {
	defer stop.Catch(&err)
	s := all.Prune(1)
	s.Foreign = nil
	for i := range s.Records {
		s.Records[i].Result.Samples = nil
	}
	var b bytes.Buffer
	z := stop.Must(gzip.NewWriterLevel(&b, gzip.BestCompression))
	stop.Check(errors.Join(s.Write(z), z.Close()))
	return b.Bytes(), nil
}

// unpack reads packed records and returns the size of their file.
func unpack(path string) (*records.Set, int, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	s, err := records.Read(z)
	return s, len(data), err
}

// pages returns docs/shipped-records.md.
func pages(root string, s *figures.Store) (_ map[string]string, err error) {
	defer stop.Catch(&err)
	set, size := stop.Must2(unpack(filepath.Join(root, packed)))
	rs := stop.Must(runs())
	text := pageOf(set, size)
	var all []*figures.Figure
	for _, r := range rs {
		if f := s.Find(r.key()); f != nil {
			all = append(all, f)
		}
	}
	text += fmt.Sprintf("\n%s\n\nWhole networks, by the sum of their kernels, that gain most:\n\n",
		figures.Sources(all))
	text += task.Head("network", "target", "candidates", "by default", "tuned", "")
	gain := func(f *figures.Figure) float64 { return f.Values["default_cost"] / f.Values["best_cost"] }
	slices.SortStableFunc(all, func(a, b *figures.Figure) int { return cmp.Compare(gain(b), gain(a)) })
	for _, f := range all[:min(10, len(all))] {
		usual, best, unit := f.Values["default_cost"], f.Values["best_cost"], records.Unit(f.Unit)
		text += task.Row(f.Subject, f.Target, fmt.Sprint(f.Values["trials"]), unit.Text(usual), unit.Text(best),
			fmt.Sprintf("%.3fx", gain(f)))
	}
	return map[string]string{filepath.Join(root, "docs", "shipped-records.md"): text}, nil
}

// pageOf describes the records that are shipped, in size bytes.
func pageOf(s *records.Set, size int) string {
	var versions, machines []string
	kernels, better := map[string]int{}, map[string]int{}
	for i := range s.Records {
		v := s.Records[i].Versions
		if text := fmt.Sprintf("ripc %s with LLVM %s", v.Ripc, v.LLVM); !slices.Contains(versions, text) {
			versions = append(versions, text)
		}
	}
	for _, t := range s.Tasks() {
		for _, class := range s.Classes(t) {
			usual, ok := s.Default(t, class)
			if !ok {
				continue
			}
			machine := t.Target + " | " + class.Text()
			if kernels[machine] == 0 {
				machines = append(machines, machine)
			}
			kernels[machine]++
			if s.Ranked(t, class)[0].Result.Cost < usual.Result.Cost {
				better[machine]++
			}
		}
	}
	text := fmt.Sprintf(`# The records that come with ripc

<!-- Made by make shipped-records; do not edit. -->

`+"`make shipped-records`"+` makes this page and the records (autotune/shipped, %d KB). It tunes the networks of
lab/records/runs.json with seed %d, each for its target, and keeps the best schedule of each kernel and the default one.
`+"`ripc records shipped`"+` lists them, and [tuning.md](tuning.md) says how they are used.

Made by %s. Costs of boards are estimated cycles of simulated cores ([estimates.md](estimates.md)). Times are of the CPU
that is named.

`, (size+1023)/1024, seed, strings.Join(versions, ", "))
	text += task.Head("target", "machine", "kernels", "with a better schedule")
	for _, m := range machines {
		text += task.Row(m, fmt.Sprint(kernels[m]), fmt.Sprint(better[m]))
	}
	return text
}
