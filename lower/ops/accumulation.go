package ops

import (
	"fmt"
	"math"
	"slices"

	"ripc/ir"
	"ripc/lower/layout"
)

// accumulation makes the nests of a family of algorithms (layout.Accumulation): copies of the input in the form that is
// added up, and accumulators. Epilogues ask it what an accumulator stands for.
type accumulation interface {
	// name is that of the Func of a layer of a size.
	name(size string) string
	// output adds the nests that make the output of x, and the parameters that they need.
	output(x ir.Buffer, slice Slice) ir.Buffer
	// accumulate adds the nests of the accumulators of x.
	accumulate(x ir.Buffer) ir.Buffer
	// sumType is the type of an accumulator.
	sumType() ir.Type
	// element is the accumulator at a position.
	element(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr
	// raw is the accumulator at a position, corrected where padding stands for exact zeros.
	raw(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr
	// largest keeps the accumulator of the largest sum.
	largest() ir.StoreOp
	// thresholds are those of channel o at position i, and how an accumulator reaches one; those of channels that only
	// fill words are never reached.
	thresholds(i []ir.Expr, o ir.Expr) (threshold func(j int) ir.Expr, reached ir.BinOp)
	// sum is the i32 sum that belongs to accumulator p.
	sum(p, o ir.Expr) ir.Expr
	// real is the f32 sum that belongs to accumulator p.
	real(p, o ir.Expr) ir.Expr
}

// newAccumulation makes the nests of c by a.
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

// summed makes the output of accumulators: the largest of each window of a pool, then the epilogue.
func (c *conv) summed(x ir.Buffer, slice Slice) ir.Buffer {
	acc := c.sums.accumulate(x)
	if c.Pool != nil {
		acc = c.pool(acc)
	}
	return c.epilogue(acc, slice)
}

// accumulators adds the buffer of accumulators of type t, and gives the loops over it.
func (c *conv) accumulators(t ir.Type) (acc ir.Buffer, outer []ir.Loop) {
	acc = made(ir.RoleSum, "acc", t, c.batch, c.oh, c.ow, c.o)
	c.bufs = append(c.bufs, acc)
	return acc, loops("acc.", over(ir.Batch, "b", c.batch), over(ir.Row, "h", c.oh), over(ir.Col, "w", c.ow), over(ir.Channel, "o", c.o))
}

// integers is of accumulations whose accumulators are integers, of which line makes the sums.
type integers struct {
	*conv
	line *layout.Line
	// row is the number of the row of thresholds (layout.Line.Chosen) at position i.
	row func(i []ir.Expr) ir.Expr
}

func (c *integers) output(x ir.Buffer, slice Slice) ir.Buffer { return c.summed(x, slice) }

func (c *integers) element(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr { return ir.At(acc, b, h, w, o) }

func (c *integers) raw(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr {
	return c.corrected(c.widened(c.sums.element(acc, b, h, w, o)), h, w, o)
}

// widened is accumulator p in 32 bits, where it is corrected or pooled.
func (c *integers) widened(p ir.Expr) ir.Expr {
	if c.line.Padding != nil || c.Pool != nil {
		return ir.CastTo(ir.I32, p)
	}
	return p
}

// corrected is p with what its class of positions lacks.
func (c *integers) corrected(p, h, w, o ir.Expr) ir.Expr {
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

// short says that accumulators are compared in the type in which they are added up, of which more fit a vector than of 32
// bits: they are corrected by nothing.
func (c *integers) short() bool {
	return c.Pool == nil && c.line.Padding == nil && c.sums.sumType() != ir.I32
}

// thresholds of levels of several bits compare by < only: of <= LLVM makes > where a comparison chooses a threshold, and
// computes both.
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
	case k.Rising && c.short() && sums == ir.I16:
		t, reached = constant(c.conv, "t", ir.I16, limitsInShort(limits), math.MaxInt16, dims...), ir.Ge
	case k.Rising:
		t, reached = constant(c.conv, "t", ir.I32, limits, math.MaxInt32, dims...), ir.Ge
	case c.short() && sums == ir.U8:
		t, reached = constant(c.conv, "t", ir.U8, limitsAbove[uint8](limits), 0, dims...), ir.Lt
	case c.short():
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

// limitsInShort are thresholds of sums that are less than the largest i16, which reach what is below all i16, and nothing that is above.
func limitsInShort(thresholds []int32) []int16 {
	out := make([]int16, len(thresholds))
	for i, v := range thresholds {
		out[i] = int16(max(math.MinInt16, min(v, math.MaxInt16)))
	}
	return out
}

// limitsAbove are the least counts that reach no threshold, of counts that are less than what T holds.
func limitsAbove[T uint8 | uint16](thresholds []int32) []T {
	out := make([]T, len(thresholds))
	for i, v := range thresholds {
		out[i] = T(min(v, int32(^T(0))-1) + 1)
	}
	return out
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
	return c.added(v, k.Add, o)
}

func (c *integers) real(p, o ir.Expr) ir.Expr { return ir.CastTo(ir.F32, c.sums.sum(p, o)) }

// added is v with what a layer adds to the sums of channel o; data is nil where it adds nothing.
func (c *conv) added(v ir.Expr, data []int32, o ir.Expr) ir.Expr {
	if data == nil {
		return v
	}
	return add(v, ir.At(constant(c, "add", ir.I32, data, 0), o))
}
