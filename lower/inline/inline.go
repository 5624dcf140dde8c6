// Package inline does without stages that only move elements, such as the change of axes between a caller's images and ripc's: the stage
// that reads what such a stage makes reads where the elements were, or the stages that write what it reads write where they are to be.
// Their Funcs get other indices, or a copy of their own, which a schedule can make for a few rows at a time.
package inline

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/ir"
	"ripc/targets"
)

// Moves does so with all stages of p of which it is known that this is no dearer on t. The others say why they are there.
func Moves(p *ir.Program, t targets.Target) {
	in := &inliner{p, t}
	for i := 0; i < len(p.Stages); {
		if in.through(i) {
			i = 0 // what read or wrote through this one may be a move itself
			continue
		}
		i++
	}
	p.Funcs = slices.DeleteFunc(p.Funcs, func(f *ir.Func) bool {
		return !slices.ContainsFunc(p.Stages, func(s ir.Stage) bool { return s.Func == f.Name })
	})
}

type inliner struct {
	*ir.Program
	target targets.Target
}

// use is a stage that has a buffer as an operand.
type use struct{ stage, param int }

// through does without stage i, if it can.
func (in *inliner) through(i int) bool {
	s := in.Stages[i]
	m, ok := moveOf(in.FuncByName(s.Func))
	if !ok {
		return false
	}
	why := in.read(i, m)
	if why.Code == "" {
		return true
	}
	if whyNot := in.write(i, m); whyNot.Code == "" {
		return true
	} else if in.kind(s.Args[0]) != ir.InputBuf {
		why = whyNot
	}
	in.Stages[i].Layer.Reason = why
	return false
}

func (in *inliner) kind(buf string) ir.BufKind { return in.BufferByName(buf).Kind }

// reason is why a move stays.
func reason(r graph.Reason, where ir.Stage, count int) ir.Reason {
	return graph.Verdict{Reason: r, Where: where.Name, Args: ir.Args{Op: where.Op, Count: int64(count)}}.AsReason()
}

// uses lists who reads and who writes a buffer.
func (in *inliner) uses(buf string) (readers, writers []use) {
	for i, s := range in.Stages {
		f := in.FuncByName(s.Func)
		for k, a := range s.Args {
			switch {
			case a != buf:
			case f.Params[k].Out:
				writers = append(writers, use{i, k})
			default:
				readers = append(readers, use{i, k})
			}
		}
	}
	return readers, writers
}

// read lets the stage that reads what stage i, a move, makes read what that reads.
func (in *inliner) read(i int, m move) (why ir.Reason) {
	s := in.Stages[i]
	readers, writers := in.uses(s.Args[1])
	switch {
	case in.kind(s.Args[1]) == ir.OutputBuf:
		return reason(graph.WhyMovedForCaller, s, 0)
	case len(readers) != 1 || len(writers) != 1:
		if len(readers) == 0 {
			return reason(graph.WhyMovesFloats, s, 0)
		}
		return reason(graph.WhyMovedForMany, in.Stages[readers[0].stage], len(readers))
	}
	r := readers[0]
	f := in.FuncByName(in.Stages[r.stage].Func)
	g := reading(f, r.param, m, in.target)
	if g == nil {
		return reason(graph.WhyMovedBefore, in.Stages[r.stage], 0)
	}
	in.replace(r, g, s.Args[0])
	in.drop(i, s.Args[1])
	return ir.Reason{}
}

// write lets the stages that write what stage i, a move, reads write what that makes.
func (in *inliner) write(i int, m move) (why ir.Reason) {
	s := in.Stages[i]
	readers, writers := in.uses(s.Args[0])
	switch {
	case in.kind(s.Args[0]) != ir.ArenaBuf, len(writers) == 0:
		return reason(graph.WhyMovedForCaller, s, 0)
	case len(readers) != 1:
		return reason(graph.WhyMovedForMany, in.Stages[readers[0].stage], len(readers))
	}
	var all []*ir.Func
	for _, w := range writers {
		g := writing(in.FuncByName(in.Stages[w.stage].Func), w.param, m, in.target)
		if g == nil {
			return reason(graph.WhyMovedAfter, in.Stages[w.stage], 0)
		}
		all = append(all, g)
	}
	for k, w := range writers {
		in.replace(w, all[k], s.Args[1])
	}
	in.drop(i, s.Args[0])
	return ir.Reason{}
}

// replace lets a stage use buf by g.
func (in *inliner) replace(u use, g *ir.Func, buf string) {
	s := &in.Stages[u.stage]
	s.Args = slices.Clone(s.Args)
	s.Args[u.param] = buf
	name := g.Name
	for n := 1; ; n++ {
		switch f := in.FuncByName(g.Name); {
		case f == nil:
			in.Funcs = append(in.Funcs, g)
			s.Func = g.Name
			return
		case f.String() == g.String():
			s.Func = g.Name
			return
		}
		g.Name = fmt.Sprintf("%s_v%d", name, n+1)
	}
}

// drop removes stage i and the buffer that nobody needs any more.
func (in *inliner) drop(i int, buf string) {
	in.Stages = slices.Delete(in.Stages, i, i+1)
	in.Buffers = slices.DeleteFunc(in.Buffers, func(b ir.ProgBuf) bool { return b.Name == buf })
}
