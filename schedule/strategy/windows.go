package strategy

import (
	"cmp"
	"slices"

	"ripc/ir"
	"ripc/schedule"
	"ripc/schedule/steps"
	"ripc/targets/isa"
)

// windows stores what a constant has of the window of each position:
//
//	rows h.o (parallel) > [pad] [bits of windows] > rows h.i > positions w.o > [positions w.i] words of channels
func windows() Strategy {
	return Strategy{
		Name: "window", Text: "look up the levels of all filters by the bits of a window, several positions written out",
		Applies: func(l *Layer) (bool, string) { return l.found, "its output is not looked up" },
		Knobs: func(l *Layer) []Knob {
			w := l.out.extent(ir.Col)
			ks := []Knob{
				rowsKnob(l),
				{tileW, "positions that are written out", upTo(min(w, maxWindows))},
				{lanes, "words of channels that are copied at once, at most", []int{1, 2, 4, 8, 16}},
			}
			i := l.levels()
			if i == nil {
				return ks
			}
			all := (w + i.Positions - 1) / i.Positions // of a row
			calls := slices.DeleteFunc([]int{1, 2, 4, 8}, func(n int) bool { return n >= 2*all })
			return append(ks, Knob{run, "instructions that look up levels of so many positions and are written out", calls})
		},
		build: buildWindows,
	}
}

func buildWindows(b *builder, v Values) {
	row, batch, col, words := b.out.loop(ir.Row), b.out.loop(ir.Batch), b.out.loop(ir.Col), b.out.loop(ir.Word)
	b.reorder(row, batch, col, words)
	outer, rows := b.splitLonger(row, v[tileH], schedule.TailGuard)
	b.reorder(outer, batch, rows)
	for _, n := range append([]nest{b.pad}, b.before...) {
		if n.exists() {
			b.must(steps.ComputeAt(n.buf, outer))
		}
	}
	b.pads()
	i := b.levels()
	looked := i != nil && i.Positions == v[tileW]
	if n := v[tileW] * v[run]; looked && n < b.extent(col) {
		_, col = b.splitLonger(col, n, schedule.TailShift)
	}
	calls, positions := b.splitLonger(col, v[tileW], schedule.TailShift)
	if b.extent(outer) > 1 {
		b.may(steps.Parallel(outer))
	}
	if looked && b.may(steps.Tensorize(cmp.Or(positions, col), i.Func)) {
		if positions != "" {
			b.unroll(b.find(calls))
		}
		return
	}
	b.vectorize(words, v[lanes])
	if positions != "" {
		b.unroll(b.find(positions))
	}
}

// levels is the instruction that looks up levels of one plane of neighbouring positions, each by a word of the input, which has one plane, nil where there is none or a row has fewer positions. Positions of a
// slice have words of others between them.
func (l *Layer) levels() *isa.Instr {
	if y := l.buffers[l.out.buf].Shape; y[0] > 1 || y[len(y)-1] > l.out.extent(ir.Word) {
		return nil
	}
	var table, stride, planes int
	ir.Walk(l.Func.Body, func(s ir.Stmt) bool {
		st, ok := s.(*ir.Store)
		if !ok || st.Buf != l.out.buf || !isLoad(st.Val) {
			return true
		}
		for _, ld := range loads(st.Val) {
			switch of := l.buffers[ld.Buf]; {
			case len(of.Shape) == 3: // entries, planes, words
				table = of.Shape[0]
			case len(of.Shape) == 5: // the input
				planes = of.Shape[0]
				stride = int(coefficients(ld.Idx[3])[l.out.loop(ir.Col)])
			}
		}
		return true
	})
	found := isa.Query(isa.LookUpLevels, l.Target)
	k := slices.IndexFunc(found, func(i isa.Instr) bool {
		return planes == 1 && i.Lanes == l.out.extent(ir.Word) && i.Words == table && i.Stride == stride && i.Positions <= l.out.extent(ir.Col)
	})
	if k < 0 {
		return nil
	}
	return &found[k]
}
