package network

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ripc/core"
	"ripc/ir"
	"ripc/schedule"
	"ripc/schedule/steps"
)

// tile is a loop that a schedule cuts.
type tile struct {
	loop   string
	extent int
}

// Schedule is the choice for a layer.
type Schedule struct {
	Tiles        []int // sizes of a tile along each of the layer's loops
	WeightsFirst bool  // weights stay while tiles of positions go by, not the other way round
	Places       int   // of a tile in the core's memories: one is filled while another is in use
}

// apply carries out the steps of a schedule. They cut the loops of the result into tiles, compute
// each tile's sums there, copy its operands to the core's memories, and make instructions.
func (l *layer) apply(s Schedule) (*ir.Func, schedule.Trace, error) {
	f, done := l.f, schedule.Trace{}
	var failed error
	do := func(st schedule.Step) {
		if failed != nil {
			return
		}
		g, err := st.Apply(f, schedule.WithInstrs(l.instrs))
		if failed = err; err == nil {
			f, done = g, append(done, st)
		}
	}
	reduction := ""
	if l.rows && s.Tiles[3] < l.tiles[3].extent {
		reduction = "c.o"
		do(schedule.Step(first(steps.Split("c", s.Tiles[3], schedule.TailPerfect))))
		do(steps.Reorder("c.o", "h", "w", "o", "kh", "kw", "c.i", "r", "l"))
	}
	outer, inner := []string{}, []string{}
	for i, t := range l.tiles {
		if t.loop != "c" {
			do(schedule.Step(first(steps.Split(t.loop, s.Tiles[i], schedule.TailPerfect))))
			outer, inner = append(outer, t.loop+".o"), append(inner, t.loop+".i")
		}
	}
	if l.rows && s.WeightsFirst {
		outer = []string{"yo.o", "yh.o", "yw.o"}
	}
	do(steps.Reorder(append(outer, inner...)...))
	at := outer[len(outer)-1]
	for _, b := range []string{"lev", "acc", "m", "v"} {
		if ir.FindAlloc(f.Body, b) != nil {
			do(steps.ComputeAt(b, at))
		}
	}
	for _, p := range l.f.Params {
		loop := at
		switch {
		case p.Out:
			continue
		case l.rows && p.Name != "t" && reduction != "":
			loop = reduction
		case l.rows && p.Name != "x":
			loop = "yo.o"
		case l.rows:
			loop = "yw.o"
		}
		do(steps.CacheRead(p.Name, loop, p.Name+"s"))
	}
	for _, r := range [][2]string{{"xs.r3", "load_input"}, {"x0s.r3", "load_input"}, {"x0s.r4", "load_input"},
		{"x1s.r3", "load_input"}, {"x1s.r4", "load_input"}, {"wts.r4", "load_weight"}, {"ts.r3", "load_table"},
		{"zr", "zero"}, {"ur", "zero"}, {"r", l.sums}, {"vr", "level"}, {"ar", "take"}, {"br", "take_add"},
		{"yr", "store"}} {
		if ir.FindLoop(f.Body, r[0]) != nil {
			do(steps.Tensorize(r[0], l.instrs[r[1]]))
		}
	}
	return f, done, failed
}

func first(s schedule.Step, _, _ string) schedule.Step { return s }

// attempt is a program with one more layer.
type attempt struct {
	*printer
	Layer
	f     *ir.Func // the scheduled Func
	total int      // cycles
}

// put puts l under a schedule behind p. It fails with *SpaceError, or with errSlow if the fetches
// of the instructions take most cycles or more.
func (l *layer) put(p *printer, s Schedule, most int) (attempt, error) {
	f, trace, err := l.apply(s)
	if err != nil {
		return attempt{}, fmt.Errorf("layer %s: %w", l.name, err)
	}
	q := p.clone()
	q.most = most / p.c.FetchCycles(Latency)
	if err := q.layer(l, f, s.Places); err != nil {
		return attempt{}, err
	}
	total, err := (&core.Program{Config: p.c, Instrs: q.out}).Cycles(Latency)
	return attempt{q, Layer{l.name, s, trace, len(q.out) - len(p.out), 0}, f, total}, err
}

// plain is the schedule of one position and one vector of channels at a time.
func (l *layer) plain() Schedule {
	s := Schedule{Tiles: slices.Repeat([]int{1}, len(l.tiles)), Places: 1}
	if l.rows {
		s.Tiles[3] = l.tiles[3].extent
	}
	return s
}

// fits fails with *SpaceError if l's smallest tile is too large for a design.
func (l *layer) fits(c core.Config) error {
	s := l.plain()
	s.Tiles[len(s.Tiles)-1] = 1
	f, _, err := l.apply(s)
	if err != nil {
		return err
	}
	return newPrinter(c, 0).prepare(l, f, 1)
}

// choose puts l behind p under the plain schedule. If tune is set it goes on to better ones, one
// choice at a time, until none is better. Cycles are exact, so nothing has to be measured.
func (l *layer) choose(ctx context.Context, p *printer, tune bool) (attempt, error) {
	s := l.plain()
	best, err := l.put(p, s, 0)
	space := (*SpaceError)(nil)
	if l.rows && errors.As(err, &space) { // a part of the channels at a time
		s.Tiles[3] = 1
		best, err = l.put(p, s, 0)
	}
	try := func(s Schedule) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return
		}
		a, failed := l.put(p, s, best.total)
		if failed == nil && a.total < best.total {
			best = a
		}
		if !errors.As(failed, &space) && !errors.Is(failed, errSlow) {
			err = failed
		}
	}
	for before := 0; tune && before != best.total && err == nil; {
		before = best.total
		for k, t := range l.tiles {
			for _, d := range divisors(t.extent) {
				for places := range 2 {
					s := best.Schedule
					s.Tiles, s.Places = slices.Clone(s.Tiles), places+1
					s.Tiles[k] = d
					try(s)
				}
			}
		}
		if s := best.Schedule; l.rows {
			s.WeightsFirst = !s.WeightsFirst
			try(s)
		}
	}
	return best, err
}
