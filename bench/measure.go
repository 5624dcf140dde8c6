package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ripc/bench/limits"
)

// plan is the extent of the measurement.
type plan struct {
	rounds int           // in which all engines of a subject take turns
	turn   time.Duration // of one engine in a round, at least one run
	warm   time.Duration // before each turn, to bring the engine's data back to the caches
}

// driver measures subjects.
type driver struct {
	plan
	peers   peers
	lacking map[string]string // environments that are not there, and why
	self    string            // this program, which is ripc's worker
	set     *limits.Set
	log     io.Writer

	results *Results
	rates   map[int][][]limits.Rate // of the machine, by threads, kernel and round
}

// command is that of an entry's worker.
func (d *driver) command(e Entry, threads int) []string {
	if e.Env == "" {
		return []string{d.self, "-worker", e.file(d.peers.models()), "-threads", fmt.Sprint(threads)}
	}
	return d.peers.worker(e, threads)
}

// subject measures the entries of a subject: all are loaded, and then take turns. Between its turns
// a process is stopped.
func (d *driver) subject(ctx context.Context, s Subject, threads int) (figures []Figure, err error) {
	var ws []*worker
	defer func() {
		for _, w := range ws {
			err = errors.Join(err, w.stop())
		}
	}()
	for _, e := range s.Entries {
		if threads > 1 && e.OneThread != "" {
			d.addMissing(Missing{Subject: s.Name, Engine: e.Engine, Threads: threads, Why: e.OneThread})
			continue
		}
		w, why, err := d.load(ctx, s, e, threads)
		if err != nil {
			return nil, err
		}
		if why != "" {
			d.addMissing(Missing{Subject: s.Name, Engine: e.Engine, Why: why})
			continue
		}
		if why := disagreement(ws, w); why != "" {
			d.addMissing(Missing{Subject: s.Name, Engine: e.Engine, Why: why})
			if err := w.stop(); err != nil {
				return nil, err
			}
			continue
		}
		ws = append(ws, w)
		if err := w.hold(); err != nil {
			return nil, err
		}
	}
	if len(ws) == 0 {
		return nil, nil
	}
	for round := range d.rounds {
		fmt.Fprintf(d.log, "%s, threads: %d, round %d of %d\n", s.Name, threads, round+1, d.rounds)
		d.limits(threads)
		for _, w := range ws {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := d.turnOf(w); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", s.Name, w.entry.Engine, err)
			}
		}
	}
	for _, w := range ws {
		f := Figure{Engine: w.entry.Engine, Model: w.entry.Model, Threads: threads, Runs: len(w.times),
			Products: w.Products, Inputs: w.Inputs, Outputs: w.Outputs}
		f.MinMS, f.MedianMS = figure(w.times)
		figures = append(figures, f)
	}
	return figures, nil
}

// turnOf lets a worker run for its share of a round.
func (d *driver) turnOf(w *worker) error {
	if err := w.release(); err != nil {
		return err
	}
	if w.runTime == 0 { // the first runs of all
		first, err := w.run(2)
		if err != nil {
			return err
		}
		w.runTime = max(time.Microsecond, first[1])
	}
	if n := int(d.warm / w.runTime); n > 0 {
		if _, err := w.run(n); err != nil {
			return err
		}
	}
	times, err := w.run(max(1, int(d.turn/w.runTime)))
	if err != nil {
		return err
	}
	w.times = append(w.times, times...)
	w.runTime = max(time.Microsecond, slices.Min(w.times))
	return w.hold()
}

// limits measures the limits of the machine once more.
func (d *driver) limits(threads int) {
	if d.rates[threads] == nil {
		d.rates[threads] = make([][]limits.Rate, len(d.set.Kernels))
	}
	for i := range d.set.Kernels {
		d.rates[threads][i] = append(d.rates[threads][i], d.set.Measure(i, threads, 3))
	}
}

// bestRates returns the rates of all kernels: the highest of all rounds, and cycles by the clocks
// behind the highest ones.
func (d *driver) bestRates() (ls []LimitRate, ghz float64) {
	var clocks []float64
	for _, threads := range slices.Sorted(maps.Keys(d.rates)) {
		for i, k := range d.set.Kernels {
			fastest := slices.SortedFunc(slices.Values(d.rates[threads][i]),
				func(a, b limits.Rate) int { return cmp.Compare(b.PerSecond, a.PerSecond) })
			fastest = fastest[:min(len(fastest), max(5, len(fastest)/10))]
			var cycles []float64
			for _, r := range fastest {
				cycles, clocks = append(cycles, r.PerCycle), append(clocks, r.GHz)
			}
			ls = append(ls, LimitRate{Limit: k.Limit, Kernel: k.Name, What: k.What, Threads: threads,
				PerCycle: median(cycles), PerSecond: fastest[0].PerSecond})
		}
	}
	return ls, median(clocks)
}

