package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"ripc"
	"ripc/autotune"
	"ripc/internal/human"
	"ripc/internal/terminal"
)

// defaultRecords is the default file of records of `ripc tune`. Networks and targets may share one.
const defaultRecords = "ripc.records"

// Of targets with an FPGA: the default file of records, and the default number of trials.
const (
	defaultFolds = "ripc.folds"
	foldTrials   = 16
)

func tuneCommand() *cobra.Command {
	f := compileFlags{use: measures}
	var r ripc.TuneRequest
	var minutes float64
	var wide bool
	cmd := &cobra.Command{
		Use:   "tune MODEL [flags]",
		Short: "Find faster schedules for a model's layers by measuring them",
		Long: `Try other schedules, and other algorithms, for the layers of a model, and measure each: on
this machine, or, for others, in simulation, where costs are estimated cycles. Where LLVM has
no model of the core, and on chips without an operating system, they are instructions. Each
candidate's results are compared with the interpreter's. Each measurement is appended to a file
of records, one line a candidate, with which "ripc compile --records" compiles. Candidates in
the file are not measured again, so a run that was interrupted goes on where it was when the
same command is given again, and networks that share layers share their measurements.
docs/tuning.md says more.

For a board with an FPGA, choices of --fold are synthesized, and their cells counted. "ripc compile --records" then
takes the smallest within --cycles, or the fastest that fits.`,
		Example: `  ripc tune squeezenet.json --target rpi3 --trials 500
  ripc tune squeezenet.json --minutes 30 --records my.records
  ripc compile squeezenet.json --target rpi3 --records ripc.records`,
		Args: argCount(1, 1, "one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Path = args[0]
			switch {
			case r.Trials < 0, r.Trials == 0 && cmd.Flags().Changed("trials"):
				return usagef("--trials %d: give 1 or more", r.Trials)
			case cmd.Flags().Changed("minutes") && !(minutes > 0 && minutes <= maxMinutes):
				return usagef("--minutes %g: give more than 0, %d at most", minutes, maxMinutes)
			case f.records == ripc.ShippedRecords:
				return usagef("--records %s are those that come with ripc; name a file that can be written to",
					f.records)
			case f.records == "" && ripc.IsFPGA(f.target):
				f.records = defaultFolds
			case f.records == "":
				f.records = defaultRecords
			}
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(collectLess)
			}
			r.Time = time.Duration(minutes * float64(time.Minute))
			r.Records, f.records = f.records, ""
			var err error
			if r.Options, err = f.options(r.Path); err != nil {
				return err
			}
			if ripc.IsFPGA(f.target) {
				for _, n := range []string{"minutes", "tuner", "runner", "key", "seed", "cold", "alone", "layer"} {
					if cmd.Flags().Changed(n) {
						return usagef("--%s is for processors; targets with an FPGA have --trials and --records", n)
					}
				}
				return f.tuneAccelerator(cmd, r.Path, r.Options, cmp.Or(r.Trials, foldTrials), r.Records)
			}
			show := &tuneProgress{progress: newProgress(), records: r.Records}
			if f.json {
				show.lines = json.NewEncoder(jsonWriter(cmd.OutOrStdout()))
			}
			r.Events = show.event
			r.Log = func(text string) {
				show.progress.done()
				fmt.Fprintln(stderr(), "ripc: "+text)
			}
			res, err := ripc.Tune(cmd.Context(), r)
			show.progress.done()
			if res == nil {
				return err
			}
			if f.json {
				if jerr := show.lines.Encode(newTuneEnd(res)); jerr != nil {
					return errors.Join(err, jerr)
				}
			} else {
				printTuned(cmd.OutOrStdout(), res, r.Records, widthOf(cmd.OutOrStdout(), wide))
			}
			if err != nil && cmd.Context().Err() != nil {
				const note = "ripc: stopped after %s; the measurements are in %s. The same command goes on from " +
					"there.\n"
				fmt.Fprintf(stderr(), note, human.Count(res.Trials, "candidate"), r.Records)
			}
			return err
		},
	}
	wideFlag(cmd, &wide)
	fs := cmd.Flags()
	fs.IntVar(&r.Trials, "trials", 0,
		"candidates of all layers together, those in the records included (default 64 for each different layer, "+
			"without --minutes)")
	fs.Float64Var(&minutes, "minutes", 0, "time after which no more candidates are begun")
	fs.StringVar(&r.Search, "tuner", "", "search that proposes candidates: "+strings.Join(ripc.Searches(),
		", ")+" (default "+ripc.Searches()[0]+")")
	fs.StringVar(&r.Runner, "runner", "",
		"runner that measures: "+strings.Join(ripc.TuneRunners(),
			", ")+" (default board for a chip without an operating system, local where this machine can run the "+
			"target, else qemu)")
	fs.StringVar(&r.Key, "key", "", "`FILE` with the key that lets into a fleet's hub (docs/fleet.md)")
	fs.Uint64Var(&r.Seed, "seed", 0, "of random choices; in simulation the same seed gives the same records")
	fs.BoolVar(&r.Cold, "cold", false,
		"empty the caches before each run of a kernel, for networks that run now and then; records keep such costs "+
			"apart")
	fs.BoolVar(&r.Alone, "alone", false, "do not begin with the schedules that come with ripc (\"ripc records "+
		"shipped\")")
	fs.StringArrayVar(&r.Layers, "layer", nil, "`NAME` of the layer to tune, instead of all; may be repeated")
	f.register(cmd)
	f.fold = &foldFlags{set: fs}
	fs.Lookup("records").Usage = fmt.Sprintf("`FILE` that measurements are appended to (default %q)", defaultRecords)
	return cmd
}

