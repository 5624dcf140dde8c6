package ripcjson

import (
	"ripc/graph"
	"ripc/graph/scalar"
)

// inputObject is an input as Read takes it.
func inputObject(v *graph.Value) object {
	o := object{{"name", v.Name}, {"dtype", v.DType().String()}, {"shape", v.Shape}, {"layout", v.Layout}}
	if v.Encoded() {
		o = append(o, levelsObject(v.LevelType)...)
		o.set("bits", v.Bits)
		o.set("scale", v.Scale)
	}
	if v.View != graph.Bytes {
		o.set("packed", true)
	}
	if v.Note != "" {
		o.set("note", v.Note)
	}
	return o
}

// levelsObject is encoding, zero point and offset: where levels are signed, the zero point is that
// of the values that the caller sees.
func levelsObject(t scalar.LevelType) object {
	o := object{{"encoding", t.Enc.String()}}
	switch {
	case t.Signed:
		o = object{{"encoding", "affine"}, {"zero_point", t.Zero - 128}}
	case t.Zero != 0:
		o = object{{"encoding", "affine"}, {"zero_point", t.Zero}}
	}
	return append(o, memberIf(t.Offset != 0, "offset", t.Offset)...)
}

func quantizeObject(a *graph.QuantizeAttrs) object {
	o := object{{"bits", a.Bits}}
	levels := levelsObject(a.LevelType)
	if a.Range != nil {
		levels[0].value = "affine"
	}
	o = append(append(o, levels...), dtypeObject(a.Signed)...)
	if !a.Unit {
		o.set("scale", a.Scale)
	}
	if a.Range != nil {
		o.set("range", []int{a.Range.Min, a.Range.Max})
	}
	return append(o, roundingObject(a.Rounding)...)
}

func dtypeObject(signed bool) object {
	if signed {
		return object{{"dtype", "i8"}}
	}
	return nil
}

func roundingObject(mode scalar.Rounding) object {
	if mode == scalar.HalfEven {
		return nil
	}
	return object{{"rounding", mode.String()}}
}

func binaryObject(b *graph.BinaryAttrs) object {
	if b == nil {
		return nil
	}
	var o object
	if !b.OneBit() {
		o = object{{"weight_encoding", b.Enc.String()}, {"weight_bits", max(1, b.Bits)}}
		if b.Zero != 0 {
			o.set("weight_zero_point", b.Zero)
		}
	}
	o.set("weight_scale", b.WeightScale.String())
	return append(o, memberIf(b.Offset, "weight_offset", true)...)
}

// paddingObject is the mode of a padding, or its numbers.
func paddingObject(p graph.Padding) object {
	if p.Mode == graph.PadExplicit {
		return paddingList(p)
	}
	return object{{"padding", p.Mode.String()}}
}

func paddingList(p graph.Padding) object {
	return object{{"padding", []int{p.Top, p.Bottom, p.Left, p.Right}}}
}
