// Package autotune finds schedules by measuring. Tune takes the kernels that a network may be made
// of (its tasks: one for each algorithm of a layer) and lets a search propose schedules for one of
// them after the other. It builds them, has a runner measure them, compares their outputs with the
// interpreter's, and appends a record of each to a file. The next task is the one with the largest
// expected gain for the network. Agree chooses from records the algorithms and the schedules that a
// network is compiled with.
package autotune

import (
	"context"
	"errors"
	"math"
	"time"

	"ripc/autotune/records"
	"ripc/autotune/runner"
	"ripc/autotune/search"
	"ripc/autotune/space"
	"ripc/codegen"
	"ripc/compile"
	"ripc/internal/files"
	"ripc/ir"
)

// Options say how to tune.
type Options struct {
	// Runner measures. It is the caller's, who closes it.
	Runner runner.Runner
	// Records is a file of records: its candidates are not measured again, and new results are
	// appended. "" keeps nothing.
	Records string
	// Trials is the number of candidates of all tasks together, including those with records. 0
	// stands for TrialsEach for each kernel that the network has without a tuner, unless Time is
	// given.
	Trials int
	// Time is the time after which no new candidates are begun; 0 is no limit.
	Time time.Duration
	// Search is the name of the search (search.Names); "" is the one that search.Choose takes.
	Search string
	Seed   uint64
	// Known are records from elsewhere. The best one of each kernel is measured after the kernel's
	// default schedule. nil is none.
	Known *records.Set
	// Layers, if any, are the only ones that are tuned.
	Layers []string
	// Round is the number of candidates that are proposed at a time; 0 stands for 8.
	Round int
	// Patience is the number of candidates without an improvement after which a task is done; 0
	// stands for 128.
	Patience int
	// Settings say how kernels are measured.
	Settings runner.Settings
	// Events, if not nil, is called with each event, in order, from one goroutine at a time.
	Events func(Event)
}

// Defaults of Options.
const (
	TrialsEach      = 64
	defaultRound    = 8
	defaultPatience = 128
)

// Result is the result of Tune.
type Result struct {
	Tasks    []TaskResult
	Unit     records.Unit
	Trials   int // candidates, those that records had included
	Measured int // candidates that were built and measured now
	// Default and Best are the costs of all stages of the network together, with the default
	// schedules and with the best ones: those of the tasks alone if only some layers were tuned.
	Default, Best float64
	Took          time.Duration
	Busy          Busy
}

// TaskResult is the result of one task.
type TaskResult struct {
	Task          *space.Task
	Trials        int
	Failures      int
	Default, Best float64 // 0 if there is none
	Point         space.Point
}

// Tune tunes a network. If ctx ends on the way it returns the results until then, with ctx's error.
// The measurements are in the records, and calling it again with the same options goes on from
// there, to the same result. It fails with *runner.LostError if the runner can measure no more, and
// with *ir.Error if there is no such layer. A search fails with *search.NameError, or with
// search.UnavailableError if it was named and needs XGBoost. Errors of the tools and of the file
// are returned, too.
func Tune(ctx context.Context, n *Network, o Options) (*Result, error) {
	if o.Round <= 0 {
		o.Round = defaultRound
	}
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	t := &tuner{Options: o, network: n, began: time.Now(), random: randomOf(o.Seed), shop: newShop(o.Runner, o.Round)}
	if err := t.read(ctx); err != nil {
		return nil, err
	}
	t.noted = time.Now()
	err := t.run(ctx)
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
	}
	return t.result(), err
}

// tuner is one call of Tune.
type tuner struct {
	Options
	network *Network
	studies []*study
	places  map[place][]*study // the choices of each stage
	usual   map[place]*study   // the kernel of each stage without a tuner
	file    *records.File
	// backends build. Their tools are found once, and the versions are for records.
	backends []codegen.Backend
	versions records.Versions
	began    time.Time
	random   interface{ Float64() float64 }
	begun    int // candidates
	done     int // of these, taken note of
	now      int // of these, measured in this call
	// fresh is the time that these took, each since the candidate before it, and noted is the time
	// of the last candidate.
	fresh time.Duration
	noted time.Time
	*shop
}