// maxMinutes bounds --minutes: a year.
const maxMinutes = 365 * 24 * 60

// tuneProgress shows a tuner's progress: on a terminal in a line that is overwritten, elsewhere by
// a line every few seconds, with --json by an object for each candidate.
type tuneProgress struct {
	progress *progress
	lines    *json.Encoder // nil without --json
	began    ripc.TuneBegan
	records  string // file
}

func (p *tuneProgress) event(e ripc.TuneEvent) {
	switch e := e.(type) {
	case ripc.TuneBegan:
		p.began = e
		if e.Missing != nil {
			fmt.Fprintf(stderr(), "ripc: --tuner %s instead of %s: %v\n", e.Search, ripc.Searches()[0], e.Missing)
		}
		recordNotes(stderr(), p.records)(e.Notes)
		if p.lines != nil {
			begin := tuneBegin{"begin", len(e.Tasks), e.Machine.CPU, string(e.Unit), e.Trials, e.Search}
			_ = p.lines.Encode(begin) // a closed pipe does not stop the tuner
		}
	case ripc.TuneTried:
		if p.lines != nil {
			_ = p.lines.Encode(newTuneStep(e))
			return
		}
		p.progress.say(func() string { return tuneLine(p.began, e, p.progress.room()) })
	case ripc.TuneAgain:
		if p.lines != nil {
			_ = p.lines.Encode(newTuneAgain(e))
			return
		}
		p.progress.say(func() string { return againLine(p.began, e) })
	}
}

// againLine prints a layer that was measured again beside its default, and the network's time then.
func againLine(b ripc.TuneBegan, e ripc.TuneAgain) string {
	return fmt.Sprintf("%s beside its default: %.2fx  network %s, %.2fx", taskName(e.Task.Layers, e.Task.Algorithm),
		e.Default/e.Best,
		b.Unit.Text(e.NetworkBest), e.NetworkDefault/e.NetworkBest)
}

// barWidth is the number of characters of a bar.
const barWidth = 20

// leastName is the smallest length of a layer's name in a line that is cut.
const leastName = 12

// tuneLine returns, for example, "[#####...............] 120 of 480  fire4_expand3 by popcount
// 1.21x  network 5.12 M cycles, 1.08x  3m20s left". It has at most width characters, 0 being no
// limit: names are cut first, then the bar is left out, then the cost.
func tuneLine(b ripc.TuneBegan, e ripc.TuneTried, width int) string {
	share := 0.0
	if b.Trials > 0 {
		share = float64(e.Done) / float64(b.Trials)
	}
	if b.Time > 0 {
		share = max(share, float64(e.Elapsed)/float64(b.Time))
	}
	n := min(barWidth, int(share*barWidth))
	bar := fmt.Sprintf("[%s%s] ", strings.Repeat("#", n), strings.Repeat(".", barWidth-n))
	done := fmt.Sprint(e.Done)
	if b.Trials > 0 {
		done += fmt.Sprintf(" of %d", b.Trials)
	}
	name := taskName(e.Task.Layers, e.Task.Algorithm)
	var gain, cost, network, left string
	if e.Default > 0 && e.Best > 0 {
		gain = fmt.Sprintf(" %.2fx", e.Default/e.Best)
	}
	if e.NetworkBest > 0 {
		gain += "  network "
		cost, network = b.Unit.Text(e.NetworkBest)+", ", fmt.Sprintf("%.2fx", e.NetworkDefault/e.NetworkBest)
	}
	if e.Left > 0 {
		left = "  " + e.Left.Round(time.Second).String() + " left"
	}
	line := func() string { return bar + done + "  " + name + gain + cost + network + left }
	if width == 0 {
		return line()
	}
	full := utf8.RuneCountInString(name)
	for _, leave := range []*string{nil, &bar, &cost} {
		if leave != nil {
			*leave = ""
		}
		name = taskName(e.Task.Layers, e.Task.Algorithm)
		room := width - utf8.RuneCountInString(line()) + full
		if name = shorten(name, max(room, min(leastName, full)), cutMiddle); room >= min(leastName, full) {
			break
		}
	}
	return shorten(line(), width, cutTail)
}

