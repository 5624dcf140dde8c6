package graph

import (
	"fmt"
	"strings"
)

// String is the graph as text, one line a tensor or node, for inspect and --print-after.
func (g *Graph) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "graph %s {\n", g.Name)
	for _, n := range g.Inputs {
		fmt.Fprintf(&b, "  input  %s\n", g.Values[n])
	}
	for _, n := range g.Nodes {
		var outs []string
		for _, o := range n.Outputs {
			outs = append(outs, g.Values[o].String())
		}
		fmt.Fprintf(&b, "  %s = %s(%s)%s\n", strings.Join(outs, ", "), n.Op, strings.Join(n.Inputs, ", "), attrString(n.Attrs))
	}
	for _, n := range g.Outputs {
		fmt.Fprintf(&b, "  output %s\n", n)
	}
	b.WriteString("}\n")
	return b.String()
}

// String is the tensor's name and type: "%act1: unipolar2[1, 16, 16, 32]" or "%x: f32[1, 224, 224, 3]".
func (v *Value) String() string {
	t := v.DType.String()
	if v.Encoded() {
		t = fmt.Sprintf("%s%d", v.Enc, v.Bits)
		if v.Zero != 0 {
			t = fmt.Sprintf("affine%d(zero=%d)", v.Bits, v.Zero)
		}
	}
	return fmt.Sprintf("%s: %s%s", v.Name, t, strings.ReplaceAll(fmt.Sprint(v.Shape), " ", ", "))
}

func attrString(attrs any) string {
	switch a := attrs.(type) {
	case *Conv2DAttrs:
		return fmt.Sprintf(" strides=%v pad=%s%s", a.Strides, a.Pad, tapString(a.Dilation(), a.GroupCount()))
	case *PoolAttrs:
		return fmt.Sprintf(" kernel=%v strides=%v pad=%s", a.Kernel, a.Strides, a.Pad)
	case *QuantizeAttrs:
		return fmt.Sprintf(" bits=%d encoding=%s scale=%g rounding=%s", a.Bits, a.Enc, a.Scale, a.Rounding)
	case *ShiftNormAttrs:
		return fmt.Sprintf(" bits=%d mode=%s", a.Bits, a.Mode)
	case *SpatialPadAttrs:
		return fmt.Sprintf(" pad=%s value=%g", a.Pad, a.Value)
	case *SliceAttrs:
		return fmt.Sprintf(" begin=%v size=%v strides=%v", a.Begin, a.Size, a.Stride)
	case *FloatStep:
		return " " + a.Kind
	case *FusedConv:
		s := fmt.Sprintf(" %dx%d stride=%dx%d pad=%s", a.KH, a.KW, a.SH, a.SW, a.Pad)
		dh, dw := a.Dilation()
		s += tapString([2]int{dh, dw}, a.GroupCount())
		if a.Planes > 0 {
			s += fmt.Sprintf(" a%dw%d", a.Planes, len(a.Coefs()))
		}
		return s + a.Epilogue.String() + poolString(a.Pool)
	}
	return ""
}

// String says what the epilogue does, e.g. " -> mul fma relu" or " -> thresholds(2 bits)".
func (e Epilogue) String() string {
	switch {
	case e.Thresholds != nil:
		return fmt.Sprintf(" -> thresholds(%s)", bits(e.OutBits))
	case e.Shift != nil:
		return fmt.Sprintf(" -> add, shift, clip(%s)", bits(e.OutBits))
	}
	s := ""
	for _, step := range e.Steps {
		s += " " + step.Kind
	}
	if e.OutBits > 0 {
		s += fmt.Sprintf(" levels(%s)", bits(e.OutBits))
	}
	if s == "" {
		return ""
	}
	return " ->" + s
}

func tapString(dilation [2]int, groups int) string {
	s := ""
	if dilation != [2]int{1, 1} {
		s = fmt.Sprintf(" dilations=%v", dilation)
	}
	if groups > 1 {
		s += fmt.Sprintf(" groups=%d", groups)
	}
	return s
}

func poolString(p *PoolAttrs) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf(" after max_pool %dx%d", p.Kernel[0], p.Kernel[1])
}

// String is the padding as top,bottom,left,right.
func (p Padding) String() string {
	return fmt.Sprintf("%d,%d,%d,%d", p.Top, p.Bottom, p.Left, p.Right)
}

// bits is a width for people.
func bits(n int) string {
	if n == 1 {
		return "1 bit"
	}
	return fmt.Sprintf("%d bits", n)
}
