// Package compile is the pipeline from a graph to a compiled network, on one page:
//
//	graph -> fusedglue -> lower -> ir.Program -> schedule -> codegen -> artifact
//
// Each stage is a package of its own (ARCHITECTURE.md); Options.Observe sees the result of every
// stage.
package compile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"ripc/codegen"
	"ripc/fusedglue"
	"ripc/graph"
	"ripc/graph/explain"
	"ripc/importer"
	"ripc/internal/abi"
	"ripc/internal/files"
	"ripc/internal/memory"
	"ripc/ir"
	"ripc/lower"
	"ripc/lower/layout"
	"ripc/recognize"
	"ripc/schedule"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// Options say how to compile.
type Options struct {
	Target  string   // name of a target; "" is host
	Disable []string // passes of fusedglue not to run
	// Algorithms, by layer, are used in place of the choice by predicted cost.
	Algorithms map[string]layout.Algorithm
	// Bitserial names layers that get the cheapest of the algorithms that count bits.
	Bitserial []string
	// PackApart packs levels in stages of their own (lower.Options). Tuned does not apply to these.
	PackApart bool
	Strict    bool // layers that stay float although the model is binary are errors
	// Schedules are for the Funcs that they name, instead of the default strategy's.
	Schedules []schedule.Section
	// Tuned, if not nil, returns the results of measurements of a fused graph for a target. They
	// are algorithms of layers that Algorithms and Bitserial leave open, and schedules of the
	// resulting Funcs. Schedules go before them.
	Tuned func(ctx context.Context, g *graph.Graph, t targets.Target) (Tuning, error)
	// Import and Recognize say how the model is read, before the pipeline begins.
	Import    importer.Options
	Recognize recognize.Options
	// FloatTwin takes the model's float twin (package floattwin) in its place.
	FloatTwin bool
	// Effort is the number of schedules of each layer that are built and run or simulated, the
	// fastest by prediction of a machine.Model; 0 believes the model. It fails as *EffortError
	// where that cannot be done, and for a target without a model that sifts.
	Effort int
	// Tried, if not nil, is told the number of schedules tried so far, one call at a time.
	Tried func(n int)
	// NoDescribe leaves the description out (codegen.Input).
	NoDescribe bool
	Emit       []codegen.Kind // kinds to build; nil: only the Programs are made
	// Backend is the name of the back end that builds; "" lets each kind be built by the first that
	// can.
	Backend string
	// Observe, if not nil, is called with each stage's name and its result as text.
	Observe func(stage string, text func() string)
	// Progress, if not nil, is called while kernels are compiled.
	Progress func(done, total int)
}

// Tuning holds the measured choices for a network.
type Tuning struct {
	Algorithms map[string]layout.Algorithm // by layer
	Schedules  map[string]strategy.Choice  // by Func
}

// Compiled is a compiled network.
type Compiled struct {
	Built
	Graph *graph.Graph // after fusedglue
	// Choices say where the traces that were not given in Options.Schedules come from, by Func.
	Choices map[string]strategy.Choice
	Times   []StageTime
	tuned   Tuning
	finder  *finder // until Funcs have schedules
}

// Prefix is the C identifier that the names of the functions, macros and files of the network begin
// with.
func (c *Compiled) Prefix() string { return codegen.Identifier(c.Program.Name) }

// Functions are the names of the functions that the network's code exports.
func (c *Compiled) Functions() []string { return abi.Exports(c.Prefix()) }

// Write writes files of the network, PREFIX.KIND each: all that it has if no kinds are named. They
// replace old files together or not at all. Shared libraries are executable by custom. A kind that
// Options.Emit did not ask for is an error.
func (c *Compiled) Write(prefix string, kinds ...codegen.Kind) error {
	if len(kinds) == 0 {
		kinds = slices.Sorted(maps.Keys(c.Files))
	}
	var all []files.New
	for _, k := range kinds {
		data, ok := c.Files[k]
		if !ok {
			return fmt.Errorf("the network was compiled without a file of kind %s", k)
		}
		f := files.New{Path: prefix + "." + k.Ext(), Data: data, Mode: 0o666}
		if k == codegen.SO {
			f.Mode = 0o777
		}
		all = append(all, f)
	}
	return files.ReplaceAll(all...)
}

// StageTime is how long one stage took.
type StageTime struct {
	Stage string
	Took  time.Duration
}

