package ops

import (
	"fmt"

	"ripc/ir"
	"ripc/ir/graph"
)

// epilogue adds the nest that turns accumulators into the output, and the parameters it needs.
func (c *conv) epilogue(acc ir.Buffer, slice Slice) ir.Buffer {
	e := c.a.Epilogue
	if e.OutBits == 0 {
		return c.storeFloat(acc, slice)
	}
	shape := []int{c.batch, c.ph, c.pw, c.a.Out}
	y := BitBuffer("y", e.OutBits, shape, e.OutEnc)
	words := Words(c.a.Out)
	if slice.Total > 0 {
		y.Shape[4], y.Enc.Channels = slice.Total, slice.Total*WordBits
	}
	outer := loops("", "b", c.batch, "h", c.ph, "w", c.pw, "q", words)
	i := vars(outer)
	o := add(mul(i[3], ir.Int(WordBits)), ir.V("l"))
	at := c.sum(acc, i[0], i[1], i[2], o)
	var bits []ir.Expr
	switch {
	case e.Thresholds != nil:
		bits = c.thresholdBits(at, o)
	case e.Shift != nil:
		bits = c.shiftBits(at, o)
	default:
		bits = c.levelBits(at, o)
	}
	if e.OutEnc == ir.BipolarInv {
		for n, bit := range bits {
			bits[n] = ir.Bin(ir.Xor, bit, ir.Const(ir.Bool, 1))
			if c.a.Out%WordBits != 0 {
				bits[n] = ir.Bin(ir.And, bits[n], ir.Bin(ir.Lt, o, ir.Int(c.a.Out)))
			}
		}
	}
	var zero, or []ir.Stmt
	for n, bit := range bits {
		idx := []ir.Expr{ir.Int(n), i[0], i[1], i[2], add(i[3], ir.Int(slice.Offset))}
		zero = append(zero, set(y, ir.Const(ir.U32, 0), idx...))
		or = append(or, update(ir.OrTo, y, packBit(bit, ir.V("l")), idx...))
	}
	body := ir.Seq(append(zero, ir.Nest(loops("", "l", WordBits), ir.Seq(or...)))...)
	c.nests = append(c.nests, ir.Nest(outer, body))
	return y
}

