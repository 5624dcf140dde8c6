package recognize

import (
	"slices"

	"ripc/graph"
)

// rowScaled is a tensor of levels times computed numbers, one number for each row of channels.
type rowScaled struct {
	levels string // f32 tensor with a source
	// path leads from levels to the tensor: mul, div, and reshapes that keep the channels. It is
	// empty where the tensor is levels.
	path []*graph.Node
}

// maxPath bounds the ops behind levels.
const maxPath = 8

// rowScales returns the levels from which t differs by row scales only, or nil.
func (r *rewriter) rowScales(t string) *rowScaled {
	s := &rowScaled{levels: t}
	for {
		if v, _ := r.source(s.levels); v != nil {
			return s
		}
		p := r.Producer(s.levels)
		if p == nil || len(s.path) == maxPath {
			return nil
		}
		in, _ := r.rowOperand(p)
		if r.keepsChannels(p) {
			in = p.Inputs[0]
		}
		if in == "" {
			return nil
		}
		s.path = slices.Insert(s.path, 0, p)
		s.levels = in
	}
}

// keepsChannels reports whether p is a reshape that keeps the channels.
func (r *rewriter) keepsChannels(p *graph.Node) bool {
	_, reshape := p.Attrs.(*graph.ReshapeAttrs)
	return (reshape || p.Op == "flatten") && r.g.Value(p.Output).Channels() == r.g.Value(p.Inputs[0]).Channels()
}

// rowOperand returns the tensor in that p scales by one number for each row, and the tensor by of
// these numbers. by is "" where p scales by one constant. in is "" if p is no such scale.
func (r *rewriter) rowOperand(p *graph.Node) (in, by string) {
	a, ok := p.Attrs.(*graph.BinaryOpAttrs)
	if !ok || p.Op != "mul" && p.Op != "div" {
		return "", ""
	}
	if len(p.Inputs) == 1 {
		if a.Reverse && p.Op == "div" || p.Weights["b"].Data.Mixed() {
			return "", ""
		}
		return p.Inputs[0], ""
	}
	out := r.g.Value(p.Output)
	isScale := func(t string) bool {
		v := r.g.Value(t)
		return v.Channels() == 1 && out.Channels() > 1 && len(v.Shape) == len(out.Shape)
	}
	switch {
	case isScale(p.Inputs[1]) && !isScale(p.Inputs[0]):
		return p.Inputs[0], p.Inputs[1]
	case p.Op == "mul" && isScale(p.Inputs[0]) && !isScale(p.Inputs[1]):
		return p.Inputs[1], p.Inputs[0]
	}
	return "", ""
}

// moveRowScales moves row scales from the input of a few-bit layer to its sums. The layer then
// reads plain levels. This is exact in real numbers, since all terms of a sum share the factor.
func moveRowScales(r *rewriter, n *graph.Node) {
	if b, ok := binaryAttrs(n); !ok || b != nil || n.Op == "conv_transpose2d" {
		return
	}
	if p := r.Producer(n.Inputs[0]); p == nil {
		return
	} else if in, _ := r.rowOperand(p); in == "" && !r.keepsChannels(p) {
		return
	}
	if few, _ := r.fewBits(n.Weights["w"]); few == nil {
		return
	}
	s := r.rowScales(n.Inputs[0])
	if s == nil || !s.commute(r, n) {
		return
	}
	r.scaleSums(n, s)
}

// commute reports whether s has a row scale, and each sum of layer n adds products with equal
// factors.
func (s *rowScaled) commute(r *rewriter, n *graph.Node) bool {
	a, conv := n.Attrs.(*graph.Conv2DAttrs)
	w := n.Weights["w"].Shape
	pointwise := !conv || w[0] == 1 && w[1] == 1 && a.Strides == [2]int{1, 1} && !a.Pad.Any()
	scaled := false
	for i, p := range s.path {
		_, by := r.rowOperand(p)
		if by == "" {
			continue
		}
		scaled = true
		shape := r.g.Value(by).Shape
		for _, view := range s.path[i+1:] {
			if r.keepsChannels(view) {
				shape = rowShape(r.g.Value(view.Output).Shape)
			} else if _, other := r.rowOperand(view); other == "" && shape[0] != r.g.Value(view.Output).Shape[0] {
				return false
			}
		}
		if !pointwise && slices.ContainsFunc(shape[1:], func(extent int) bool { return extent != 1 }) {
			return false
		}
	}
	return scaled
}

// rowShape replaces the channels of a shape by 1.
func rowShape(shape []int) []int {
	out := slices.Clone(shape)
	out[len(out)-1] = 1
	return out
}

// scaleSums moves the scales of s from before layer n behind it, and n's bias behind the scales.
func (r *rewriter) scaleSums(n *graph.Node, s *rowScaled) {
	r.changed = true
	out, bias, in := n.Output, n.Weights["b"], s.levels
	var scales []*graph.Node
	for _, p := range s.path {
		if !r.keepsChannels(p) {
			m := &graph.Node{Name: n.Name + ".scale", Op: p.Op, Attrs: &graph.BinaryOpAttrs{},
				Inputs: []string{""}, Weights: p.Weights}
			if _, by := r.rowOperand(p); by != "" {
				m.Inputs = append(m.Inputs, by)
			}
			scales = append(scales, m)
			continue
		}
		view := *p
		view.Inputs = []string{in}
		in = r.TensorName(p.Output + ".unscaled")
		r.insert(p, &view, in)
		for _, m := range scales {
			if len(m.Inputs) < 2 {
				continue
			}
			row := &graph.Node{Name: p.Name + ".rows", Op: "reshape",
				Attrs: &graph.ReshapeAttrs{Shape: rowShape(r.g.Value(p.Output).Shape)}, Inputs: []string{m.Inputs[1]}}
			m.Inputs[1] = r.TensorName(m.Inputs[1] + ".rows")
			r.insert(p, row, m.Inputs[1])
		}
	}
	n.Weights = map[string]*graph.Tensor{"w": n.Weights["w"]}
	r.SetInputs(n, in)
	r.SetOutput(n, r.TensorName(out+".unscaled"))
	r.retype(n)
	behind := scales
	if bias != nil {
		behind = append(behind, withConstant(n.Name+".bias", "add", "", bias))
	}
	after := n
	for i, m := range behind {
		m.Inputs[0] = after.Output
		tensor := out
		if i < len(behind)-1 {
			tensor = r.TensorName(out + ".scaled")
		}
		r.insert(after, m, tensor)
		after = m
	}
}