// Network runs the pipeline on load's graph.
func Network(ctx context.Context, load func(context.Context) (*graph.Graph, error), o Options) (*Compiled, error) {
	c := &Compiled{}
	var err error
	if c.Target, err = findTarget(o.Target); err != nil {
		return nil, err
	}
	if err := checkBackend(o.Backend, c.Target, o.Emit); err != nil {
		return nil, err
	}
	var g *graph.Graph
	err = c.run(ctx, o, append([]step{
		{"import", func() (err error) { g, err = load(ctx); return err }, func() string { return g.String() }},
		{"fusedglue", func() (err error) {
			c.Graph, err = fuse(ctx, g, o)
			g = nil
			return err
		}, func() string { return c.Graph.String() }},
	}, c.steps(ctx, o)...))
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Fused returns load's graph after fusedglue. Flows that do not lead to a Program begin there.
func Fused(ctx context.Context, load func(context.Context) (*graph.Graph, error), o Options) (*graph.Graph, error) {
	g, err := load(ctx)
	if err != nil {
		return nil, err
	}
	return fuse(ctx, g, o)
}

// FromFused is Network for g, a graph that Fused made, or a part of one.
func FromFused(ctx context.Context, g *graph.Graph, o Options) (*Compiled, error) {
	t, err := findTarget(o.Target)
	if err != nil {
		return nil, err
	}
	c := &Compiled{Graph: g}
	c.Target = t
	if err := c.run(ctx, o, c.steps(ctx, o)); err != nil {
		return nil, err
	}
	return c, nil
}

// step is a stage of the pipeline, and its result as text.
type step struct {
	name string
	run  func() error
	text func() string
}

// steps are those behind fusedglue.
func (c *Compiled) steps(ctx context.Context, o Options) []step {
	return []step{
		{"lower", func() error { return c.lower(ctx, o) }, func() string { return c.Program.String() }},
		{"schedule", func() error { return c.schedule(ctx, o) }, func() string { return c.Scheduled.String() }},
		{"codegen", func() error { return c.codegen(ctx, o) },
			func() string { return string(c.Files[CodeText(o.Target, o.Backend)]) }},
	}
}

// codegen builds files. A page has the network for WebGPU, too.
func (c *Compiled) codegen(ctx context.Context, o Options) error {
	in := codegen.Input{Emit: o.Emit, NoDescribe: o.NoDescribe, Progress: o.Progress}
	if slices.Contains(o.Emit, codegen.HTML) {
		d, err := FromFused(ctx, c.Graph, Options{Target: "webgpu", Algorithms: o.Algorithms, Bitserial: o.Bitserial,
			PackApart: o.PackApart, Emit: []codegen.Kind{codegen.Bundle}})
		if refused := (*ir.Error)(nil); errors.As(err, &refused) {
			in.NoWebGPU = refused.Node + ": " + refused.Msg
		} else if err != nil {
			return err
		} else {
			in.ForWebGPU = d.Files[codegen.Bundle]
		}
	}
	return c.generate(ctx, in, nil, o.Backend)
}

// run runs steps, and tells o's observer.
func (c *Compiled) run(ctx context.Context, o Options, steps []step) error {
	for _, s := range steps {
		start := time.Now()
		if err := ctx.Err(); err != nil {
			return err
		}
		run := func() error { return leave(ctx, s.run) }
		if s.name == "codegen" { // which has processes and files to put away
			run = s.run
		}
		if err := run(); err != nil {
			return err
		}
		memory.Collect()
		c.Times = append(c.Times, StageTime{s.name, time.Since(start)})
		if o.Observe != nil {
			o.Observe(s.name, s.text)
		}
	}
	return nil
}

// leave runs f, and returns with ctx's error as soon as ctx is done, even if f goes on: a step on a
// layer of a billion weights takes seconds. f ends by itself at its next check of ctx, and its
// results are dropped.
func leave(ctx context.Context, f func() error) error {
	type outcome struct {
		err   error
		fault any // of a panic
	}
	done := make(chan outcome, 1)
	go func() {
		var out outcome
		defer func() {
			if r := recover(); r != nil {
				out.fault = fmt.Sprintf("%v\n%s", r, debug.Stack())
			}
			done <- out
		}()
		out.err = f()
	}()
	select {
	case out := <-done:
		if out.fault != nil {
			panic(out.fault)
		}
		return out.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func findTarget(name string) (targets.Target, error) {
	if name == "" || name == targets.HostName {
		return targets.Host()
	}
	return targets.Lookup(name)
}

func fuse(ctx context.Context, g *graph.Graph, o Options) (*graph.Graph, error) {
	if err := graph.CheckWork(g); err != nil {
		return nil, err
	}
	f, err := fusedglue.Fuse(ctx, g, o.Disable, func(pass string, g *graph.Graph) {
		if o.Observe != nil {
			o.Observe("fusedglue."+pass, g.String)
		}
	})
	if err == nil && o.Strict {
		err = explain.Strict(f, fusedglue.Strict(f))
	}
	return f, err
}

// Applying lists, by name, the algorithms that give exactly the sums of each convolution and dense
// layer of g with a choice.
func Applying(ctx context.Context, g *graph.Graph, o Options) (map[string][]layout.Algorithm, error) {
	f, err := fuse(ctx, g, o)
	if err != nil {
		return nil, err
	}
	return lower.Applying(f), nil
}

// Definition is the unscheduled Program of g. Layers that o leaves open get the first algorithm
// that applies, since all give the same bits.
func Definition(ctx context.Context, g *graph.Graph, o Options) (*ir.Program, error) {
	f, err := fuse(ctx, g, o)
	if err != nil {
		return nil, err
	}
	return DefinitionOfFused(ctx, f, o)
}

// DefinitionOfFused is Definition for a graph that Fused made, or a part of one.
func DefinitionOfFused(ctx context.Context, f *graph.Graph, o Options) (*ir.Program, error) {
	// On a machine that is no target, the definition is that of none: the same result.
	t, err := findTarget(o.Target)
	if unknown := (*targets.UnknownTargetError)(nil); errors.As(err, &unknown) {
		return nil, err
	}
	if err == nil {
		if err := checkBackend(o.Backend, t, nil); err != nil {
			return nil, err
		}
	}
	return lower.Program(ctx, f, lower.Options{Target: t, Algorithms: o.Algorithms, Bitserial: o.Bitserial,
		PackApart: o.PackApart})
}

// lowerGraph is the Program of g. Layers that o leaves open get algorithms by cost.
func (s *finder) lowerGraph(ctx context.Context, g *graph.Graph, o lower.Options) (*ir.Program, error) {
	var err error
	if o.Chosen, err = s.choose(ctx, g, o); err != nil {
		return nil, err
	}
	return lower.Program(ctx, g, o)
}

// lower makes the Program.
func (c *Compiled) lower(ctx context.Context, o Options) error {
	algorithms := o.Algorithms
	var err error
	if o.Tuned != nil && !o.PackApart {
		if c.tuned, err = o.Tuned(ctx, c.Graph, c.Target); err != nil {
			return err
		}
		algorithms = map[string]layout.Algorithm{}
		maps.Copy(algorithms, c.tuned.Algorithms)
		maps.Copy(algorithms, o.Algorithms)
	}
	if c.finder, err = newFinder(c.Target, o); err != nil {
		return err
	}
	c.Program, err = c.finder.lowerGraph(ctx, c.Graph,
		lower.Options{Target: c.Target, Algorithms: algorithms, Bitserial: o.Bitserial, PackApart: o.PackApart})
	return err
}

// schedule chooses a trace for every Func, and schedules the Program with them.
func (c *Compiled) schedule(ctx context.Context, o Options) error {
	traces, err := c.checkSchedules(o.Schedules)
	if err != nil {
		return err
	}
	if c.finder == nil {
		if c.finder, err = newFinder(c.Target, o); err != nil {
			return err
		}
	}
	c.Choices = map[string]strategy.Choice{}
	err = c.apply(ctx, func(f *ir.Func) (choice, error) {
		if t, given := traces[f.Name]; given {
			return choice{Trace: t, given: true}, nil
		}
		s, tuned := c.tuned.Schedules[f.Name]
		if tuned {
			s.Origin = strategy.Measured
		} else {
			k, err := c.finder.scheduleOf(ctx, f)
			if err != nil {
				return choice{}, err
			}
			s = k.Choice
			s.Origin = c.finder.origin(&k)
		}
		c.Choices[f.Name] = s
		return choice{Trace: s.Trace, Result: s.Result}, nil
	})
	c.finder = nil
	if err != nil {
		return err
	}
	return checkAddresses(c.Scheduled, c.Target)
}

// Version is ripc's version, which every artifact carries.
const Version = "0.1.0"
