// Package network makes programs of package core from networks. Every layer is a Func of tensor IR.
// Steps of package schedule cut it into tiles and make it calls of the core's instructions. Then it
// is printed:
//
//	dataflow.Segment -> ir.Func of a layer -> scheduled Func -> core.Program
package network

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ripc/core"
	"ripc/dataflow"
	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir/arith"
	"ripc/schedule"
)

// Network is a part of a network as a program of a core.
type Network struct {
	Segment *dataflow.Segment
	Program core.Program
	Layers  []Layer
	in, out *tensor
	tensors map[string]*tensor
}

// Layer is a layer in the program.
type Layer struct {
	Name     string
	Schedule Schedule
	Trace    schedule.Trace // that made the scheduled Func
	Instrs   int
	Cycles   int // by which the program is longer than without it
}

// Latency is the number of cycles in which memory answers, for choices and figures.
const Latency = 16

// New makes the program of s on a design. tune says whether to search schedules; without, every
// layer has the plain one. It fails with *RefusalError or *SpaceError.
func New(ctx context.Context, s *dataflow.Segment, c core.Config, tune bool) (*Network, error) {
	n := &Network{Segment: s, Program: core.Program{Config: c}, tensors: map[string]*tensor{}}
	if err := n.plan(); err != nil {
		return nil, err
	}
	layers, err := n.lower()
	if err != nil {
		return nil, err
	}
	done := attempt{printer: newPrinter(c, n.Words())}
	for _, l := range layers {
		before := done.total
		if done, err = l.choose(ctx, done.printer, tune); err != nil {
			return nil, err
		}
		if err := errors.Join(arith.VerifyBounds(done.f), arith.VerifyWidths(done.f)); err != nil {
			return nil, fmt.Errorf("layer %s: %w", l.name, err)
		}
		done.Cycles = done.total - before
		n.Layers = append(n.Layers, done.Layer)
	}
	n.Program.Instrs = done.out
	n.Program.Place()
	return n, nil
}

// plan decides how each tensor lies: bytes where a reader needs products of bytes, with the border
// that windows reach.
func (n *Network) plan() error {
	c, s := n.Program.Config, n.Segment
	n.in = &tensor{Shape: s.InShape(), bits: s.InType().Bits}
	n.tensors[s.In] = n.in
	for _, st := range s.Stages {
		t := &tensor{Shape: st.Engine.Output(), bits: n.read(st.Inputs[0]).bits}
		switch e := st.Engine.(type) {
		case *dataflow.MVU:
			if t.bits = e.YBits; t.bits == 0 {
				t.bits, t.signed = c.AccBits, true
			}
		case *dataflow.Add:
			t.bits = e.Bits
		case *dataflow.Lookup:
			t.bits = e.OutBits
		}
		n.tensors[st.Output] = t
	}
	n.out = n.tensors[s.Last().Output]
	for _, st := range s.Stages {
		x := n.read(st.Inputs[0])
		switch m := st.Engine.(type) {
		case *dataflow.MVU:
			planes := m.XBits * ((x.C + c.Lanes - 1) / c.Lanes)
			if m.WBits > 1 || m.Conv.GroupOut() < m.Conv.Out || c.Bytes && planes > (x.C*8+c.Lanes-1)/c.Lanes {
				x.bytes = true
			}
			k := m.Conv
			dh, dw := k.Dilation()
			if k.Pad.Any() && x.Shape == m.In {
				if err := x.border(st.Name, m.Pad, k.Pad.Top, (m.Out.H-1)*k.SH+(k.KH-1)*dh+1-k.Pad.Top-x.H, k.Pad.Left,
					(m.Out.W-1)*k.SW+(k.KW-1)*dw+1-k.Pad.Left-x.W); err != nil {
					return err
				}
			}
		case *dataflow.Flip:
			x.bytes = true
		case *dataflow.Pool:
			if m.Pad.Any() && x.Shape == m.In {
				if err := x.border(st.Name, 0, m.Pad.Top, (m.Out.H-1)*m.Strides[0]+m.Kernel[0]-m.Pad.Top-x.H,
					m.Pad.Left, (m.Out.W-1)*m.Strides[1]+m.Kernel[1]-m.Pad.Left-x.W); err != nil {
					return err
				}
			}
		}
	}
	for changed := true; changed; { // the inputs of a sum lie alike
		changed = false
		for _, st := range s.Stages {
			if _, ok := st.Engine.(*dataflow.Add); ok && len(st.Inputs) == 2 {
				x, z := n.read(st.Inputs[0]), n.read(st.Inputs[1])
				changed = changed || x.bytes != z.bytes
				x.bytes = x.bytes || z.bytes
				z.bytes = x.bytes
			}
		}
	}
	n.in.fill(c, n.in.C, c.Lanes/8)
	for _, st := range s.Stages {
		y := n.tensors[st.Output]
		y.fill(c, y.C, c.Rows)
		if _, ok := st.Engine.(*dataflow.MVU); ok {
			continue
		}
		first := 0
		for _, in := range st.Inputs {
			x := n.read(in)
			x.fill(c, x.C, c.Rows)
			y.fill(c, first+x.lanes, c.Rows)
			if _, ok := st.Engine.(*dataflow.Concat); ok {
				first += x.C
			}
		}
	}
	return nil
}

