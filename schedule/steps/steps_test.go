package steps_test

import (
	"reflect"
	"slices"
	"testing"

	"ripc/ir"
	"ripc/schedule"
	"ripc/schedule/steps"
)

// TestSteps: each constructor makes a step of an operation that there is, and its text reads back as the same step.
func TestSteps(t *testing.T) {
	split, outer, inner := steps.Split("w", 4, schedule.TailShift)
	if outer != "w.o" || inner != "w.i" {
		t.Errorf("split makes %s and %s", outer, inner)
	}
	for want, s := range map[string]schedule.Step{
		"split w 4 tail=shift -> w.o w.i":        split,
		"split w 4 tail=guard -> a b":            steps.SplitAs("w", 4, schedule.TailGuard, "a", "b"),
		"reorder a b c":                          steps.Reorder("a", "b", "c"),
		"bind a block":                           steps.Bind("a", ir.Blocks),
		"share x":                                steps.Share("x"),
		"sync":                                   steps.Sync(),
		"unroll a":                               steps.Unroll("a"),
		"vectorize a":                            steps.Vectorize("a"),
		"parallel a":                             steps.Parallel("a"),
		"peel a 1 2":                             steps.Peel("a", 1, 2),
		"fuse a b -> c":                          steps.Fuse("a", "b", "c"),
		"compute_at x a":                         steps.ComputeAt("x", "a"),
		"compute_inline x":                       steps.ComputeInline("x"),
		"cache_read x a -> y":                    steps.CacheRead("x", "a", "y"),
		"cache_write x a -> y":                   steps.CacheWrite("x", "a", "y"),
		"narrow_accumulate x a u8 -> y":          steps.NarrowAccumulate("x", "a", ir.U8, 0, "y"),
		"narrow_accumulate x a u16 apart=8 -> y": steps.NarrowAccumulate("x", "a", ir.U16, 8, "y"),
		"rfactor x l a -> y":                     steps.Rfactor("x", "l", "a", "y"),
		"rfactor x l a type=u8 -> y":             steps.RfactorAs("x", "l", "a", ir.U8, "y"),
		"carry_save x p a -> s c":                steps.CarrySave("x", "p", "a", "s", "c"),
		"pair x 3":                               steps.Pair("x", 3),
		"flatten x 2":                            steps.Flatten("x", 2),
		"set_encoding x u8":                      steps.SetEncoding("x", ir.U8),
		"replicate x a":                          steps.Replicate("x", "a"),
		"tensorize a f":                          steps.Tensorize("a", &ir.Func{Name: "f"}),
		"pack x 1 0":                             steps.Pack("x", 0, steps.Dims(1, 0)...),
		"pack x 0 2.o 1 2.i factor=8":            steps.Pack("x", 8, slices.Insert(append(steps.First(2), steps.Inner(2)), 1, steps.Outer(2))...),
	} {
		if s.String() != want || !slices.Contains(schedule.Ops(), s.Op) {
			t.Errorf("%s, want %s", s, want)
		}
		if got, err := schedule.ParseStep(want); err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%s reads back as %v: %v", want, got, err)
		}
	}
}
