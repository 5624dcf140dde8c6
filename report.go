package ripc

import (
	"context"

	"ripc/measure/limits"
	"ripc/measure"
	"ripc/targets"
)

// ReportRequest says what is to be reported on.
type ReportRequest struct {
	Path     string  // model or artifact
	Options  Options // for models; Emit is ignored
	Threads  int     // at least 1; simulated artifacts take 1 only
	Progress func(done, total int, what string)
	// Command is the command line that asks for the report, for people to repeat; "" where a program asks.
	Command string
}

// ReportResult is all that is known of a network and of what it costs: what package report makes a page of.
type ReportResult struct {
	Ripc       string       `json:"ripc"` // version
	File       string       `json:"file"` // model or artifact
	Command    string       `json:"command,omitempty"`
	LLVM       string       `json:"llvm,omitempty"`
	CPU        string       `json:"cpu"` // that measured, or that is simulated
	Inspection *Inspection  `json:"inspection"`
	Bench      *BenchResult `json:"bench"`
	// Twin is the float network of the same layers, measured behind this one; nil with the reason in NoTwin.
	Twin   *TwinResult `json:"float_twin,omitempty"`
	NoTwin string      `json:"no_float_twin,omitempty"`
	// Limits are what the machine can do at most, measured behind the networks; none of simulated machines.
	Limits []Limit `json:"limits"`
}

// TwinResult is the size and the time of a float twin.
type TwinResult struct {
	WeightBytes int64 `json:"weight_bytes"`
	Workspace
	Bench *BenchResult `json:"bench"`
}

// Limit is what one thread of a machine can do at most of one sort of multiply-add (package measure/limits).
type Limit struct {
	Name         string  `json:"name"` // "fp32", "int8", "bits" or "table"
	What         string  `json:"what"`
	MACsPerCycle float64 `json:"macs_per_cycle"`
}

// Report inspects and measures a network, measures its float twin and, for this machine, the machine's limits.
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
	if res.NoTwin = noTwin(r.Path, r.Options); res.NoTwin == "" {
		if err := res.twin(ctx, request); err != nil {
			return nil, err
		}
	}
	if !res.Bench.Simulated {
		if res.Limits, err = machineLimits(ctx); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// inspectAndBench is Inspect and Bench of a network that is compiled once.
func inspectAndBench(ctx context.Context, r BenchRequest) (*Inspection, *BenchResult, error) {
	if IsArtifact(r.Path) {
		in, err := Inspect(ctx, r.Path, r.Options, "", false)
		if err != nil {
			return nil, nil, err
		}
		b, err := Bench(ctx, r)
		return in, b, err
	}
	c, open, err := runnable(ctx, r.Path, r.Options, r.Progress)
	if err != nil {
		return nil, nil, err
	}
	b, err := benchLibrary(ctx, r, open)
	return InspectCompiled(c), b, err
}

// twin measures the float twin of the model that r is for.
func (res *ReportResult) twin(ctx context.Context, r BenchRequest) error {
	r.Options = twinOptions(r.Options)
	c, open, err := runnable(ctx, r.Path, r.Options, r.Progress)
	if err != nil {
		res.NoTwin = noTwinText(err)
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

// machineLimits measures the limits of this machine, one thread each.
func machineLimits(ctx context.Context) (list []Limit, err error) {
	t, err := targets.Host()
	if err != nil {
		return nil, err
	}
	set, err := limits.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := set.Close(); err == nil {
			err = cerr
		}
	}()
	best := map[string]Limit{}
	for i, k := range set.Kernels {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		const times = 5
		if rate := set.Measure(i, 1, times).PerCycle; rate > best[k.Limit].MACsPerCycle {
			best[k.Limit] = Limit{Name: k.Limit, What: k.What, MACsPerCycle: rate}
		}
	}
	for _, name := range limits.Names() {
		if l, ok := best[name]; ok {
			list = append(list, l)
		}
	}
	return list, nil
}
