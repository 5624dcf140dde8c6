package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/schedule/steps"
	"ripc/targets"
	"ripc/targets/isa"
)

// tiles computes tiles of sums by products of matrices, which the threads of a warp share.
func tiles() Strategy {
	return Strategy{
		Name: "tiles", Text: "tiles of sums by products of matrices, and a warp for each", Machine: Device,
		Applies: func(l *Layer) (bool, string) {
			return len(l.matrixTiles()) > 0, "no product of matrices has its taps, words and channels"
		},
		Knobs: func(l *Layer) []Knob {
			rows := 0
			var columns []int
			for _, i := range l.matrixTiles() {
				rows, columns = max(rows, l.sum.extent(ir.Row)/i.Rows), append(columns, i.Positions)
			}
			return []Knob{threadsKnob(l), {tileW, "columns of a tile", slices.Compact(columns)},
				{tileH, "tiles of a block", divisorsUpTo(rows, 16)}}
		},
		build: buildTiles,
	}
}

// matrixTiles lists the products of matrices that make sums of l.
func (l *Layer) matrixTiles() []isa.Instr {
	if !l.pad.exists() || l.mean.exists() || l.pool.exists() || l.sum.extent(ir.Row) < 2 ||
		len(l.buffers[l.sum.buf].Shape) != 4 {
		return nil
	}
	meaning := isa.XorCountMatrix
	switch {
	case l.dots() && l.sumType() == ir.I32 && l.sum.extent(ir.Part) == targets.Quad:
		meaning = isa.DotMatrix
	case !l.countsDifferences:
		return nil
	}
	rows, cols, taps := l.sum.extent(ir.Row), l.sum.extent(ir.Col), l.sum.extent(ir.TapRow)
	stride := (l.pad.extent(ir.Row) - taps) / (rows - 1)
	of := loads(l.term())[0].Type()
	hasPlanes := l.sum.loops[ir.Plane] != nil
	return slices.DeleteFunc(isa.Query(meaning, l.Target), func(i isa.Instr) bool {
		return i.Func.Params[1].Type != of || i.Doubles != hasPlanes || rows%i.Rows != 0 ||
			cols%i.Positions != 0 || taps != i.Taps || l.sum.extent(ir.TapCol) != i.Taps ||
			l.sum.extent(ir.Reduce) != i.Words || l.sum.extent(ir.Channel)%i.Lanes != 0 || stride != i.Stride
	})
}

func buildTiles(b *builder, v Values) {
	all := b.matrixTiles()
	i := all[slices.IndexFunc(all, func(i isa.Instr) bool { return i.Positions == v[tileW] })]
	at, in := b.divide(b.out.loop(ir.Row), i.Rows*v[tileH])
	outer, inner := b.divide(b.out.loop(ir.Col), i.Positions)
	b.reorder(at, outer, in, inner)
	b.sumsAt(outer)
	b.placeCopies(outer)
	row, col := b.sum.loop(ir.Row), b.sum.loop(ir.Col)
	if b.find(row) == nil {
		row = b.wrapLoop(col)
	}
	high, row := b.divide(row, i.Rows)
	tile, channel := b.divide(b.sum.loop(ir.Channel), i.Lanes)
	b.reorder(b.sum.loop(ir.Plane), high, tile, row, col, channel)
	b.must(steps.Pack(b.sum.buf, i.Lanes, steps.WholeDim(0), steps.Outer(3), steps.WholeDim(1), steps.WholeDim(2),
		steps.Inner(3)))
	weights, dims := b.weights, b.weightDims
	if i.Meaning == isa.DotMatrix {
		ld := loads(b.Layer.term())[1]
		weights, dims = ld.Buf, b.Layer.sum.axesOf(ld.Idx)
	}
	order := []steps.Dim{steps.Outer(slices.Index(dims, ir.Channel))}
	for _, a := range []ir.Axis{ir.TapRow, ir.TapCol, ir.Channel, ir.Reduce, ir.Part} {
		switch at := slices.Index(dims, a); {
		case a == ir.Channel:
			order = append(order, steps.Inner(at))
		case at >= 0:
			order = append(order, steps.WholeDim(at))
		}
	}
	b.must(steps.Pack(weights, i.Lanes, order...))
	b.must(steps.Tensorize(row, i.Func))
	b.packWords()
	b.bindKernels(outer, v[threads])
}
