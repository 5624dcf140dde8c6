package autotune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"ripc/autotune/records"
	"ripc/autotune/runner"
	"ripc/autotune/space"
	"ripc/codegen"
	"ripc/compile"
)

// trial is a candidate on its way.
type trial struct {
	study     *study
	candidate space.Candidate
	origin    records.Origin
	best      float64 // the cost to beat: the task's best when it was proposed, 0 for none
	repeat    int     // 0 of the first measurement, else a number that no other measurement of the candidate has
}

// turnTime is how long a kernel is measured at most that is measured in turn with another one.
const turnTime = 40 * time.Millisecond

// answer is the result of a trial.
type answer struct {
	measurement records.Measurement
	machine     records.Machine
	known       bool
	err         error // nothing is known of the candidate
}

// nothing asks for a Unit without files.
var nothing = []codegen.Kind{}

func (a *study) options(emit []codegen.Kind) compile.KernelOptions {
	constants := a.task.Constants
	if constants == nil {
		constants = map[string][]byte{}
	}
	return compile.KernelOptions{Constants: constants, Stage: a.task.Stage, Emit: emit}
}

// try builds and measures one candidate, each when there is room.
func (t *tuner) try(ctx context.Context, tr trial) answer {
	lost := func(err error) answer { return answer{err: err} }
	failed := func(kind records.FailureKind, text string) answer {
		return answer{measurement: records.Measurement{Failure: &records.Failure{Kind: kind, Text: text}},
			machine: t.Runner.Machine()}
	}
	want, err := tr.study.reference(ctx, func(interpret func() error) error {
		return t.working(ctx, checking, interpret)
	})
	if err != nil {
		return lost(fmt.Errorf("interpreting %s: %w", title(tr.study.task), err))
	}
	var u *compile.Unit
	if err := t.working(ctx, building, func() (err error) {
		o := tr.study.options(nil)
		o.With, o.Result = t.backends, tr.candidate.Result
		u, err = compile.Kernel(ctx, tr.study.task.Func, tr.candidate.Trace, tr.study.task.Target, o)
		return err
	}); err != nil {
		if text, ok := explainUnbuildable(ctx, err); ok && tr.origin.Trial > 0 {
			return failed(records.Unbuildable, text)
		}
		return lost(err)
	}
	settings := t.Settings
	settings.Best, settings.Repeat = tr.best, tr.repeat
	if tr.repeat > 0 { // it has other turns
		settings.MaxTime = cmp.Or(settings.MaxTime, turnTime)
	}
	r, err := t.measure(ctx, runner.NewJob(u.Files[codegen.Runnable], want.inputs, settings))
	if err == nil && tr.origin.Trial == 0 && tr.repeat == 0 && !r.Machine.Simulated && r.Measurement.Failure == nil {
		// A task looks hopeless for good if something else slowed its default schedule, so that one
		// is timed twice. Other measurements that wait come between the two.
		settings.Repeat = 1
		var again runner.Result
		again, err = t.measure(ctx, runner.NewJob(u.Files[codegen.Runnable], want.inputs, settings))
		if err == nil && again.Measurement.Failure == nil && again.Measurement.Cost < r.Measurement.Cost {
			r = again
		}
	}
	if err != nil {
		return lost(err)
	}
	a := answer{measurement: r.Measurement, machine: r.Machine}
	a.measurement.Cold = settings.Cold && r.Measurement.Failure == nil
	if a.measurement.Failure == nil && !want.equal(r.Outputs) {
		a = failed(records.Wrong, "its outputs are not those of the definition")
		a.machine = r.Machine
	}
	return a
}

// measure has a job measured when there is room.
func (t *tuner) measure(ctx context.Context, j runner.Job) (runner.Result, error) {
	var r runner.Result
	measure := func() (err error) {
		r, err = t.Runner.Measure(ctx, j)
		return err
	}
	err := withRoom(ctx, t.slots, func() error {
		if t.here {
			return t.working(ctx, measuring, measure)
		}
		defer t.clock(measuring)()
		return measure()
	})
	return r, err
}

// explainUnbuildable returns the reason that a candidate failed to build; ok is false where it says
// nothing of it: the tuner was stopped, or tools are missing.
func explainUnbuildable(ctx context.Context, err error) (text string, ok bool) {
	var missing interface{ MissingTool() }
	var internal *compile.InternalError
	if ctx.Err() != nil || errors.As(err, &missing) || errors.As(err, &internal) {
		return "", false
	}
	const most = 500
	text = err.Error()
	return text[:min(len(text), most)], true
}

// keep appends a record.
func (t *tuner) keep(tr trial, a answer) error {
	r := records.Record{
		Format: records.Format, Workload: tr.study.task.Workload, Target: tr.study.task.Target.Name,
		Candidate: records.Candidate{Algorithm: tr.study.task.Algorithm, Strategy: tr.candidate.Point.Strategy,
			Values: tr.candidate.Point.Values, Trace: tr.candidate.Trace.Lines()},
		Result: a.measurement, Machine: a.machine,
		Versions: t.versions,
		Origin:   tr.origin,
	}
	if !a.machine.Simulated {
		r.Origin.Time = time.Now().UTC().Format(time.RFC3339)
	}
	key := tr.study.key(tr.candidate)
	tr.study.records[key] = append(tr.study.records[key], r)
	if t.file == nil {
		return nil
	}
	return t.file.Append(r)
}

// note tells the search and the listener the result of a trial.
func (t *tuner) note(tr trial, a answer) {
	tr.study.count(tr, a.measurement)
	t.done++
	now := time.Now()
	if !a.known {
		t.fresh += now.Sub(t.noted)
	}
	t.noted = now
	e := Tried{Task: tr.study.task, Trial: tr.origin.Trial, Point: tr.candidate.Point, Result: a.measurement,
		Known:   a.known,
		Default: tr.study.usual, Best: tr.study.best, Done: t.done, Elapsed: now.Sub(t.began)}
	e.NetworkDefault, e.NetworkBest = t.sums()
	e.Left = t.remaining()
	t.tell(e)
}

// remaining estimates the time for the rest of the budget from the time that fresh trials took.
func (t *tuner) remaining() time.Duration {
	var left time.Duration
	if t.Trials > 0 && t.now > 0 {
		left = t.fresh / time.Duration(t.now) * time.Duration(max(0, t.Trials-t.done))
	}
	if t.Time > 0 {
		if over := max(0, t.Time-time.Since(t.began)); left == 0 || over < left {
			left = over
		}
	}
	return left
}
