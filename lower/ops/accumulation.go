package ops

import (
	"fmt"
	"math"
	"slices"

	"ripc/internal/lists"
	"ripc/ir"
	"ripc/lower/layout"
)

// accumulation makes the nests of a family of algorithms (layout.Accumulation): repacked copies of
// the input, and accumulators. Epilogues ask it for the sum that an accumulator represents.
type accumulation interface {
	// name returns the name of the Func of a layer of a size.
	name(size string) string
	// output adds the nests of the output of x, and the parameters that they need.
	output(x ir.Buffer, slice Slice) ir.Buffer
	// accumulate adds the nests of the accumulators of x.
	accumulate(x ir.Buffer) ir.Buffer
	// sumType is the type of an accumulator.
	sumType() ir.Type
	// element returns the accumulator at a position.
	element(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr
	// raw returns the accumulator at a position, corrected where padding stands for exact zeros.
	raw(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr
	// largest is the store that keeps the accumulator of the largest sum.
	largest() ir.StoreOp
	// thresholds returns the thresholds of channel o at position i, and the comparison by which an
	// accumulator reaches one. Channels that only fill words reach none.
	thresholds(i []ir.Expr, o ir.Expr) (threshold func(j int) ir.Expr, reached ir.BinOp)
	// sum returns the i32 sum of accumulator p.
	sum(p, o ir.Expr) ir.Expr
	// real returns the f32 sum of accumulator p.
	real(p, o ir.Expr) ir.Expr
}

// newAccumulation returns the nests of c by algorithm a.
func newAccumulation(c *conv, a layout.Accumulation) accumulation {
	switch a := a.(type) {
	case *layout.Counts:
		return newCounting(c, a)
	case *layout.Tables:
		l := &lookups{newCounting(c, a.Counts), a}
		if a.Across != nil {
			return &across{l}
		}
		return l
	case *layout.Dots:
		return newDots(c, a)
	case *layout.FloatSums:
		return &floatSums{c, a}
	}
	panic(fmt.Sprintf("BUG: no nests for %T", a))
}

// outputOfSums makes the output from accumulators: a pool's windows, then the epilogue.
func (c *conv) outputOfSums(x ir.Buffer, slice Slice) ir.Buffer {
	acc := c.sums.accumulate(x)
	if c.Pool != nil {
		acc = c.pool(acc)
	}
	return c.epilogue(acc, slice)
}

// accumulators adds the buffer of accumulators of type t, and returns it with the loops over it.
func (c *conv) accumulators(t ir.Type) (acc ir.Buffer, outer []ir.Loop) {
	acc = allocBuffer(ir.RoleSum, "acc", t, c.sumShape()...)
	c.bufs = append(c.bufs, acc)
	outer, _ = image("acc.", acc.Shape, "o")
	return acc, outer
}

// integers is the base of accumulations with integer accumulators; line turns them into sums.
type integers struct {
	*conv
	line *layout.Line
	// row returns the row of thresholds (layout.Line.Chosen) at position i.
	row func(i []ir.Expr) ir.Expr
}

func (c *integers) output(x ir.Buffer, slice Slice) ir.Buffer { return c.outputOfSums(x, slice) }

func (c *integers) element(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr { return ir.At(acc, b, h, w, o) }

func (c *integers) raw(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr {
	return c.correct(c.widen(c.sums.element(acc, b, h, w, o)), h, w, o)
}

// widen casts accumulator p to 32 bits where it is corrected or pooled.
func (c *integers) widen(p ir.Expr) ir.Expr {
	if c.line.Padding != nil || c.Pool != nil {
		return ir.CastTo(ir.I32, p)
	}
	return p
}

// correct adds the correction of its border class to p.
func (c *integers) correct(p, h, w, o ir.Expr) ir.Expr {
	k := c.line.Padding
	if k == nil {
		return p
	}
	if k.Twice {
		p = add(p, p)
	}
	return sub(p, classed(c.conv, "corr", ir.I32, k.Sums, k.Rows, k.Cols, h, w, o))
}

func (c *integers) largest() ir.StoreOp {
	if c.line.Rising {
		return ir.MaxTo
	}
	return ir.MinTo
}

// comparesNarrow reports whether accumulators are compared in their own narrow type, so that a
// vector holds more of them. Pools and corrections need 32 bits.
func (c *integers) comparesNarrow() bool {
	return c.Pool == nil && c.line.Padding == nil && c.sums.sumType() != ir.I32
}

// thresholds of several bits compare by < only. LLVM turns <= into > where a comparison selects a
// threshold, and then computes both.
func (c *integers) thresholds(i []ir.Expr, o ir.Expr) (threshold func(j int) ir.Expr, reached ir.BinOp) {
	var t ir.Buffer
	k, dims, at := c.line, []int{len(c.Epilogue.Thresholds)}, []ir.Expr{o}
	if k.Classes != nil {
		rows, cols := k.Classes.Rows, k.Classes.Cols
		dims, at = append(dims, rows.Count(), cols.Count()), []ir.Expr{class(i[1], rows), class(i[2], cols), o}
	}
	if k.Chosen > 0 {
		dims, at = slices.Insert(dims, 1, k.Chosen), slices.Insert(at, 0, c.row(i))
	}
	limits := slices.Concat(k.Thresholds...)
	switch sums := c.sums.sumType(); {
	case k.Rising && c.comparesNarrow() && sums == ir.I16:
		t, reached = constant(c.conv, "t", ir.I16, limitsInShort(limits), math.MaxInt16, dims...), ir.Ge
	case k.Rising:
		t, reached = constant(c.conv, "t", ir.I32, limits, math.MaxInt32, dims...), ir.Ge
	case c.comparesNarrow() && sums == ir.U8:
		t, reached = constant(c.conv, "t", ir.U8, limitsAbove[uint8](limits), 0, dims...), ir.Lt
	case c.comparesNarrow():
		t, reached = constant(c.conv, "t", ir.U16, limitsAbove[uint16](limits), 0, dims...), ir.Lt
	case c.Epilogue.OutBits > 1:
		for i := range limits {
			limits[i]++
		}
		t, reached = constant(c.conv, "t", ir.I32, limits, 0, dims...), ir.Lt
	default:
		t, reached = constant(c.conv, "t", ir.I32, limits, -1, dims...), ir.Le
	}
	return func(j int) ir.Expr { return ir.At(t, append([]ir.Expr{ir.Int(j)}, at...)...) }, reached
}

// limitsInShort clamps thresholds to i16. Sums are less than the largest i16: all reach the least
// threshold, and none the largest.
func limitsInShort(thresholds []int32) []int16 {
	return lists.Map(thresholds, func(v int32) int16 { return int16(max(math.MinInt16, min(v, math.MaxInt16))) })
}

// limitsAbove returns the least counts that miss each threshold. Counts are less than the largest
// T.
func limitsAbove[T uint8 | uint16](thresholds []int32) []T {
	return lists.Map(thresholds, func(v int32) T { return T(min(v, int32(^T(0))-1) + 1) })
}

func (c *integers) sum(p, o ir.Expr) ir.Expr {
	k := c.line
	p = ir.CastTo(ir.I32, p)
	v, by := ir.Expr(ir.At(constant(c.conv, "base", ir.I32, k.Base, 0), o)), mul(p, ir.Const(ir.I32, int64(k.Mul)))
	if k.Rising {
		return add(v, by)
	}
	v = sub(v, by)
	if k.Half > 0 {
		v = ir.Bin(ir.Shr, v, ir.Const(ir.I32, int64(k.Half)))
	}
	return c.withAddend(v, k.Add, o)
}

func (c *integers) real(p, o ir.Expr) ir.Expr { return ir.CastTo(ir.F32, c.sums.sum(p, o)) }

// withAddend adds a layer's constants to v, a sum of channel o; nil data adds nothing.
func (c *conv) withAddend(v ir.Expr, data []int32, o ir.Expr) ir.Expr {
	if data == nil {
		return v
	}
	return add(v, ir.At(constant(c, "add", ir.I32, data, 0), o))
}
