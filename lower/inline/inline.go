// Package inline removes stages that only move elements, such as the change of axes between a
// caller's images and ripc's. The stage that reads such a stage's result reads its operand instead,
// or the stages that write its operand write its result. Their Funcs get other indices, or a copy
// of their own, which a schedule can compute for a few rows at a time. For devices it also merges
// stages that compute (Merge).
package inline

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"ripc/graph"
	"ripc/ir"
	"ripc/targets"
)

// Moves removes the moves of p that are proved not to cost more on t. The others get the reason why
// they stay. It fails when ctx is done.
func Moves(ctx context.Context, p *ir.Program, t targets.Target) error {
	in := newInliner(p, t)
	for i := slices.Index(in.due, true); i >= 0; i = slices.Index(in.due, true) {
		if err := ctx.Err(); err != nil {
			return err
		}
		in.due[i] = false
		in.bypass(i)
	}
	in.finish()
	return nil
}

// inliner is a Program with an index of its names. Stages and buffers that go stay in their lists
// until finish, so that numbers hold.
type inliner struct {
	*ir.Program
	target   targets.Target
	funcs    map[string]*ir.Func
	kinds    map[string]ir.BufKind
	readers  map[string]map[use]bool // by buffer
	writers  map[string]map[use]bool
	versions map[string]*versions // of Funcs, by the name that they are to have
	due      []bool               // stages to look at, the first of them first
	refused  map[int]refusal      // moves that stay, by stage
	gone     map[int]bool         // stages
	dropped  map[string]bool      // buffers
}

// use is a stage that has a buffer as an operand.
type use struct{ stage, param int }

// versions are Funcs of one name but for a number behind it.
type versions struct {
	byText map[string]string // names, by the text of the Func without its name
	count  int               // how many names were looked at
}

// refusal is why a move stays: for the sake of a stage, or of the count first readers of a buffer.
type refusal struct {
	reason graph.Reason
	stage  int
	buf    string
	count  int
}

func newInliner(p *ir.Program, t targets.Target) *inliner {
	in := &inliner{
		Program: p, target: t, funcs: map[string]*ir.Func{}, kinds: map[string]ir.BufKind{},
		readers: map[string]map[use]bool{}, writers: map[string]map[use]bool{}, versions: map[string]*versions{},
		refused: map[int]refusal{}, gone: map[int]bool{}, dropped: map[string]bool{},
	}
	in.due = slices.Repeat([]bool{true}, len(p.Stages))
	for _, f := range p.Funcs {
		in.funcs[f.Name] = f
	}
	for _, b := range p.Buffers {
		in.kinds[b.Name] = b.Kind
		in.readers[b.Name], in.writers[b.Name] = map[use]bool{}, map[use]bool{}
	}
	for i, s := range p.Stages {
		for k, a := range s.Args {
			in.usesOf(a, i, k)[use{i, k}] = true
		}
	}
	return in
}

// usesOf are the readers or the writers of a buffer that is operand k of stage i, whichever that
// stage is.
func (in *inliner) usesOf(buf string, i, k int) map[use]bool {
	if in.funcs[in.Stages[i].Func].Params[k].Out {
		return in.writers[buf]
	}
	return in.readers[buf]
}

// bypass does without stage i, if it can.
func (in *inliner) bypass(i int) {
	m, ok := moveOf(in.funcs[in.Stages[i].Func])
	if !ok {
		return
	}
	why, gone := in.read(i, m)
	if gone {
		return
	}
	whyNot, gone := in.write(i, m)
	if gone {
		return
	}
	if in.kinds[in.Stages[i].Args[0]] != ir.InputBuf {
		why = whyNot
	}
	in.refused[i] = why
}

// read lets the reader of the result of stage i, a move, read the move's operand.
func (in *inliner) read(i int, m move) (why refusal, gone bool) {
	s := in.Stages[i]
	readers, writers := in.readers[s.Args[1]], in.writers[s.Args[1]]
	switch {
	case in.kinds[s.Args[1]] == ir.OutputBuf:
		return refusal{reason: graph.WhyMovedForCaller, stage: i}, false
	case len(readers) == 0:
		return refusal{reason: graph.WhyMovesFloats, stage: i}, false
	case len(readers) != 1 || len(writers) != 1:
		return refusal{reason: graph.WhyMovedForMany, buf: s.Args[1], count: len(readers)}, false
	}
	r := ordered(readers)[0]
	g := redirectRead(in.funcs[in.Stages[r.stage].Func], r.param, m, in.target)
	if g == nil {
		return refusal{reason: graph.WhyMovedBefore, stage: r.stage}, false
	}
	in.drop(i, s.Args[1])
	in.replace(r, g, s.Args[0])
	in.touch(r.stage)
	return refusal{}, true
}

