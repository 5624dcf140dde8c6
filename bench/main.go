// Command bench measures ripc on layers and networks, and with -peers other engines on the same
// ones: in one run, in turns, and beside the limits of the machine, which it measures in the same
// run.
//
//	make bench                             // ripc alone: build/bench
//	make bench-peers                       // with its peers: docs/bench-peers.json, .md and .svg
//	go run ./bench -only convB -threads 1  // a part
//	go run ./bench -page docs/bench-peers  // only the page, from the JSON
//
// README.md describes the comparison.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"ripc"
	"ripc/bench/limits"
	"ripc/internal/caches"
	"ripc/measure"
	"ripc/measure/provenance"
	"ripc/targets"
)

// flags are the command line.
type flags struct {
	peers, setUp       bool
	rounds             int
	turn               time.Duration
	only, threads, out string
	page, dir, python  string
	worker             string
}

func main() {
	var f flags
	flag.BoolVar(&f.peers, "peers", false, "compare with other engines, which are installed where they are missing")
	flag.BoolVar(&f.setUp, "setup", false, "only install the other engines and make their models")
	flag.IntVar(&f.rounds, "rounds", 6, "rounds in which all engines take turns")
	flag.DurationVar(&f.turn, "turn", 60*time.Millisecond, "time of an engine in a round, at least one run")
	flag.StringVar(&f.only, "only", "", "only subjects that have one of these, separated by commas, in their names")
	flag.StringVar(&f.threads, "threads", "1,2", "numbers of threads")
	flag.StringVar(&f.out, "out", "build/bench/bench", "the files to write, without .json, .md and .svg")
	flag.StringVar(&f.page, "page", "", "do not measure, write PAGE.md and PAGE.svg from PAGE.json")
	flag.StringVar(&f.dir, "dir", "",
		"folder of the other engines and of models for them; peers below RIPC_CACHE_DIR or ~/.cache/ripc")
	flag.StringVar(&f.python, "python", "", "the Python to make environments with, where there is no uv")
	flag.StringVar(&f.worker, "worker", "", "run this model on command (the program starts itself with it)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run works in the top folder of the module.
func run(ctx context.Context, f flags) error {
	var threads []int
	for word := range strings.SplitSeq(f.threads, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return fmt.Errorf("-threads %s: give numbers from 1, separated by commas", f.threads)
		}
		threads = append(threads, n)
	}
	switch {
	case f.worker != "":
		return serve(ctx, f.worker, threads[0], os.Stdin, os.Stdout)
	case f.page != "":
		return writePage(f.page)
	case f.rounds < 1:
		return fmt.Errorf("-rounds %d: give at least 1", f.rounds)
	}
	p := peers{dir: f.dir, python: f.python, log: os.Stderr}
	if p.dir == "" {
		var err error
		if p.dir, err = cacheFolder(); err != nil {
			return err
		}
	}
	lacking := map[string]string{}
	if f.peers || f.setUp {
		var err error
		if lacking, err = p.setUp(ctx); err != nil {
			return err
		}
	}
	if f.setUp {
		for name, why := range lacking {
			fmt.Fprintf(os.Stderr, "%s cannot be had: %s\n", name, why)
		}
		return nil
	}
	chosen, err := choose(f)
	if err != nil {
		return err
	}
	d := &driver{plan: plan{f.rounds, f.turn, f.turn / 4}, peers: p, lacking: lacking, log: os.Stderr,
		rates: map[int][][]limits.Rate{}}
	if err := d.measure(ctx, chosen, threads); err != nil {
		return err
	}
	d.results.Command = strings.Join(append([]string{"go run ./bench"}, os.Args[1:]...), " ")
	if err := os.MkdirAll(filepath.Dir(f.out), 0o755); err != nil {
		return err
	}
	if err := d.results.write(f.out + ".json"); err != nil {
		return err
	}
	fmt.Print(d.results.table())
	return writePage(f.out)
}

// choose gives the subjects that the flags ask for; without -peers, with ripc's own entries alone.
func choose(f flags) ([]Subject, error) {
	var out []Subject
	var names []string
	for _, s := range subjects() {
		names = append(names, s.Name)
		if f.only != "" && !slices.ContainsFunc(strings.Split(f.only, ","),
			func(part string) bool { return strings.Contains(s.Name, part) }) {
			continue
		}
		if !f.peers {
			s.Entries = slices.DeleteFunc(s.Entries, func(e Entry) bool { return e.Env != "" })
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("-only %s: there are the subjects %s", f.only, strings.Join(names, ", "))
	}
	return out, nil
}

// measure measures all subjects with each number of threads.
func (d *driver) measure(ctx context.Context, subjects []Subject, threads []int) (err error) {
	start := time.Now()
	target, err := targets.Host()
	if err != nil {
		return err
	}
	if d.set, err = limits.Open(ctx, target); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.set.Close()) }()
	if d.self, err = os.Executable(); err != nil {
		return err
	}
	llvm, err := ripc.LLVM()
	if err != nil {
		return err
	}
	d.results = &Results{Mark: provenance.Now("bench"), Cores: runtime.NumCPU(),
		System: measure.System(), Load: measure.Load(), Rounds: d.rounds,
		Versions: []string{"ripc " + ripc.Version, "LLVM " + llvm, runtime.Version()}}
	if len(d.lacking) < len(environments()) && slices.ContainsFunc(subjects, Subject.hasPeers) {
		versions, err := d.peers.versions()
		if err != nil {
			return err
		}
		d.results.Versions = append(d.results.Versions, versions...)
	}
	for _, s := range subjects {
		r := SubjectResult{Name: s.Name, What: s.What, MACs: s.MACs}
		for _, n := range threads {
			if n > runtime.NumCPU() {
				return fmt.Errorf("-threads %d: this machine has %d", n, runtime.NumCPU())
			}
			figures, err := d.subject(ctx, s, n)
			if err != nil {
				return err
			}
			r.Figures = append(r.Figures, figures...)
		}
		d.results.Subjects = append(d.results.Subjects, r)
	}
	d.results.Limits, d.results.GHz = d.bestRates()
	d.results.Seconds = time.Since(start).Seconds()
	return nil
}

// hasPeers reports whether engines other than ripc run the subject.
func (s Subject) hasPeers() bool {
	return slices.ContainsFunc(s.Entries, func(e Entry) bool { return e.Env != "" })
}

// cacheFolder is where the other engines are, beside ripc's caches.
func cacheFolder() (string, error) {
	dir, err := caches.Root()
	if err != nil {
		return "", fmt.Errorf("no place for the other engines, give -dir: %w", err)
	}
	return filepath.Join(dir, "peers"), nil
}
