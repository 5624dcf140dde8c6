package fusedglue

import (
	"slices"

	"ripc/graph"
)

// A transposed convolution is computed by phases. A phase is a position of an output pixel between
// the input pixels. Each phase is an ordinary convolution with those taps of the filter that fall
// on input pixels. depth_to_space interleaves the phases. So everything built for convolutions
// applies, and no product with an inserted zero is computed.

// maxApart is the number of phases up to which differing phases become separate convolutions, each
// with its own taps only.
const maxApart = 4

// Up to mostApart phases are also separated if adding zero taps would multiply the work by more
// than mostFill.
const (
	mostApart = 16
	mostFill  = 4
)

// axis is a transposed convolution along rows or columns.
type axis struct{ size, out, kernel, stride, dilation, padBefore int }

// phase is an ordinary convolution along an axis: position q of its result reads the input
// positions q + first, q + first + step, ... with these taps of the filter. Tap -1 is a weight of
// 0.
type phase struct {
	taps        []int
	first, step int
}

func (p phase) last() int { return p.first + (len(p.taps)-1)*p.step }

// phases are the phases of an axis. The output begins at position begin of the interleaved result.
type phases struct {
	list  []phase
	begin int
}

// phasesFrom lists the phases of a. The output begins at the smallest position >= begin, in
// strides, such that no phase starts inside the input.
func (a axis) phasesFrom(begin int) phases {
	p, inside := phases{begin: begin, list: make([]phase, a.stride)}, 0
	for r := range p.list {
		q := phase{step: 1}
		for t := a.kernel - 1; t >= 0; t-- {
			at := r - begin + a.padBefore - t*a.dilation
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
		return a.phasesFrom(begin + inside*a.stride)
	}
	return p
}

// sameReads reports whether all phases read the same positions.
func (p phases) sameReads() bool {
	f := p.list[0]
	return !slices.ContainsFunc(p.list,
		func(q phase) bool { return len(q.taps) != len(f.taps) || q.first != f.first || q.step != f.step })
}

// fillTaps returns phases that all read the same positions, some with a weight of 0.
func (p phases) fillTaps() phases {
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

// positions returns the number of positions of each phase: enough for the output, and enough that
// no phase ends inside the input.
func (a axis) positions(p phases) int {
	n := (p.begin + a.out + a.stride - 1) / a.stride
	for _, q := range p.list {
		n = max(n, a.size-q.last())
	}
	return n
}

// group splits the phases into convolutions: one for all phases of an axis, or one for each phase.
func (p phases) group(all bool) [][]phase {
	if all {
		return [][]phase{p.list}
	}
	var out [][]phase
	for _, q := range p.list {
		out = append(out, []phase{q})
	}
	return out
}

// plan chooses the phases of both axes, and along which axes one convolution computes all phases.
func plan(rows, cols axis, groups int) (h, w phases, allRows, allCols bool) {
	h, w = rows.phasesFrom(0), cols.phasesFrom(0)
	count := rows.stride * cols.stride
	if h.sameReads() && w.sameReads() {
		return h, w, true, true
	}
	shift := func(a axis, p phases) phases {
		if s := a.phasesFrom(p.begin + a.padBefore%a.stride); !p.sameReads() {
			return s
		}
		return p
	}
	if count > maxApart {
		hs, ws := shift(rows, h).fillTaps(), shift(cols, w).fillTaps()
		taps := len(hs.list[0].taps) * len(ws.list[0].taps) * count
		if taps == rows.kernel*cols.kernel || count > mostApart && taps <= mostFill*rows.kernel*cols.kernel {
			return hs, ws, true, true
		}
	}
	return h, w, false, w.sameReads() && groups == 1
}

// replaceTransposed replaces n, a transposed convolution, by ordinary ones.
func (r *rewriter) replaceTransposed(n *graph.Node, a *graph.ConvTranspose2DAttrs) error {
	x, y, w := r.g.Value(n.Inputs[0]), r.g.Value(n.Output), n.Weights["w"]
	whole := &graph.FusedConv{KH: w.Shape[0], KW: w.Shape[1], SH: 1, SW: 1, Groups: a.GroupCount(),
		In: x.Channels(), Out: w.Shape[3]}
	setWeights(n, whole, a.Binary, true)
	rows := axis{x.Shape[1], y.Shape[1], whole.KH, a.Strides[0], a.Dilation()[0], a.Pad.Top}
	cols := axis{x.Shape[2], y.Shape[2], whole.KW, a.Strides[1], a.Dilation()[1], a.Pad.Left}
	h, v, allRows, allCols := plan(rows, cols, whole.Groups)
	t := &transposing{r, n, whole, a.Binary}
	qh, qw := rows.positions(h), cols.positions(v)
	var parts []string
	for _, ph := range h.group(allRows) {
		for _, pw := range v.group(allCols) {
			f := t.part(ph, pw)
			f.Pad = graph.Padding{Mode: graph.PadExplicit, Top: -ph[0].first, Bottom: qh - 1 +
				ph[0].last() - (rows.size - 1),
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
		last = t.insert("concat", &graph.ConcatAttrs{},
			[]int{x.Shape[0], qh, qw, y.Shape[3] * a.Strides[0] * a.Strides[1]}, parts...)
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
		last = t.insert("slice", &graph.SliceAttrs{Begin: []int{0, h.begin, v.begin, 0}, Size: slices.Clone(y.Shape),
			Stride: []int{1, 1, 1, 1}}, y.Shape, last)
	}
	p := r.Producer(last)
	r.Remove(n)
	r.SetOutput(p, n.Output)
	return nil
}

// transposing is the state of replacing transposed convolution n.
type transposing struct {
	*rewriter
	n     *graph.Node
	whole *graph.FusedConv
	b     *graph.BinaryAttrs
}

// byChannel reports whether the phases of one channel are adjacent, as grouped layers need it.
// Otherwise the channels of one phase are.
func (t *transposing) byChannel(all bool) bool { return all && t.whole.Groups > 1 }

// part returns the convolution of some phases, without padding.
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
	// sources maps weight i of f to its place in the whole filter, -1 for a weight of 0.
	sources := slices.Repeat([]int{-1}, f.KH*f.KW*in*f.Out)
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
						sources[((a*f.KW+b)*in+c)*f.Out+place(i*len(cols)+j,
							o)] = ((th*t.whole.KW+tw)*in+c)*t.whole.Out + o
					}
				}
			}
		}
	}
	f.WFloat = elementsAt(t.whole.WFloat, sources)
	if t.whole.Ints.Len() > 0 {
		f.Ints = graph.IntNumbers(len(sources), func(i int) int {
			if sources[i] < 0 {
				return 0
			}
			return int(t.whole.Ints.At(sources[i]))
		})
	}
	channels := make([]int, f.Out)
	for phase := range count {
		for o := range t.whole.Out {
			channels[place(phase, o)] = o
		}
	}
	f.Bias, f.Alpha = elementsAt(t.whole.Bias, channels), elementsAt(t.whole.Alpha, channels)
	if zeros && t.b != nil && !f.W.Has(0) { // a range that the weights' bits have, with 0
		if f.W = (graph.Integers{Min: f.W.Min, Max: f.W.Min + 1<<(f.W.Bits()+1) - 1, Step: 1}); t.b.OneBit() {
			f.W.Max = 1
		}
	}
	return &f
}

// elementsAt returns the elements of v at the places in from, 0 for -1; nil for no elements.
func elementsAt[T any](v []T, from []int) []T {
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

// node returns a node in front of t.n, without attributes, named after it.
func (t *transposing) node(name string) *graph.Node {
	return &graph.Node{Name: t.NodeName(t.n.Name + "." + name), Output: t.TensorName(t.n.Output + "." + name),
		Pos: t.n.Pos}
}

// convolution adds f, with an output of the given shape.
func (t *transposing) convolution(f *graph.FusedConv, shape []int) (string, error) {
	m := t.node("phase")
	m.Inputs, m.Verdict, m.Note, m.Part = t.n.Inputs, t.n.Verdict, t.n.Note, t.n.Part
	m.Op = t.n.Op
	if err := finishBinding(t.g, m, f, t.b); err != nil {
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
