package ripcjson

import (
	"math"
	"sync"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// format is how models write an op: a row for each of graph.Ops that importers make. Those without
// attributes have theirs by that.
type format struct {
	// attrs gives a node's attributes, which c reads, or writes those that it is given.
	attrs func(c *coder, attrs any) any
	// weights gives the node its constants. It reports faults and returns false after any.
	weights func(w *weightReader) bool
}

// form is a row for attributes of type A; code reads or writes them.
func form[A any](code func(c *coder, a *A)) format {
	return format{attrs: func(c *coder, attrs any) any {
		if c.n != nil {
			attrs = new(A)
		}
		code(c, attrs.(*A))
		return attrs
	}, weights: func(*weightReader) bool { return true }}
}

// empty is a row for attributes that are all left out.
func empty[A any]() format { return form(func(*coder, *A) {}) }

var formats = sync.OnceValue(func() map[string]format {
	conv, transposed, dense := form(codeConv), form(codeConvTranspose), form(func(c *coder, a *graph.DenseAttrs) {
		c.binary(&a.Binary)
		c.requantization(&a.Integer)
	})
	pool := form(codePool)
	arg := form(func(c *coder, a *graph.ArgAttrs) {
		c.flag("select_last_index", &a.Last)
		c.off("keepdims", &a.Drop)
	})
	topK := form(func(c *coder, a *graph.TopKAttrs) {
		c.integer("k", &a.K, 1, always)
		c.off("largest", &a.Least)
	})
	block := form(func(c *coder, a *graph.BlockAttrs) {
		c.pair("block", &a.Block, [2]int{1, 1}, always)
		choice(c, "order", &a.Order, graph.BlockDCR, graph.ParseBlockOrder)
	})
	attributes := map[string]format{
		"conv2d": conv, "bitserial_conv2d": conv, "int_conv2d": conv,
		"dense": dense, "bitserial_dense": dense, "int_dense": dense,
		"conv_transpose2d": transposed, "bitserial_conv_transpose2d": transposed,
		"max_pool": pool, "avg_pool": pool, "argmax": arg, "argmin": arg, "top_k": topK, "top_k_indices": topK,
		"depth_to_space": block, "space_to_depth": block,
		"prelu": empty[graph.PReluAttrs](), "where": empty[graph.WhereAttrs](),
		"constant": empty[graph.ConstantAttrs](), "concat": empty[graph.ConcatAttrs](),
		"int_add": form(func(c *coder, a *graph.IntAddAttrs) {
			factors := []float64{a.A, a.B, a.C}
			for i, to := range []*float64{&a.A, &a.B, &a.C} {
				if c.n != nil {
					*to = c.doc.number(c.at+"/factors/"+string(rune('0'+i)), 0)
				}
			}
			c.write(c.n == nil, "factors", factors)
			c.flag("sub", &a.Sub)
			c.intPair(&a.IntPair)
		}),
		"int_mul": form(func(c *coder, a *graph.IntMulAttrs) {
			c.number("factor", &a.By, 0, always)
			c.intPair(&a.IntPair)
		}),
		"int_map": form(codeIntMap),
		"int_avg_pool": form(func(c *coder, a *graph.IntPoolAttrs) {
			codePool(c, &a.PoolAttrs)
			c.wholeResult(&a.LevelType)
		}),
		"int_softmax": form(func(c *coder, a *graph.IntSoftmaxAttrs) { c.wholeResult(&a.LevelType) }),
		"batch_norm":  form(func(c *coder, a *graph.BatchNormAttrs) { c.number("epsilon", &a.Epsilon, 1e-5, always) }),
		"shift_norm":  form(codeShiftNorm),
		"quantize":    form(codeQuantize),
		"threshold": form(func(c *coder, a *graph.ThresholdAttrs) {
			c.levels(&a.LevelType, false)
			c.write(c.n == nil, "scale", a.Scale)
			c.flag("not_less", &a.NotLess)
		}),
		"fake_quant": form(func(c *coder, a *graph.FakeQuantAttrs) {
			c.number("min", &a.Min, 0, always)
			c.number("max", &a.Max, 0, always)
			c.rounding(&a.Rounding)
		}),
		"clip": form(func(c *coder, a *graph.ClipAttrs) {
			c.number("min", &a.Min, math.Inf(-1))
			c.number("max", &a.Max, math.Inf(1))
		}),
		"hard_sigmoid": form(func(c *coder, a *graph.HardSigmoidAttrs) {
			c.number("alpha", &a.Alpha, 0.2, always)
			c.number("beta", &a.Beta, 0.5, always)
		}),
		"elu":   form(func(c *coder, a *graph.EluAttrs) { c.number("alpha", &a.Alpha, 1, always) }),
		"round": form(func(c *coder, a *graph.RoundAttrs) { c.rounding(&a.Mode) }),
		"bitpack": form(func(c *coder, a *graph.BitpackAttrs) {
			if c.n != nil {
				a.Int32 = c.doc.text(c.at+"/dtype") == "i32"
			}
			c.write(c.n == nil && a.Int32, "dtype", "i32")
		}),
		"pad": form(func(c *coder, a *graph.SpatialPadAttrs) {
			c.padding(&a.Pad)
			c.number("value", &a.Value, 0, always)
		}),
		"slice": form(func(c *coder, a *graph.SliceAttrs) {
			c.list("begin", &a.Begin, always)
			c.list("size", &a.Size, always)
			if c.list("strides", &a.Stride, always); a.Stride == nil {
				for range a.Begin {
					a.Stride = append(a.Stride, 1)
				}
			}
		}),
		"reshape":   form(func(c *coder, a *graph.ReshapeAttrs) { c.list("shape", &a.Shape, always) }),
		"transpose": form(func(c *coder, a *graph.TransposeAttrs) { c.list("perm", &a.Perm, always) }),
		"resize":    form(func(c *coder, a *graph.ResizeAttrs) { c.pair("factor", &a.Factor, [2]int{1, 1}, always) }),
		"gather": form(func(c *coder, a *graph.GatherAttrs) {
			c.list("rows", &a.Rows)
			c.list("columns", &a.Columns)
		}),
		"interpolate": form(func(c *coder, a *graph.InterpolateAttrs) {
			c.floats("rows", &a.Rows)
			c.floats("columns", &a.Columns)
		}),
	}
	for _, o := range graph.Ops() {
		switch o.NewAttrs().(type) {
		case *graph.NoAttrs:
			attributes[o.Name] = empty[graph.NoAttrs]()
		case *graph.BinaryOpAttrs:
			f := form(func(c *coder, a *graph.BinaryOpAttrs) { c.flag("reverse", &a.Reverse) })
			f.weights = (*weightReader).operand
			attributes[o.Name] = f
		}
	}
	for op, weights := range map[string]func(w *weightReader) bool{
		"conv2d": (*weightReader).kernel, "bitserial_conv2d": (*weightReader).kernel,
		"conv_transpose2d": (*weightReader).kernel, "bitserial_conv_transpose2d": (*weightReader).kernel,
		"dense": (*weightReader).kernel, "bitserial_dense": (*weightReader).kernel,
		"int_conv2d": (*weightReader).integers, "int_dense": (*weightReader).integers,
		"batch_norm": vectors("gamma", "beta", "mean", "var"), "shift_norm": vectors("mean", "var"),
		"prelu": vectors("alpha"),
		"where": (*weightReader).branches, "constant": (*weightReader).value, "fake_quant": (*weightReader).fakeQuant,
		"threshold": (*weightReader).thresholds,
	} {
		f := attributes[op]
		f.weights = weights
		attributes[op] = f
	}
	return attributes
})

func codeConv(c *coder, a *graph.Conv2DAttrs) {
	c.pair("strides", &a.Strides, [2]int{1, 1}, always)
	c.padding(&a.Pad)
	c.taps(&a.Dilations, &a.Groups)
	c.binary(&a.Binary)
	if c.requantization(&a.Integer); a.Binary != nil {
		choice(c, "pad_value", &a.Binary.PadValue, graph.PadZeros, graph.ParsePadValue)
	}
}

func codeConvTranspose(c *coder, a *graph.ConvTranspose2DAttrs) {
	c.pair("strides", &a.Strides, [2]int{1, 1}, always)
	if c.padding(&a.Pad); c.n != nil || a.Pad.Mode != graph.PadSame {
		c.pair("output_padding", &a.OutputPad, [2]int{})
	}
	c.taps(&a.Dilations, &a.Groups)
	c.binary(&a.Binary)
}

func codePool(c *coder, a *graph.PoolAttrs) {
	c.pair("kernel", &a.Kernel, [2]int{1, 1}, always)
	c.pair("strides", &a.Strides, a.Kernel, always)
	c.padding(&a.Pad)
}

func codeIntMap(c *coder, a *graph.IntMapAttrs) {
	if c.n == nil {
		zero, table := graph.CallerZero(a.LevelType), make([]int, len(a.Table))
		for l, v := range a.Table {
			table[l] = v - zero
		}
		c.out.set("table", table)
		c.wholeResult(&a.LevelType)
		return
	}
	c.list("table", &a.Table)
	c.wholeResult(&a.LevelType)
	for l := range a.Table {
		a.Table[l] += graph.CallerZero(a.LevelType)
	}
}

func codeShiftNorm(c *coder, a *graph.ShiftNormAttrs) {
	if c.integer("bits", &a.Bits, 1, always); c.n != nil {
		a.Enc, _, _ = c.encoding(c.at, ir.Unipolar) // the schema wants one without a zero point
	}
	c.write(c.n == nil && a.Enc != ir.Unipolar, "encoding", a.Enc.String())
	choice(c, "mode", &a.Mode, graph.ShiftRiptide, graph.ParseShiftMode, always)
	c.number("epsilon", &a.Epsilon, 1e-5, always)
}

func codeQuantize(c *coder, a *graph.QuantizeAttrs) {
	c.levels(&a.LevelType, a.Range != nil)
	if c.n == nil {
		c.write(!a.Unit, "scale", a.Scale)
		if a.Range != nil {
			c.out.set("range", []int{a.Range.Min, a.Range.Max})
		}
	} else {
		if c.doc.number(c.at+"/scale", 0) == 0 { // the schema wants a given one to be positive
			a.Unit = c.doc.text(c.at+"/encoding") != "affine"
		}
		if r := c.doc.integers(c.at + "/range"); len(r) == 2 {
			a.Range = &scalar.Range{Min: r[0], Max: r[1]}
		}
	}
	c.rounding(&a.Rounding)
}
