package peers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ripc/internal/lists"
	"ripc/internal/stop"
	"ripc/lab/figures"
	"ripc/measure"
	"ripc/measure/limits"
	"ripc/targets"
)

// products is the end of the name of a value: the multiply-adds of a run that have one limit. A sum
// of bits has one for each pair of bits.
const products = "_products"

// command returns the command of an entry's worker.
func (b *bench) command(e Entry, threads int) []string {
	if e.Env == "" {
		return []string{b.self, b.name, "--worker", e.file(b.models()), "--threads", fmt.Sprint(threads)}
	}
	return []string{filepath.Join(b.dir, e.Env, "bin", "python"), filepath.Join(scripts, "worker.py"), e.Worker,
		e.file(b.models()), fmt.Sprint(threads)}
}

// measure measures the entries of a subject: all are loaded, and then take turns with the kernels
// of the limits. Between its turns a process is stopped.
func (b *bench) measure(ctx context.Context, s Subject, threads int) (all []figures.Figure, err error) {
	defer stop.Catch(&err)
	host := stop.Must(targets.Host())
	set := stop.Must(limits.Open(ctx, host))
	var ws []*worker
	defer func() {
		for _, w := range ws {
			err = errors.Join(err, w.stop())
		}
		err = errors.Join(err, set.Close())
	}()
	all = append(all, figures.Figure{Values: map[string]float64{"max_load": measure.Load()}})
	add := func(subject, variant string, f figures.Figure) {
		f.Key = figures.Key{Subject: subject, Variant: variant, Threads: threads}
		all = append(all, f)
	}
	for _, e := range s.Entries {
		w, why := stop.Must2(b.load(ctx, s, e, threads, ws))
		if why != "" {
			add(s.Name, e.Engine, figures.Figure{Why: why})
			continue
		}
		ws = append(ws, w)
		stop.Check(w.hold())
	}
	rates := make([][]limits.Rate, len(set.Kernels))
	for range b.turns {
		for i := range set.Kernels {
			rates[i] = append(rates[i], set.Measure(i, threads, 3))
		}
		for _, w := range ws {
			stop.Check(ctx.Err())
			if err := w.turn(b.time); err != nil {
				return nil, fmt.Errorf("%s: %w", w.entry.Engine, err)
			}
		}
	}
	for _, w := range ws {
		add(s.Name, w.entry.Engine, figures.Figure{Values: w.values()})
	}
	for i, k := range set.Kernels {
		add(limitSubject, k.Name, figures.Figure{Values: reached(rates[i])})
	}
	return all, nil
}

// turn lets a worker run for about the given time, at least once. A quarter of it goes before, to
// bring its data back to the caches.
func (w *worker) turn(long time.Duration) (err error) {
	defer stop.Catch(&err)
	stop.Check(w.release())
	if w.one == 0 { // the first runs of all
		first := stop.Must(w.run(2))
		w.one = max(time.Microsecond, first[1])
	}
	if n := int(long / 4 / w.one); n > 0 {
		stop.Must(w.run(n))
	}
	times := stop.Must(w.run(max(1, int(long/w.one))))
	w.times = append(w.times, times...)
	w.one = max(time.Microsecond, slices.Min(w.times))
	return w.hold()
}

// values returns the shortest and the middle time of a worker, and its products.
func (w *worker) values() map[string]float64 {
	ms := lists.Map(w.times, func(t time.Duration) float64 { return float64(t.Nanoseconds()) / 1e6 })
	v := map[string]float64{"min_ms": slices.Min(ms), "median_ms": figures.Median(ms), "runs": float64(len(ms))}
	for limit, n := range w.Products {
		v[limit+products] = float64(n)
	}
	return v
}

// reached returns the highest rate of a kernel, and cycles by the clocks behind the highest ones.
func reached(rates []limits.Rate) map[string]float64 {
	fastest := slices.SortedFunc(slices.Values(rates), func(a, b limits.Rate) int {
		return cmp.Compare(b.PerSecond, a.PerSecond)
	})
	fastest = fastest[:min(len(fastest), max(5, len(fastest)/10))]
	var cycles, clocks []float64
	for _, r := range fastest {
		cycles, clocks = append(cycles, r.PerCycle), append(clocks, r.GHz)
	}
	return map[string]float64{"max_macs_per_second": fastest[0].PerSecond, "macs_per_cycle": figures.Median(cycles),
		"clock_ghz": figures.Median(clocks)}
}

// load starts an entry's worker, or says why that is not possible. The worker must have loaded the
// subject, and its results must agree with those of the workers that it is compared with.
func (b *bench) load(ctx context.Context, s Subject, e Entry, threads int, have []*worker) (*worker, string, error) {
	if threads > 1 && e.OneThread != "" {
		return nil, e.OneThread, nil
	}
	if why, lacks := b.lacking[e.Env]; lacks {
		return nil, why, nil
	}
	file := e.file(b.models())
	if _, err := os.Stat(file); err != nil {
		if e.Own {
			return nil, "", err
		}
		if c, err := readContents(file); err == nil && c.Error != "" {
			return nil, c.Error, nil
		}
		return nil, "no model " + e.Model + ": make bench-peers makes it", nil
	}
	w, err := start(ctx, e, b.command(e, threads), threads)
	if unfit := (*unfitError)(nil); errors.As(err, &unfit) {
		return nil, oneLine(strings.ReplaceAll(unfit.why, b.models()+string(filepath.Separator), "")), nil
	}
	if err != nil {
		return nil, "", err
	}
	if why := cmp.Or(w.check(s, file), differs(have, w)); why != "" {
		return nil, why, w.stop()
	}
	return w, "", nil
}

// contents is the count of a model's parts by the program that made it: FILE.json.
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

// check compares the model that a worker has loaded with its subject, and takes the products of
// another engine from its file's contents.
func (w *worker) check(s Subject, file string) string {
	macs := w.MACs
	if w.entry.Env != "" {
		c, err := readContents(file)
		if err != nil {
			return err.Error()
		}
		if !slices.EqualFunc(c.Inputs, w.Inputs, slices.Equal) ||
			!slices.EqualFunc(c.Outputs, w.Outputs, slices.Equal) {
			return fmt.Sprintf("it has inputs %v and outputs %v, the file %v and %v", w.Inputs, w.Outputs, c.Inputs,
				c.Outputs)
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
	if least := slices.Min(w.Sample); !(least < slices.Max(w.Sample)) { // NaN is less than nothing
		return fmt.Sprintf("all of its outputs are %v", least)
	}
	return ""
}

// differs compares the results of a worker with those that it shall agree with: names the worker
// with other results, or "".
func differs(have []*worker, w *worker) string {
	for _, other := range have {
		if w.entry.Agrees == "" || w.entry.Agrees != other.entry.Agrees {
			continue
		}
		g, err := compareRows([][]float64{other.Sample}, [][]float64{w.Sample})
		if err != nil {
			return fmt.Sprintf("%s: %v", other.entry.Engine, err)
		}
		if !g.close() {
			return fmt.Sprintf("its results and those of %q are up to %.2g apart, of %.2g", other.entry.Engine, g.worst,
				g.largest)
		}
	}
	return ""
}