// taskName returns the name of a layer, or of the first of several equal ones, with its algorithm.
func taskName(layers []string, algorithm string) string {
	name := layers[0]
	if len(layers) > 1 {
		name += fmt.Sprintf(" and %d more", len(layers)-1)
	}
	if algorithm != "" {
		name += " by " + algorithm
	}
	return name
}

// printTuned prints a line for each task that was tried, and the sums. Lines have at most width
// characters; 0 is no limit.
func printTuned(w io.Writer, r *ripc.TuneResult, file string, width int) {
	t := &table{columns: []column{textCol("LAYER", 0).cutAs(cutMiddle, 12), textCol("TRIED", 1), textCol("FOUND", 2),
		numCol("FASTER", 0)}}
	for _, x := range r.Tasks {
		if x.Trials == 0 {
			continue
		}
		found, faster := "nothing that works", ""
		if x.Best > 0 {
			found = r.Unit.Text(x.Best)
			if x.Default > 0 {
				found, faster = fmt.Sprintf("%s -> %s", r.Unit.Text(x.Default), found),
					fmt.Sprintf("%.2fx", x.Default/x.Best)
			}
		}
		t.add(taskName(x.Task.Layers, x.Task.Algorithm), human.Count(x.Trials, "candidate"), found, faster)
	}
	if len(t.rows) > 0 {
		t.write(w, width)
	}
	if r.Best > 0 {
		fmt.Fprintln(w, wrap(fmt.Sprintf("all stages  %s -> %s, %.2fx", r.Unit.Text(r.Default), r.Unit.Text(r.Best),
			r.Default/r.Best), width, 0))
	}
	if text := busyText(r); text != "" {
		fmt.Fprintln(w, wrap(text, width, 0))
	}
	end := fmt.Sprintf("%s, %d of them measured now, in %.1f s%s; records in %s",
		human.Count(r.Trials, "candidate"), r.Measured, r.Took.Seconds(), rate(r), file)
	fmt.Fprintln(w, wrap(end, width, 0))
}

// rate returns " (12.3 a second)", or "" if nothing was measured.
func rate(r *ripc.TuneResult) string {
	if r.Measured == 0 || r.Took <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%.1f a second)", float64(r.Measured)/r.Took.Seconds())
}

// busyText returns the shares of the cores' time by kind of work, or "" if nothing was measured.
func busyText(r *ripc.TuneResult) string {
	b, all := r.Busy, float64(r.Busy.Cores)*r.Took.Seconds()
	if r.Measured == 0 || all <= 0 {
		return ""
	}
	text := human.Count(b.Cores, "core") + ":"
	idle := all
	say := func(t time.Duration, name string) {
		text += fmt.Sprintf(" %.0f %% %s,", 100*t.Seconds()/all, name)
		idle -= t.Seconds()
	}
	say(b.Proposing, "proposals")
	say(b.Building, "builds")
	say(b.Checking, "checks")
	if !b.Elsewhere {
		say(b.Measuring, "measurements")
	}
	return text + fmt.Sprintf(" %.0f %% idle", 100*max(0, idle)/all)
}

// collectLess is Go's GOGC for a tuner, which allocates much and keeps little.
const collectLess = 400

// tuneBegin, tuneStep and tuneEnd are the lines of --json.
type tuneBegin struct {
	Event  string `json:"event"` // "begin"
	Tasks  int    `json:"tasks"`
	CPU    string `json:"cpu"`
	Unit   string `json:"unit"`
	Trials int    `json:"trials,omitempty"`
	Tuner  string `json:"tuner"`
}

type tuneStep struct {
	Event     string         `json:"event"` // "candidate", or "again" of one that was measured before
	Layers    []string       `json:"layers"`
	Algorithm string         `json:"algorithm,omitempty"`
	Trial     int            `json:"trial"`
	Strategy  string         `json:"strategy"`
	Values    map[string]int `json:"values,omitempty"`
	Cost      float64        `json:"cost,omitempty"`
	Failure   string         `json:"failure,omitempty"` // its kind
	Known     bool           `json:"known,omitempty"`   // from the records
	Default   float64        `json:"default,omitempty"`
	Best      float64        `json:"best,omitempty"`
	Done      int            `json:"done,omitempty"`
}

