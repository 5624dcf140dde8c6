package ripc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"ripc/codegen"
	"ripc/engine"
	"ripc/graph/explain"
	"ripc/internal/tensorio"
	"ripc/ir"
	"ripc/measure"
	"ripc/measure/limits"
	"ripc/runtime/describe"
	"ripc/targets"
	"ripc/targets/boards"
)

// BenchRequest asks for a measurement.
type BenchRequest struct {
	Path     string  // model or artifact
	Options  Options // for models; Emit is ignored
	Threads  int     // at least 1; simulated artifacts take 1 only
	PerLayer bool
	// Layer, if not "", is the one layer of a model to measure, built by itself. PerLayer must be
	// false then.
	Layer    string
	On       string                             // as in RunRequest
	Progress func(done, total int, what string) // may be nil
}

// BenchResult is the result of Bench. Missing figures are nil: simulated code has instructions and
// estimated cycles, native code has times.
type BenchResult struct {
	Model     string `json:"model"`
	Layer     string `json:"layer,omitempty"` // if it was measured by itself
	Target    string `json:"target"`
	Threads   int    `json:"threads"`
	Simulated bool   `json:"simulated,omitempty"`
	On        string `json:"on,omitempty"` // BenchRequest.On
	// VirtualMachine is the one that ran the code, as VirtualMachine names it; "" if none did.
	VirtualMachine string `json:"virtual_machine,omitempty"`
	Runs           int    `json:"runs"`
	Figures
	ClockGHz *float64 `json:"clock_ghz"`        // of one core, directly after the fastest runs
	Reason   string   `json:"reason,omitempty"` // why instructions are missing
	// Estimate says how the cycles of simulated code were estimated, NoEstimate why they were not.
	Estimate   *CycleEstimate `json:"estimate,omitempty"`
	NoEstimate string         `json:"no_estimate,omitempty"`
	// Footprint is the memory of a program for a chip without an operating system; nil for other
	// targets.
	Footprint *Footprint   `json:"footprint,omitempty"`
	Launches  int          `json:"launches,omitempty"` // of kernels in a run on a device
	MACs      int64        `json:"macs"`
	Layers    []LayerBench `json:"layers,omitempty"`
	// Kinds are the sums of the layers' figures by kind, the most costly first.
	Kinds []KindBench `json:"kinds,omitempty"`
}

// LayerBench has the figures of one stage.
type LayerBench struct {
	Name string `json:"name"`
	Op   string `json:"op"`
	Kind string `json:"kind"` // as in Layer
	// Integer says that a binary layer has weights of 8 bits, as those of int8 networks.
	Integer bool   `json:"integer,omitempty"`
	Kernel  string `json:"kernel"`
	MACs    int64  `json:"macs"`
	// Launches are the kernels of a device's stage.
	Launches []describe.Launch `json:"launches,omitempty"`
	// Share is the part of the sum of all layers' costs (Figures.Cost), 0 to 1; nil without costs.
	Share *float64 `json:"share"`
	Figures
}

// KindBench is the cost of all layers of a kind.
type KindBench struct {
	Kind   string       `json:"kind"` // as in Layer, or "integer"
	Layers int          `json:"layers"`
	MACs   int64        `json:"macs"`
	Cost   float64      `json:"cost"`
	Unit   measure.Unit `json:"unit"`
	Share  float64      `json:"share"`
}

// sumUp computes the shares and Kinds from the figures of the layers.
func (res *BenchResult) sumUp() {
	total := 0.0
	for _, l := range res.Layers {
		cost, _ := l.Cost()
		total += cost
	}
	if total == 0 {
		return
	}
	at := map[string]int{}
	for i := range res.Layers {
		l := &res.Layers[i]
		cost, unit := l.Cost()
		l.Share = new(cost / total)
		kind := l.Kind
		if l.Integer {
			kind = "integer"
		}
		k, known := at[kind]
		if !known {
			k = len(res.Kinds)
			at[kind] = k
			res.Kinds = append(res.Kinds, KindBench{Kind: kind, Unit: unit})
		}
		sum := &res.Kinds[k]
		sum.Layers, sum.MACs, sum.Cost, sum.Share = sum.Layers+1, sum.MACs+l.MACs, sum.Cost+cost, (sum.Cost+cost)/total
	}
	slices.SortStableFunc(res.Kinds, func(a, b KindBench) int { return cmp.Compare(b.Cost, a.Cost) })
}

// Footprint is the memory of a program for a chip without an operating system, as linked.
type Footprint = engine.Footprint

// Figures are one measurement.
type Figures = measure.Figures

