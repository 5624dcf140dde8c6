package fusedglue

import (
	"slices"

	"ripc/graph"
)

// A transposed convolution is one ordinary convolution for each place that a pixel of the output
// can have between the pixels of the input, its phase: of the filter's taps, only some fall on
// pixels of the input there. depth_to_space puts the phases together. So all that is known of
// convolutions serves them too, and no product with a zero between pixels is computed.

// maxApart is the number of phases up to which each that differs is a convolution of its own,
// without what the others need.
const maxApart = 4

// mostApart is the number up to which that is done rather than that taps of 0 are added, as long as
// these make at most mostFill times the work.
const (
	mostApart = 16
	mostFill  = 4
)

// axis is a transposed convolution along rows or columns.
type axis struct{ size, out, kernel, stride, dilation, before int }

// phase is an ordinary convolution along an axis: position q of its result is that of the input's
// positions q + first, q + first + step, ... with these taps of the filter, -1 standing for a
// weight of 0.
type phase struct {
	taps        []int
	first, step int
}

func (p phase) last() int { return p.first + (len(p.taps)-1)*p.step }

// phases are those of an axis whose output begins at position begin of them all, put together.
type phases struct {
	list  []phase
	begin int
}

// from lists the phases of a for which the output begins at the smallest position from begin on for
// which no phase begins inside the input; they differ by multiples of the stride.
func (a axis) from(begin int) phases {
	p, inside := phases{begin: begin, list: make([]phase, a.stride)}, 0
	for r := range p.list {
		q := phase{step: 1}
		for t := a.kernel - 1; t >= 0; t-- {
			at := r - begin + a.before - t*a.dilation
			if (at%a.stride+a.stride)%a.stride != 0 {
				continue
			}
			switch at /= a.stride; len(q.taps) {
			case 0:
				q.first = at
			case 1:
				q.step = at - q.first
			}
			q.taps = append(q.taps, t)
		}
		if q.taps == nil {
			q.taps = []int{-1}
		}
		p.list[r], inside = q, max(inside, q.first)
	}
	if inside > 0 {
		return a.from(begin + inside*a.stride)
	}
	return p
}

// alike reports whether all phases read the same positions.
func (p phases) alike() bool {
	f := p.list[0]
	return !slices.ContainsFunc(p.list, func(q phase) bool { return len(q.taps) != len(f.taps) || q.first != f.first || q.step != f.step })
}

// filled are phases that read all the same positions, some with a weight of 0.
func (p phases) filled() phases {
	lo, hi := p.list[0].first, p.list[0].last()
	for _, q := range p.list {
		lo, hi = min(lo, q.first), max(hi, q.last())
	}
	out := phases{begin: p.begin}
	for _, q := range p.list {
		f := phase{taps: slices.Repeat([]int{-1}, hi-lo+1), first: lo, step: 1}
		for i, t := range q.taps {
			f.taps[q.first+i*q.step-lo] = t
		}
		out.list = append(out.list, f)
	}
	return out
}

// rounds is the number of positions of each phase: all of the output, and what lets none stop
// inside the input.
func (a axis) rounds(p phases) int {
	n := (p.begin + a.out + a.stride - 1) / a.stride
	for _, q := range p.list {
		n = max(n, a.size-q.last())
	}
	return n
}

// together groups the phases that are one convolution: all of an axis, or each by itself.
func (p phases) together(all bool) [][]phase {
	if all {
		return [][]phase{p.list}
	}
	var out [][]phase
	for _, q := range p.list {
		out = append(out, []phase{q})
	}
	return out
}

// plan chooses the phases of both axes, and along which of them all are one convolution.
func plan(rows, cols axis, groups int) (h, w phases, allRows, allCols bool) {
	h, w = rows.from(0), cols.from(0)
	count := rows.stride * cols.stride
	if h.alike() && w.alike() {
		return h, w, true, true
	}
	shift := func(a axis, p phases) phases {
		if s := a.from(p.begin + a.before%a.stride); !p.alike() {
			return s
		}
		return p
	}
	if count > maxApart {
		hs, ws := shift(rows, h).filled(), shift(cols, w).filled()
		taps := len(hs.list[0].taps) * len(ws.list[0].taps) * count
		if taps == rows.kernel*cols.kernel || count > mostApart && taps <= mostFill*rows.kernel*cols.kernel {
			return hs, ws, true, true
		}
	}
	return h, w, false, w.alike() && groups == 1
}

