package ripc

import (
	"cmp"
	"context"
	"errors"
	"time"

	"ripc/autotune"
	"ripc/autotune/records"
	"ripc/autotune/runner"
	"ripc/autotune/search"
	"ripc/autotune/shipped"
	"ripc/codegen"
	"ripc/compile"
	"ripc/graph"
	"ripc/internal/files"
	"ripc/ir"
	"ripc/measure"
	"ripc/targets"
)

// TuneRequest says which network to tune, and how.
type TuneRequest struct {
	Path    string  // model
	Options Options // the target and fixed choices; Emit is ignored
	// Runner is one of TuneRunners; "" is RunnerFor's.
	Runner string
	// Key is the path of the key of a fleet's hub, if Runner is one.
	Key string
	// Log, if not nil, receives messages about the connection to the runner.
	Log func(text string)
	// Records is the file that measurements are appended to. Its candidates are not measured again.
	Records string
	// Trials and Time are budgets, as in autotune.Options.
	Trials int
	Time   time.Duration
	Search string // one of Searches; "" is the default
	Seed   uint64
	Layers []string // to tune; none is all
	// Cold empties the caches before each run of a kernel, as for a network that rarely runs.
	// Simulated costs know no caches.
	Cold bool
	// Alone leaves out the schedules that come with ripc (ShippedRecords), which are tried first
	// otherwise.
	Alone bool
	// Events, if not nil, is called at every TuneEvent.
	Events func(TuneEvent)
}

// The events of Tune, and its result.
type (
	TuneEvent  = autotune.Event
	TuneBegan  = autotune.Began
	TuneTried  = autotune.Tried
	TuneAgain  = autotune.Again
	TuneResult = autotune.Result
	// RecordNote is a remark on the records that a network is compiled with; autotune.NoteKind says
	// which.
	RecordNote = autotune.Note
)

// Tune finds schedules for a model's layers by measuring. It appends all measurements to a file of
// records, with which WithRecords compiles. If ctx ends early, Tune returns its result so far with
// ctx's error. Called again, it goes on from there. It fails as Compile does, or with
// *ArtifactError, *search.NameError, *runner.NameError or, if nothing can be measured,
// *runner.LostError.
func Tune(ctx context.Context, r TuneRequest) (*TuneResult, error) {
	if IsArtifact(r.Path) {
		return nil, &ArtifactError{Path: r.Path, For: ToTune}
	}
	o := r.Options
	if accepted := TuneBackend(o.Target); o.Backend != "" && o.Backend != accepted {
		return nil, compile.RefuseBackend(o.Backend, cmp.Or(o.Target, targets.HostName),
			"schedules are tuned by the code that engines run", []string{accepted})
	}
	o.Emit, o.Tuned, o.Effort = nil, nil, 0
	c, err := Compile(ctx, r.Path, o)
	if err != nil {
		return nil, err
	}
	name := r.Runner
	if name == "" {
		name = RunnerFor(c.Target)
	}
	known := &records.Set{}
	if !r.Alone {
		if known, err = shipped.Records(); err != nil {
			return nil, err
		}
	}
	run, err := runner.Open(ctx, name, c.Target, runner.Options{Key: r.Key, Log: r.Log})
	if err != nil {
		return nil, err
	}
	n := &autotune.Network{Graph: c.Graph, Target: c.Target, Given: o.Algorithms, Bitserial: o.Bitserial}
	res, err := autotune.Tune(ctx, n, autotune.Options{Runner: run, Records: r.Records,
		Trials: r.Trials, Time: r.Time, Search: r.Search, Seed: r.Seed,
		Layers: r.Layers, Known: known, Events: r.Events, Settings: runner.Settings{Cold: r.Cold}})
	return res, errors.Join(err, run.Close())
}

// TuneBackend returns the back end that tuning measures code of for the target called name.
func TuneBackend(name string) string {
	names, err := compile.BackendsFor(name, codegen.Runnable)
	if err != nil { // which tuning will tell
		return Backends()[0]
	}
	return names[0]
}

// TuneRunnersFor lists the runners of this machine that measure kernels for t; none if t is not
// simulated.
func TuneRunnersFor(t targets.Target) []string { return runner.Accepting(t) }

// RunnerFor returns the default runner for a target: board for a chip without an operating system,
// local or wasm if this machine runs its code, else qemu.
func RunnerFor(t targets.Target) string {
	if t.Bare {
		return "board"
	}
	return append(runner.Accepting(t), "qemu")[0]
}

// TuneRunners lists the values of TuneRequest.Runner, for people.
func TuneRunners() []string { return runner.Names() }

// Searches lists the values of TuneRequest.Search; the first is the default.
func Searches() []string { return search.Names() }

// ShippedRecords is the name, for WithRecords, of the records that come with ripc.
const ShippedRecords = shipped.Name

// WithRecords returns o with the schedules and algorithms that a file of records has for the
// network. Choices in o stay. tell receives remarks on the records once they are read. It fails if
// the file cannot be read. Records that are stale, damaged, or of another version or machine are no
// failure.
func WithRecords(o Options, path string, tell func([]RecordNote)) (Options, error) {
	set, err := shipped.Load(path)
	if err != nil {
		return o, &ir.Error{Pos: ir.Pos{File: path}, Msg: "cannot read the records", Err: files.Cause(err)}
	}
	given, bitserial := o.Algorithms, o.Bitserial
	o.Tuned = func(ctx context.Context, g *graph.Graph, t targets.Target) (compile.Tuning, error) {
		a, err := autotune.Agree(ctx, &autotune.Network{Graph: g, Target: t, Given: given, Bitserial: bitserial}, set,
			measure.CPU())
		if err != nil {
			return compile.Tuning{}, err
		}
		if tell != nil {
			tell(a.Notes)
		}
		return a.Tuning, nil
	}
	return o, nil
}
