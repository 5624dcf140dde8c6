package graph

import (
	"fmt"
	"hash/crc32"
	"reflect"
	"slices"
	"strings"

	"ripc/graph/scalar"
	"ripc/ir"
)

// String is the tensor's name and type: "%act1: unipolar2[1, 16, 16, 32]" or "%x: f32[1, 224, 224,
// 3]".
func (v *Value) String() string {
	return fmt.Sprintf("%s: %s%s", v.Name, v.kind(), strings.ReplaceAll(fmt.Sprint(v.Shape), " ", ", "))
}

// printFields prints the fields of attributes that have a name for it in their tag, a bool by its
// name alone, and one without a name by its text. Texts that the tag omits are left out.
func printFields(attrs any) string {
	v, s := reflect.ValueOf(attrs).Elem(), ""
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		name, ok := tag.Lookup("print")
		if !ok {
			continue
		}
		switch text := fieldText(v.Field(i)); {
		case text == "false", slices.Contains(strings.Split(tag.Get("omit"), ","), text):
		case name == "":
			s += text
		case text == "true":
			s += " " + name
		default:
			s += " " + name + "=" + text
		}
	}
	return s
}

// shownElements is the number of elements that are printed one by one.
const shownElements = 16

// fieldText is a field as text. Many elements are their number, the ends, and a checksum.
func fieldText(v reflect.Value) string {
	text := fmt.Sprint(v.Interface())
	if v.Kind() != reflect.Slice || v.Len() <= shownElements {
		return text
	}
	return fmt.Sprintf("[%d: %v..%v, %08x]", v.Len(), v.Index(0), v.Index(v.Len()-1), crc32.ChecksumIEEE([]byte(text)))
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

func printFakeQuant(n *Node, a *FakeQuantAttrs) string {
	return fmt.Sprintf(" scale=%s range=%g..%g rounding=%s", weightString(n, "scale"), a.Min, a.Max, a.Rounding)
}

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
