package ripcjson

import (
	"errors"
	"fmt"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/enum"
	"ripc/ir"
)

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
	t.Scale, t.Offset = b.doc.number(at+"/scale", unitScale(t.Bits)), b.doc.number(at+"/offset", 0)
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
	if enc, bits := parsed(b, n, at+"/weight_encoding", graph.BipolarWeights,
		graph.ParseWeightEncoding), b.doc.integer(at+"/weight_bits", 1); enc != graph.BipolarWeights || bits > 1 {
		a.Enc, a.Bits, a.Zero = enc, bits, b.doc.integer(at+"/weight_zero_point", 0)
		if enc != graph.TernaryWeights {
			scale = graph.ScaleMax
		}
	}
	a.Offset = b.doc.flag(at + "/weight_offset")
	a.WeightScale = parsed(b, n, at+"/weight_scale", scale, graph.ParseWeightScale)
	return a
}

// taps reads dilations and groups, 0 where they are left out.
func (b *builder) taps(at string) (dilations [2]int, groups int) {
	return b.doc.pair(at+"/dilations", [2]int{}), b.doc.integer(at+"/groups", 0)
}

func (b *builder) epsilon(n *rawNode) float64 { return b.doc.number(n.at+"/attrs/epsilon", 1e-5) }

func (b *builder) padding(n *rawNode, at string) graph.Padding {
	if p := b.doc.integers(at + "/padding"); len(p) == 4 {
		return graph.Padding{Mode: graph.PadExplicit, Top: p[0], Bottom: p[1], Left: p[2], Right: p[3]}
	}
	return graph.Padding{Mode: parsed(b, n, at+"/padding", graph.PadValid, graph.ParsePaddingMode)}
}