// write lets the writers of the operand of stage i, a move, write the move's result.
func (in *inliner) write(i int, m move) (why refusal, gone bool) {
	s := in.Stages[i]
	readers, writers := in.readers[s.Args[0]], in.writers[s.Args[0]]
	switch {
	case in.kinds[s.Args[0]] != ir.ArenaBuf, len(writers) == 0:
		return refusal{reason: graph.WhyMovedForCaller, stage: i}, false
	case len(readers) != 1:
		return refusal{reason: graph.WhyMovedForMany, buf: s.Args[0], count: len(readers)}, false
	}
	sorted := ordered(writers)
	var all []*ir.Func
	for _, w := range sorted {
		g := redirectWrite(in.funcs[in.Stages[w.stage].Func], w.param, m, in.target)
		if g == nil {
			return refusal{reason: graph.WhyMovedAfter, stage: w.stage}, false
		}
		all = append(all, g)
	}
	in.drop(i, s.Args[0])
	for k, w := range sorted {
		in.replace(w, all[k], s.Args[1])
	}
	for _, w := range sorted {
		in.touch(w.stage)
	}
	return refusal{}, true
}

// ordered are uses in the order of the stages.
func ordered(uses map[use]bool) []use {
	return slices.SortedFunc(maps.Keys(uses), func(a, b use) int {
		if a.stage != b.stage {
			return a.stage - b.stage
		}
		return a.param - b.param
	})
}

// replace lets a stage use buf by g.
func (in *inliner) replace(u use, g *ir.Func, buf string) {
	s := &in.Stages[u.stage]
	s.Args = slices.Clone(s.Args)
	s.Args[u.param] = buf
	in.usesOf(buf, u.stage, u.param)[u] = true
	s.Func = in.add(g)
}

// add gives g a name that is free, with a number where others have its own, unless an equal Func
// has one of these names: then that one.
func (in *inliner) add(g *ir.Func) string {
	v, known := in.versions[g.Name]
	if !known {
		v = &versions{byText: map[string]string{}}
		in.versions[g.Name] = v
	}
	text := withoutName(g)
	for base := g.Name; ; {
		if name, found := v.byText[text]; found {
			return name
		}
		if v.count++; v.count > 1 {
			g.Name = fmt.Sprintf("%s_v%d", base, v.count)
		}
		f := in.funcs[g.Name]
		if f == nil {
			in.funcs[g.Name] = g
			in.Funcs = append(in.Funcs, g)
			f = g
		}
		if t := withoutName(f); v.byText[t] == "" {
			v.byText[t] = f.Name
		}
	}
}

func withoutName(f *ir.Func) string {
	g := *f
	g.Name = ""
	return g.String()
}

// drop removes stage i and the buffer that nobody needs any more.
func (in *inliner) drop(i int, buf string) {
	s := in.Stages[i]
	for k, a := range s.Args {
		delete(in.usesOf(a, i, k), use{i, k})
	}
	in.gone[i], in.dropped[buf] = true, true
}

// touch re-examines the moves that the new Func of stage i may affect: the stage itself, moves with
// a result that it alone reads, and moves that alone read its result. Verdicts on other moves
// depend on no Func of their neighbours.
func (in *inliner) touch(i int) {
	in.due[i] = true
	s := in.Stages[i]
	for k, a := range s.Args {
		beyond := in.writers[a]
		if in.funcs[s.Func].Params[k].Out {
			beyond = in.readers[a]
		}
		if len(beyond) == 1 {
			in.due[ordered(beyond)[0].stage] = true
		}
	}
}

// finish removes dead stages from the Program, and says why the other moves stay.
func (in *inliner) finish() {
	first := map[string]int{} // readers, by buffer
	for i, s := range in.Stages {
		for k, a := range s.Args {
			if _, has := first[a]; !has && !in.gone[i] && !in.funcs[s.Func].Params[k].Out {
				first[a] = i
			}
		}
	}
	var stages []ir.Stage
	used := map[string]bool{}
	for i, s := range in.Stages {
		if in.gone[i] {
			continue
		}
		if r, has := in.refused[i]; has {
			if r.buf != "" {
				r.stage = first[r.buf]
			}
			where := in.Stages[r.stage]
			s.Layer.Reason = graph.Verdict{Reason: r.reason, Where: where.Name,
				Args: ir.Args{Op: where.Op, Count: int64(r.count)}}.AsReason()
		}
		stages, used[s.Func] = append(stages, s), true
	}
	in.Stages = stages
	in.Buffers = slices.DeleteFunc(in.Buffers, func(b ir.ProgBuf) bool { return in.dropped[b.Name] })
	in.Funcs = slices.DeleteFunc(in.Funcs, func(f *ir.Func) bool { return !used[f.Name] })
}