type tuneEnd struct {
	Event    string  `json:"event"` // "end"
	Unit     string  `json:"unit"`
	Trials   int     `json:"trials"`
	Measured int     `json:"measured"`
	Default  float64 `json:"default"` // of all stages that were measured
	Best     float64 `json:"best"`
	Seconds  float64 `json:"seconds"`
	// Seconds of one core of this machine by use. Measuring may be the time of other machines.
	Cores     int        `json:"cores"`
	Proposing float64    `json:"proposing"` // models and proposals
	Building  float64    `json:"building"`
	Checking  float64    `json:"checking"` // by the interpreter, the definition of right results
	Measuring float64    `json:"measuring"`
	Tasks     []tuneTask `json:"tasks"`
}

type tuneTask struct {
	Layers    []string `json:"layers"`
	Op        string   `json:"op"`
	Shape     string   `json:"shape"`
	Algorithm string   `json:"algorithm,omitempty"`
	Trials    int      `json:"trials"`
	Failures  int      `json:"failures"`
	Default   float64  `json:"default,omitempty"`
	Best      float64  `json:"best,omitempty"`
}

func newTuneStep(e ripc.TuneTried) tuneStep {
	s := tuneStep{Event: "candidate", Layers: e.Task.Layers, Algorithm: e.Task.Algorithm,
		Trial: e.Trial, Strategy: e.Point.Strategy, Values: e.Point.Values,
		Cost: e.Result.Cost, Known: e.Known, Default: e.Default, Best: e.Best, Done: e.Done}
	if e.Result.Failure != nil {
		s.Failure = string(e.Result.Failure.Kind)
	}
	return s
}

func newTuneAgain(e ripc.TuneAgain) tuneStep {
	s := newTuneStep(ripc.TuneTried{Task: e.Task, Trial: e.Trial, Point: e.Point, Result: e.Result, Default: e.Default,
		Best: e.Best})
	s.Event = "again"
	return s
}

func newTuneEnd(r *ripc.TuneResult) tuneEnd {
	e := tuneEnd{Event: "end", Unit: string(r.Unit), Trials: r.Trials, Measured: r.Measured,
		Default: r.Default, Best: r.Best, Seconds: r.Took.Seconds(), Tasks: []tuneTask{},
		Cores: r.Busy.Cores, Proposing: r.Busy.Proposing.Seconds(), Building: r.Busy.Building.Seconds(),
		Checking: r.Busy.Checking.Seconds(), Measuring: r.Busy.Measuring.Seconds()}
	for _, t := range r.Tasks {
		if t.Trials > 0 {
			w := t.Task.Workload
			e.Tasks = append(e.Tasks, tuneTask{t.Task.Layers, w.Op, w.Shape, t.Task.Algorithm, t.Trials, t.Failures,
				t.Default, t.Best})
		}
	}
	return e
}

// recordNotes prints remarks on records, each once, a line each.
func recordNotes(w io.Writer, file string) func([]ripc.RecordNote) {
	said := map[string]bool{}
	return func(notes []ripc.RecordNote) {
		for _, n := range notes {
			if text := noteOfRecords(n); !said[text] {
				said[text] = true
				fmt.Fprintf(w, "ripc: %s: %s\n", file, text)
			}
		}
	}
}

// maxReason is the largest length, in bytes, of the reason why a recorded schedule does not fit.
const maxReason = 300

// maxListed is the number of layers that a line names.
const maxListed = 8

func noteOfRecords(n ripc.RecordNote) string {
	layers := strings.Join(n.Layers[:min(len(n.Layers), maxListed)], ", ")
	if more := len(n.Layers) - maxListed; more > 0 {
		layers += fmt.Sprintf(" and %d more", more)
	}
	switch n.Kind {
	case autotune.Without:
		verb := map[bool]string{true: "has", false: "have"}[len(n.Layers) == 1]
		return "nothing is recorded of " + layers + ", which " + verb + " the default schedule"
	case autotune.Stale:
		reason, _, _ := strings.Cut(n.Err.Error(), "\n")
		return "a recorded schedule of " + layers + " does not fit any more: " + terminal.Cut(reason, maxReason)
	case autotune.OtherCPU:
		cpu := cmp.Or(n.CPU, "unknown")
		if n.Simulated {
			cpu += " (simulated)"
		}
		return fmt.Sprintf("%s of another CPU, %s, left out", human.Count(n.Count, "record"), cpu)
	case autotune.OtherCaches:
		caches := "warm"
		if n.Cold {
			caches = "cold"
		}
		return fmt.Sprintf("%s of %s caches, left out", human.Count(n.Count, "record"), caches)
	case autotune.Foreign:
		return fmt.Sprintf("%s in the format of another version of ripc, left out", human.Count(n.Count, "record"))
	case autotune.Newer:
		return fmt.Sprintf("%s of a newer version of ripc, left out", human.Count(n.Count, "record"))
	default:
		return fmt.Sprintf("%s damaged, left out", human.Count(n.Count, "line"))
	}
}
