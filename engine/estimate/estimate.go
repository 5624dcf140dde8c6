// Package estimate estimates the cycles of simulated code on a core that is not at hand.
// engine/simulate counts how often each piece of code ran. LLVM's model of the core's pipeline
// (llvm-mca) gives the cost of a piece.
//
// The cost of a block depends on the instructions still in flight at its beginning. So costs belong
// to edges: a block behind another one. The cost of an edge is the number of cycles by which it
// prolongs the code before it, along the most frequent path. For a block that follows itself, it is
// the steady state over the loop's average number of rounds. The sum over all edges then estimates
// the whole, as if llvm-mca had read it as one straight line.
//
// The model lacks caches (each load takes the first level's latency), instruction fetch, branch
// mispredictions, and loads that wait for stores. So an estimate is a lower bound where memory or
// branches matter. It is good for comparing kernels that compute from the first-level cache, as
// schedules arrange it.
//
// For chips without an operating system there is another estimate, Timings: the sum of the cycles
// that the core's manual gives for each instruction.
package estimate

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"ripc/caches"
	"ripc/codegen/llvm/rows"
	"ripc/codegen/llvm/toolchain"
	"ripc/engine/simulate"
	"ripc/targets"
)

const (
	// window is the number of instructions simulated before a block: more than any modelled core
	// has in flight. inOrder is enough for in-order cores.
	window, inOrder = 320, 96
	// long is the number of instructions over which the rounds of a loop are averaged, as a round
	// takes no whole number of cycles.
	long = 480
	// costed is the share of executed instructions on edges that llvm-mca costs. The others, in
	// prologues and borders, count the average of these cycles.
	costed = 0.995
)

// ErrNoModel says that LLVM has no model of a target's pipeline.
var ErrNoModel = errors.New("LLVM has no model of its pipeline")

// Cycles is the estimate of one job.
type Cycles struct {
	Cycles float64
	// Unknown is the number of executed instructions that the model lacks; each counts a cycle.
	Unknown uint64
}

// Estimator estimates cycles of one core. It is immutable.
type Estimator struct {
	row   rows.Row
	tools *toolchain.Tools
	cache *caches.Cache
}

// ModelOf returns the row of the core of the target called name, which has a Model. It fails with
// *targets.UnknownTargetError or ErrNoModel (wrapped).
func ModelOf(name string) (rows.Row, error) {
	t, err := targets.Lookup(name)
	if err != nil {
		return rows.Row{}, err
	}
	row, _ := rows.Of(t)
	if row.Model == "" {
		err := fmt.Errorf("%s: %w", name, ErrNoModel)
		var others []string
		for _, o := range targets.All() {
			if r, _ := rows.Of(o); o.Arch == t.Arch && r.Model != "" {
				others = append(others, o.Name)
			}
		}
		if len(others) > 0 {
			err = fmt.Errorf("%w; it has one of %s", err, strings.Join(others, ", "))
		}
		return row, err
	}
	return row, nil
}

// For returns the Estimator for the core of the target called name. It fails with
// *targets.UnknownTargetError, ErrNoModel (wrapped), or, where there is no llvm-mca,
// *toolchain.MissingToolError.
func For(name string) (*Estimator, error) {
	row, err := ModelOf(name)
	if err != nil {
		return nil, err
	}
	tools, err := toolchain.Find()
	if err != nil {
		return nil, err
	}
	if _, err := tools.Path("llvm-mca"); err != nil {
		return nil, err
	}
	cache, err := caches.OfUser("estimates")
	if err != nil {
		return nil, err
	}
	return &Estimator{row, tools, cache}, nil
}

// Model is LLVM's name of the modelled core.
func (e *Estimator) Model() string { return e.row.Model }

// Jobs estimates the cycles of jobs from their profiles. code returns bytes of code at an address,
// as simulate.Machine.Code does. The same profiles of the same code give the same numbers. It fails
// as toolchain.Run does, or if counts and code contradict each other.
func (e *Estimator) Jobs(ctx context.Context, code func(at, n uint64) []byte,
	jobs []*simulate.Profile) ([]Cycles, error) {
	s := &sheet{row: e.row, index: map[string]int{}, window: window}
	if e.row.ModelInOrder {
		s.window = inOrder
	}
	sums := make([]sum, len(jobs))
	for k, p := range jobs {
		var err error
		if sums[k], err = s.add(p, code); err != nil {
			return nil, fmt.Errorf("estimate: job %d: %w", k, err)
		}
	}
	costs, err := e.cost(ctx, s.lines)
	if err != nil {
		return nil, fmt.Errorf("estimate: %w", err)
	}
	all := make([]Cycles, len(jobs))
	for k, sum := range sums {
		all[k] = sum.total(costs)
	}
	return all, nil
}

// line is straight code, which may have been put together from several places. Each instruction has
// step bytes.
type line []byte

// size returns the bytes of an instruction that begins with b, or with nothing where it is not
// known.
func size(row rows.Row, b []byte) uint64 {
	if row.HasShort && len(b) > 0 && b[0]&3 != 3 {
		return 2
	}
	return step
}

