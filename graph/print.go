package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ripc/graph/scalar"
	"ripc/internal/human"
)

// String is the graph as text, one line a tensor or node, for inspect and --print-after.
func (g *Graph) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "graph %s {\n", g.Name)
	for _, n := range g.Inputs {
		fmt.Fprintf(&b, "  input  %s%s\n", g.Values[n], comment(nil, g.Values[n].Note))
	}
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "  %s = %s(%s)%s%s\n", g.Values[n.Output], n.Op, strings.Join(n.Inputs, ", "), attrString(n),
			remark(n))
	}
	for _, n := range g.Outputs {
		fmt.Fprintf(&b, "  output %s\n", n)
	}
	for _, v := range g.Roundings {
		fmt.Fprintf(&b, "  rounding %s(%s)\n", v.Reason, v.Where)
	}
	b.WriteString("}\n")
	return b.String()
}

// String prints the epilogue, e.g. " -> mul fma relu" or " -> thresholds(2 bits)".
func (e Epilogue) String() string {
	switch {
	case e.Thresholds != nil:
		return fmt.Sprintf(" -> thresholds(%s)", bits(e.OutBits))
	case e.Shift != nil:
		return fmt.Sprintf(" -> add, shift, clip(%s)", bits(e.OutBits))
	case e.Scale != nil && e.Scale.By == nil:
		return fmt.Sprintf(" -> mean of %d(%s)", e.Scale.Count, bits(e.OutBits))
	case e.Scale != nil:
		return fmt.Sprintf(" -> fixed-point product(%s)", bits(e.OutBits))
	}
	s := ""
	for _, name := range e.FloatNames() {
		s += " " + name
	}
	switch {
	case e.Quantizer != nil:
		s += fmt.Sprintf(" quantize(%s)", bits(e.OutBits))
	case e.LevelRows != nil:
		s += fmt.Sprintf(" levels(%s, per channel)", bits(e.OutBits))
	case e.OutBits > 0:
		s += fmt.Sprintf(" levels(%s)", bits(e.OutBits))
	}
	if s == "" {
		return ""
	}
	return " ->" + s
}

// FloatNames are the names of the float steps and joins, in order; a join with another tensor is
// e.g. "add(tensor)".
func (e Epilogue) FloatNames() []string {
	var names []string
	steps := func(steps []scalar.Step) {
		for _, s := range steps {
			// of slope 1 it only makes a NaN 0
			if s.Kind != scalar.PRelu || slices.ContainsFunc(s.A, func(v float32) bool { return v != 1 }) {
				names = append(names, s.Kind.String())
			}
		}
	}
	steps(e.Steps)
	for _, j := range e.Joins {
		names = append(names, j.Function.String()+"(tensor)")
		steps(j.Steps)
	}
	return names
}

// remark prints, as a comment, the code of n's reason, the layer that it is a part of, and its
// note.
func remark(n *Node) string {
	var parts []string
	if r := n.Verdict.Reason; r != NoReason {
		parts = append(parts, r.String())
		if n.Verdict.Where != "" {
			parts[0] += "(" + n.Verdict.Where + ")"
		}
	}
	if part := n.Part.String(); part != "" {
		parts = append(parts, part)
	}
	return comment(parts, n.Note)
}

// comment joins facts and a note to a comment, "" if there are none.
func comment(parts []string, note string) string {
	if note := strings.Join(strings.Fields(note), " "); note != "" {
		parts = append(parts, strconv.Quote(note))
	}
	if len(parts) == 0 {
		return ""
	}
	return "  // " + strings.Join(parts, "; ")
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
func bits(n int) string { return human.Count(n, "bit") }
