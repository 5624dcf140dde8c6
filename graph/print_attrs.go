package graph

import (
	"fmt"
	"strings"

	"ripc/graph/scalar"
	"ripc/ir"
)

// String is the tensor's name and type: "%act1: unipolar2[1, 16, 16, 32]" or "%x: f32[1, 224, 224,
// 3]".
func (v *Value) String() string {
	return fmt.Sprintf("%s: %s%s", v.Name, v.kind(), strings.ReplaceAll(fmt.Sprint(v.Shape), " ", ", "))
}

func printConv(_ *Node, a *Conv2DAttrs) string {
	return fmt.Sprintf(" strides=%v pad=%s%s%s", a.Strides, a.Pad, tapString(a.Dilation(), a.GroupCount()),
		a.Binary.String()+a.Integer.String())
}

func printConvTranspose(_ *Node, a *ConvTranspose2DAttrs) string {
	more := ""
	if a.OutputPad != [2]int{} {
		more = fmt.Sprintf(" output_padding=%v", a.OutputPad)
	}
	return fmt.Sprintf(" strides=%v pad=%s%s%s%s", a.Strides, a.Pad, more, tapString(a.Dilation(), a.GroupCount()),
		a.Binary.String())
}

func printDense(_ *Node, a *DenseAttrs) string { return a.Binary.String() + a.Integer.String() }

func printPool(_ *Node, a *PoolAttrs) string {
	return fmt.Sprintf(" kernel=%v strides=%v pad=%s", a.Kernel, a.Strides, a.Pad)
}

func printQuantize(_ *Node, a *QuantizeAttrs) string {
	s := levelsString(a.LevelType) + " rounding=" + a.Rounding.String()
	if a.Range != nil {
		s += fmt.Sprintf(" range=%d..%d", a.Range.Min, a.Range.Max)
	}
	return s + signedString(a.Signed)
}

func printThreshold(n *Node, a *ThresholdAttrs) string {
	test := ">="
	if a.NotLess {
		test = "!<"
	}
	return fmt.Sprintf("%s test=%s thresholds=%s%s", levelsString(a.LevelType), test, weightString(n, "thresholds"),
		signedString(a.Signed))
}

func printShiftNorm(_ *Node, a *ShiftNormAttrs) string {
	s := fmt.Sprintf(" bits=%d mode=%s", a.Bits, a.Mode)
	if a.Enc != ir.Unipolar {
		s += fmt.Sprintf(" encoding=%s", a.Enc)
	}
	return s
}

func printFakeQuant(n *Node, a *FakeQuantAttrs) string {
	return fmt.Sprintf(" scale=%s range=%g..%g rounding=%s", weightString(n, "scale"), a.Min, a.Max, a.Rounding)
}

func printClip(_ *Node, a *ClipAttrs) string { return fmt.Sprintf(" min=%g max=%g", a.Min, a.Max) }

func printHardSigmoid(_ *Node, a *HardSigmoidAttrs) string {
	return fmt.Sprintf(" alpha=%g beta=%g", a.Alpha, a.Beta)
}

func printElu(_ *Node, a *EluAttrs) string { return fmt.Sprintf(" alpha=%g", a.Alpha) }

func printRound(_ *Node, a *RoundAttrs) string { return " rounding=" + a.Mode.String() }

func printBinaryOp(n *Node, a *BinaryOpAttrs) string {
	switch b := weightString(n, "b"); {
	case len(n.Inputs) == 2:
		return ""
	case a.Reverse:
		return " left=" + b
	default:
		return " right=" + b
	}
}

func printWhere(n *Node, _ *WhereAttrs) string {
	s := ""
	for _, key := range []string{"a", "b"} {
		if n.Weights[key] != nil {
			s += fmt.Sprintf(" %s=%s", key, weightString(n, key))
		}
	}
	return s
}

func printArg(_ *Node, a *ArgAttrs) string {
	s := ""
	if a.Last {
		s += " last"
	}
	if a.Drop {
		s += " drop"
	}
	return s
}

func printTopK(_ *Node, a *TopKAttrs) string {
	if a.Least {
		return fmt.Sprintf(" k=%d least", a.K)
	}
	return fmt.Sprintf(" k=%d", a.K)
}

func printTranspose(_ *Node, a *TransposeAttrs) string { return fmt.Sprintf(" perm=%v", a.Perm) }

