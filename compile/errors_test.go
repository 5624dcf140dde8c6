package compile

import (
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
		f     *ir.Func
		given []schedule.Section
		want  string
		user  bool
	}{
		"sound":          {fill(4), nil, "", false},
		"definition":     {fill(5), nil, "internal error: definition of f: ", false},
		"user's mistake": {fill(4), []schedule.Section{{Name: "f", Trace: bad}}, "user.txt:1: unroll nothing: @f: ", true},
	} {
		err := (&Compiled{Built: Built{Program: &ir.Program{Name: "p", Funcs: []*ir.Func{c.f}}, Target: target}}).schedule(t.Context(), Options{Schedules: c.given})
		if (c.want == "") != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), c.want) || (err != nil && !internal(err)) != c.user {
			t.Errorf("%s: %v, internal %v; want %q", what, err, internal(err), c.want)
		}
	}
	_, err = applyTrace(fill(4), choice{Trace: bad}, nil)
	err = &InternalError{"default schedule of f", err}
	if e := (*ir.Error)(nil); !internal(err) || !errors.As(err, &e) {
		t.Errorf("%v is not an internal error with its cause", err)
	}
}

func internal(err error) bool {
	var e *InternalError
	return errors.As(err, &e)
}
