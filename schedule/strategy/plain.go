package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/schedule"
	"ripc/schedule/steps"
)

// plain schedules Funcs without sums over windows: rows in parallel, channels in vectors.
func plain() Strategy {
	return Strategy{
		Name: "plain", Text: "rows in parallel, channels in vectors",
		Applies: func(l *Layer) (bool, string) { return !l.sum.exists(), "it adds up over windows" },
		Knobs: func(*Layer) []Knob {
			return []Knob{
				{lanes, "channels in a vector at most", []int{4, 8, 16, 32, maxVector}},
				{unroll, "write small windows out", []int{0, 1}},
			}
		},
		build: buildPlain,
	}
}

// maxWindow is the longest side of an unrolled window.
const maxWindow = 4

func buildPlain(b *builder, v Values) {
	row, batch := b.out.loops[ir.Row], b.out.loops[ir.Batch]
	planes := b.out.loops[ir.Plane] != nil // planes go one after the other
	if row != nil && batch != nil && row.Extent > 1 && !planes {
		b.reorder(row.Var, batch.Var)
		outer := row.Var
		if before := b.buffersByRow(); len(before) > 0 {
			outer, _ = b.splitLonger(row.Var, shareOfRows(b.Target, row.Extent), schedule.TailGuard)
			for _, buf := range before {
				b.must(steps.ComputeAt(buf, outer))
			}
		}
		b.may(steps.Parallel(outer))
	}
	b.runs(v["lanes"])
	for _, l := range loopsOf(b.serial(b.writtenBuffers()...), ir.Channel, ir.Word, ir.Bit) {
		switch {
		case !innermost(l):
		case !arith.Scattered(l):
			b.vectorize(l.Var, v["lanes"])
		case l.Axis == ir.Channel && l.Extent >= ir.U32.Bits():
			// Channels read from words are cut at the words, so that all lanes read the same word.
			_, inner, tail := b.cut(l.Var, ir.U32.Bits())
			for _, part := range []string{inner, tail} {
				if p := b.find(part); p != nil && !arith.Scattered(p) {
					b.vectorize(part, v["lanes"])
				}
			}
		}
	}
	if v["unroll"] == 0 {
		return
	}
	windows := loopsOf(b.serial(b.writtenBuffers()...), ir.TapRow, ir.TapCol, ir.Reduce)
	for i := len(windows) - 1; i >= 0; i-- { // innermost first
		if l := windows[i]; l.Extent <= maxWindow && !innermost(l) {
			b.unroll(l)
		}
	}
}

// buffersByRow lists the buffers with rows that are filled before the output's rows, which read
// them.
func (b *builder) buffersByRow() []string {
	nests := nestsOf(b.f, map[string]bool{})
	return slices.DeleteFunc(allocs(b.f.Body), func(buf string) bool {
		return nests[buf].loops[ir.Row] == nil || nests[buf].loops[ir.Row] == b.out.loops[ir.Row]
	})
}

// runs vectorizes runs of words that each go through a window, so that a vector of words goes
// through their windows together. The last vector overlaps the one before.
func (b *builder) runs(lanes int) {
	for _, l := range loopsOf(b.serial(b.writtenBuffers()...), ir.Word) {
		window, isWindow := last(l.Body).(*ir.For)
		if !isWindow || window.Axis != ir.TapRow && window.Axis != ir.TapCol {
			continue
		}
		lane := l.Var
		if n := min(lanes, b.Target.VectorBits/ir.U32.Bits()); n > 0 && l.Extent > n {
			_, lane = b.splitLonger(l.Var, n, schedule.TailShift)
		}
		b.reorder(window.Var, lane)
	}
}

// last returns the last statement of a body.
func last(s ir.Stmt) ir.Stmt {
	if bl, ok := s.(*ir.Block); ok && len(bl.Stmts) > 0 {
		return bl.Stmts[len(bl.Stmts)-1]
	}
	return s
}

// writtenBuffers lists the buffers that the Func writes.
func (b *builder) writtenBuffers() []string { return sortedKeys(written(b.f.Body)) }
