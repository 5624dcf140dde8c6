package autotune

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"ripc/autotune/records"
	"ripc/autotune/runner"
	"ripc/autotune/space"
	"ripc/codegen"
	"ripc/codegen/llvm/toolchain"
	"ripc/compile"
)

// trial is a candidate on its way.
type trial struct {
	study     *study
	candidate space.Candidate
	tuner     string
	number    int // of the task
}

// answer is what came of a trial.
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

// measure builds and measures trials, several at a time, and takes note of what came of them in their order. It ends with the first
// that nothing can be learned of.
func (t *tuner) measure(ctx context.Context, trials []trial) error {
	if len(trials) == 0 {
		return ctx.Err()
	}
	ctx, cancel := context.WithCancel(ctx)
	began := time.Now()
	counts := map[*study]int{}
	answers := make([]chan answer, len(trials))
	for i := range trials {
		tr := &trials[i]
		if _, ok := counts[tr.study]; !ok {
			counts[tr.study], tr.study.before = tr.study.trials, tr.study.best
		}
		tr.number = counts[tr.study]
		counts[tr.study]++
		answers[i] = make(chan answer, 1)
		if r, ok := tr.study.records[tr.study.key(tr.candidate)]; ok { // which says what came of it
			answers[i] <- answer{measurement: r.Result, machine: r.Machine, known: true}
		}
	}
	room := t.room()
	var build errgroup.Group // feeds the runner; what each job came to is in its answer
	build.SetLimit(cap(room.cores) + cap(room.slots))
	todo := trials[:0:0]
	var to []chan answer
	for i, tr := range trials {
		if len(answers[i]) == 0 {
			todo, to = append(todo, tr), append(to, answers[i])
		}
	}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		for i, tr := range todo {
			build.Go(func() error {
				to[i] <- t.try(ctx, tr, room)
				return nil
			})
		}
	}()
	defer func() { // nobody uses the runner any more when this returns
		cancel()
		<-fed
		_ = build.Wait() // of what never fails
	}()
	fresh := 0
	for i, tr := range trials {
		a := <-answers[i]
		if a.err != nil {
			return a.err
		}
		if !a.known {
			fresh++
			if err := t.keep(tr, a); err != nil {
				return err
			}
		}
		t.note(tr, a, began, fresh)
	}
	if fresh > 0 {
		t.spent += time.Since(began)
	}
	return nil
}

// room is what candidates under way share: the cores of this machine and the runner.
type room struct {
	cores chan struct{} // each builds a kernel, or measures one
	slots chan struct{} // of the runner
	here  bool          // it measures on these cores
}

// room is all of it. What is timed here has a core of its own, as has each kernel that is built.
func (t *tuner) room() room {
	return room{make(chan struct{}, runtime.GOMAXPROCS(0)), make(chan struct{}, max(1, t.Runner.Slots())), t.Runner.Here()}
}

// try builds and measures one candidate, each when there is room.
func (t *tuner) try(ctx context.Context, tr trial, in room) answer {
	lost := func(err error) answer { return answer{err: err} }
	failed := func(kind records.FailureKind, text string) answer {
		return answer{measurement: records.Measurement{Failure: &records.Failure{Kind: kind, Text: text}}, machine: t.Runner.Machine()}
	}
	var u *compile.Unit
	var want *reference
	if err := within(ctx, in.cores, func() (err error) {
		if want, err = tr.study.reference(ctx); err != nil {
			return fmt.Errorf("interpreting %s: %w", title(tr.study.task), err)
		}
		o := tr.study.options(nil)
		o.With = t.backends
		u, err = compile.Kernel(ctx, tr.study.task.Func, tr.candidate.Trace, tr.study.task.Target, o)
		return err
	}); err != nil {
		if text, ok := unbuildable(ctx, err); ok && want != nil && tr.number > 0 {
			return failed(records.Unbuildable, text)
		}
		return lost(err)
	}
	settings := t.Settings
	settings.Best = tr.study.before
	var r runner.Result
	measure := func() (err error) {
		r, err = t.Runner.Measure(ctx, runner.NewJob(u.Files[codegen.Runnable], want.inputs, settings))
		return err
	}
	if err := within(ctx, in.slots, func() error {
		if !in.here {
			return measure()
		}
		return within(ctx, in.cores, measure)
	}); err != nil {
		return lost(err)
	}
	a := answer{measurement: r.Measurement, machine: r.Machine}
	if a.measurement.Failure == nil && !want.equal(r.Outputs) {
		a = failed(records.Wrong, "its outputs are not those of the definition")
		a.machine = r.Machine
	}
	return a
}

// within calls f when there is room in slots; it fails with ctx's error once that is done.
func within(ctx context.Context, slots chan struct{}, f func() error) error {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return f()
}

// unbuildable is what a failed build says of the candidate; ok is false where it says nothing of it: the tuner was stopped, or tools are
// missing.
func unbuildable(ctx context.Context, err error) (text string, ok bool) {
	var missing *toolchain.MissingToolError
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
	t.now++
	r := records.Record{
		Format: records.Format, Workload: tr.study.task.Workload, Target: tr.study.task.Target.Name,
		Candidate: records.Candidate{Algorithm: tr.study.task.Algorithm, Strategy: tr.candidate.Point.Strategy, Values: tr.candidate.Point.Values, Trace: traceLines(tr.candidate.Trace)},
		Result:    a.measurement, Machine: a.machine,
		Versions: records.Versions{Ripc: compile.Version, LLVM: t.llvm},
		Origin:   records.Origin{Tuner: tr.tuner, Seed: t.Seed, Trial: tr.number},
	}
	if !a.machine.Simulated {
		r.Origin.Time = time.Now().UTC().Format(time.RFC3339)
	}
	tr.study.records[tr.study.key(tr.candidate)] = r
	if t.file == nil {
		return nil
	}
	return t.file.Append(r)
}

// note lets the search and whoever listens know what came of a trial.
func (t *tuner) note(tr trial, a answer, began time.Time, fresh int) {
	tr.study.tried(tr, a.measurement)
	t.done++
	e := Tried{Task: tr.study.task, Trial: tr.number, Point: tr.candidate.Point, Result: a.measurement, Known: a.known,
		Default: tr.study.usual, Best: tr.study.best, Done: t.done, Elapsed: time.Since(t.began)}
	e.NetworkDefault, e.NetworkBest = t.sums()
	e.Left = t.remaining(t.spent + time.Since(began))
	t.tell(e)
}

// remaining is the time that the rest of the budget will take, if it goes on as it went for so long.
func (t *tuner) remaining(spent time.Duration) time.Duration {
	var left time.Duration
	if t.Trials > 0 && t.now > 0 {
		left = spent / time.Duration(t.now) * time.Duration(max(0, t.Trials-t.done))
	}
	if t.Time > 0 {
		if over := max(0, t.Time-time.Since(t.began)); left == 0 || over < left {
			left = over
		}
	}
	return left
}
