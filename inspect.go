package ripc

import (
	"context"
	"errors"

	"ripc/codegen"
	"ripc/floattwin"
	"ripc/fusedglue"
	"ripc/graph/explain"
	"ripc/inspect"
	"ripc/runtime/describe"
)

// Parts of the result of Inspect (package inspect).
type (
	Inspection  = inspect.Inspection
	Layer       = inspect.Layer
	Reason      = inspect.Reason
	Rounding    = inspect.Rounding
	Memory      = inspect.Memory
	StageMemory = inspect.StageMemory
	ArenaUse    = inspect.ArenaUse
	Workspace   = inspect.Workspace
)

// Inspect describes the layers of a model, compiled up to its schedules, or of an artifact. layer,
// if not "", selects the layers of that name. withIR adds the layers' Funcs as text, which
// artifacts do not have. With o.Strict the result of a model comes with the error that Compile
// would return.
func Inspect(ctx context.Context, path string, o Options, layer string, withIR bool) (*Inspection, error) {
	strict := o.Strict
	o.Strict = false
	var d *describe.Artifact
	var c *Compiled
	var err error
	if IsArtifact(path) {
		if withIR {
			return nil, &ArtifactError{Path: path, For: ToPrint}
		}
		d, err = describeFor(path, o.Target)
	} else {
		o.Emit = nil
		if c, err = Compile(ctx, path, o); err == nil {
			d = codegen.Describe(c.Artifact())
		}
	}
	if err != nil {
		return nil, err
	}
	in, err := inspect.Of(path, d, c, layer, withIR)
	if err == nil && strict && c != nil {
		err = explain.Strict(c.Graph, fusedglue.Strict(c.Graph))
	}
	return in, err
}

// InspectCompiled is Inspect for a compiled model.
func InspectCompiled(c *Compiled) *Inspection {
	in, err := inspect.Of(c.Graph.File, codegen.Describe(c.Artifact()), c, "", false)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return in
}

// InspectMemory is Inspect of all layers, with the memory of the network's float twin.
func InspectMemory(ctx context.Context, path string, o Options) (*Inspection, error) {
	in, strictErr := Inspect(ctx, path, o, "", false)
	if in == nil {
		return nil, strictErr
	}
	m := in.Memory
	if m.NoTwin = whyNoTwin(path, o); m.NoTwin != "" {
		return in, strictErr
	}
	twin, err := Inspect(ctx, path, twinOptions(o), "", false)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		m.NoTwin = twinErrorText(err)
	default:
		m.FloatTwin = twin.Memory
	}
	return in, strictErr
}

// whyNoTwin returns why a network cannot have a float twin, "" if it may have one.
func whyNoTwin(path string, o Options) string {
	switch {
	case IsArtifact(path):
		return "it is made of a model, and this is a compiled network"
	case o.FloatTwin:
		return "this is one"
	}
	return ""
}

// twinErrorText returns why making a twin failed, as a reason after "no float twin".
func twinErrorText(err error) string {
	if none := (*floattwin.Error)(nil); errors.As(err, &none) {
		err = none.Err
	}
	return err.Error()
}

// twinOptions returns o for the float twin, without choices and records, which hold for layers of
// levels only.
func twinOptions(o Options) Options {
	o.FloatTwin = true
	o.Algorithms, o.Bitserial, o.Schedules, o.Tuned, o.Strict = nil, nil, nil, nil, false
	return o
}
