package autotune

import (
	"context"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"ripc/autotune/records"
	"ripc/autotune/runner"
	"ripc/autotune/search"
	"ripc/autotune/space"
	"ripc/compile"
	"ripc/internal/lists"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/schedule"
	"ripc/targets/isa"
)

// randomOf is a source of numbers for seed, apart from those of searches.
func randomOf(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x74756e65)) }

// study is a task with all that is known of it.
type study struct {
	task   *space.Task
	space  *space.Space
	search *search.Search
	// by the candidate's key: results that need not be measured again; most were measured once
	records map[string][]records.Record
	points  map[string]space.Point // by the same, of those that have a cost
	untold  []search.Outcome       // outcomes that the search is told before it proposes again
	places  []place
	// recalled are candidates of other tuners, to be tried first.
	recalled []space.Candidate

	begun            int     // trials
	trials, failures int     // of these, taken note of
	first            string  // the default schedule's key
	usual, best      float64 // costs of the default schedule and of the best one, 0 if there is none
	point            space.Point
	since            int     // trials since the best one
	before           float64 // the best cost before the last round that is known
	exhausted        bool

	mu   sync.Mutex // of want
	want *reference // once it is needed
}

// reference is the result of the task's definition.
type reference struct {
	inputs  [][]byte
	outputs []string // hashes
}

// newStudy begins a study with the task's records in known: costs in the class mine are taken over.
func newStudy(t *space.Task, o Options, known *records.Set, mine records.Class) (*study, error) {
	s, err := space.New(t)
	if err != nil {
		return nil, err
	}
	a := &study{task: t, space: s, records: map[string][]records.Record{}, points: map[string]space.Point{}}
	if a.search, err = search.New(o.Search, s, o.Seed^seedOf(t.Workload.Key)); err != nil {
		return nil, err
	}
	if err := a.recall(o.Known); err != nil {
		return nil, err
	}
	mineToo := map[string]bool{}
	for _, c := range a.recalled {
		mineToo[a.key(c)] = true
	}
	for _, r := range known.OfTask(records.Task{Workload: t.Workload.Key, Target: t.Target.Name}) {
		f := r.Result.Failure
		if f == nil && r.Class() != mine || f != nil && f.Kind != records.Unbuildable && !r.Class().SameMachine(mine) {
			continue
		}
		key := traceKey(r.Candidate.Trace)
		a.records[key] = append(a.records[key], r)
		if len(a.records[key]) > 1 {
			continue
		}
		// Results of another search are told at the beginning; this one's own is found again, in
		// its order.
		if own := r.Origin.Tuner == "default" || r.Origin.Tuner == recalled && mineToo[key] ||
			r.Origin.Seed == o.Seed && r.Origin.Tuner == o.Search; !own {
			if c, ok := candidateOf(t, r.Candidate); ok {
				a.untold = append(a.untold, search.Outcome{Candidate: c, Cost: r.Result.Cost, Failed: f != nil})
				a.learn(c, r.Result)
			}
		}
	}
	return a, nil
}

// recalled is the tuner of records of candidates that others had found.
const recalled = "recalled"

// maxRecalled is how many of these are tried.
const maxRecalled = 2

// recall finds the candidates of the task in known, but for its default schedule: the best of its
// target, and, where there is none, the best of others.
func (a *study) recall(known *records.Set) error {
	if known == nil {
		return nil
	}
	usual, err := a.space.Default()
	if err != nil {
		return err
	}
	seen := map[string]bool{a.key(usual): true}
	take := func(t records.Task) {
		for _, class := range known.Classes(t) {
			for _, r := range known.Ranked(t, class)[:1] {
				c, ok := candidateOf(a.task, r.Candidate)
				if ok && len(a.recalled) < maxRecalled && !seen[a.key(c)] {
					seen[a.key(c)] = true
					a.recalled = append(a.recalled, c)
				}
			}
		}
	}
	own := records.Task{Workload: a.task.Workload.Key, Target: a.task.Target.Name}
	if len(known.Classes(own)) > 0 {
		take(own)
		return nil
	}
	for _, t := range known.Tasks() {
		if t.Workload == own.Workload {
			take(t)
		}
	}
	return nil
}

// seedOf makes the random numbers of tasks different, and the same in each network.
func seedOf(key string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(key))
	return h.Sum64()
}

// traceOf is the inverse of schedule.Trace's Lines.
func traceOf(lines []string) (schedule.Trace, error) {
	var t schedule.Trace
	for _, l := range lines {
		s, err := schedule.ParseStep(l)
		if err != nil {
			return nil, err
		}
		t = append(t, s)
	}
	return t, nil
}