// read is a tensor that a stage reads, under any of its shapes.
func (n *Network) read(t string) *tensor {
	for n.tensors[t] == nil {
		nodes := n.Segment.Graph.Nodes
		t = nodes[slices.IndexFunc(nodes, func(m *graph.Node) bool { return m.Output == t })].Inputs[0]
	}
	return n.tensors[t]
}

// border makes t's border at least as wide as given.
func (t *tensor) border(layer string, level int64, top, bottom, left, right int) error {
	if t.bordered && t.level != level {
		return &RefusalError{layer, "its input has another reader with other levels outside the picture"}
	}
	t.bordered, t.level = true, level
	t.top, t.bottom, t.left, t.right = max(t.top, top), max(t.bottom, bottom), max(t.left, left), max(t.right, right)
	return nil
}

// lower makes the layers, and puts tensors and constants into the memory.
func (n *Network) lower() ([]*layer, error) {
	c, s, p := n.Program.Config, n.Segment, &n.Program
	words := 0
	for _, t := range append([]string{s.In}, outputs(s)...) {
		n.tensors[t].at = words
		words += n.tensors[t].words(c)
	}
	p.Memory = make([]uint32, words*c.Lanes/32)
	for _, t := range n.tensors {
		if t.bordered {
			t.fillBorder(c, p.Memory)
		}
	}
	var layers []*layer
	for _, st := range s.Stages {
		y := n.tensors[st.Output]
		var xs []*tensor
		for _, in := range st.Inputs {
			xs = append(xs, n.read(in))
		}
		if m, ok := st.Engine.(*dataflow.Pool); ok && xs[0].Shape != m.In { // the same pixels in other rows
			x := *xs[0]
			if x.C != m.In.C || x.bordered {
				return nil, &RefusalError{st.Name, "its input has another shape"}
			}
			x.Shape, xs[0] = m.In, &x
		}
		switch m := st.Engine.(type) {
		case *dataflow.MVU:
			l, err := conv(c, st, m, xs[0], y)
			if err != nil {
				return nil, err
			}
			layers = append(layers, l)
		case *dataflow.Flip:
			l, err := conv(c, st, flipping(m), xs[0], y)
			if err != nil {
				return nil, err
			}
			layers = append(layers, l)
		case *dataflow.Pool:
			layers = append(layers, pool(c, st.Name, m, xs[0], y))
		case *dataflow.Add:
			if m.Terms != [2]scalar.Term{} {
				return nil, &RefusalError{st.Name, "its levels have other scales or signs"}
			}
			layers = append(layers, join(c, st.Name, xs, y, 0))
		case *dataflow.Concat:
			first := 0
			for _, x := range xs {
				if first%c.Rows != 0 {
					return nil, &RefusalError{st.Name, fmt.Sprintf("its parts are no multiples of %d channels", c.Rows)}
				}
				layers = append(layers, join(c, st.Name, []*tensor{x}, y, first/c.Rows))
				first += x.C
			}
		case *dataflow.Lookup:
			l, err := lookup(c, st.Name, m, xs[0], y)
			if err != nil {
				return nil, err
			}
			layers = append(layers, l)
		default:
			return nil, &RefusalError{st.Name, "the core has no instruction for it"}
		}
	}
	for _, l := range layers {
		for _, name := range []string{"wt", "t"} {
			if k, ok := l.constants[name]; ok {
				k.at = p.Words()
				p.Memory = append(p.Memory, k.data...)
				l.constants[name] = k
			}
		}
	}
	return layers, nil
}

// outputs are the tensors that stages make, in their order.
func outputs(s *dataflow.Segment) []string {
	var all []string
	for _, st := range s.Stages {
		all = append(all, st.Output)
	}
	return all
}

// Places describes the tensors in memory, the input first.
func (n *Network) Places() []string {
	var all []string
	for _, name := range append([]string{n.Segment.In}, outputs(n.Segment)...) {
		t := n.tensors[name]
		form := fmt.Sprintf("%d planes of %d bits", t.bits, t.lanes)
		if t.bytes {
			form = fmt.Sprintf("%d bytes", t.lanes)
		}
		all = append(all, fmt.Sprintf("tensor %q at word %d: [%d][%d] with borders, %s", name, t.at, t.height(),
			t.width(), form))
	}
	return all
}

// Memory is the memory outside with a picture, the elements of the segment's input.
func (n *Network) Memory(picture []int64) []uint32 {
	memory := slices.Clone(n.Program.Memory)
	n.in.set(n.Program.Config, memory, picture)
	return memory
}

// Tensor is a tensor of the segment after a run, as Segment.Eval has it.
func (n *Network) Tensor(memory []uint32, name string) []int64 {
	t := n.tensors[name]
	v := t.get(n.Program.Config, memory)
	if m := n.Segment.SumsLeave(); m != nil && t == n.out {
		bytes := n.read(n.Segment.Last().Inputs[0]).bytes
		for i := range v {
			o, at := i%t.C, i/t.C
			if bytes {
				v[i] += negatives(m, o)
			}
			class := m.Rows.Of(at/t.W)*m.Cols.Count() + m.Cols.Of(at%t.W)
			v[i] = m.Step*v[i] + m.K[o] + m.Border[class][o]
		}
	}
	return v
}

// Words is the number of words of the tensors, which are the first in memory.
func (n *Network) Words() int {
	words := 0
	for _, t := range n.tensors {
		words = max(words, t.at+t.words(n.Program.Config))
	}
	return words
}