// sum is the accumulator that the epilogue reads; pooled ones are corrected for padding already.
func (c *conv) sum(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr {
	if c.a.Pool != nil {
		return ir.At(acc, b, h, w, o)
	}
	return c.raw(acc, b, h, w, o)
}

// packBit is bit shifted to its place in a word.
func packBit(bit, l ir.Expr) ir.Expr {
	return ir.Bin(ir.Shl, ir.CastTo(ir.U32, bit), ir.CastTo(ir.U32, l))
}

// thermometer turns "level >= j", j = 1..2^n-1, into the bits of level: bit k flips at every multiple of 2^k.
func thermometer(atLeast []ir.Expr, bits int) []ir.Expr {
	out := make([]ir.Expr, bits)
	for k := range out {
		for j := 1 << k; j <= len(atLeast); j += 1 << k {
			if out[k] == nil {
				out[k] = atLeast[j-1]
			} else {
				out[k] = ir.Bin(ir.Xor, out[k], atLeast[j-1])
			}
		}
	}
	return out
}

func (c *conv) thresholdBits(p, o ir.Expr) []ir.Expr {
	t := buf("t", ir.I32, len(c.a.Epilogue.Thresholds), c.o)
	c.params = append(c.params, in(t))
	var ge []ir.Expr
	for j := range c.a.Epilogue.Thresholds {
		ge = append(ge, ir.Bin(ir.Le, p, ir.At(t, ir.Int(j), o)))
	}
	return thermometer(ge, c.a.Epilogue.OutBits)
}

// dot is the integer dot product that belongs to raw popcount p.
func (c *conv) dot(p, o ir.Expr) ir.Expr {
	base := buf("base", ir.I32, c.o)
	c.params = append(c.params, in(base))
	return sub(ir.At(base, o), mul(p, ir.Const(ir.I32, int64(c.a.DotMul))))
}

func (c *conv) shiftBits(p, o ir.Expr) []ir.Expr {
	e := c.a.Epilogue
	v := c.dot(p, o)
	param := func(name string) ir.Expr {
		b := buf(name, ir.I32, c.o)
		c.params = append(c.params, in(b))
		return ir.At(b, o)
	}
	v = add(v, param("add"))
	if e.Shift.Left != nil {
		v = ir.Bin(ir.Shl, v, param("left"))
	}
	v = ir.Bin(ir.Shr, v, param("right"))
	v = ir.Bin(ir.Max, ir.Bin(ir.Min, v, ir.Const(ir.I32, int64(1)<<e.OutBits-1)), ir.Const(ir.I32, 0))
	return bitsOf(v, e.OutBits)
}

// bitsOf are the bits of an i32 level, least significant first.
func bitsOf(level ir.Expr, bits int) []ir.Expr {
	var out []ir.Expr
	for n := range bits {
		b := ir.Bin(ir.And, level, ir.Const(ir.I32, int64(1)<<n))
		out = append(out, ir.Bin(ir.Ne, b, ir.Const(ir.I32, 0)))
	}
	return out
}

func (c *conv) levelBits(acc, o ir.Expr) []ir.Expr {
	e := c.a.Epilogue
	v := c.steps(acc, o)
	var ge []ir.Expr
	for _, l := range e.Levels {
		ge = append(ge, ir.Bin(ir.Ge, v, ir.Float(l)))
	}
	if e.LevelRows != nil {
		rows := buf("lv", ir.F32, len(e.LevelRows), c.o)
		c.params = append(c.params, in(rows))
		for j := range e.LevelRows {
			ge = append(ge, ir.Bin(ir.Ge, v, ir.At(rows, ir.Int(j), o)))
		}
	}
	bits := thermometer(ge, e.OutBits)
	if c.o != c.a.Out { // padding channels give 0 bits whatever the steps make of their zeros
		for i := range bits {
			bits[i] = ir.Bin(ir.And, bits[i], ir.Bin(ir.Lt, o, ir.Int(c.a.Out)))
		}
	}
	return bits
}

// steps applies the float steps to an accumulator, with per-channel operands as parameters s0, s1, ...
func (c *conv) steps(acc, o ir.Expr) ir.Expr {
	v := acc
	if c.binary {
		v = ir.CastTo(ir.F32, c.dot(acc, o))
	}
	n := 0
	vec := func() ir.Expr {
		b := buf(fmt.Sprintf("s%d", n), ir.F32, c.o)
		n++
		c.params = append(c.params, in(b))
		return ir.At(b, o)
	}
	for _, s := range c.a.Epilogue.Steps {
		v = applyStep(s, v, vec)
	}
	return v
}

// applyStep is one float step on v; vec gives its operands, in order.
func applyStep(s graph.FloatStep, v ir.Expr, vec func() ir.Expr) ir.Expr {
	switch s.Kind {
	case "mul":
		return mul(v, vec())
	case "div":
		return ir.Bin(ir.Div, v, vec())
	case "add":
		return add(v, vec())
	case "fma":
		a := vec()
		return &ir.Fma{A: v, B: a, C: vec()}
	case "relu":
		return ir.Bin(ir.Max, v, ir.Float(0))
	case "relu6":
		return clip(v, 0, 6)
	case "hard_tanh":
		return clip(v, -1, 1)
	case "clip":
		return clip(v, s.Lo, s.Hi)
	case "prelu":
		return &ir.Fma{A: ir.Bin(ir.Min, v, ir.Float(0)), B: vec(), C: ir.Bin(ir.Max, v, ir.Float(0))}
	case "round":
		return Round(s.Mode, v)
	case "sign":
		negative := &ir.Select{Cond: ir.Bin(ir.Lt, v, ir.Float(0)), A: ir.Float(-1), B: ir.Float(0)}
		return &ir.Select{Cond: ir.Bin(ir.Gt, v, ir.Float(0)), A: ir.Float(1), B: negative}
	}
	panic("BUG: unknown step " + s.Kind)
}

// clip is min(max(v, lo), hi).
func clip(v ir.Expr, lo, hi float32) ir.Expr {
	return ir.Bin(ir.Min, ir.Bin(ir.Max, v, ir.Float(lo)), ir.Float(hi))
}

func (c *conv) storeFloat(acc ir.Buffer, slice Slice) ir.Buffer {
	y := buf("y", ir.F32, c.batch, c.ph, c.pw, c.o)
	if slice.Total > 0 {
		y.Shape[3] = slice.Total
	}
	outer := loops("", "b", c.batch, "h", c.ph, "w", c.pw, "o", c.o)
	i := vars(outer)
	v := c.steps(c.sum(acc, i[0], i[1], i[2], i[3]), i[3])
	c.nests = append(c.nests, ir.Nest(outer, set(y, v, i[0], i[1], i[2], add(i[3], ir.Int(slice.Offset)))))
	return y
}

// ConvConsts are the constants of Conv's parameters between x and y, in order: little-endian element values.
func ConvConsts(op string, a *graph.FusedConv) []any {
	o := a.Out
	if a.Epilogue.OutBits > 0 {
		o = Words(a.Out) * WordBits
	}
	var cs []any
	binary := op == "bconv2d"
	if binary {
		cs = append(cs, padLast(a.WBits, a.Out, o, 0))
		if a.Masked() {
			var mask []uint32
			for q := range a.GroupWords() {
				for k := range o {
					mask = append(mask, 0)
					if k < a.Out {
						mask[len(mask)-1] = a.Mask(q, k)
					}
				}
			}
			cs = append(cs, mask)
		}
		if a.PadCorr != nil {
			cs = append(cs, padLast(a.PadCorr.Corr, a.Out, o, 0))
		}
	} else {
		cs = append(cs, padLast(a.WFloat, a.Out, o, 0))
		if a.Bias != nil {
			cs = append(cs, padLast(a.Bias, a.Out, o, 0))
		}
	}
	e := a.Epilogue
	if e.Thresholds != nil {
		var t []int32
		for _, row := range e.Thresholds {
			t = append(t, padLast(row, a.Out, o, -1)...) // popcounts are never <= -1: padding bits stay 0
		}
		return append(cs, t)
	}
	if binary {
		cs = append(cs, padLast(a.DotBase, a.Out, o, 0))
	}
	if s := e.Shift; s != nil {
		cs = append(cs, padLast(s.Add, a.Out, o, -1)) // (0 - 1) >> r is negative: level 0
		if s.Left != nil {
			cs = append(cs, padLast(s.Left, a.Out, o, 0))
		}
		return append(cs, padLast(s.Right, a.Out, o, 0))
	}
	for _, s := range e.Steps {
		for _, v := range s.Vectors() {
			cs = append(cs, padLast(v, a.Out, o, 0))
		}
	}
	if e.LevelRows != nil {
		var rows []float32
		for _, row := range e.LevelRows {
			rows = append(rows, padLast(row, a.Out, o, 0)...)
		}
		cs = append(cs, rows)
	}
	return cs
}

// padLast widens rows of length from to length to.
func padLast[T any](v []T, from, to int, fill T) []T {
	if from == to {
		return v
	}
	out := make([]T, 0, len(v)/from*to)
	for i := 0; i < len(v); i += from {
		out = append(out, v[i:i+from]...)
		for range to - from {
			out = append(out, fill)
		}
	}
	return out
}