// lineOf is the code from first to last, which are addresses of instructions, or nil.
func (s *sheet) lineOf(first, last uint64, code func(at, n uint64) []byte) line {
	var l line
	for a := first; a <= last; {
		n := size(s.row, code(a, 1))
		instruction := code(a, n)
		if instruction == nil {
			return nil
		}
		l = append(append(l, instruction...), make([]byte, step-n)...)
		a += n
	}
	return l
}

// sheet collects the lines to be costed, each once.
type sheet struct {
	row    rows.Row
	lines  []line
	index  map[string]int
	window int // instructions before a block
}

// indexOf is the place of l in the sheet; new lines are added.
func (s *sheet) indexOf(l line) int {
	k, ok := s.index[string(l)]
	if !ok {
		k = len(s.lines)
		s.index[string(l)] = k
		s.lines = append(s.lines, l)
	}
	return k
}

// sum is a job's cycles in terms of the costs of lines.
type sum struct {
	terms        []term
	instructions uint64 // of the whole job
}

// term is times * (cost(longer) - cost(shorter)) / rounds: the cost of instructions.
type term struct {
	longer, shorter int // lines of the sheet; shorter is -1 where there is nothing before
	rounds          int
	times           uint64
	instructions    uint64 // of a round
}

// add puts the lines of a job on the sheet and returns its sum.
func (s *sheet) add(p *simulate.Profile, code func(at, n uint64) []byte) (sum, error) {
	all, err := blocks(p, func(at uint64) uint64 { return size(s.row, code(at, 1)) })
	if err != nil {
		return sum{}, err
	}
	texts := make([]line, len(all))
	for i, b := range all {
		if texts[i] = s.lineOf(b.first, b.last, code); texts[i] == nil {
			return sum{}, fmt.Errorf("there is no code at %#x", b.first)
		}
	}
	type way struct {
		from, to int // from is -1 where control came from the caller
		times    uint64
	}
	var ways []way
	for i, b := range all {
		came := uint64(0)
		for _, e := range b.ways {
			ways = append(ways, way{e.block, i, e.times})
			came += e.times
		}
		if came < b.times {
			ways = append(ways, way{-1, i, b.times - came})
		}
	}
	weight := func(w way) uint64 { return w.times * uint64(all[w.to].n) }
	slices.SortStableFunc(ways, func(a, b way) int { return -cmp.Compare(weight(a), weight(b)) })
	r := sum{instructions: p.Instructions()}
	done := uint64(0)
	for _, w := range ways {
		if float64(done) >= costed*float64(r.instructions) {
			break
		}
		done += weight(w)
		t := term{shorter: -1, rounds: 1, times: w.times, instructions: uint64(all[w.to].n)}
		var before line
		if w.from >= 0 {
			before = s.history(all, texts, w.from)
			t.shorter = s.indexOf(before)
		}
		if w.from == w.to {
			entries := max(1, all[w.to].times-w.times)
			t.rounds = max(1, min((long+all[w.to].n-1)/all[w.to].n, int(w.times/entries)))
		}
		longer := slices.Clone(before)
		for range t.rounds {
			longer = append(longer, texts[w.to]...)
		}
		t.longer = s.indexOf(longer)
		r.terms = append(r.terms, t)
	}
	return r, nil
}

// history is the code executed up to the end of block i, on the most frequent path to it: window
// instructions, or fewer at the beginning. It starts with the instruction that set the vectors,
// where there is such an instruction.
func (s *sheet) history(all []block, texts []line, i int) line {
	var parts []line
	n := 0
	for n < s.window*step {
		parts = append(parts, texts[i])
		n += len(texts[i])
		if len(all[i].ways) == 0 || n >= s.window*step {
			break
		}
		i = all[i].ways[0].block
	}
	slices.Reverse(parts)
	whole := slices.Concat(parts...)
	cut := max(0, len(whole)-s.window*step)
	if s.row.SetsVectors == nil {
		return whole[cut:]
	}
	set := s.setting(whole[:cut])
	for seen, todo := map[int]bool{}, []int{i}; set == nil && len(todo) > 0; todo = todo[1:] {
		for _, e := range all[todo[0]].ways {
			if !seen[e.block] && set == nil {
				seen[e.block], todo = true, append(todo, e.block)
				set = s.setting(texts[e.block])
			}
		}
	}
	return slices.Concat(set, whole[cut:])
}

// setting is the last instruction of l that sets the vectors, or nil.
func (s *sheet) setting(l line) line {
	for len(l) > 0 {
		last := l[len(l)-step:]
		if s.row.SetsVectors(binary.LittleEndian.Uint32(last)) {
			return last
		}
		l = l[:len(l)-step]
	}
	return nil
}

// total adds up a job's terms.
func (r sum) total(costs []lineCost) Cycles {
	var c Cycles
	done := uint64(0)
	for _, t := range r.terms {
		cost := costs[t.longer]
		if t.shorter >= 0 {
			cost.cycles -= costs[t.shorter].cycles
			cost.unknown -= costs[t.shorter].unknown
		}
		c.Cycles += float64(t.times) * float64(cost.cycles) / float64(t.rounds)
		c.Unknown += t.times * uint64(cost.unknown) / uint64(t.rounds)
		done += t.times * t.instructions
	}
	if done > 0 {
		c.Cycles *= float64(r.instructions) / float64(done)
	}
	c.Cycles = math.Round(c.Cycles) // machines may round products differently on the way
	return c
}
