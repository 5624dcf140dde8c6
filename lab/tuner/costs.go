package tuner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ripc/autotune/space"
	"ripc/compile"
	"ripc/engine"
	"ripc/lab/figures"
	"ripc/measure"
)

// costs are the costs of a task's candidates, kept in a store: all searches are told the same, and an interrupted comparison goes on. A cost
// is the estimated cycles of a simulated core, which depend on the candidate alone, or nanoseconds here of code that is not simulated. 0 is a candidate
// that cannot be built.
type costs struct {
	task  *layer
	jobs  int
	timed sync.Mutex // one candidate at a time

	mu    sync.Mutex
	store *figures.Store
}

// keyOf names a candidate of one task.
func keyOf(c space.Candidate) string {
	sum := sha256.Sum256([]byte(c.Key()))
	return hex.EncodeToString(sum[:8])
}

// ofAll returns the costs of candidates, several of which are measured at once.
func (c *costs) ofAll(ctx context.Context, xs ...space.Candidate) ([]float64, error) {
	out := make([]float64, len(xs))
	var all errgroup.Group
	all.SetLimit(c.jobs)
	for i, x := range xs {
		all.Go(func() (err error) {
			out[i], err = c.of(ctx, x)
			return err
		})
	}
	return out, all.Wait()
}

// of returns the cost of a candidate.
func (c *costs) of(ctx context.Context, x space.Candidate) (float64, error) {
	key := figures.Key{Subject: c.task.Name, Variant: keyOf(x)}
	c.mu.Lock()
	known := c.store.Find(key)
	c.mu.Unlock()
	if known != nil {
		return known.Values["cost"], nil
	}
	cost, err := c.measure(ctx, x)
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return cost, c.store.Append(figures.Figure{Task: "tuner", Key: key, Values: map[string]float64{"cost": cost}})
}

func (c *costs) measure(ctx context.Context, x space.Candidate) (float64, error) {
	t := c.task.space.Task
	u, err := compile.Kernel(ctx, t.Func, x.Trace, t.Target, compile.KernelOptions{Stage: t.Stage})
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil {
		return 0, nil // too much code, say
	}
	if !c.task.simulated() {
		c.timed.Lock()
		defer c.timed.Unlock()
		// some thousand runs of a kernel that takes less than 0.1 ms, the fastest of which counts
		m, err := u.Measure(ctx, 1, measure.Budget{Runs: 20, Time: 100 * time.Millisecond, Few: 3, Limit: 30 * time.Second})
		if err != nil {
			return 0, err
		}
		return m.Cost(), nil
	}
	e, err := u.Open(engine.Options{Threads: 1, Simulate: true, Count: true})
	if err != nil {
		return 0, err
	}
	done, err := e.Run(ctx, []engine.Job{{Last: 1, Inputs: u.Inputs(0)}})
	if err = errors.Join(err, e.Close()); err != nil {
		return 0, err
	}
	n := done[0].Counters
	return n.Estimate.Cycles, n.Estimate.Why
}
