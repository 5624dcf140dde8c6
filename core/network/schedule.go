package network

import (
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

// plain is the schedule of one position and one vector of channels at a time.
func (l *layer) plain() Schedule {
	s := Schedule{Tiles: slices.Repeat([]int{1}, len(l.tiles)), Places: 1}
	if l.rows {
		s.Tiles[3] = l.tiles[3].extent
	}
	return s
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
	has := func(loop string) bool { return ir.FindLoop(f.Body, loop) != nil }
	reduction := "yw.o"
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
		if p.Out {
			continue
		}
		loop := "yw.o"
		switch {
		case p.Name == "t" && l.rows:
			loop = "yo.o"
		case reduction == "c.o":
			loop = reduction
		case p.Name == "wt":
			loop = "yo.o"
		}
		do(steps.CacheRead(p.Name, loop, p.Name+"s"))
	}
	for _, r := range []struct{ loop, instr string }{{"xs.r3", "load_input"}, {"x0s.r3", "load_slots"},
		{"x1s.r3", "load_slots"}, {"wts.r4", "load_bits"}, {"ts.r3", "load_table"}, {"zr", "zero"}, {"ur", "zero"},
		{"r", ""}, {"vr", "level"}, {"ar", "take"}, {"br", "take_add"}, {"yr", "store"}} {
		switch {
		case !has(r.loop):
			continue
		case r.loop == "wts.r4" && l.tensors["x"].bytes:
			r.instr = "load_bytes"
		case r.loop == "r" && !l.rows:
			r.instr = "largest"
		case r.loop == "r" && l.tensors["x"].bytes:
			r.instr = "bytes"
		case r.loop == "r":
			r.instr = "planes"
		case r.loop == "yr" && l.tensors["y"].signed:
			r.instr = "store_sums"
		}
		do(steps.Tensorize(r.loop, l.instrs[r.instr]))
	}
	return f, done, failed
}

func first(s schedule.Step, _, _ string) schedule.Step { return s }

// cycles is the number of cycles of l alone under a schedule. It fails with errSlow if the fetches
// of the instructions take most cycles or more.
func (l *layer) cycles(c core.Config, s Schedule, latency, most int) (int, error) {
	f, _, err := l.apply(s)
	if err != nil {
		return 0, fmt.Errorf("layer %s: %w", l.name, err)
	}
	p := newPrinter(c)
	p.most = most / c.FetchCycles(latency)
	if err := p.layer(l, f, s.Places); err != nil {
		return 0, err
	}
	q := core.Program{Config: c, Instrs: p.out}
	return q.Cycles(latency)
}