// CycleEstimate says how the cycles of simulated code were estimated: by LLVM's model of a
// pipeline, without caches, or by a table of the cycles of instructions.
type CycleEstimate struct {
	Core    string `json:"core"`                           // of the target
	Model   string `json:"model"`                          // core of the pipeline model
	Manual  string `json:"manual,omitempty"`               // source of the table that replaces LLVM's model
	Unknown uint64 `json:"unknown_instructions,omitempty"` // executed, but in neither model nor table; a cycle each
	// ClockMHz is the clock of the board, which turns cycles into milliseconds; 0 if it is unknown.
	ClockMHz int `json:"clock_mhz,omitempty"`
}

// addEstimate stores the estimate e for a core in res, and turns all estimated cycles into
// milliseconds.
func (res *BenchResult) addEstimate(e engine.Estimate, core string) {
	switch {
	case !res.Simulated:
	case e.Cycles > 0:
		res.Estimate = &CycleEstimate{Core: core, Model: e.Model, Manual: e.Manual, Unknown: e.Unknown}
		t, err := targets.Lookup(res.Target)
		if err != nil { // a target of another version of ripc
			return
		}
		if b, ok := boards.Of(res.Target); ok { // the board clocks the chip
			t.ClockMHz = int(b.ClockHz / 1e6)
		}
		res.Estimate.ClockMHz = t.ClockMHz
		set := func(f *Figures) {
			if f.EstimatedCycles == nil {
				return
			}
			if ms, ok := t.Milliseconds(*f.EstimatedCycles); ok {
				f.EstimatedMS = &ms
			}
		}
		set(&res.Figures)
		for i := range res.Layers {
			set(&res.Layers[i].Figures)
		}
	case e.Why != nil:
		res.NoEstimate = e.Why.Error()
	}
}

// Bench measures a network from the caller's inputs to its outputs: warm, with inputs filled from
// seed 0. With PerLayer it also times the stages one by one, in order, so that each finds the
// caches as in a whole run. If ctx ends early, Bench returns its figures so far with ctx's error.
func Bench(ctx context.Context, r BenchRequest) (*BenchResult, error) {
	if r.Layer != "" {
		return benchLayer(ctx, r)
	}
	openLibrary, err := openerFor(ctx, r.Path, r.Options, r.Progress)
	if err != nil {
		return nil, err
	}
	return benchLibrary(ctx, r, openLibrary)
}

// benchLibrary measures the network that openLibrary opens.
func benchLibrary(ctx context.Context, r BenchRequest, openLibrary opener) (*BenchResult, error) {
	res := &BenchResult{Threads: r.Threads, On: r.On}
	o := engine.Options{Threads: r.Threads, Count: true, Cycles: true, Elsewhere: reachMachine(ctx, r.On)}
	e, err := openLibrary(o)
	if threads := (*ThreadsError)(nil); err != nil && r.On == "" && !errors.As(err, &threads) {
		res.Reason, o.Count = err.Error(), false // does it run without counting?
		e, err = openLibrary(o)
	}
	if err != nil {
		return nil, err
	}
	defer e.Close()
	d := e.Describe()
	res.Model, res.Target, res.Simulated = d.Name, d.Target, e.Kind() == engine.Simulated
	if e.Kind() == engine.Sandboxed {
		res.VirtualMachine = engine.VirtualMachine(d.Arch, d.Features)
	}
	res.MACs = d.MACs()
	for _, s := range d.Stages {
		res.Launches += len(s.Launches)
		if r.PerLayer {
			res.Layers = append(res.Layers, LayerBench{Name: s.Layer.Title(s.Name), Op: s.Op, Kind: s.Layer.Kind,
				Integer: explain.Integer(s.Layer), Kernel: s.Kernel, MACs: s.MACs, Launches: s.Launches})
		}
	}
	if !o.Count {
		return res, nil
	}
	feed, err := tensorio.Load(d.Inputs, nil, tensorio.Seeded(0))
	if err != nil {
		return nil, err
	}
	m, err := engine.Measure(ctx, e, feed.Run(0), engine.MeasureOptions{Stages: r.PerLayer, Progress: r.Progress})
	if f, ok := engine.FootprintOf(e); ok {
		res.Footprint = &f
	}
	res.Runs, res.Figures, res.ClockGHz = m.Runs, m.Network, m.GHz
	for i, f := range m.Stages {
		res.Layers[i].Figures = f
	}
	res.addEstimate(m.Estimate, d.CPU)
	res.sumUp()
	return res, err
}

// VirtualMachine names the one that runs code for t here, "" if none does.
func VirtualMachine(t targets.Target) string { return engine.VirtualMachine(t.Arch, t.Features) }

