// Command tuner compares the searches of the tuner: how good the best candidate is after so many trials, on tasks where the default is not
// the best one.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"

	"ripc/autotune/costmodel"
	"ripc/autotune/space"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tuner:", err)
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	dir           string
	only          *regexp.Regexp
	points        int
	jobs          int
	known         bool
	trials, seeds int
	searches      []string
	model         *costmodel.Model
}

func run(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("tuner", flag.ContinueOnError)
	var s settings
	only := fs.String("only", ".", "tasks, a regular expression")
	fs.StringVar(&s.dir, "costs", "bench/tuner/costs", "folder of measured costs")
	fs.IntVar(&s.points, "points", 2000, "random points to compare with, or all where there are no more")
	fs.IntVar(&s.jobs, "jobs", 2, "candidates that are measured at once")
	fs.BoolVar(&s.known, "known", false, "compare with those points that are measured already")
	fs.IntVar(&s.trials, "trials", 128, "trials of a search")
	fs.IntVar(&s.seeds, "seeds", 5, "runs of a search")
	names := fs.String("searches", "random,evolve,xgb", "searches to compare")
	if err := fs.Parse(args); err != nil {
		return err
	}
	s.searches = strings.Split(*names, ",")
	var err error
	if s.only, err = regexp.Compile(*only); err != nil {
		return err
	}
	all, err := rows()
	if err != nil {
		return err
	}
	for _, r := range all {
		if !s.only.MatchString(r.Name) {
			continue
		}
		if err := s.task(ctx, r); err != nil {
			return fmt.Errorf("task %s: %w", r.Name, err)
		}
	}
	return nil
}

// task measures and compares one task.
func (s settings) task(ctx context.Context, r row) error {
	t, err := r.open()
	if err != nil {
		return err
	}
	c, err := openCosts(s.dir, t)
	if err != nil {
		return err
	}
	defer c.close()
	ref, err := s.measure(ctx, t, c)
	if err != nil {
		return err
	}
	res, err := s.compare(ctx, t, c, ref)
	if err != nil {
		return err
	}
	for _, name := range s.searches {
		fmt.Printf("%s: %-8s median over the best", t.Name, name)
		for _, n := range []int{16, 32, 64, 128} {
			fmt.Printf("  %d: %.1f %%", n, 100*(median(res.Curves[name], n)/res.Best-1))
		}
		fmt.Printf("  proposals %.2f s each\n", res.Seconds[name]/float64(s.seeds))
	}
	return nil
}

// reference is what searches are compared with.
type reference struct {
	points []space.Candidate
	costs  []float64
	def    float64 // of the default
	best   float64 // of all
}

// measure measures the reference of a task, as far as its costs are not known.
func (s settings) measure(ctx context.Context, t *task, c *costs) (*reference, error) {
	d, err := t.space.Default()
	if err != nil {
		return nil, err
	}
	ref := &reference{}
	if ref.def, err = c.of(ctx, d); err != nil {
		return nil, err
	}
	fmt.Printf("%s: %d points, default %s: %.0f\n", t.Name, t.space.Size(), d.Point, ref.def)
	if ref.points, err = t.points(ctx, s.points); err != nil {
		return nil, err
	}
	if s.known {
		ref.points = slices.DeleteFunc(ref.points, func(x space.Candidate) bool { return !c.has(x) })
	}
	if ref.costs, err = c.ofAll(ctx, ref.points, s.jobs); err != nil {
		return nil, err
	}
	ref.best = ref.def
	at := d.Point
	for i, cost := range ref.costs {
		if cost > 0 && cost < ref.best {
			ref.best, at = cost, ref.points[i].Point
		}
	}
	fmt.Printf("%s: the best of %d schedules is %s: %.0f, %.1f %% of the default\n", t.Name, len(ref.points), at, ref.best, 100*ref.best/ref.def)
	return ref, nil
}

// points are so many schedules that are drawn at random, or all, as far as draws find them.
func (t *task) points(ctx context.Context, n int) ([]space.Candidate, error) {
	var out []space.Candidate
	r, seen := rand.New(rand.NewPCG(1, 1)), map[string]bool{}
	const draws = 50 // for each, where most points are none, or have the same schedule
	for i := 0; i < draws*n && len(out) < n; i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := t.space.Random(r)
		if seen[t.space.Key(p)] {
			continue
		}
		seen[t.space.Key(p)] = true
		if c, err := t.space.Build(p); err == nil && !seen[c.Key()] {
			seen[c.Key()] = true
			out = append(out, c)
		}
	}
	return out, nil
}