// median is the median of vs, the lower one of two; a clock that was disturbed does not move it. It
// is 0 without any.
func median(vs []float64) float64 {
	if len(vs) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(vs))[(len(vs)-1)/2]
}

// addMissing notes an entry that is not measured, once for all numbers of threads.
func (d *driver) addMissing(m Missing) {
	if !slices.Contains(d.results.Missing, m) {
		d.results.Missing = append(d.results.Missing, m)
		fmt.Fprintf(d.log, "%s, %s: %s\n", m.Subject, m.engine(), m.Why)
	}
}

// load starts an entry's worker, or returns the reason why that is not possible. The worker's model
// must match the subject.
func (d *driver) load(ctx context.Context, s Subject, e Entry, threads int) (*worker, string, error) {
	if why, lacks := d.lacking[e.Env]; lacks {
		return nil, why, nil
	}
	file := e.file(d.peers.models())
	if _, err := os.Stat(file); err != nil {
		if e.Own {
			return nil, "", err
		}
		if c, err := readContents(file); err == nil && c.Error != "" {
			return nil, c.Error, nil
		}
		return nil, "no model " + e.Model + ": make bench-peers makes it", nil
	}
	w, err := start(ctx, e, d.command(e, threads), threads)
	if unfit := (*unfitError)(nil); errors.As(err, &unfit) {
		return nil, oneLine(strings.ReplaceAll(unfit.why, d.peers.models()+string(filepath.Separator), "")), nil
	}
	if err != nil {
		return nil, "", err
	}
	if why := w.check(s, file); why != "" {
		return nil, why, w.stop()
	}
	return w, "", nil
}

// contents is the file FILE.json that the program wrote together with a model.
type contents struct {
	Inputs  [][]int          `json:"inputs"`
	Outputs [][]int          `json:"outputs"`
	MACs    map[string]int64 `json:"macs"`  // by limit
	Error   string           `json:"error"` // why there is no such file
}

func readContents(model string) (c contents, err error) {
	data, err := os.ReadFile(model + ".json")
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(data, &c)
}

// check compares a worker's model with its subject. For another engine it takes the number of
// products from the file's contents.
func (w *worker) check(s Subject, file string) string {
	macs := w.MACs
	if w.entry.Env != "" {
		c, err := readContents(file)
		if err != nil {
			return err.Error()
		}
		if !slices.EqualFunc(c.Inputs, w.Inputs, slices.Equal) || !slices.EqualFunc(c.Outputs, w.Outputs, slices.Equal) {
			return fmt.Sprintf("it has inputs %v and outputs %v, the file %v and %v", w.Inputs, w.Outputs, c.Inputs, c.Outputs)
		}
		w.Products = c.MACs
		for _, n := range c.MACs {
			macs += n
		}
	}
	// ripc computes the averages of whole numbers as convolutions, which count as such.
	if macs < s.MACs || macs > s.MACs+s.MACs/100 {
		return fmt.Sprintf("it has %d multiply-adds, want %d", macs, s.MACs)
	}
	for limit := range maps.Keys(w.Products) {
		if !slices.Contains(limits.Names(), limit) {
			return fmt.Sprintf("no limit %q is known", limit)
		}
	}
	if slices.Min(w.Sample) == slices.Max(w.Sample) {
		return fmt.Sprintf("all of its outputs are %v", w.Sample[0])
	}
	return ""
}

// disagreement compares the results of a worker with those of workers that must agree with it. It
// names the first that differs, or returns "".
func disagreement(have []*worker, w *worker) string {
	const tolerance = 1e-3 // of the largest number: sums of floats are added in another order
	for _, other := range have {
		if w.entry.Agrees == "" || w.entry.Agrees != other.entry.Agrees {
			continue
		}
		if len(w.Sample) != len(other.Sample) {
			return fmt.Sprintf("it gives %d numbers, %s %d", len(w.Sample), other.entry.Engine, len(other.Sample))
		}
		var largest, apart float64
		for i, x := range w.Sample {
			largest, apart = max(largest, math.Abs(x), math.Abs(other.Sample[i])), max(apart, math.Abs(x-other.Sample[i]))
		}
		if !(apart <= tolerance*largest) {
			return fmt.Sprintf("its results and those of %q are up to %.2g apart, of %.2g", other.entry.Engine, apart, largest)
		}
	}
	return ""
}
