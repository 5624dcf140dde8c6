package ripcjson

import (
	"errors"
	"fmt"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/enum"
	"ripc/ir"
)

// coder reads the attributes of a node, or writes them. Its functions take the key of an attribute,
// its place, and the value that stands for one that is left out. They write no attribute of that
// value, unless always is set. The schema has checked names and ranges of the attributes that are
// read.
type coder struct {
	*builder
	n   *rawNode // that is read, nil while the coder writes
	at  string
	out object
}

const always = true

// write appends a member, if yes holds.
func (c *coder) write(yes bool, key string, value any) {
	if yes {
		c.out.set(key, value)
	}
}

// code reads or writes one value. read gives that of the document, and text the form in which it is
// written.
func code[T comparable](c *coder, key string, v *T, def T, keep []bool, read func(at string, def T) T,
	text func(v T) any) {
	if c.n != nil {
		*v = read(c.at+"/"+key, def)
	} else {
		c.write(*v != def || len(keep) > 0, key, text(*v))
	}
}

func plainValue[T any](v T) any { return v }

func (c *coder) number(key string, v *float64, def float64, keep ...bool) {
	code(c, key, v, def, keep, func(at string, def float64) float64 { return c.doc.number(at, def) }, plainValue[float64])
}

func (c *coder) integer(key string, v *int, def int, keep ...bool) {
	code(c, key, v, def, keep, func(at string, def int) int { return c.doc.integer(at, def) }, plainValue[int])
}

func (c *coder) pair(key string, v *[2]int, def [2]int, keep ...bool) {
	code(c, key, v, def, keep, func(at string, def [2]int) [2]int { return c.doc.pair(at, def) },
		func(v [2]int) any { return v[:] })
}

// flag is a flag that is off by default.
func (c *coder) flag(key string, v *bool) {
	code(c, key, v, false, nil, func(at string, _ bool) bool { return c.doc.flag(at) }, plainValue[bool])
}

// off is a flag that is on by default. v says that it is off.
func (c *coder) off(key string, v *bool) {
	code(c, key, v, false, nil, func(at string, _ bool) bool { return c.doc.isOff(at) },
		func(v bool) any { return !v })
}

// choice is one of an enumeration's texts.
func choice[E interface {
	comparable
	fmt.Stringer
}](c *coder, key string, v *E, def E, parse func(string) (E, error), keep ...bool) {
	code(c, key, v, def, keep, func(at string, def E) E {
		e, err := parse(c.doc.textOr(at, def.String()))
		if unknown := (*enum.Unknown)(nil); errors.As(err, &unknown) {
			c.fault(c.n, unknown.Help(), "%v", err)
		} else if err != nil {
			c.fault(c.n, "", "%v", err)
		}
		return e
	}, func(v E) any { return v.String() })
}

func (c *coder) rounding(v *scalar.Rounding) {
	choice(c, "rounding", v, scalar.HalfEven, scalar.ParseRounding)
}

// list is a list of integers. An empty one is left out, unless always is set.
func (c *coder) list(key string, v *[]int, keep ...bool) {
	if c.n != nil {
		*v = c.doc.integers(c.at + "/" + key)
	} else {
		c.write(len(*v)+len(keep) > 0, key, *v)
	}
}

// floats is a list of floats.
func (c *coder) floats(key string, v *[]float32) {
	if c.n != nil {
		*v = c.doc.floats(c.at + "/" + key)
	} else {
		c.write(len(*v) > 0, key, *v)
	}
}

// padding is the mode of a padding, or its numbers.
func (c *coder) padding(p *graph.Padding) {
	numbers := []int{p.Top, p.Bottom, p.Left, p.Right}
	if c.n != nil {
		numbers = c.doc.integers(c.at + "/padding")
	}
	switch {
	case c.n == nil && p.Mode == graph.PadExplicit:
		c.out.set("padding", numbers)
	case c.n != nil && len(numbers) == 4:
		*p = graph.Padding{Mode: graph.PadExplicit, Top: numbers[0], Bottom: numbers[1], Left: numbers[2],
			Right: numbers[3]}
	default:
		choice(c, "padding", &p.Mode, graph.PadValid, graph.ParsePaddingMode, always)
	}
}

// taps are dilations and groups, 0 where they are left out.
func (c *coder) taps(dilations *[2]int, groups *int) {
	if c.n == nil {
		taps := [2]int{max(1, dilations[0]), max(1, dilations[1])}
		c.write(taps != [2]int{1, 1}, "dilations", taps[:])
		c.write(*groups > 1, "groups", *groups)
		return
	}
	c.pair("dilations", dilations, [2]int{})
	c.integer("groups", groups, 0)
}

