package compile

import (
	"context"
	"fmt"
	"slices"

	"ripc/ir"
	"ripc/ir/interp"
	"ripc/schedule"
)

// pack replaces constants of the given stages, all that run f, by the results of f's packs. It runs
// the packing in the interpreter, at compile time; equal contents are packed once.
func pack(ctx context.Context, s *ir.Program, stages []int, f *ir.Func, packs []schedule.Pack) error {
	for _, p := range packs {
		if p.View {
			continue
		}
		at := slices.IndexFunc(f.Params, func(q ir.Param) bool { return q.Name == p.Param })
		run, err := interp.CompileChecked(p.Func)
		if err != nil {
			return fmt.Errorf("packing %%%s of %s: %w", p.Param, f.Name, err)
		}
		for _, i := range stages {
			st := &s.Stages[i]
			from := s.BufferByName(st.Args[at])
			if from.Kind != ir.ConstBuf {
				return notPacked(f, p, *st, from)
			}
			to := p.Func.Params[1].Buffer
			data := make([]byte, to.Bytes())
			if err := run.Run(ctx, [][]byte{from.Data, data}); err != nil {
				return fmt.Errorf("packing %%%s for stage %s: %w", from.Name, st.Name, err)
			}
			to.Name = from.Name + ".p"
			to.Name = addConstant(s, ir.ProgBuf{Buffer: to, Kind: ir.ConstBuf, Data: data})
			st.Args = slices.Clone(st.Args)
			st.Args[at] = to.Name
		}
	}
	return nil
}

// notPacked is the error that a parameter of f is to be packed which, in stage s, is no constant.
func notPacked(f *ir.Func, p schedule.Pack, s ir.Stage, from *ir.ProgBuf) error {
	return &ir.Error{
		Pos: p.Step.Pos, Op: p.Step.String(), Node: "@" + f.Name,
		Msg: fmt.Sprintf("%%%s cannot be packed: in stage %s it is the %s %%%s", p.Param, s.Name, from.Kind,
			from.Name),
		Help: "pack constants, such as weights; for activations use cache_read",
	}
}

// addConstant adds b, under another name if its own is taken, unless there is one of the same
// contents.
func addConstant(s *ir.Program, b ir.ProgBuf) string {
	base := b.Name
	for i := 2; ; i++ {
		old := s.BufferByName(b.Name)
		switch {
		case old == nil:
			s.Buffers = append(s.Buffers, b)
			return b.Name
		case old.Kind == ir.ConstBuf && old.Type == b.Type && slices.Equal(old.Shape, b.Shape) &&
			slices.Equal(old.Data, b.Data):
			return b.Name
		}
		b.Name = fmt.Sprintf("%s%d", base, i)
	}
}

// dropUnused removes the constants that no stage reads any more.
func dropUnused(s *ir.Program) {
	used := map[string]bool{}
	for _, st := range s.Stages {
		for _, a := range st.Args {
			used[a] = true
		}
	}
	s.Buffers = slices.DeleteFunc(s.Buffers, func(b ir.ProgBuf) bool { return b.Kind == ir.ConstBuf && !used[b.Name] })
}
