package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/schedule"
	"ripc/schedule/steps"
)

// plain schedules what has no sums over windows: rows in parallel, channels in vectors.
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

// maxWindow is the longest side of a window that is written out.
const maxWindow = 4

func buildPlain(b *builder, v Values) {
	row, batch := b.out.loops[ir.Row], b.out.loops[ir.Batch]
	planes := b.out.loops[ir.Plane] != nil // one after the other
	if row != nil && batch != nil && row.Extent > 1 && !planes {
		b.reorder(row.Var, batch.Var)
		outer := row.Var
		if before := b.beforeRows(); len(before) > 0 {
			outer, _ = b.splitLonger(row.Var, shareOfRows(b.Target, row.Extent), schedule.TailGuard)
			for _, buf := range before {
				b.must(steps.ComputeAt(buf, outer))
			}
		}
		b.may(steps.Parallel(outer))
	}
	b.runs(v["lanes"])
	for _, l := range on(b.serial(b.writtenBuffers()...), ir.Channel, ir.Word, ir.Bit) {
		switch {
		case !innermost(l):
		case !arith.Scattered(l):
			b.vectorize(l.Var, v["lanes"])
		case l.Axis == ir.Channel && l.Extent >= ir.U32.Bits():
			// Channels that are read from words are cut at the words, so that all lanes read the same one.
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
	windows := on(b.serial(b.writtenBuffers()...), ir.TapRow, ir.TapCol, ir.Reduce)
	for i := len(windows) - 1; i >= 0; i-- { // from the inside
		if l := windows[i]; l.Extent <= maxWindow && !innermost(l) {
			b.unroll(l)
		}
	}
}

// beforeRows are the buffers of which rows are filled before those of the output, which reads them.
func (b *builder) beforeRows() []string {
	nests := nestsOf(b.f, map[string]bool{})
	return slices.DeleteFunc(allocs(b.f.Body), func(buf string) bool {
		return nests[buf].loops[ir.Row] == nil || nests[buf].loops[ir.Row] == b.out.loops[ir.Row]
	})
}

// runs cuts runs of words that are each what a window has into vectors, which then go through their windows together. The last one
// overlaps the one before.
func (b *builder) runs(lanes int) {
	for _, l := range on(b.serial(b.writtenBuffers()...), ir.Word) {
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

// last is the last statement of a body.
func last(s ir.Stmt) ir.Stmt {
	if bl, ok := s.(*ir.Block); ok && len(bl.Stmts) > 0 {
		return bl.Stmts[len(bl.Stmts)-1]
	}
	return s
}

// writtenBuffers lists the buffers that the Func writes.
func (b *builder) writtenBuffers() []string { return sortedKeys(written(b.f.Body)) }