// levels is the type of a quantizer's result, less its scale. affine says that the encoding is
// affine, whatever the zero point.
func (c *coder) levels(t *scalar.LevelType, affine bool) {
	c.integer("bits", &t.Bits, 1, always)
	if c.n == nil {
		o := levelsObject(*t)
		if affine {
			o[0].value = "affine"
		}
		c.out = append(c.out, o...)
		c.write(t.Signed, "dtype", "i8")
		return
	}
	t.Scale, t.Offset = c.doc.number(c.at+"/scale", unitScale(t.Bits)), c.doc.number(c.at+"/offset", 0)
	var err error
	if t.Enc, t.Zero, err = c.encoding(c.at, ir.Unipolar); err != nil {
		c.fault(c.n, "add encoding: affine, or remove it", "%v", err)
	}
	if c.doc.text(c.at+"/dtype") == "i8" {
		if t.Signed, t.Zero = true, t.Zero+128; t.Bits != 8 || c.doc.text(c.at+"/encoding") != "affine" {
			c.fault(c.n, "use dtype u8, or encoding affine and bits 8", "dtype i8 for other than affine levels of 8 bits")
		}
	}
}

// levelsObject is encoding, zero point and offset: where levels are signed, the zero point is that
// of the values that the caller sees.
func levelsObject(t scalar.LevelType) object {
	o := object{{"encoding", t.Enc.String()}}
	if zero := t.Zero - graph.CallerZero(t); t.Signed || zero != 0 {
		o = object{{"encoding", "affine"}, {"zero_point", zero}}
	}
	if t.Offset != 0 {
		o.set("offset", t.Offset)
	}
	return o
}

// binary is the type of few-bit weights.
func (c *coder) binary(to **graph.BinaryAttrs) {
	if c.n != nil && graph.Bitserial(c.n.op) {
		*to = &graph.BinaryAttrs{}
	}
	if *to == nil {
		return
	}
	a, scale := *to, graph.ScaleMean
	if c.n == nil {
		bits := max(1, a.Bits)
		c.write(!a.OneBit(), "weight_encoding", a.Enc.String())
		c.write(!a.OneBit(), "weight_bits", bits)
		c.write(!a.OneBit() && a.Zero != 0, "weight_zero_point", a.Zero)
	} else {
		enc, bits := graph.BipolarWeights, 1
		choice(c, "weight_encoding", &enc, enc, graph.ParseWeightEncoding)
		if c.integer("weight_bits", &bits, 1); enc != graph.BipolarWeights || bits > 1 {
			a.Enc, a.Bits = enc, bits
			if c.integer("weight_zero_point", &a.Zero, 0); enc != graph.TernaryWeights {
				scale = graph.ScaleMax
			}
		}
	}
	choice(c, "weight_scale", &a.WeightScale, scale, graph.ParseWeightScale, always)
	c.flag("weight_offset", &a.Offset)
}

// result is the type of the levels that an integer op makes, and the least and the greatest of
// them.
func (c *coder) result(t *scalar.LevelType, low, high *int) {
	if c.n == nil {
		zero := graph.CallerZero(*t)
		c.write(t.Zero != zero, "zero_point", t.Zero-zero)
		c.write(t.Signed, "dtype", "i8")
		c.out.set("scale", t.Scale)
		c.write(*low != 0 || *high != t.Top(), "range", []int{*low - zero, *high - zero})
		return
	}
	*t = scalar.LevelType{Enc: ir.Unipolar, Bits: 8, Scale: c.doc.number(c.at+"/scale", 1),
		Zero: c.doc.integer(c.at+"/zero_point", 0), Signed: c.doc.text(c.at+"/dtype") == "i8"}
	zero := graph.CallerZero(*t)
	t.Zero += zero
	*low, *high = 0, t.Top()
	if r := c.doc.integers(c.at + "/range"); len(r) == 2 {
		*low, *high = r[0]+zero, r[1]+zero
	}
}

// wholeResult is result of all levels.
func (c *coder) wholeResult(t *scalar.LevelType) {
	low, high := 0, t.Top()
	c.result(t, &low, &high)
}

// intPair are the common attributes of ops of two tensors of levels.
func (c *coder) intPair(p *graph.IntPair) {
	choice(c, "requantize", &p.Form, graph.FloatRequantization, graph.ParseRequantization, always)
	c.result(&p.LevelType, &p.Low, &p.High)
}

// requantization is that of an integer layer.
func (c *coder) requantization(to **graph.IntegerAttrs) {
	if c.n != nil && (c.n.op == "int_conv2d" || c.n.op == "int_dense") {
		*to = &graph.IntegerAttrs{}
	}
	if *to == nil {
		return
	}
	a := *to
	choice(c, "requantize", &a.Form, graph.NoRequantization, graph.ParseRequantization)
	if a.Form == graph.NoRequantization {
		for _, key := range []string{"zero_point", "dtype", "scale", "range", "count", "coarse"} {
			if c.n == nil {
				break
			}
			if _, given := c.doc.values[c.at+"/"+key]; given {
				c.fault(c.n, "add requantize, or remove it", "attrs.%s is that of levels, but the sums stay f32", key)
			}
		}
		return
	}
	c.result(&a.LevelType, &a.Low, &a.High)
	c.integer("count", &a.Count, 0)
	if c.flag("coarse", &a.Coarse); c.n != nil && (a.Count > 0) != (a.Form == graph.MeanRequantization) {
		c.fault(c.n, "a mean divides by count, and nothing else does", "count %d with requantize %s", a.Count, a.Form)
	}
}
