package compile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"ripc/measure"
	"ripc/targets"
)

// EffortError says why schedules cannot be tried for a target.
type EffortError struct {
	Target string
	Err    error
}

func (e *EffortError) Error() string {
	return fmt.Sprintf("an effort takes code for %s that runs here or is simulated: %v", e.Target, e.Err)
}

// Unwrap gives the cause.
func (e *EffortError) Unwrap() error { return e.Err }

// checker builds schedules that a model takes for good, and runs or simulates them.
type checker struct {
	target    targets.Target
	most      int // of a layer
	simulated bool
	timing    sync.Mutex // one kernel is timed at a time
	tell      func(tried int)
	mu        sync.Mutex // of tried
	tried     int
}

func newChecker(t targets.Target, o Options) (*checker, error) {
	if o.Effort <= 0 {
		return nil, nil
	}
	if t.Bare {
		return nil, &EffortError{t.Name, errors.New("kernels of chips without an operating system are tried by ripc tune")}
	}
	return &checker{target: t, most: o.Effort, simulated: !t.Native(), tell: o.Tried}, nil
}

// check measures the first of all, which are of kernels, as far as most, and leaves out the others: none where no code can be made of them.
func (c *checker) check(ctx context.Context, kernels []kernel, all []found) ([]found, error) {
	var out []found
	for _, k := range all {
		if len(out) == c.most {
			break
		}
		u, err := Kernel(ctx, kernels[k.kernel].f, k.Trace, c.target, KernelOptions{Result: k.Result})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil { // no code can be made of it
			continue
		}
		cost, err := c.measure(ctx, u)
		if err != nil {
			return nil, cmp.Or(ctx.Err(), error(&EffortError{c.target.Name, err}))
		}
		k.time *= cost / k.cost
		k.cost = cost
		out = append(out, k)
	}
	slices.SortStableFunc(out, byTime)
	return out, nil
}

// measure is what a kernel costs, on one core.
func (c *checker) measure(ctx context.Context, u *Unit) (float64, error) {
	if !c.simulated {
		c.timing.Lock()
		defer c.timing.Unlock()
	}
	m, err := u.Measure(ctx, 1, measure.Quick())
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tried++; c.tell != nil {
		c.tell(c.tried)
	}
	return m.Cost(), nil
}