// transposed makes n, a transposed convolution, ordinary ones.
func (r *rewriter) transposed(n *graph.Node, a *graph.ConvTranspose2DAttrs) error {
	x, y, w := r.g.Value(n.Inputs[0]), r.g.Value(n.Output), n.Weights["w"]
	whole := &graph.FusedConv{KH: w.Shape[0], KW: w.Shape[1], SH: 1, SW: 1, Groups: a.GroupCount(), In: x.Channels(), Out: w.Shape[3]}
	weigh(n, whole, a.Binary, true)
	rows := axis{x.Shape[1], y.Shape[1], whole.KH, a.Strides[0], a.Dilation()[0], a.Pad.Top}
	cols := axis{x.Shape[2], y.Shape[2], whole.KW, a.Strides[1], a.Dilation()[1], a.Pad.Left}
	h, v, allRows, allCols := plan(rows, cols, whole.Groups)
	t := &transposing{r, n, whole, a.Binary}
	qh, qw := rows.rounds(h), cols.rounds(v)
	var parts []string
	for _, ph := range h.together(allRows) {
		for _, pw := range v.together(allCols) {
			f := t.part(ph, pw)
			f.Pad = graph.Padding{Mode: graph.PadExplicit, Top: -ph[0].first, Bottom: qh - 1 + ph[0].last() - (rows.size - 1),
				Left: -pw[0].first, Right: qw - 1 + pw[0].last() - (cols.size - 1)}
			part, err := t.convolution(f, []int{x.Shape[0], qh, qw, f.Out})
			if err != nil {
				return err
			}
			parts = append(parts, part)
		}
	}
	last := parts[0]
	if len(parts) > 1 {
		last = t.insert("concat", &graph.ConcatAttrs{}, []int{x.Shape[0], qh, qw, y.Shape[3] * a.Strides[0] * a.Strides[1]}, parts...)
	}
	size := []int{x.Shape[0], qh * a.Strides[0], qw * a.Strides[1], y.Shape[3]}
	if a.Strides != [2]int{1, 1} {
		order := graph.BlockDCR
		if t.byChannel(allRows && allCols) {
			order = graph.BlockCRD
		}
		last = t.insert("depth_to_space", &graph.BlockAttrs{Block: a.Strides, Order: order}, size, last)
	}
	if !slices.Equal(size, y.Shape) {
		last = t.insert("slice", &graph.SliceAttrs{Begin: []int{0, h.begin, v.begin, 0}, Size: slices.Clone(y.Shape), Stride: []int{1, 1, 1, 1}}, y.Shape, last)
	}
	p := r.Producer(last)
	r.Remove(n)
	r.SetOutput(p, n.Output)
	return nil
}

// transposing is a transposed convolution n that is being replaced.
type transposing struct {
	*rewriter
	n     *graph.Node
	whole *graph.FusedConv
	b     *graph.BinaryAttrs
}

// byChannel reports whether the phases of one channel lie side by side, as groups need it, or the
// channels of one phase.
func (t *transposing) byChannel(all bool) bool { return all && t.whole.Groups > 1 }

// part is the convolution of some phases, without its padding.
func (t *transposing) part(rows, cols []phase) *graph.FusedConv {
	f, count := *t.whole, len(rows)*len(cols)
	f.KH, f.KW, f.DH, f.DW, f.Out = len(rows[0].taps), len(cols[0].taps), rows[0].step, cols[0].step, t.whole.Out*count
	in := f.GroupIn()
	place := func(phase, o int) int {
		if t.byChannel(count > 1) {
			return o*count + phase
		}
		return phase*t.whole.Out + o
	}
	// from is where weight i of f is in the whole filter, -1 where it is 0.
	from := slices.Repeat([]int{-1}, f.KH*f.KW*in*f.Out)
	zeros := false
	for i, p := range rows {
		for j, q := range cols {
			for a, th := range p.taps {
				for b, tw := range q.taps {
					if th < 0 || tw < 0 {
						zeros = true
						continue
					}
					for k := range in * t.whole.Out {
						c, o := k/t.whole.Out, k%t.whole.Out
						from[((a*f.KW+b)*in+c)*f.Out+place(i*len(cols)+j, o)] = ((th*t.whole.KW+tw)*in+c)*t.whole.Out + o
					}
				}
			}
		}
	}
	f.WFloat = taken(t.whole.WFloat, from)
	if t.whole.Ints.Len() > 0 {
		f.Ints = graph.Whole(len(from), func(i int) int {
			if from[i] < 0 {
				return 0
			}
			return int(t.whole.Ints.At(from[i]))
		})
	}
	channels := make([]int, f.Out)
	for phase := range count {
		for o := range t.whole.Out {
			channels[place(phase, o)] = o
		}
	}
	f.Bias, f.Alpha = taken(t.whole.Bias, channels), taken(t.whole.Alpha, channels)
	if zeros && t.b != nil && !f.W.Has(0) { // a range that the weights' bits have, with 0
		if f.W = (graph.Integers{Min: f.W.Min, Max: f.W.Min + 1<<(f.W.Bits()+1) - 1, Step: 1}); t.b.OneBit() {
			f.W.Max = 1
		}
	}
	return &f
}

// taken are the elements of v at the places in from, 0 for -1; nil for no elements.
func taken[T any](v []T, from []int) []T {
	if v == nil {
		return nil
	}
	out := make([]T, len(from))
	for i, k := range from {
		if k >= 0 {
			out[i] = v[k]
		}
	}
	return out
}

// node is a node in front of t.n, without its attributes, called like it.
func (t *transposing) node(name string) *graph.Node {
	return &graph.Node{Name: t.NodeName(t.n.Name + "." + name), Output: t.TensorName(t.n.Output + "." + name), Pos: t.n.Pos}
}

// convolution adds f, which makes a tensor of the given shape.
func (t *transposing) convolution(f *graph.FusedConv, shape []int) (string, error) {
	m := t.node("phase")
	m.Inputs, m.Verdict, m.Note, m.Part = t.n.Inputs, t.n.Verdict, t.n.Note, t.n.Part
	m.Op = t.n.Op
	if err := summed(t.g, m, f, t.b); err != nil {
		return "", err
	}
	t.InsertBefore(t.n, m, &graph.Value{Shape: shape, Layout: "NHWC"})
	return m.Output, nil
}

// insert adds a node that moves elements.
func (t *transposing) insert(op string, attrs any, shape []int, inputs ...string) string {
	m := t.node(op)
	m.Op, m.Attrs, m.Inputs = op, attrs, inputs
	t.InsertBefore(t.n, m, &graph.Value{Shape: slices.Clone(shape), Layout: "NHWC"})
	return m.Output
}
