package graph

import (
	"fmt"
	"strings"

	"ripc/ir"
)

// String is the tensor's name and type: "%act1: unipolar2[1, 16, 16, 32]" or "%x: f32[1, 224, 224, 3]".
func (v *Value) String() string {
	return fmt.Sprintf("%s: %s%s", v.Name, v.LevelType, strings.ReplaceAll(fmt.Sprint(v.Shape), " ", ", "))
}

// attrString is what n's attributes say, with a space before each.
func attrString(n *Node) string {
	switch a := n.Attrs.(type) {
	case *Conv2DAttrs:
		return fmt.Sprintf(" strides=%v pad=%s%s%s", a.Strides, a.Pad, tapString(a.Dilation(), a.GroupCount()), a.Binary.String())
	case *DenseAttrs:
		return a.Binary.String()
	case *PoolAttrs:
		return fmt.Sprintf(" kernel=%v strides=%v pad=%s", a.Kernel, a.Strides, a.Pad)
	case *QuantizeAttrs:
		s := fmt.Sprintf(" bits=%d encoding=%s scale=%g rounding=%s", a.Bits, a.Enc, a.Scale, a.Rounding)
		if a.Range != nil {
			s += fmt.Sprintf(" range=%d..%d", a.Range.Min, a.Range.Max)
		}
		return s + signedString(a.Signed)
	case *ThresholdAttrs:
		test := ">="
		if a.NotLess {
			test = "!<"
		}
		return fmt.Sprintf(" bits=%d encoding=%s scale=%g test=%s thresholds=%s%s", a.Bits, a.Enc, a.Scale, test, weightString(n, "thresholds"), signedString(a.Signed))
	case *ShiftNormAttrs:
		return fmt.Sprintf(" bits=%d mode=%s", a.Bits, a.Mode)
	case *FakeQuantAttrs:
		return fmt.Sprintf(" scale=%s range=%g..%g rounding=%s", weightString(n, "scale"), a.Min, a.Max, a.Rounding)
	case *ClipAttrs:
		return fmt.Sprintf(" min=%g max=%g", a.Min, a.Max)
	case *RoundAttrs:
		return " rounding=" + a.Mode.String()
	case *BinaryOpAttrs:
		switch b := weightString(n, "b"); {
		case len(n.Inputs) == 2:
			return ""
		case a.Reverse:
			return " left=" + b
		default:
			return " right=" + b
		}
	case *TransposeAttrs:
		return fmt.Sprintf(" perm=%v", a.Perm)
	case *ReshapeAttrs:
		return fmt.Sprintf(" shape=%v", a.Shape)
	case *BitpackAttrs:
		if a.Int32 {
			return " dtype=i32"
		}
	case *SpatialPadAttrs:
		return fmt.Sprintf(" pad=%s value=%g", a.Pad, a.Value)
	case *SliceAttrs:
		return fmt.Sprintf(" begin=%v size=%v strides=%v", a.Begin, a.Size, a.Stride)
	case *Elementwise:
		s := ""
		for _, step := range a.Steps {
			s += " " + step.Kind.String()
		}
		return s
	case *FusedConv:
		s := fmt.Sprintf(" %dx%d stride=%dx%d pad=%s", a.KH, a.KW, a.SH, a.SW, a.Pad)
		dh, dw := a.Dilation()
		s += tapString([2]int{dh, dw}, a.GroupCount())
		if a.Ints != nil {
			s += fmt.Sprintf(" a%dw%d", a.X.Bits(), a.W.Bits())
		}
		return s + a.Epilogue.String() + poolString(a.Pool)
	}
	return ""
}

// String says what the weights become; "" for float ones and for plain +-1.
func (b *BinaryAttrs) String() string {
	if b == nil || b.OneBit() {
		return ""
	}
	zero := ""
	if b.Zero != 0 {
		zero = fmt.Sprintf("(zero=%d)", b.Zero)
	}
	return fmt.Sprintf(" weights=%s%d%s weight_scale=%s", b.Enc, max(1, b.Bits), zero, b.WeightScale)
}

// weightString is the one value of a weight, or its shape.
func weightString(n *Node, key string) string {
	t := n.Weights[key]
	switch {
	case t == nil:
		return "(missing)"
	case len(t.Data) == 1:
		return fmt.Sprint(t.Data[0])
	}
	return strings.ReplaceAll(fmt.Sprint(t.Shape), " ", ", ")
}

func signedString(signed bool) string {
	if signed {
		return " dtype=" + ir.I8.String()
	}
	return ""
}