// benchLayer measures one layer by itself, on random inputs: its cost without its neighbours in the
// caches.
func benchLayer(ctx context.Context, r BenchRequest) (*BenchResult, error) {
	u, err := buildUnit(ctx, r.Path, r.Layer, r.Options, r.Progress)
	if err != nil {
		return nil, err
	}
	e, err := u.Open(engine.Options{Threads: r.Threads, Count: true, Cycles: true, Elsewhere: reachMachine(ctx, r.On)})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	m, err := engine.Measure(ctx, e, u.Inputs(0), engine.MeasureOptions{})
	s := codegen.Describe(u.Artifact()).Stages[0]
	res := &BenchResult{Model: u.Network, Layer: r.Layer, Target: u.Target.Name, Threads: r.Threads, On: r.On,
		Simulated: m.Kind == engine.Simulated,
		Runs:      m.Runs, Figures: m.Network, ClockGHz: m.GHz, MACs: s.MACs,
		Layers: []LayerBench{{Name: s.Layer.Title(s.Name), Op: s.Op, Kind: s.Layer.Kind,
			Integer: explain.Integer(s.Layer), Kernel: s.Kernel, MACs: s.MACs,
			Figures: m.Network}}}
	if m.Kind == engine.Sandboxed {
		res.VirtualMachine = VirtualMachine(u.Target)
	}
	res.addEstimate(m.Estimate, u.Target.CPU)
	return res, err
}

// BenchComparison compares two measurements of one network.
type BenchComparison struct {
	Unit measure.Unit `json:"unit"` // of all costs
	// Network is the whole network. Layers are those of both measurements, in the order of the new
	// one. Gone and Added name the others.
	Network CostChange   `json:"network"`
	Layers  []CostChange `json:"layers"`
	Gone    []string     `json:"gone"`
	Added   []string     `json:"added"`
	// Slower says that the network's cost rose by more than the tolerance.
	Slower    bool    `json:"slower"`
	Tolerance float64 `json:"tolerance"` // as a share of the old cost
}

// CostChange is the cost of a layer or network before and now.
type CostChange struct {
	Name  string  `json:"name"`
	Old   float64 `json:"old"`
	New   float64 `json:"new"`
	Ratio float64 `json:"ratio"` // New / Old
}

// CompareBench compares two measurements of the same network or layer, target, threads and unit. It
// fails with *ir.Error otherwise.
func CompareBench(before, now *BenchResult, tolerance float64) (*BenchComparison, error) {
	was, unit := before.Cost()
	is, unitNow := now.Cost()
	what := func(r *BenchResult) string {
		if r.Layer != "" {
			return fmt.Sprintf("layer %s of %q", r.Layer, r.Model)
		}
		return fmt.Sprintf("a network called %q", r.Model)
	}
	incomparable := func(before, now string) error {
		return &ir.Error{Msg: fmt.Sprintf("cannot be compared: %s before, %s now", before, now)}
	}
	switch {
	case before.Model != now.Model || before.Layer != now.Layer:
		return nil, incomparable(what(before), what(now))
	case before.Target != now.Target:
		return nil, incomparable("for "+before.Target, "for "+now.Target)
	case before.Threads != now.Threads:
		return nil, incomparable(fmt.Sprintf("threads: %d", before.Threads),
			fmt.Sprintf("threads: %d", now.Threads))
	case unit != unitNow || unit == "" || was <= 0:
		return nil, incomparable(fmt.Sprintf("%v %s", was, unit), fmt.Sprintf("%v %s", is, unitNow))
	}
	c := &BenchComparison{Unit: unit, Network: CostChange{now.Model, was, is, is / was}, Slower: is > was*(1+tolerance),
		Tolerance: tolerance, Layers: []CostChange{}, Gone: []string{}, Added: []string{}}
	old := map[string]float64{}
	for _, l := range before.Layers {
		if cost, u := l.Cost(); u == unit {
			old[l.Name] = cost
		}
	}
	seen := map[string]bool{}
	for _, l := range now.Layers {
		cost, u := l.Cost()
		if was, ok := old[l.Name]; ok && u == unit && was > 0 {
			c.Layers = append(c.Layers, CostChange{l.Name, was, cost, cost / was})
			seen[l.Name] = true
		} else {
			c.Added = append(c.Added, l.Name)
		}
	}
	for _, l := range before.Layers {
		if !seen[l.Name] {
			c.Gone = append(c.Gone, l.Name)
		}
	}
	return c, nil
}

// ReportRequest says which network to report on.
type ReportRequest struct {
	Path     string  // model or artifact
	Options  Options // for models; Emit is ignored
	Threads  int     // at least 1; simulated artifacts take 1 only
	Progress func(done, total int, what string)
	// Command is the command line to show in the report, "" for none.
	Command string
}

