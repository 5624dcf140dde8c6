package ripcjson

import (
	"errors"
	"fmt"
	"math"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/enum"
	"ripc/ir"
)

// attrs reads a node's attributes into the graph's type for its op. The schema has checked names and ranges; the
// defaults are those that the schema documents.
func (b *builder) attrs(n *rawNode) any {
	d, at := b.doc, n.at+"/attrs"
	one := [2]int{1, 1}
	switch n.op {
	case "conv2d":
		return b.taps(at, &graph.Conv2DAttrs{Strides: d.pair(at+"/strides", one), Pad: b.padding(n, at)})
	case "bitserial_conv2d":
		a := b.binary(n, at)
		a.PadValue = parsed(b, n, at+"/pad_value", graph.PadZeros, graph.ParsePadValue)
		return b.taps(at, &graph.Conv2DAttrs{Strides: d.pair(at+"/strides", one), Pad: b.padding(n, at), Binary: a})
	case "dense":
		return &graph.DenseAttrs{}
	case "bitserial_dense":
		return &graph.DenseAttrs{Binary: b.binary(n, at)}
	case "max_pool", "avg_pool":
		kernel := d.pair(at+"/kernel", one)
		return &graph.PoolAttrs{Kernel: kernel, Strides: d.pair(at+"/strides", kernel), Pad: b.padding(n, at)}
	case "batch_norm":
		return &graph.BatchNormAttrs{Epsilon: b.epsilon(n)}
	case "shift_norm":
		return &graph.ShiftNormAttrs{Mode: parsed(b, n, at+"/mode", graph.ShiftRiptide, graph.ParseShiftMode), Bits: d.integer(at+"/bits", 1), Epsilon: b.epsilon(n)}
	case "quantize":
		a := &graph.QuantizeAttrs{LevelType: b.levels(n, at), Rounding: b.rounding(n, at)}
		if d.number(at+"/scale", 0) == 0 { // the schema wants a given one to be positive
			a.Unit = d.text(at+"/encoding") != "affine"
		}
		if r := d.integers(at + "/range"); len(r) == 2 {
			a.Range = &scalar.Range{Min: r[0], Max: r[1]}
		}
		return a
	case "threshold":
		return &graph.ThresholdAttrs{LevelType: b.levels(n, at), NotLess: d.flag(at + "/not_less")}
	case "fake_quant":
		return &graph.FakeQuantAttrs{Min: d.number(at+"/min", 0), Max: d.number(at+"/max", 0), Rounding: b.rounding(n, at)}
	case "clip":
		return &graph.ClipAttrs{Min: d.number(at+"/min", math.Inf(-1)), Max: d.number(at+"/max", math.Inf(1))}
	case "round":
		return &graph.RoundAttrs{Mode: b.rounding(n, at)}
	case "bitpack":
		return &graph.BitpackAttrs{Int32: d.text(at+"/dtype") == "i32"}
	case "prelu":
		return &graph.PReluAttrs{}
	case "add", "sub", "mul", "div":
		return &graph.BinaryOpAttrs{Reverse: d.flag(at + "/reverse")}
	case "pad":
		return &graph.SpatialPadAttrs{Pad: b.padding(n, at), Value: d.number(at+"/value", 0)}
	case "slice":
		a := &graph.SliceAttrs{Begin: d.integers(at + "/begin"), Size: d.integers(at + "/size"), Stride: d.integers(at + "/strides")}
		if a.Stride == nil {
			for range a.Begin {
				a.Stride = append(a.Stride, 1)
			}
		}
		return a
	case "reshape":
		return &graph.ReshapeAttrs{Shape: d.integers(at + "/shape")}
	case "transpose":
		return &graph.TransposeAttrs{Perm: d.integers(at + "/perm")}
	case "constant":
		return &graph.ConstantAttrs{}
	case "concat":
		return &graph.ConcatAttrs{}
	}
	return &graph.NoAttrs{}
}

func (b *builder) rounding(n *rawNode, at string) scalar.Rounding {
	return parsed(b, n, at+"/rounding", scalar.HalfEven, scalar.ParseRounding)
}

// parsed reads one of an enumeration's texts; def where it is left out.
func parsed[E fmt.Stringer](b *builder, n *rawNode, at string, def E, parse func(string) (E, error)) E {
	e, err := parse(b.doc.textOr(at, def.String()))
	if unknown := (*enum.Unknown)(nil); errors.As(err, &unknown) {
		b.fault(n, unknown.Help(), "%v", err)
	} else if err != nil {
		b.fault(n, "", "%v", err)
	}
	return e
}

// levels reads the type of a quantizer's result.
func (b *builder) levels(n *rawNode, at string) scalar.LevelType {
	t := scalar.LevelType{Bits: b.doc.integer(at+"/bits", 1)}
	t.Scale = b.doc.number(at+"/scale", unitScale(t.Bits))
	var err error
	if t.Enc, t.Zero, err = b.encoding(at, ir.Unipolar); err != nil {
		b.fault(n, "add encoding: affine, or remove it", "%v", err)
	}
	if b.doc.text(at+"/dtype") == "i8" {
		if t.Signed, t.Zero = true, t.Zero+128; t.Bits != 8 || b.doc.text(at+"/encoding") != "affine" {
			b.fault(n, "use dtype u8, or encoding affine and bits 8", "dtype i8 for other than affine levels of 8 bits")
		}
	}
	return t
}

func (b *builder) binary(n *rawNode, at string) *graph.BinaryAttrs {
	a, scale := &graph.BinaryAttrs{}, graph.ScaleMean
	if enc, bits := parsed(b, n, at+"/weight_encoding", graph.BipolarWeights, graph.ParseWeightEncoding), b.doc.integer(at+"/weight_bits", 1); enc != graph.BipolarWeights || bits > 1 {
		a.Enc, a.Bits, a.Zero = enc, bits, b.doc.integer(at+"/weight_zero_point", 0)
		if enc != graph.TernaryWeights {
			scale = graph.ScaleMax
		}
	}
	a.WeightScale = parsed(b, n, at+"/weight_scale", scale, graph.ParseWeightScale)
	return a
}

// taps reads dilations and groups, 0 where they are left out.
func (b *builder) taps(at string, a *graph.Conv2DAttrs) *graph.Conv2DAttrs {
	a.Dilations, a.Groups = b.doc.pair(at+"/dilations", [2]int{}), b.doc.integer(at+"/groups", 0)
	return a
}

func (b *builder) epsilon(n *rawNode) float64 { return b.doc.number(n.at+"/attrs/epsilon", 1e-5) }

func (b *builder) padding(n *rawNode, at string) graph.Padding {
	if p := b.doc.integers(at + "/padding"); len(p) == 4 {
		return graph.Padding{Mode: graph.PadExplicit, Top: p[0], Bottom: p[1], Left: p[2], Right: p[3]}
	}
	return graph.Padding{Mode: parsed(b, n, at+"/padding", graph.PadValid, graph.ParsePaddingMode)}
}