func traceKey(lines []string) string { return strings.Join(lines, "\n") }

func (a *study) key(c space.Candidate) string { return traceKey(c.Trace.Lines()) }

// candidateOf is the candidate of a record, if its schedule is still one of the task's.
func candidateOf(t *space.Task, r records.Candidate) (space.Candidate, bool) {
	tr, err := traceOf(r.Trace)
	if err != nil {
		return space.Candidate{}, false
	}
	made, err := tr.ApplyAll(t.Func, schedule.WithInstrs(isa.For(t.Target)))
	return space.Candidate{Point: space.Point{Strategy: r.Strategy, Values: r.Values}, Trace: tr, Result: made},
		err == nil
}

// trialsOf are trials of candidates that the search of that name proposed when best was the lowest
// cost.
func (a *study) trialsOf(cs []space.Candidate, tuner string, best float64) []trial {
	return lists.Map(cs, func(c space.Candidate) trial {
		return trial{study: a, candidate: c, origin: records.Origin{Tuner: tuner}, best: best}
	})
}

// learn notes the cost of a candidate.
func (a *study) learn(c space.Candidate, m records.Measurement) {
	if m.Failure != nil {
		return
	}
	a.points[a.key(c)] = c.Point
	if a.best == 0 || m.Cost < a.best {
		a.best, a.point, a.since = m.Cost, c.Point, -1
	}
}

// cheapest is the candidate that costs least by all its measurements; ok is whether any has a cost.
func (a *study) cheapest() (p space.Point, cost float64, ok bool) {
	for _, key := range slices.Sorted(maps.Keys(a.points)) {
		if of := a.records[key]; !slices.ContainsFunc(of, hasFailed) {
			if c := records.Typical(of).Result.Cost; !ok || c < cost {
				p, cost, ok = a.points[key], c, true
			}
		}
	}
	return p, cost, ok
}

// reckon computes costs anew, from all measurements.
func (a *study) reckon() {
	if p, cost, ok := a.cheapest(); ok {
		a.point, a.best = p, cost
	}
	if of := a.records[a.first]; a.usual > 0 && !slices.ContainsFunc(of, hasFailed) {
		a.usual = records.Typical(of).Result.Cost
	}
}

// count counts a candidate.
func (a *study) count(tr trial, m records.Measurement) {
	a.learn(tr.candidate, m)
	if tr.origin.Trial == 0 && m.Failure == nil {
		a.first, a.usual = a.key(tr.candidate), m.Cost
	}
	a.trials, a.since = a.trials+1, a.since+1
	if m.Failure != nil {
		a.failures++
	}
	a.untold = append(a.untold, search.Outcome{Candidate: tr.candidate, Cost: m.Cost, Failed: m.Failure != nil})
}

// seedOfInputs makes the inputs that kernels are compared and measured on.
const seedOfInputs = 1

// reference returns the result of the task's definition; it is interpreted once, by do.
func (a *study) reference(ctx context.Context, do func(func() error) error) (*reference, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.want == nil {
		if err := do(func() (err error) {
			a.want, err = a.interpret(ctx)
			return err
		}); err != nil {
			return nil, err
		}
	}
	return a.want, nil
}

// interpret computes the task's definition.
func (a *study) interpret(ctx context.Context) (*reference, error) {
	u, err := compile.Kernel(ctx, a.task.Func, nil, a.task.Target, a.options(nothing))
	if err != nil {
		return nil, err
	}
	r := &reference{inputs: u.Inputs(seedOfInputs)}
	run, err := interp.Compile(a.task.Func)
	if err != nil {
		return nil, err
	}
	var args, outputs [][]byte
	inputs := r.inputs
	for i, b := range u.Program.Buffers {
		switch b.Kind {
		case ir.ConstBuf:
			args = append(args, b.Data)
		case ir.InputBuf:
			args, inputs = append(args, inputs[0]), inputs[1:]
		default:
			args = append(args, runner.Blank(int64(b.Bytes())))
			outputs = append(outputs, args[i])
		}
	}
	if err := run.Run(ctx, args); err != nil {
		return nil, err
	}
	r.outputs = lists.Map(outputs, runner.Hash)
	return r, nil
}

// equal reports whether the hashes of outputs, of one or more runs, are those of the definition.
func (r *reference) equal(outputs []string) bool {
	for run := range slices.Chunk(outputs, len(r.outputs)) {
		if !slices.Equal(run, r.outputs) {
			return false
		}
	}
	return len(outputs) > 0
}
