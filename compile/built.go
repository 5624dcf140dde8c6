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

// generate builds the files of in.Emit with the back ends of use or, if that is nil, with the one
// of that name; "" is any. It fills the rest of in.
func (b *Built) generate(ctx context.Context, in codegen.Input, use []codegen.Backend, backend string) error {
	if len(in.Emit) == 0 {
		return nil
	}
	if use == nil {
		var err error
		if use, err = usable(backend, b.Target, in.Emit); err != nil {
			return err
		}
	}
	a := b.Artifact()
	in.Program, in.Traces, in.Target, in.Version = a.Program, a.Traces, a.Target, a.Version
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