// ReportResult is the result of Report. Package report makes a page of it.
type ReportResult struct {
	Ripc       string       `json:"ripc"` // version
	File       string       `json:"file"` // model or artifact
	Command    string       `json:"command,omitempty"`
	LLVM       string       `json:"llvm,omitempty"`
	CPU        string       `json:"cpu"` // the measuring one, or the simulated one
	Inspection *Inspection  `json:"inspection"`
	Bench      *BenchResult `json:"bench"`
	// Twin is the float network of the same layers, measured after this one; nil with the reason in
	// NoTwin.
	Twin    *TwinResult       `json:"float_twin,omitempty"`
	NoTwin  string            `json:"no_float_twin,omitempty"`
	Against *ReportComparison `json:"against,omitempty"` // an earlier report
	// Limits are the limits of this machine, measured after the networks; none for other machines.
	Limits []Limit `json:"limits"`
}

// ReportComparison compares a report with an earlier one of the same network, target and threads.
type ReportComparison struct {
	File  string           `json:"file"` // of the earlier one
	Bench *BenchComparison `json:"bench"`
	// Sizes are bytes of both: weights, workspace, and of boards flash and RAM.
	Sizes []CostChange `json:"sizes"`
}

// CompareReports compares now with before, which was read from file. It fails as CompareBench does.
func CompareReports(file string, before, now *ReportResult) (*ReportComparison, error) {
	bench, err := CompareBench(before.Bench, now.Bench, 0)
	if err != nil {
		return nil, err
	}
	c := &ReportComparison{File: file, Bench: bench}
	add := func(name string, was, is int64) {
		if was > 0 && is > 0 {
			c.Sizes = append(c.Sizes, CostChange{name, float64(was), float64(is), float64(is) / float64(was)})
		}
	}
	add("weights and tables", before.Inspection.WeightBytes, now.Inspection.WeightBytes)
	add("workspace", before.Inspection.WorkspaceBytes, now.Inspection.WorkspaceBytes)
	if was, is := before.Bench.Footprint, now.Bench.Footprint; was != nil && is != nil {
		add("flash", was.Flash, is.Flash)
		add("RAM with stack", was.RAM+was.Stack, is.RAM+is.Stack)
	}
	return c, nil
}

// TwinResult is the size and the time of a float twin.
type TwinResult struct {
	WeightBytes int64 `json:"weight_bytes"`
	Workspace
	Bench *BenchResult `json:"bench"`
}

// Limit is the highest rate of one sort of multiply-add on one thread.
type Limit = limits.Limit

// Report inspects and measures a network and measures its float twin. On this machine it also
// measures the machine's limits.
func Report(ctx context.Context, r ReportRequest) (*ReportResult, error) {
	res := &ReportResult{Ripc: Version, File: r.Path, Command: r.Command, CPU: measure.CPU(), Limits: []Limit{}}
	var err error
	if res.LLVM, err = LLVM(); err != nil {
		return nil, err
	}
	request := BenchRequest{Path: r.Path, Options: r.Options, Threads: r.Threads, PerLayer: true, Progress: r.Progress}
	if res.Inspection, res.Bench, err = inspectAndBench(ctx, request); err != nil {
		return nil, err
	}
	if res.Bench.Simulated && res.Bench.Estimate != nil {
		res.CPU = res.Bench.Estimate.Model
	}
	if res.NoTwin = whyNoTwin(r.Path, r.Options); res.NoTwin == "" {
		if err := res.measureTwin(ctx, request); err != nil {
			return nil, err
		}
	}
	if !res.Bench.Simulated && res.Bench.Launches == 0 {
		if res.Limits, err = limits.Best(ctx); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// inspectAndBench compiles a network once for Inspect and Bench.
func inspectAndBench(ctx context.Context, r BenchRequest) (*Inspection, *BenchResult, error) {
	if IsArtifact(r.Path) {
		in, err := Inspect(ctx, r.Path, r.Options, "", false)
		if err != nil {
			return nil, nil, err
		}
		b, err := Bench(ctx, r)
		return in, b, err
	}
	c, open, err := compileRunnable(ctx, r.Path, r.Options, r.Progress)
	if err != nil {
		return nil, nil, err
	}
	b, err := benchLibrary(ctx, r, open)
	return InspectCompiled(c), b, err
}

// measureTwin measures the float twin of the model of r.
func (res *ReportResult) measureTwin(ctx context.Context, r BenchRequest) error {
	r.Options = twinOptions(r.Options)
	c, open, err := compileRunnable(ctx, r.Path, r.Options, r.Progress)
	if err != nil {
		res.NoTwin = twinErrorText(err)
		return ctx.Err()
	}
	b, err := benchLibrary(ctx, r, open)
	if err != nil {
		return err
	}
	in := InspectCompiled(c)
	res.Twin = &TwinResult{WeightBytes: in.WeightBytes, Workspace: in.Workspace, Bench: b}
	return nil
}
