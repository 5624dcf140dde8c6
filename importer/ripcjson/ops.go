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
	// read gives a node's attributes. The schema has checked names and ranges; the defaults are
	// those that it documents.
	read func(b *builder, n *rawNode, at string) any
	// write gives those attributes that differ from the values that read takes if they are left
	// out.
	write func(attrs any) object
	// weights gives the node its constants. It reports faults and returns false after any.
	weights func(w *weightReader) bool
}

var formats = sync.OnceValue(func() map[string]format {
	attributes := map[string]format{
		"conv2d":           form(readConv, writeConv),
		"bitserial_conv2d": form(readBinaryConv, writeConv),
		"dense": form(func(*builder, *rawNode, string) *graph.DenseAttrs {
			return &graph.DenseAttrs{}
		}, writeDense),
		"bitserial_dense": form(func(b *builder, n *rawNode, at string) *graph.DenseAttrs {
			return &graph.DenseAttrs{Binary: b.binary(n, at)}
		}, writeDense),
		"int_conv2d": form(func(b *builder, n *rawNode, at string) *graph.Conv2DAttrs {
			a := readConv(b, n, at)
			a.Integer = b.integer(n, at)
			return a
		}, writeConv),
		"int_dense": form(func(b *builder, n *rawNode, at string) *graph.DenseAttrs {
			return &graph.DenseAttrs{Integer: b.integer(n, at)}
		}, writeDense),
		"int_add":          form(readIntAdd, writeIntAdd),
		"int_mul":          form(readIntMul, writeIntMul),
		"int_map":          form(readIntMap, writeIntMap),
		"int_avg_pool":     form(readIntPool, writeIntPool),
		"int_softmax":      form(readIntSoftmax, writeIntSoftmax),
		"conv_transpose2d": form(readConvTranspose, writeConvTranspose),
		"bitserial_conv_transpose2d": form(func(b *builder, n *rawNode, at string) *graph.ConvTranspose2DAttrs {
			a := readConvTranspose(b, n, at)
			a.Binary = b.binary(n, at)
			return a
		}, writeConvTranspose),
		"max_pool": form(readPool, writePool),
		"avg_pool": form(readPool, writePool),
		"batch_norm": form(func(b *builder, n *rawNode, _ string) *graph.BatchNormAttrs {
			return &graph.BatchNormAttrs{Epsilon: b.epsilon(n)}
		}, func(a *graph.BatchNormAttrs) object { return object{{"epsilon", a.Epsilon}} }),
		"shift_norm": form(func(b *builder, n *rawNode, at string) *graph.ShiftNormAttrs {
			a := &graph.ShiftNormAttrs{Mode: parsed(b, n, at+"/mode", graph.ShiftRiptide, graph.ParseShiftMode),
				Bits: b.doc.integer(at+"/bits", 1), Epsilon: b.epsilon(n)}
			a.Enc, _, _ = b.encoding(at, ir.Unipolar) // the schema wants one without a zero point
			return a
		}, func(a *graph.ShiftNormAttrs) object {
			o := object{{"bits", a.Bits}}
			if a.Enc != ir.Unipolar {
				o.set("encoding", a.Enc.String())
			}
			return append(o, object{{"mode", a.Mode.String()}, {"epsilon", a.Epsilon}}...)
		}),
		"quantize":  form(readQuantize, quantizeObject),
		"threshold": form(readThreshold, writeThreshold),
		"fake_quant": form(func(b *builder, n *rawNode, at string) *graph.FakeQuantAttrs {
			return &graph.FakeQuantAttrs{Min: b.doc.number(at+"/min", 0), Max: b.doc.number(at+"/max", 0),
				Rounding: b.rounding(n, at)}
		}, func(a *graph.FakeQuantAttrs) object {
			return append(object{{"min", a.Min}, {"max", a.Max}}, roundingObject(a.Rounding)...)
		}),
		"clip": form(func(b *builder, _ *rawNode, at string) *graph.ClipAttrs {
			return &graph.ClipAttrs{Min: b.doc.number(at+"/min", math.Inf(-1)),
				Max: b.doc.number(at+"/max", math.Inf(1))}
		}, writeClip),
		"hard_sigmoid": form(func(b *builder, _ *rawNode, at string) *graph.HardSigmoidAttrs {
			return &graph.HardSigmoidAttrs{Alpha: b.doc.number(at+"/alpha", 0.2), Beta: b.doc.number(at+"/beta", 0.5)}
		}, func(a *graph.HardSigmoidAttrs) object { return object{{"alpha", a.Alpha}, {"beta", a.Beta}} }),
		"argmax": form(readArg, writeArg), "argmin": form(readArg, writeArg),
		"top_k": form(readTopK, writeTopK), "top_k_indices": form(readTopK, writeTopK),
		"elu": form(func(b *builder, _ *rawNode, at string) *graph.EluAttrs {
			return &graph.EluAttrs{Alpha: b.doc.number(at+"/alpha", 1)}
		}, func(a *graph.EluAttrs) object { return object{{"alpha", a.Alpha}} }),
		"round": form(func(b *builder, n *rawNode, at string) *graph.RoundAttrs {
			return &graph.RoundAttrs{Mode: b.rounding(n, at)}
		}, func(a *graph.RoundAttrs) object { return roundingObject(a.Mode) }),
		"bitpack": form(func(b *builder, _ *rawNode, at string) *graph.BitpackAttrs {
			return &graph.BitpackAttrs{Int32: b.doc.text(at+"/dtype") == "i32"}
		}, func(a *graph.BitpackAttrs) object { return memberIf(a.Int32, "dtype", "i32") }),
		"prelu":    form(func(*builder, *rawNode, string) *graph.PReluAttrs { return &graph.PReluAttrs{} }, nil),
		"where":    form(func(*builder, *rawNode, string) *graph.WhereAttrs { return &graph.WhereAttrs{} }, nil),
		"constant": form(func(*builder, *rawNode, string) *graph.ConstantAttrs { return &graph.ConstantAttrs{} }, nil),
		"concat":   form(func(*builder, *rawNode, string) *graph.ConcatAttrs { return &graph.ConcatAttrs{} }, nil),
		"pad": form(func(b *builder, n *rawNode, at string) *graph.SpatialPadAttrs {
			return &graph.SpatialPadAttrs{Pad: b.padding(n, at), Value: b.doc.number(at+"/value", 0)}
		}, func(a *graph.SpatialPadAttrs) object { return append(paddingList(a.Pad), member{"value", a.Value}) }),
		"slice": form(readSlice, func(a *graph.SliceAttrs) object {
			return object{{"begin", a.Begin}, {"size", a.Size}, {"strides", a.Stride}}
		}),
		"reshape": form(func(b *builder, _ *rawNode, at string) *graph.ReshapeAttrs {
			return &graph.ReshapeAttrs{Shape: b.doc.integers(at + "/shape")}
		}, func(a *graph.ReshapeAttrs) object { return object{{"shape", a.Shape}} }),
		"transpose": form(func(b *builder, _ *rawNode, at string) *graph.TransposeAttrs {
			return &graph.TransposeAttrs{Perm: b.doc.integers(at + "/perm")}
		}, func(a *graph.TransposeAttrs) object { return object{{"perm", a.Perm}} }),
		"depth_to_space": form(readBlock, writeBlock),
		"space_to_depth": form(readBlock, writeBlock),
		"resize": form(func(b *builder, _ *rawNode, at string) *graph.ResizeAttrs {
			return &graph.ResizeAttrs{Factor: b.doc.pair(at+"/factor", [2]int{1, 1})}
		}, func(a *graph.ResizeAttrs) object { return object{{"factor", a.Factor[:]}} }),
		"gather": form(func(b *builder, _ *rawNode, at string) *graph.GatherAttrs {
			return &graph.GatherAttrs{Rows: b.doc.integers(at + "/rows"), Columns: b.doc.integers(at + "/columns")}
		}, func(a *graph.GatherAttrs) object {
			return append(memberIf(len(a.Rows) > 0, "rows", a.Rows),
				memberIf(len(a.Columns) > 0, "columns", a.Columns)...)
		}),
		"interpolate": form(func(b *builder, _ *rawNode, at string) *graph.InterpolateAttrs {
			return &graph.InterpolateAttrs{Rows: b.doc.floats(at + "/rows"), Columns: b.doc.floats(at + "/columns")}
		}, func(a *graph.InterpolateAttrs) object {
			return append(memberIf(len(a.Rows) > 0, "rows", a.Rows),
				memberIf(len(a.Columns) > 0, "columns", a.Columns)...)
		}),
	}
	for _, o := range graph.Ops() {
		switch o.NewAttrs().(type) {
		case *graph.NoAttrs:
			attributes[o.Name] = form(func(*builder, *rawNode, string) *graph.NoAttrs { return &graph.NoAttrs{} }, nil)
		case *graph.BinaryOpAttrs:
			f := form(func(b *builder, _ *rawNode, at string) *graph.BinaryOpAttrs {
				return &graph.BinaryOpAttrs{Reverse: b.doc.flag(at + "/reverse")}
			}, func(a *graph.BinaryOpAttrs) object { return memberIf(a.Reverse, "reverse", true) })
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

// form is a row for attributes of type A; write is nil where there are none to write.
func form[A any](read func(b *builder, n *rawNode, at string) *A, write func(a *A) object) format {
	f := format{
		read:    func(b *builder, n *rawNode, at string) any { return read(b, n, at) },
		write:   func(any) object { return nil },
		weights: func(*weightReader) bool { return true },
	}
	if write != nil {
		f.write = func(attrs any) object { return write(attrs.(*A)) }
	}
	return f
}

// memberIf is a member, if yes holds.
func memberIf(yes bool, key string, value any) object {
	if !yes {
		return nil
	}
	return object{{key, value}}
}

func readConv(b *builder, n *rawNode, at string) *graph.Conv2DAttrs {
	a := &graph.Conv2DAttrs{Strides: b.doc.pair(at+"/strides", [2]int{1, 1}), Pad: b.padding(n, at)}
	a.Dilations, a.Groups = b.taps(at)
	return a
}

func readBinaryConv(b *builder, n *rawNode, at string) *graph.Conv2DAttrs {
	a := readConv(b, n, at)
	a.Binary = b.binary(n, at)
	a.Binary.PadValue = parsed(b, n, at+"/pad_value", graph.PadZeros, graph.ParsePadValue)
	return a
}

func writeConv(a *graph.Conv2DAttrs) object {
	o := append(object{{"strides", a.Strides[:]}}, paddingObject(a.Pad)...)
	o = append(append(o, tapsObject(a.Dilation(), a.GroupCount())...),
		append(binaryObject(a.Binary), integerObject(a.Integer)...)...)
	if a.Binary != nil && a.Binary.PadValue != graph.PadZeros {
		o.set("pad_value", a.Binary.PadValue.String())
	}
	return o
}

// tapsObject are those of dilations and groups that are not 1.
func tapsObject(dilations [2]int, groups int) object {
	o := memberIf(dilations != [2]int{1, 1}, "dilations", dilations[:])
	return append(o, memberIf(groups > 1, "groups", groups)...)
}

func readConvTranspose(b *builder, n *rawNode, at string) *graph.ConvTranspose2DAttrs {
	a := &graph.ConvTranspose2DAttrs{Strides: b.doc.pair(at+"/strides", [2]int{1, 1}), Pad: b.padding(n, at),
		OutputPad: b.doc.pair(at+"/output_padding", [2]int{})}
	a.Dilations, a.Groups = b.taps(at)
	return a
}

func writeConvTranspose(a *graph.ConvTranspose2DAttrs) object {
	o := append(object{{"strides", a.Strides[:]}}, paddingObject(a.Pad)...)
	if a.OutputPad != [2]int{} && a.Pad.Mode != graph.PadSame {
		o.set("output_padding", a.OutputPad[:])
	}
	return append(append(o, tapsObject(a.Dilation(), a.GroupCount())...), binaryObject(a.Binary)...)
}

func writeDense(a *graph.DenseAttrs) object {
	return append(binaryObject(a.Binary), integerObject(a.Integer)...)
}

func readPool(b *builder, n *rawNode, at string) *graph.PoolAttrs {
	kernel := b.doc.pair(at+"/kernel", [2]int{1, 1})
	return &graph.PoolAttrs{Kernel: kernel, Strides: b.doc.pair(at+"/strides", kernel), Pad: b.padding(n, at)}
}

func writePool(a *graph.PoolAttrs) object {
	return append(object{{"kernel", a.Kernel[:]}, {"strides", a.Strides[:]}}, paddingObject(a.Pad)...)
}

func readBlock(b *builder, n *rawNode, at string) *graph.BlockAttrs {
	return &graph.BlockAttrs{Block: b.doc.pair(at+"/block", [2]int{1, 1}),
		Order: parsed(b, n, at+"/order", graph.BlockDCR, graph.ParseBlockOrder)}
}

func writeBlock(a *graph.BlockAttrs) object {
	return append(object{{"block", a.Block[:]}}, memberIf(a.Order != graph.BlockDCR, "order", a.Order.String())...)
}

func readQuantize(b *builder, n *rawNode, at string) *graph.QuantizeAttrs {
	a := &graph.QuantizeAttrs{LevelType: b.levels(n, at), Rounding: b.rounding(n, at)}
	if b.doc.number(at+"/scale", 0) == 0 { // the schema wants a given one to be positive
		a.Unit = b.doc.text(at+"/encoding") != "affine"
	}
	if r := b.doc.integers(at + "/range"); len(r) == 2 {
		a.Range = &scalar.Range{Min: r[0], Max: r[1]}
	}
	return a
}

func readThreshold(b *builder, n *rawNode, at string) *graph.ThresholdAttrs {
	return &graph.ThresholdAttrs{LevelType: b.levels(n, at), NotLess: b.doc.flag(at + "/not_less")}
}

func writeThreshold(a *graph.ThresholdAttrs) object {
	o := append(object{{"bits", a.Bits}}, levelsObject(a.LevelType)...)
	o = append(o, dtypeObject(a.Signed)...)
	o.set("scale", a.Scale)
	return append(o, memberIf(a.NotLess, "not_less", true)...)
}

func readArg(b *builder, _ *rawNode, at string) *graph.ArgAttrs {
	return &graph.ArgAttrs{Last: b.doc.flag(at + "/select_last_index"), Drop: b.doc.isOff(at + "/keepdims")}
}

func writeArg(a *graph.ArgAttrs) object {
	return append(memberIf(a.Last, "select_last_index", true), memberIf(a.Drop, "keepdims", false)...)
}

func readTopK(b *builder, _ *rawNode, at string) *graph.TopKAttrs {
	return &graph.TopKAttrs{K: b.doc.integer(at+"/k", 1), Least: b.doc.isOff(at + "/largest")}
}

func writeTopK(a *graph.TopKAttrs) object {
	return append(object{{"k", a.K}}, memberIf(a.Least, "largest", false)...)
}

func writeClip(a *graph.ClipAttrs) object {
	return append(memberIf(!math.IsInf(a.Min, 0), "min", a.Min), memberIf(!math.IsInf(a.Max, 0), "max", a.Max)...)
}

func readSlice(b *builder, _ *rawNode, at string) *graph.SliceAttrs {
	a := &graph.SliceAttrs{Begin: b.doc.integers(at + "/begin"), Size: b.doc.integers(at + "/size"),
		Stride: b.doc.integers(at + "/strides")}
	if a.Stride == nil {
		for range a.Begin {
			a.Stride = append(a.Stride, 1)
		}
	}
	return a
}