func printBlock(_ *Node, a *BlockAttrs) string {
	return fmt.Sprintf(" block=%v order=%s", a.Block, a.Order)
}

func printResize(_ *Node, a *ResizeAttrs) string { return fmt.Sprintf(" factor=%v", a.Factor) }

func printReshape(_ *Node, a *ReshapeAttrs) string { return fmt.Sprintf(" shape=%v", a.Shape) }

func printBitpack(_ *Node, a *BitpackAttrs) string {
	if a.Int32 {
		return " dtype=i32"
	}
	return ""
}

func printPad(_ *Node, a *SpatialPadAttrs) string {
	return fmt.Sprintf(" pad=%s value=%g", a.Pad, a.Value)
}

func printSlice(_ *Node, a *SliceAttrs) string {
	return fmt.Sprintf(" begin=%v size=%v strides=%v", a.Begin, a.Size, a.Stride)
}

func printElementwise(_ *Node, a *Elementwise) string {
	s := ""
	for _, step := range a.Steps {
		s += " " + step.Kind.String()
	}
	return s
}

func printFusedConv(_ *Node, a *FusedConv) string {
	s := fmt.Sprintf(" %dx%d stride=%dx%d pad=%s", a.KH, a.KW, a.SH, a.SW, a.Pad)
	dh, dw := a.Dilation()
	s += tapString([2]int{dh, dw}, a.GroupCount())
	if a.Ints.Len() > 0 {
		s += fmt.Sprintf(" a%dw%d", a.X.Bits(), a.W.Bits())
	}
	return s + a.Epilogue.String() + poolString(a.Pool)
}

// String prints the form of the weights; "" for float ones and for plain +-1.
func (b *BinaryAttrs) String() string {
	offset := ""
	switch {
	case b == nil:
		return ""
	case b.Offset:
		offset = " weight_offset=tensor"
	}
	if b.OneBit() {
		return offset
	}
	zero := ""
	if b.Zero != 0 {
		zero = fmt.Sprintf("(zero=%d)", b.Zero)
	}
	return fmt.Sprintf(" weights=%s%d%s weight_scale=%s%s", b.Enc, max(1, b.Bits), zero, b.WeightScale, offset)
}

// String prints the requantization of the sums.
func (a *IntegerAttrs) String() string {
	switch {
	case a == nil:
		return ""
	case a.Form == NoRequantization:
		return " requantize=none"
	}
	s := fmt.Sprintf(" requantize=%s%s", a.Form, resultString(a.LevelType, a.Low, a.High))
	if a.Form == MeanRequantization {
		s += fmt.Sprintf(" count=%d", a.Count)
	}
	if a.Coarse {
		s += " coarse"
	}
	return s
}

func printIntAdd(_ *Node, a *IntAddAttrs) string {
	s := fmt.Sprintf("%s factors=%g,%g,%g", pairString(&a.IntPair), a.A, a.B, a.C)
	if a.Sub {
		s += " sub"
	}
	return s
}

func printIntMul(_ *Node, a *IntMulAttrs) string {
	return fmt.Sprintf("%s factor=%g", pairString(&a.IntPair), a.By)
}

func pairString(a *IntPair) string {
	return fmt.Sprintf(" requantize=%s%s", a.Form, resultString(a.LevelType, a.Low, a.High))
}

// resultString is the type of the levels that an integer op makes, from low to high.
func resultString(t scalar.LevelType, low, high int) string {
	s := fmt.Sprintf(" scale=%g", t.Scale)
	if low != 0 || high != t.Top() {
		s += fmt.Sprintf(" levels=%d..%d", low, high)
	}
	return s + signedString(t.Signed)
}

// weightString is the one value of a weight, or its shape.
func weightString(n *Node, key string) string {
	t := n.Weights[key]
	switch {
	case t == nil:
		return "(missing)"
	case t.Data.Len() == 1:
		return fmt.Sprint(t.Data.At(0))
	}
	return strings.ReplaceAll(fmt.Sprint(t.Shape), " ", ", ")
}

// levelsString prints the parts of t that the tensor's own type leaves out.
func levelsString(t scalar.LevelType) string {
	s := fmt.Sprintf(" bits=%d encoding=%s scale=%g", t.Bits, t.Enc, t.Scale)
	if t.Offset != 0 {
		s += fmt.Sprintf(" offset=%g", t.Offset)
	}
	return s
}

func signedString(signed bool) string {
	if signed {
		return " dtype=" + ir.I8.String()
	}
	return ""
}
