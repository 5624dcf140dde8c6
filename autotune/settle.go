package autotune

import (
	"context"
	"slices"

	"ripc/autotune/records"
	"ripc/autotune/space"
)

// A machine that others share is slower for minutes at a time, and default schedules are timed
// first: Later schedules may look better for that reason alone, and the best of many schedules may
// just have been lucky. So, where times are measured, the candidates of each stage are timed again
// beside its default schedule, in turn (records.Typical chooses among the times).

// settledBy is how many measurements of a schedule settle its cost.
const settledBy = 5

// maxContenders is how many schedules of a stage are timed again, one after the other, until the
// one that seems the best stays it.
const maxContenders = 8

// settle times the best schedules of all stages again, beside the default ones, where that has not
// been done. No budget counts these measurements.
func (t *tuner) settle(ctx context.Context) error {
	if t.Runner.Machine().Simulated {
		return nil
	}
	for _, a := range t.studies {
		a.reckon()
	}
	for _, a := range t.studies {
		for _, at := range a.places {
			if t.usual[at] != a || a.usual == 0 {
				continue
			}
			if err := t.settleStage(ctx, a, t.places[at]); err != nil {
				return err
			}
		}
	}
	return nil
}

// settleStage settles the kernel of a stage: usual is the one without a tuner, all are the choices.
func (t *tuner) settleStage(ctx context.Context, usual *study, all []*study) error {
	c, err := usual.space.Default()
	if err != nil {
		return err
	}
	for range maxContenders {
		best, least := (*study)(nil), usual.usual
		var p space.Point
		for _, a := range all {
			if q, cost, ok := a.cheapest(); ok && cost < least {
				best, p, least = a, q, cost
			}
		}
		if best == nil { // nothing is better than the default schedule
			return nil
		}
		d, err := best.space.Build(p)
		if err != nil {
			return err
		}
		pair := []contender{{usual, c}, {best, d}}
		if pair[0].isSettled() && pair[1].isSettled() {
			return nil
		}
		for range settledBy {
			for _, one := range pair {
				if one.isSettled() {
					continue
				}
				if err := t.measureAgain(ctx, one); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// contender is a schedule that a stage may have.
type contender struct {
	study     *study
	candidate space.Candidate
}

// measurements are those of c.
func (c contender) measurements() []records.Record { return c.study.records[c.study.key(c.candidate)] }

// isSettled says that c need not be measured again; failed candidates are settled.
func (c contender) isSettled() bool {
	return len(c.measurements()) >= settledBy || slices.ContainsFunc(c.measurements(), hasFailed)
}

func hasFailed(r records.Record) bool { return r.Result.Failure != nil }

// measureAgain measures a contender once more.
func (t *tuner) measureAgain(ctx context.Context, c contender) error {
	of := c.measurements()
	tr := trial{study: c.study, candidate: c.candidate, origin: of[0].Origin, repeat: len(of) + 1}
	a := t.try(ctx, tr)
	if a.err != nil {
		return a.err
	}
	if err := t.keep(tr, a); err != nil {
		return err
	}
	s := c.study
	s.reckon()
	e := Again{Task: s.task, Trial: tr.origin.Trial, Point: c.candidate.Point, Result: a.measurement, Default: s.usual,
		Best: s.best}
	e.NetworkDefault, e.NetworkBest = t.sums()
	t.tell(e)
	return nil
}
