package autotune

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ripc/autotune/space"
)

// round are trials that are begun together.
type round struct {
	trials  []trial
	answers []<-chan answer
}

// proposal is a round to be: one is asked for while the round before it is built and measured.
type proposal struct {
	study      *study
	best       float64 // of the study, when it was asked for
	candidates []space.Candidate
	err        error
}

// run tunes until the budget is spent, or nothing is left to try, and settles the results. While a
// round is under way the next one is proposed, so that every core has work. A proposal depends on
// the results of all rounds before the one under way, however much of that one is known already: so
// the seed and the costs decide which candidates are tried, and no clock does.
func (t *tuner) run(ctx context.Context) error {
	ctx = t.open(ctx)
	defer t.close()
	err := t.searchAll(ctx)
	if errors.Is(err, errOver) { // which is one way to end
		err = ctx.Err()
	}
	if err == nil {
		err = t.settle(ctx)
	}
	return err
}

// searchAll tries the proposals of searches. It may fail with errOver.
func (t *tuner) searchAll(ctx context.Context) error {
	// The kernels that the network has without a tuner come first.
	for _, wanted := range []func(*study) bool{t.isUsual, t.isPromising} {
		if _, err := t.begin(ctx, wanted); err != nil {
			return err
		}
	}
	for now := (round{}); ; {
		next := t.ask(ctx)
		if next == nil && len(now.trials) == 0 {
			more, err := t.begin(ctx, func(*study) bool { return t.budget() > 0 })
			if err != nil {
				return err
			}
			if more == 0 {
				return ctx.Err()
			}
			continue
		}
		var err error
		if now, err = t.follow(ctx, now, next); err != nil {
			return err
		}
	}
}

// begin measures the default schedules of those tasks that are wanted and have not begun, then
// their recalled candidates. It returns the number of defaults.
func (t *tuner) begin(ctx context.Context, wanted func(*study) bool) (int, error) {
	var defaults []trial
	for _, a := range t.studies {
		if a.trials == 0 && wanted(a) {
			c, err := a.space.Default()
			if err != nil {
				return 0, fmt.Errorf("%s: %w", title(a.task), err)
			}
			defaults = append(defaults, a.trialsOf([]space.Candidate{c}, "default", 0)...)
		}
	}
	begun, err := t.measureAll(ctx, defaults)
	if err != nil {
		return begun, err
	}
	var found []trial
	for _, a := range t.studies {
		if a.trials > 0 {
			found = append(found, a.trialsOf(a.recalled, recalled, a.best)...)
			a.recalled = nil
		}
	}
	_, err = t.measureAll(ctx, found)
	return begun, err
}

// measureAll measures the trials that the budget has room for, and returns their number.
func (t *tuner) measureAll(ctx context.Context, all []trial) (int, error) {
	done := 0
	for some := range slices.Chunk(all, t.Round) {
		some = some[:min(len(some), t.budget())]
		if _, err := t.follow(ctx, t.enter(ctx, some), nil); err != nil {
			return done, err
		}
		done += len(some)
	}
	return done, ctx.Err()
}

// ask requests a round for the task with the largest expected gain; nil if the budget is spent, or
// none is open. A search is always asked for a whole round, and the budget takes the first of it:
// so a larger budget tries the candidates of a smaller one, too.
func (t *tuner) ask(ctx context.Context) <-chan proposal {
	n := min(t.Round, t.budget())
	if n <= 0 {
		return nil
	}
	a := t.next()
	if a == nil {
		return nil
	}
	told, best := a.untold, a.best
	a.untold = nil
	made := make(chan proposal, 1)
	t.under.Go(func() {
		p := proposal{study: a, best: best}
		p.err = t.working(ctx, proposing, func() (err error) {
			a.search.Tell(told)
			p.candidates, err = a.search.Propose(ctx, t.Round)
			p.candidates = p.candidates[:min(n, len(p.candidates))]
			return err
		})
		made <- p
	})
	return made
}

// enter begins to build and to measure trials. The result of a candidate that has a record is known
// at once.
func (t *tuner) enter(ctx context.Context, trials []trial) round {
	t.grow()
	r := round{trials: trials}
	for i := range trials {
		tr := &trials[i]
		tr.origin.Seed, tr.origin.Trial = t.Seed, tr.study.begun
		tr.study.begun++
		t.begun++
		to := make(chan answer, 1)
		r.answers = append(r.answers, to)
		if known, ok := tr.study.records[tr.study.key(tr.candidate)]; ok {
			to <- answer{measurement: known[0].Result, machine: known[0].Machine, known: true}
		} else {
			t.serve(ctx, *tr, to)
		}
	}
	return r
}

// follow notes the results of a round's trials, in their order. It returns when all of them are
// noted and the next round has been proposed, which it enters at once. Either may be nil. It ends
// with the first trial that teaches nothing; errOver is no failure.
func (t *tuner) follow(ctx context.Context, now round, next <-chan proposal) (entered round, err error) {
	var failed error // of the proposal: trials under way are noted nevertheless
	trials, answers := now.trials, now.answers
	for _, tr := range trials {
		tr.study.before = tr.study.best
	}
	for len(answers) > 0 || next != nil {
		var first <-chan answer
		if len(answers) > 0 {
			first = answers[0]
		}
		select {
		case p := <-next:
			next = nil
			if failed = p.err; failed != nil {
				failed = fmt.Errorf("%s: %w", title(p.study.task), failed)
				continue
			}
			p.study.exhausted = len(p.candidates) == 0
			if !p.study.exhausted {
				entered = t.enter(ctx, p.study.trialsOf(p.candidates, t.Search, p.best))
			}
		case a := <-first:
			switch {
			case failed != nil && errors.Is(a.err, errOver):
				return round{}, failed // the end of the time hides no failure
			case a.err != nil:
				return round{}, a.err
			}
			if !a.known {
				t.now++
				if err := t.keep(trials[0], a); err != nil {
					return round{}, err
				}
			}
			t.note(trials[0], a)
			trials, answers = trials[1:], answers[1:]
		}
	}
	return entered, errors.Join(failed, ctx.Err())
}
