package autotune_test

import (
	"context"
	"path/filepath"
	"testing"

	"ripc/autotune"
	"ripc/autotune/records"
	"ripc/autotune/runner"
)

// drifting is a runner that takes times on a machine that is slower until so many jobs are done; once it seems fast.
type drifting struct {
	*inProcess
	slow, lucky int             // jobs, from 1
	ids         map[string]bool // of jobs
}

func (*drifting) Machine() records.Machine { return records.Machine{CPU: "made up"} }
func (*drifting) Unit() records.Unit       { return records.Nanoseconds }
func (*drifting) Slots() int               { return 1 }

func (d *drifting) Measure(ctx context.Context, j runner.Job) (runner.Result, error) {
	r, err := d.inProcess.Measure(ctx, j)
	r.Machine, r.Measurement.Unit = d.Machine(), d.Unit()
	m := &r.Measurement
	switch d.mu.Lock(); {
	case d.jobs <= d.slow:
		m.Cost *= 10
	case d.jobs == d.lucky:
		m.Cost /= 100
	}
	d.mu.Unlock()
	d.ids[j.ID] = true
	m.Low, m.High, m.Samples = m.Cost, m.Cost, []float64{m.Cost}
	return r, err
}

// TestSettle: however slow the machine was while default schedules were timed, and however lucky one candidate was, the default
// is said to take what it takes in an undisturbed run, nothing slower is said to be the best, and luck changes nothing. Each time is asked for as another
// one, since fleets answer what they were asked before from memory; and nothing is measured again by a second run.
func TestSettle(t *testing.T) {
	n := network(t, layer{"a", 32})
	costs := func(slow, lucky int) (usual, best float64) {
		file := filepath.Join(t.TempDir(), "records")
		run := &drifting{inProcess: &inProcess{}, slow: slow, lucky: lucky, ids: map[string]bool{}}
		again := 0
		o := autotune.Options{Runner: run, Records: file, Trials: 24, Seed: 1, Round: 8, Search: "random", Events: func(e autotune.Event) {
			if _, ok := e.(autotune.Again); ok {
				again++
			}
		}}
		r, err := tune(t, n, o)
		if err != nil || r.Trials != 24 || r.Measured != 24 || again == 0 {
			t.Fatalf("%+v, %d times again, %v", r, again, err)
		}
		if len(run.ids) != run.jobs {
			t.Errorf("%d jobs are %d different ones", run.jobs, len(run.ids))
		}
		set, err := records.Load(file)
		if err != nil || len(set.Records) != 24+again {
			t.Fatalf("%d records, %v", len(set.Records), err)
		}
		a, err := autotune.Agree(t.Context(), n, set, "made up")
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Notes) > 0 {
			t.Errorf("%+v", a.Notes)
		}
		second := &drifting{inProcess: &inProcess{}, ids: map[string]bool{}}
		o.Runner = second
		if s, err := tune(t, n, o); err != nil || second.jobs > 0 || s.Default != r.Default || s.Best != r.Best {
			t.Errorf("%d jobs, %+v and %+v, %v", second.jobs, r, s, err)
		}
		return r.Default, r.Best
	}
	usual, best := costs(0, 0)
	if best >= usual {
		t.Fatalf("nothing is better than %g: take another seed", usual)
	}
	for _, c := range []struct{ slow, lucky int }{{12, 0}, {0, 20}, {12, 20}} {
		if u, b := costs(c.slow, c.lucky); u != usual || b > usual || c.slow == 0 && b != best {
			t.Errorf("slow up to job %d and lucky in %d: %g and %g, not %g and %g", c.slow, c.lucky, u, b, usual, best)
		}
	}
}
