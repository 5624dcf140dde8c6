package compile

import (
	"context"

	"ripc/codegen"
	"ripc/engine"
	"ripc/ir"
	"ripc/schedule"
	"ripc/targets"
)

// Built is a Program and its results, for a whole network (Compiled) or for a single Func (Unit).
type Built struct {
	Program   *ir.Program // unscheduled: the definition
	Scheduled *ir.Program
	Traces    map[string]schedule.Trace // by Func
	Target    targets.Target
	Files     map[codegen.Kind][]byte // as asked for
}

// apply schedules and proves the Program with the traces that choose gives its Funcs.
func (b *Built) apply(ctx context.Context, choose func(*ir.Func) (choice, error)) error {
	var err error
	b.Scheduled, b.Traces, err = scheduleFuncs(ctx, b.Program, b.Target, choose)
	return err
}

// generate builds the files of the given kinds with the back ends of use or, if that is nil, with
// the one of that name; "" is any.
func (b *Built) generate(ctx context.Context, kinds []codegen.Kind, use []codegen.Backend,
	backend string, noDescribe bool, progress func(done, total int)) error {
	if len(kinds) == 0 {
		return nil
	}
	if use == nil {
		var err error
		if use, err = usable(backend, b.Target, kinds); err != nil {
			return err
		}
	}
	in := b.Artifact()
	in.Emit, in.NoDescribe, in.Progress = kinds, noDescribe, progress
	var err error
	b.Files, err = codegen.Build(ctx, in, use...)
	return err
}

// Artifact is package codegen's input to describe b or to build it.
func (b *Built) Artifact() codegen.Input {
	return codegen.Input{Program: b.Scheduled, Traces: traceLines(b.Traces), Target: b.Target, Version: Version}
}

// Open makes b ready to run, as compiled; it must have been built as codegen.Runnable.
func (b *Built) Open(o engine.Options) (engine.Engine, error) {
	return engine.OpenLibrary(b.Files[codegen.Runnable], o)
}