// read finds the tasks and reads the records.
func (t *tuner) read(ctx context.Context) error {
	if t.Settings.Cold && t.Runner.Machine().Simulated {
		return &ColdError{}
	}
	tasks, usual, err := t.network.tasks(ctx, t.Layers)
	if err != nil {
		return err
	}
	if err := t.findBackend(ctx); err != nil {
		return err
	}
	chosen, missing, err := search.Choose(t.Search)
	if err != nil {
		return err
	}
	t.Search = chosen
	known := &records.Set{}
	if t.Records != "" {
		if known, err = records.Load(t.Records); err != nil {
			return recordsError(t.Records, "read", err)
		}
		if t.file, err = records.Open(t.Records); err != nil {
			return recordsError(t.Records, "append to", err)
		}
	}
	t.places, t.usual = map[place][]*study{}, map[place]*study{}
	mine := records.Class{CPU: t.Runner.Machine().CPU, Simulated: t.Runner.Machine().Simulated, Unit: t.Runner.Unit(),
		Cold: t.Settings.Cold}
	known, notes := siftRecords(known, t.network.Target.Name)
	notes = append(notes, noteOthers(known, mine)...)
	for _, task := range tasks {
		a, err := newStudy(task, t.Options, known, mine)
		if err != nil {
			return err
		}
		t.studies = append(t.studies, a)
		for _, l := range task.Layers {
			at := place{l, task.Workload.Op}
			t.places[at] = append(t.places[at], a)
			a.places = append(a.places, at)
			if usual[at] == task.Workload.Key {
				t.usual[at] = a
			}
		}
	}
	if t.Trials <= 0 && t.Time <= 0 {
		different := map[*study]bool{}
		for _, a := range t.usual {
			different[a] = true
		}
		t.Trials = TrialsEach * max(1, len(different))
	}
	t.tell(Began{Tasks: tasks, Machine: t.Runner.Machine(), Unit: t.Runner.Unit(), Trials: t.Trials, Time: t.Time,
		Search: t.Search, Missing: missing, Notes: notes})
	return nil
}

// findBackend finds the tools that build kernels.
func (t *tuner) findBackend(ctx context.Context) error {
	b, version, err := compile.Prepare(ctx, t.network.Target)
	if err != nil {
		return err
	}
	t.backends, t.versions = []codegen.Backend{b}, records.Versions{Ripc: compile.Version}
	t.versions.Add(b.Name(), version)
	return nil
}

// ColdError says that caches cannot be emptied where there are none.
type ColdError struct{}

func (*ColdError) Error() string {
	return "nothing is emptied in simulation: estimated cycles know of no caches"
}

// BadInput reports that the input is at fault.
func (*ColdError) BadInput() bool { return true }

// recordsError says that something cannot be done to a file of records.
func recordsError(path, what string, err error) error {
	return &ir.Error{Pos: ir.Pos{File: path}, Msg: "cannot " + what + " the records", Err: files.Cause(err)}
}

func (t *tuner) tell(e Event) {
	if t.Events != nil {
		t.Events(e)
	}
}

// budget returns the number of candidates that may still be begun; 0 where the time is over.
func (t *tuner) budget() int {
	switch {
	case t.isOver():
		return 0
	case t.Trials > 0:
		return t.Trials - t.begun
	}
	return math.MaxInt
}

// isOver says that no more candidates are to be begun.
func (t *tuner) isOver() bool { return t.Time > 0 && time.Since(t.began) >= t.Time }

func (t *tuner) result() *Result {
	r := &Result{Unit: t.Runner.Unit(), Trials: t.done, Measured: t.now, Took: time.Since(t.began), Busy: t.busy()}
	for _, a := range t.studies {
		r.Tasks = append(r.Tasks, TaskResult{Task: a.task, Trials: a.trials, Failures: a.failures, Default: a.usual,
			Best: a.best, Point: a.point})
	}
	r.Default, r.Best = t.sums()
	return r
}

// sums adds the costs of all stages with a measured default: once the defaults, once the best that
// are known.
func (t *tuner) sums() (usual, best float64) {
	for at, a := range t.usual {
		if a.usual > 0 {
			usual += a.usual
			best += t.least(at)
		}
	}
	return usual, best
}

// least is the lowest cost that a stage can have, 0 if none is known.
func (t *tuner) least(at place) float64 {
	least := 0.0
	for _, a := range t.places[at] {
		if a.best > 0 && (least == 0 || a.best < least) {
			least = a.best
		}
	}
	return least
}
