package ops

import (
	"fmt"
	"math"
	"slices"

	"ripc/ir"
	"ripc/lower/layout"
)

// counting adds up counts of bits of words.
type counting struct {
	integers
	k     *layout.Counts
	words ir.Buffer // of words that are counted
}

func newCounting(c *conv, k *layout.Counts) *counting {
	n := &counting{integers: integers{conv: c, line: &k.Line}, k: k}
	n.row = n.residualRow
	return n
}

func (c *counting) name(size string) string {
	return fmt.Sprintf("bconv2d_a%dw%d_%s%s", c.k.Planes, len(c.k.Coefs), size, c.k.Counted.Suffix())
}

// sumType is the narrowest type that holds the accumulators of narrow words and one more, with
// which thresholds say that they are always reached.
func (c *counting) sumType() ir.Type {
	if c.k.Most == 0 {
		return ir.I32
	}
	return narrowest(c.k.Most)
}

// narrowest is the type of accumulators up to most, and of one more.
func narrowest(most int) ir.Type {
	switch {
	case most < math.MaxUint8:
		return ir.U8
	case most < math.MaxUint16:
		return ir.U16
	}
	return ir.I32
}

func (c *counting) accumulate(x ir.Buffer) ir.Buffer {
	k, t := c.k, c.sumType()
	wt := c.weights()
	c.words = c.windowWords(x)
	acc, outer := c.accumulators(t)
	i := vars(outer)
	red := loops("acc.", loop(ir.TapRow, "kh", k.Rows), loop(ir.TapCol, "kw", k.Cols), loop(ir.Reduce, "c", k.Words))
	if len(k.Coefs) > 1 {
		red = append(red, ir.Loop{Var: "acc.m", Extent: len(k.Coefs), Axis: ir.WeightPlane})
	}
	plane := sub(ir.Int(k.Planes-1), ir.V("acc.n"))
	xv := c.windowWord(plane, i, ir.V("acc.kh"), ir.V("acc.kw"), ir.V("acc.c"))
	wv := ir.At(wt, append(vars(red), i[3])...)
	differ := ir.Bin(ir.Xor, xv, wv)
	if k.Ones {
		differ = ir.Bin(ir.And, xv, wv)
	}
	bits := c.times(ir.CastTo(t, ir.Un(ir.Popcount, differ)))
	body := ir.Nest(red, update(ir.AddTo, acc, bits, i...))
	if k.Planes > 1 {
		double := set(acc, add(ir.At(acc, i...), ir.At(acc, i...)), i...)
		body = ir.Nest(loops("acc.", loop(ir.Plane, "n", k.Planes)), ir.Seq(double, body))
	} else {
		body = ir.SubstStmt(body, map[string]ir.Expr{"acc.n": ir.Int(0)})
	}
	c.nests = append(c.nests, ir.Nest(outer, ir.Seq(set(acc, ir.Const(t, 0), i...), body)))
	return acc
}

// weights adds the parameter of the weights.
func (c *counting) weights() ir.Buffer {
	k := c.k
	dims := []int{k.Rows, k.Cols, k.Words}
	switch {
	case k.Counted.Bits == 8:
		return weights(c.conv, "wt", ir.U8, func() []uint8 { return narrowed[uint8](k.Weights()) }, 0, dims...)
	case k.Counted.Bits == 16:
		return weights(c.conv, "wt", ir.U16, func() []uint16 { return narrowed[uint16](k.Weights()) }, 0, dims...)
	case len(k.Coefs) > 1:
		dims = append(dims, len(k.Coefs))
	}
	return weights(c.conv, "wt", ir.U32, k.Weights, 0, dims...)
}

// padInput is x with the level of its padding.
func (c *counting) padInput(x ir.Buffer) ir.Buffer {
	return c.conv.padInput(x, func(i []ir.Expr) ir.Expr {
		return levelWord(c.In, c.k.Planes, c.k.PadLevel, i[0], i[len(i)-1])
	})
}

// times is a popcount times the factor of weight plane acc.m.
func (c *counting) times(bits ir.Expr) ir.Expr {
	coefs := c.k.Coefs
	powers := func(cs []int32) bool {
		for m, v := range cs {
			if v != 1<<m {
				return false
			}
		}
		return true
	}
	m := ir.V("acc.m")
	last := len(coefs) - 1
	switch {
	case !slices.ContainsFunc(coefs, func(v int32) bool { return v != 1 }):
		return bits
	case powers(coefs):
		return ir.Bin(ir.Shl, bits, ir.CastTo(ir.I32, m))
	case powers(coefs[:last]):
		f := &ir.Select{Cond: ir.Bin(ir.Lt, m, ir.Int(last)),
			A: ir.Bin(ir.Shl, ir.Const(ir.I32, 1), ir.CastTo(ir.I32, ir.Bin(ir.Min, m, ir.Int(last-1)))),
			B: ir.Const(ir.I32, int64(coefs[last]))}
		return mul(bits, f)
	}
	panic(fmt.Sprintf("BUG: weight planes with factors %v", coefs))
}
