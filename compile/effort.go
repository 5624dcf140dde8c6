package compile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"ripc/codegen"
	"ripc/ir"
	"ripc/measure"
	"ripc/targets"
)

// EffortError says why schedules cannot be tried for a target.
type EffortError struct {
	Target string
	Err    error
}

func (e *EffortError) Error() string {
	return fmt.Sprintf("no schedules can be tried for %s: %v", e.Target, e.Err)
}

// BadInput reports that the input is at fault.
func (*EffortError) BadInput() bool { return true }

// Unwrap gives the cause.
func (e *EffortError) Unwrap() error { return e.Err }

// checker builds the schedules that a model predicts to be the fastest, and runs or simulates them.
type checker struct {
	target    targets.Target
	perLayer  int
	backends  []codegen.Backend
	simulated bool
	// held by one kernel that is timed, or by those that are built: a compiler beside it would take
	// its time
	timing sync.RWMutex
	tell   func(tried int)
	mu     sync.Mutex // of tried
	tried  int
}

// newChecker is nil where no effort is asked for.
func newChecker(t targets.Target, o Options) (*checker, error) {
	if o.Effort <= 0 {
		return nil, nil
	}
	backends, err := usable(o.Backend, t, []codegen.Kind{codegen.Runnable})
	if err != nil {
		return nil, &EffortError{t.Name, err}
	}
	return &checker{target: t, perLayer: o.Effort, backends: backends, simulated: !t.Native(), tell: o.Tried}, nil
}

// check measures the first perLayer of all, schedules of kernels that are compared with each other,
// and sorts all by the result. Their times stay in the model's scale, because sums over layers are
// of predictions. A measured kernel drops its unmeasured schedules. Schedules without possible code
// are dropped, too.
func (c *checker) check(ctx context.Context, kernels []kernel, all []found) ([]found, error) {
	var out, rest []found
	measured := map[int]bool{}
	for i, k := range all {
		if len(out) == c.perLayer {
			rest = all[i:]
			break
		}
		u, err := c.build(ctx, kernels[k.kernel].f, k)
		var refused *ir.Error
		var large *codegen.SizeError
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &refused), errors.As(err, &large):
			continue
		case err != nil:
			return nil, &EffortError{c.target.Name, err}
		}
		cost, err := c.measure(ctx, u)
		if err != nil {
			return nil, cmp.Or(ctx.Err(), error(&EffortError{c.target.Name, err}))
		}
		k.measured = cost
		measured[k.kernel] = true
		out = append(out, k)
	}
	factor := 0.0 // of measured costs to predicted ones, by its logarithm
	for _, k := range out {
		factor += math.Log(k.measured/k.cost) / float64(len(out))
	}
	for i := range out {
		k := &out[i]
		cost := k.measured / math.Exp(factor)
		k.cost, k.time = cost, k.time*cost/k.cost
	}
	for _, k := range rest {
		if !measured[k.kernel] {
			out = append(out, k)
		}
	}
	slices.SortStableFunc(out, byTime)
	return out, nil
}

func (c *checker) build(ctx context.Context, f *ir.Func, k found) (*Unit, error) {
	if !c.simulated {
		c.timing.RLock()
		defer c.timing.RUnlock()
	}
	return Kernel(ctx, f, k.Trace, c.target, KernelOptions{Result: k.Result, With: c.backends})
}

// measure returns the cost of a kernel, on one core.
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
