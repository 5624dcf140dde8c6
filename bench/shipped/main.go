// Command shipped makes the records that come with ripc (autotune/shipped), and their page. It
// tunes the networks of runs.json, each for its target, and keeps the best schedule of each kernel
// beside the default one. Measurements are kept in a folder, so that it can be interrupted. Boards
// are simulated, and give the same records each time.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ripc"
	"ripc/autotune/records"
	"ripc/examples/networks/zoo"
	"ripc/measure/provenance"
	"ripc/targets"
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

// seed is that of all runs.
const seed = 1

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := produce(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "shipped:", err)
		os.Exit(1)
	}
}

func produce(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("shipped", flag.ContinueOnError)
	dir := fs.String("dir", "build/shipped", "folder of measurements")
	out := fs.String("out", "autotune/shipped/records.jsonl.gz", "the records that come with ripc")
	page := fs.String("page", "docs/shipped-records.md", "page about the records")
	pattern := fs.String("only", ".",
		"regular expression of TARGET/NETWORK to tune now; measurements of others are packed, too")
	outcomes := fs.String("gains", "bench/shipped/gains.json", "costs of networks before and after tuning")
	asItIs := fs.Bool("pack", false, "tune nothing: make records and page from the folder")
	if err := fs.Parse(args); err != nil {
		return err
	}
	only, err := regexp.Compile(*pattern)
	if err != nil {
		return err
	}
	var runs []run
	if err := json.Unmarshal(runsText, &runs); err != nil {
		return err
	}
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		return err
	}
	gained, err := readGains(*outcomes)
	if err != nil {
		return err
	}
	var names []string
	for _, r := range runs {
		if !*asItIs && only.MatchString(r.Target+"/"+r.Network) {
			g, err := r.tune(ctx, *dir)
			if err != nil {
				return fmt.Errorf("%s for %s: %w", r.Network, r.Target, err)
			}
			gained = replaceGain(gained, *g, runs)
			if err := writeGains(*outcomes, gained); err != nil {
				return err
			}
		}
		if !slices.Contains(names, r.file(*dir)) {
			names = append(names, r.file(*dir))
		}
	}
	all, err := load(names)
	if err != nil {
		return err
	}
	set := selectRecords(all)
	packed, err := pack(set)
	if err != nil {
		return err
	}
	if err := os.WriteFile(*out, packed, 0o644); err != nil {
		return err
	}
	return os.WriteFile(*page, pageOf(set, gained, len(packed)), 0o644)
}

// file is the path of the measurements for r's target in a folder.
func (r run) file(dir string) string { return filepath.Join(dir, r.Target+".records") }

// tune does a run, as far as its measurements are not in the folder.
func (r run) tune(ctx context.Context, dir string) (*gain, error) {
	n, err := zoo.Find(r.Network)
	if err != nil {
		return nil, err
	}
	path, err := n.Write(dir)
	if err != nil {
		return nil, err
	}
	res, err := ripc.Tune(ctx, ripc.TuneRequest{Path: path, Options: ripc.Options{Target: r.Target}, Runner: r.Runner,
		Records: r.file(dir), Trials: r.Trials, Seed: seed, Alone: true})
	if err != nil {
		return nil, err
	}
	fmt.Printf("%s for %s: %s -> %s\n", r.Network, r.Target, res.Unit.Text(res.Default), res.Unit.Text(res.Best))
	mark := provenance.Now("autotune")
	if m, err := targets.Lookup(r.Target); err == nil && !m.Native() {
		mark = mark.Estimated(m.CPU)
	}
	return &gain{Mark: mark, Target: r.Target, Network: r.Network, Trials: res.Trials, Unit: res.Unit,
		Default: res.Default, Best: res.Best}, nil
}

// load reads and merges files of records; a missing file has none.
func load(files []string) (*records.Set, error) {
	var sets []*records.Set
	for _, f := range files {
		s, err := records.Load(f)
		if err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	return records.Merge(sets...)
}

// selectRecords selects the records to ship: of each kernel the default schedule and the best one,
// without the samples.
func selectRecords(all *records.Set) *records.Set {
	s := all.Prune(1)
	s.Foreign = nil
	for i := range s.Records {
		s.Records[i].Result.Samples = nil
	}
	return s
}

// pack is the text of s, the same bytes for the same records.
func pack(s *records.Set) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := s.Write(z); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// pageOf is docs/shipped-records.md: s ships in size bytes.
func pageOf(s *records.Set, gained []gain, size int) []byte {
	var b strings.Builder
	var versions, order []string
	type row struct {
		machine         string
		kernels, better int
		usual, best     float64
		unit            records.Unit
	}
	rows := map[string]*row{}
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
			key := t.Target + " " + class.CPU
			r := rows[key]
			if r == nil {
				r = &row{machine: class.Text(), unit: class.Unit}
				rows[key], order = r, append(order, key)
			}
			best := s.Ranked(t, class)[0].Result.Cost
			r.kernels++
			r.usual, r.best = r.usual+usual.Result.Cost, r.best+best
			if best < usual.Result.Cost {
				r.better++
			}
		}
	}
	fmt.Fprintf(&b, `# The records that come with ripc

<!-- Made by make shipped-records; do not edit. -->

`+"`make shipped-records`"+` makes this page and the records (autotune/shipped, %d KB). It tunes the networks of bench/shipped/runs.json with seed %d, each for its
target, and keeps the best schedule of each kernel and the default one. `+"`ripc records shipped`"+` lists them, and [tuning.md](tuning.md) says how they are used.

Made by %s. Costs of boards are estimated cycles of simulated cores ([estimates.md](estimates.md)). Times are of the CPU that is named.

| target | machine | kernels | with a better schedule | all kernels by default | at their best | |
|---|---|---:|---:|---:|---:|---:|
`, (size+1023)/1024, seed, strings.Join(versions, ", "))
	for _, key := range order {
		r := rows[key]
		target, _, _ := strings.Cut(key, " ")
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %s | %s | %.2fx |\n", target, r.machine, r.kernels, r.better,
			r.unit.Text(r.usual), r.unit.Text(r.best), r.usual/r.best)
	}
	if len(gained) == 0 {
		return []byte(b.String())
	}
	var marks []provenance.Mark
	for _, g := range gained {
		marks = append(marks, g.Mark)
	}
	fmt.Fprintf(&b, "\n%s\n", provenance.Text(marks))
	b.WriteString("\nWhole networks, by the sum of their kernels, that gain most:\n\n" +
		"| network | target | candidates | by default | tuned | |\n|---|---|---:|---:|---:|---:|\n")
	most := slices.SortedStableFunc(slices.Values(gained), func(a, b gain) int { return cmp.Compare(a.Best/a.Default, b.Best/b.Default) })
	for _, g := range most[:min(10, len(most))] {
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s | %.3fx |\n", g.Network, g.Target, g.Trials, g.Unit.Text(g.Default), g.Unit.Text(g.Best), g.Default/g.Best)
	}
	return []byte(b.String())
}
