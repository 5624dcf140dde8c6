package e2e_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"ripc"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/schedule"
)

func withStep(t *testing.T, path, step string) (*ripc.Compiled, ripc.Options, error) {
	t.Helper()
	// A default schedule that packs nothing itself.
	o := ripc.Options{Target: "x86-64-v3", Algorithms: map[string]layout.Algorithm{"conv": layout.Popcount}}
	c, err := ripc.Compile(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := schedule.ParseStep(step)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Program.Funcs {
		if strings.HasPrefix(f.Name, "bconv2d") {
			o.Schedules = append(o.Schedules, schedule.Section{Name: f.Name, Trace: append(slices.Clone(c.Traces[f.Name]), s)})
		}
	}
	c, err = ripc.Compile(context.Background(), path, o)
	return c, o, err
}

// Weights are packed at compile time, and only the packed ones are kept.
func TestPackedWeights(t *testing.T) {
	t.Parallel()
	const path = "../examples/convs/convD_n1_unipolar.json"
	c, o, err := withStep(t, path, "pack wt 3.o 0 1 2 3.i factor=32")
	if err != nil {
		t.Fatal(err)
	}
	packed := 0
	for _, b := range c.Scheduled.Buffers {
		if b.Kind == ir.ConstBuf && len(b.Shape) == 5 {
			packed++
		}
		if b.Kind == ir.ConstBuf && len(b.Shape) == 4 {
			t.Errorf("%s is still there", b.Name)
		}
	}
	if packed != 1 {
		t.Errorf("%d constants are packed, want 1\n%s", packed, c.Scheduled)
	}
	r, err := ripc.Verify(context.Background(), ripc.VerifyRequest{Path: path, Options: o, Seed: 1, Threads: 2})
	if err != nil || !r.OK {
		t.Errorf("%v, %v", r, err)
	}
}

// What is no constant cannot be packed at compile time.
func TestPackedActivations(t *testing.T) {
	t.Parallel()
	_, _, err := withStep(t, "../examples/convs/convD_n1_unipolar.json", "pack x 0 1 3 2 4")
	if err == nil || !strings.Contains(err.Error(), "%x cannot be packed: in stage") || !strings.HasPrefix(err.Error(), "pack x ") {
		t.Errorf("got %v", err)
	}
}
