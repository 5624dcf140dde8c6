// Command tuner compares the searches of the tuner: the best candidate after each number of trials,
// on tasks with a default that is not the best one.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"strings"

	"ripc/autotune/search"
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
	dir, out      string
	only          *regexp.Regexp
	points        int
	jobs          int
	trials, seeds int
	searches      []string
}

func run(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("tuner", flag.ContinueOnError)
	var s settings
	only := fs.String("only", ".", "tasks, a regular expression")
	fs.StringVar(&s.dir, "costs", "build/tuner", "folder of measured costs")
	fs.StringVar(&s.out, "out", "", "write NAME.json, NAME.md and NAME.svg")
	page := fs.String("page", "", "compare nothing: write PAGE.md and PAGE.svg from PAGE.json")
	fs.IntVar(&s.points, "points", 2000, "random points to compare with, or all where there are no more")
	fs.IntVar(&s.jobs, "jobs", 2, "candidates that are measured at once")
	fs.IntVar(&s.trials, "trials", 128, "trials of a search")
	fs.IntVar(&s.seeds, "seeds", 5, "runs of a search")
	names := fs.String("searches", strings.Join(search.Names(), ","), "searches to compare")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *page != "" {
		return redraw(*page)
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
	var tasks []*task
	for _, r := range all {
		if !s.only.MatchString(r.Name) {
			continue
		}
		t, err := r.open()
		if err == nil {
			err = s.measure(ctx, t)
		}
		if err != nil {
			return fmt.Errorf("task %s: %w", r.Name, err)
		}
		defer t.costs.close()
		tasks = append(tasks, t)
	}
	rep := report{Trials: s.trials, Seeds: s.seeds, Batch: batch}
	for _, t := range tasks {
		res, err := s.compare(ctx, t)
		if err != nil {
			return fmt.Errorf("task %s: %w", t.Name, err)
		}
		s.say(res)
		rep.Tasks = append(rep.Tasks, *res)
		if s.out != "" {
			if err := rep.write(s.out); err != nil {
				return err
			}
		}
	}
	return nil
}

// say prints the result of a task.
func (s settings) say(res *result) {
	for _, name := range s.searches {
		fmt.Printf("%s: %-8s median over the best", res.Task, name)
		for _, n := range []int{8, 16, 32, 64, 128} {
			fmt.Printf("  %d: %.1f %%", n, res.percentOverBest(name, n))
		}
		fmt.Printf("  proposals %.2f s each\n", res.Seconds[name]/float64(s.seeds))
	}
}

// reference is the reference for searches.
type reference struct {
	points []space.Candidate
	costs  []float64
	def    float64 // of the default
	best   float64 // of all
}

// measure measures the reference of a task, as far as its costs are not known.
func (s settings) measure(ctx context.Context, t *task) error {
	c, err := openCosts(s.dir, t)
	if err != nil {
		return err
	}
	t.costs = c
	d, err := t.space.Default()
	if err != nil {
		return err
	}
	ref := &t.ref
	if ref.def, err = c.cost(ctx, d); err != nil {
		return err
	}
	fmt.Printf("%s: %d points, default %s: %.0f\n", t.Name, t.space.Size(), d.Point, ref.def)
	if ref.points, err = t.points(ctx, s.points); err != nil {
		return err
	}
	if ref.costs, err = c.costAll(ctx, ref.points, s.jobs); err != nil {
		return err
	}
	ref.best = ref.def
	at := d.Point
	for i, cost := range ref.costs {
		if cost > 0 && cost < ref.best {
			ref.best, at = cost, ref.points[i].Point
		}
	}
	fmt.Printf("%s: the best of %d schedules is %s: %.0f, %.1f %% of the default\n", t.Name, len(ref.points), at,
		ref.best, 100*ref.best/ref.def)
	return nil
}

// points draws n different schedules at random, or fewer if draws find no more.
func (t *task) points(ctx context.Context, n int) ([]space.Candidate, error) {
	var out []space.Candidate
	r, seen := rand.New(rand.NewPCG(1, 1)), map[string]bool{}
	const draws = 50 // for each, where most points are none, or have the same schedule
	for i := 0; i < draws*n && len(out) < n; i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := t.space.Random(r)
		if seen[p.String()] {
			continue
		}
		seen[p.String()] = true
		if c, err := t.space.Build(p); err == nil && !seen[c.Key()] {
			seen[c.Key()] = true
			out = append(out, c)
		}
	}
	return out, nil
}
