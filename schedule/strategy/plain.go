package strategy

import (
	"ripc/ir"
	"ripc/ir/arith"
)

// plain schedules what has no sums over windows: rows in parallel, channels in vectors.
func plain() Strategy {
	return Strategy{
		Name: "plain", Text: "rows in parallel, channels in vectors",
		Applies: func(l *Layer) (bool, string) { return !l.sum.exists(), "it adds up over windows" },
		Knobs: func(*Layer) []Knob {
			return []Knob{
				{"lanes", "channels in a vector at most", []int{4, 8, 16, 32, maxVector}, maxVector},
				{"unroll", "write small windows out", []int{0, 1}, 1},
			}
		},
		Cost:  func(*Layer, Values) float64 { return 0 },
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
		b.may("parallel %s", row.Var)
	}
	for _, l := range on(b.serial(b.buffers()...), ir.Channel, ir.Word, ir.Bit) {
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
	windows := on(b.serial(b.buffers()...), ir.TapRow, ir.TapCol, ir.Reduce)
	for i := len(windows) - 1; i >= 0; i-- { // from the inside
		if l := windows[i]; l.Extent <= maxWindow && !innermost(l) {
			b.unroll(l)
		}
	}
}

// buffers are all that the Func writes.
func (b *builder) buffers() []string { return sortedKeys(written(b.f.Body)) }
