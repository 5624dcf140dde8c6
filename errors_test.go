package ripc

import (
	"context"
	"errors"
	"strings"
	"testing"

	"ripc/ir"
	"ripc/schedule"
	"ripc/targets"
)

// What ripc itself gets wrong is an internal error; the same mistake in a user's schedule is bad input.
func TestWhoseMistake(t *testing.T) {
	y := ir.Buffer{Name: "y", Type: ir.I32, Shape: []int{4}}
	fill := func(extent int) *ir.Func {
		return &ir.Func{Name: "f", Params: []ir.Param{{Buffer: y, Out: true}},
			Body: &ir.For{Var: "i", Extent: extent, Body: &ir.Store{Buf: "y", Idx: []ir.Expr{ir.V("i")}, Val: ir.Const(ir.I32, 1)}}}
	}
	target, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	bad, err := schedule.ParseTrace("user.txt", "unroll nothing")
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		f      *ir.Func
		traces map[string]schedule.Trace
		want   string
		user   bool
	}{
		"sound":          {fill(4), nil, "", false},
		"definition":     {fill(5), nil, "internal error: definition of f: ", false},
		"user's mistake": {fill(4), map[string]schedule.Trace{"f": bad}, "scheduling f: unroll nothing: ", true},
	} {
		err := (&Compiled{Program: &ir.Program{Funcs: []*ir.Func{c.f}}, Target: target}).schedule(Options{Traces: c.traces})
		if (c.want == "") != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), c.want) || IsBadInput(err) != c.user {
			t.Errorf("%s: %v, bad input %v; want %q", what, err, IsBadInput(err), c.want)
		}
	}
	_, err = applied(fill(4), bad, nil)
	err = &internalError{"default schedule of f", err}
	if e := (*ir.Error)(nil); IsBadInput(err) || !errors.As(err, &e) {
		t.Errorf("%v is not an internal error with its cause", err)
	}
}

func TestUnknownPass(t *testing.T) {
	_, err := Compile(context.Background(), "examples/digits/digits.json", Options{Disable: []string{"bind"}})
	if err == nil || !IsBadInput(err) || !strings.Contains(err.Error(), "disable pass bind") || !strings.Contains(err.Error(), "fold_steps") {
		t.Errorf("%v", err)
	}
}
