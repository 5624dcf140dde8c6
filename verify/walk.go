package verify

import (
	"context"
	"errors"

	"ripc/engine"
)

// maxKept bounds the copies of the workspace that are kept at a time, in bytes.
const maxKept = 256 << 20

// walk is the progress through the stages. A batch runs several of them if batches are cheap and a
// crash ends another process. Otherwise each runs by itself.
type walk struct {
	maxBytes int              // at most, in bytes
	first    int              // of the stages in states
	states   []*engine.Memory // states[k] is the memory before stage first+k; one more at the end
}

// step runs stage i, after all stages before it, and returns memory before and after it. Workspace
// and outputs start out full of garbage.
func (v *verifier) step(ctx context.Context, i int) (before, after *engine.Memory, err error) {
	w := &v.walk
	if i < w.first || i >= w.first+len(w.states)-1 {
		if err := v.batch(ctx, i); err != nil {
			return nil, nil, err
		}
	}
	return w.states[i-w.first], w.states[i-w.first+1], nil
}

// batch runs stages from first on, until their memories would exceed kept. It continues at the end
// of the last batch. Together they may take as long as one stage, else they run one by one.
func (v *verifier) batch(ctx context.Context, first int) error {
	w := &v.walk
	last := first + 1
	if v.e.Kind() != engine.Native {
		d := v.e.Describe()
		size := d.WorkspaceBytes(v.in.Threads)
		last = min(len(v.in.Program.Stages), first+max(1, w.maxBytes/int(max(1, size))))
	}
	if v.e.Kind() == engine.Sandboxed { // a trap ends the module, so no stage can run again
		last = first + 1
	}
	var jobs []engine.Job
	var states []*engine.Memory
	if first == 0 {
		jobs = append(jobs, engine.Job{Inputs: v.set.Inputs, Fill: 1, Keep: true})
	} else {
		states = append(states, w.states[len(w.states)-1])
	}
	for i := first; i < last; i++ {
		jobs = append(jobs, engine.Job{First: i, Last: i + 1, Keep: true})
	}
	var results []engine.Result
	run, cancel := ctx, func() {}
	if last > first+1 && v.in.Limit > 0 {
		run, cancel = context.WithTimeout(ctx, v.in.Limit)
	}
	defer cancel()
	err := v.watch(v.e.Kind(), first, func() (err error) {
		results, err = v.e.Run(run, jobs)
		return err
	})
	var fault *engine.FaultError
	if last > first+1 && (errors.As(err, &fault) || err != nil && run.Err() != nil && ctx.Err() == nil) {
		w.maxBytes = 1 // one by one they show which it was
		return v.batch(ctx, first)
	}
	if err != nil {
		return err
	}
	for _, r := range results {
		states = append(states, r.Memory)
	}
	w.first, w.states = first, states
	return nil
}
