package ripcjson

import (
	"math"

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
	return o
}

// levelsObject is encoding and zero point: where levels are signed, that of the values that the caller sees.
func levelsObject(t scalar.LevelType) object {
	switch {
	case t.Signed:
		return object{{"encoding", "affine"}, {"zero_point", t.Zero - 128}}
	case t.Zero != 0:
		return object{{"encoding", "affine"}, {"zero_point", t.Zero}}
	}
	return object{{"encoding", t.Enc.String()}}
}

// attrsObject has the attributes of n that are not what Read takes for them if they are left out.
func attrsObject(n *graph.Node) object {
	var o object
	switch a := n.Attrs.(type) {
	case *graph.Conv2DAttrs:
		o = append(object{{"strides", a.Strides[:]}}, paddingObject(a.Pad)...)
		if d := a.Dilation(); d != [2]int{1, 1} {
			o.set("dilations", d[:])
		}
		if a.GroupCount() > 1 {
			o.set("groups", a.GroupCount())
		}
		o = append(o, binaryObject(a.Binary)...)
		if a.Binary != nil && a.Binary.PadValue != graph.PadZeros {
			o.set("pad_value", a.Binary.PadValue.String())
		}
	case *graph.DenseAttrs:
		o = binaryObject(a.Binary)
	case *graph.PoolAttrs:
		o = append(object{{"kernel", a.Kernel[:]}, {"strides", a.Strides[:]}}, paddingObject(a.Pad)...)
	case *graph.BatchNormAttrs:
		o.set("epsilon", a.Epsilon)
	case *graph.ShiftNormAttrs:
		o = object{{"bits", a.Bits}, {"mode", a.Mode.String()}, {"epsilon", a.Epsilon}}
	case *graph.QuantizeAttrs:
		o = quantizeObject(a)
	case *graph.ThresholdAttrs:
		o = append(object{{"bits", a.Bits}}, levelsObject(a.LevelType)...)
		o = append(o, dtypeObject(a.Signed)...)
		o.set("scale", a.Scale)
		if a.NotLess {
			o.set("not_less", true)
		}
	case *graph.FakeQuantAttrs:
		o = append(object{{"min", a.Min}, {"max", a.Max}}, roundingObject(a.Rounding)...)
	case *graph.ClipAttrs:
		if !math.IsInf(a.Min, 0) {
			o.set("min", a.Min)
		}
		if !math.IsInf(a.Max, 0) {
			o.set("max", a.Max)
		}
	case *graph.RoundAttrs:
		o = roundingObject(a.Mode)
	case *graph.BinaryOpAttrs:
		if a.Reverse {
			o.set("reverse", true)
		}
	case *graph.SpatialPadAttrs:
		o = append(paddingList(a.Pad), member{"value", a.Value})
	case *graph.SliceAttrs:
		o = object{{"begin", a.Begin}, {"size", a.Size}, {"strides", a.Stride}}
	case *graph.ReshapeAttrs:
		o.set("shape", a.Shape)
	case *graph.TransposeAttrs:
		o.set("perm", a.Perm)
	case *graph.BitpackAttrs:
		if a.Int32 {
			o.set("dtype", "i32")
		}
	}
	return o
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
	return o
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
