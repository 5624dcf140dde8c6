package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
)

// FINN and qonnx rewrite networks on their way to hardware: images are NHWC, a convolution is
// Im2Col and a MatMul, a product of bits is a count. The functions here undo this.

// permuteAxes returns t with its axes in another order, which moves nothing in memory: axis d of
// the result is axis move[d] of t.
func (b *builder) permuteAxes(t *tensor, move []int) *tensor {
	t = b.orderColumns(t)
	perm := kit.Places(t.order(), move)
	return &tensor{shape: kit.Permuted(t.shape, move), value: t.value, perm: perm, integers: t.integers, truth: t.truth}
}

// channelsFirst returns the permutation that brings the last of rank axes to place 1, and its
// inverse.
func channelsFirst(rank int) (move, back []int) {
	move = append([]int{0, rank - 1}, kit.Identity(rank)[1:rank-1]...)
	back = append([]int{0}, kit.Identity(rank)[2:]...)
	return move, append(back, 1)
}

// onChannelsLast is a standard op on tensors [N, ..., C]; weights says that input 1 is [O, ..., I]
// as well.
func onChannelsLast(lower lowerFunc, weights bool) lowerFunc {
	return func(n *node) *tensor {
		b, rank := n.b, len(n.in[0].shape)
		n.failIf(rank < 3, "", "input has shape %v, want [N, ..., C]", n.in[0].shape)
		move, back := channelsFirst(rank)
		n.in[0] = b.permuteAxes(n.in[0], move)
		if weights {
			w := n.konst(1, "weight")
			n.failIf(len(w.shape) != rank,
				"", "weight has shape %v, want [O, ..., I] as the input %v has [N, ..., C]", w.shape, n.in[0].shape)
			w = b.mem.permute(w, move)
			n.in[1] = &tensor{shape: w.shape, konst: w}
		}
		return b.permuteAxes(lower(n), back)
	}
}

// windows marks a tensor [N, OH, OW, KH*KW*C]: the pixels of each window over the image x [N, H, W,
// C], row by row.
type windows struct {
	x *tensor
	kit.Window
}

// lowerIm2Col puts the windows' pixels side by side: one slice of the padded image for each, which
// nobody reads where only matrix products do (overWindows).
func lowerIm2Col(n *node) *tensor {
	b, x := n.b, n.in[0]
	n.failIf(len(x.shape) != 4, "", "input has shape %v, want [N, H, W, C]", x.shape)
	w := &windows{}
	n.spread("kernel_size", 2)
	n.spread("stride", 2)
	n.spread("pad_amount", 4)
	for _, a := range []struct {
		name string
		to   *[2]int
	}{{"kernel_size", &w.Kernel}, {"stride", &w.Strides}, {"dilations", &w.Dilations}} {
		*a.to = n.pairAttr(a.name, 2)
	}
	pads := n.intsAttr("pad_amount")
	n.failIf(pads != nil && (len(pads) != 4 || slices.Min(pads) < 0 || slices.Max(pads) > 1<<20),
		"give the rows above, columns left, rows below, columns right", "pad_amount %v: want four numbers from 0", pads)
	value := n.intAttr("pad_value", 0)
	move, back := channelsFirst(4)
	x = b.permuteAxes(x, move)
	x, _ = b.image(x)
	padded := x
	if pads != nil {
		w.Before, w.After = [2]int{pads[0], pads[1]}, [2]int{pads[2], pads[3]}
		padded = b.padImage(x, w.Before, w.After, float64(value))
	}
	if value != 0 { // a convolution pads with zeros
		x, w.Before, w.After = padded, [2]int{}, [2]int{}
	}
	w.x = x
	out := [2]int{}
	for d := range 2 {
		over := padded.shape[2+d] - w.Extent(d)
		n.failIf(over < 0, "", "a kernel of %v over an image of shape %v leaves nothing", w.Kernel, n.in[0].shape)
		out[d] = over/w.Strides[d] + 1
	}
	if taps := w.Kernel[0] * w.Kernel[1]; taps > maxTaps {
		panic(n.fail("", "a kernel of %v has more than %d pixels", w.Kernel, maxTaps))
	}
	var parts []*graph.Value
	for i := range w.Kernel[0] {
		for j := range w.Kernel[1] {
			rows := span{2, kit.Span{Begin: i * w.Dilations[0], Count: out[0], Step: w.Strides[0]}}
			columns := span{3, kit.Span{Begin: j * w.Dilations[1], Count: out[1], Step: w.Strides[1]}}
			t := b.slice(padded, []span{rows, columns})
			parts = append(parts, t.value)
		}
	}
	v := parts[0]
	if len(parts) > 1 {
		v = b.emit("concat", &graph.ConcatAttrs{}, nil, parts...)
	}
	t := b.permuteAxes(ofImage(v), back)
	t.windows = w
	return t
}

// spread makes a list of count numbers of an attribute that is one number, as FINN of 2020 wrote
// them.
func (n *node) spread(name string, count int) {
	if a := n.attrs[name]; a != nil && a.GetType() == pb.AttributeProto_INT {
		n.attrs[name] = &pb.AttributeProto{Name: &name, Type: pb.AttributeProto_INTS.Enum(),
			Ints: slices.Repeat([]int64{a.GetI()}, count)}
	}
}

// maxTaps bounds the slices of an Im2Col.
const maxTaps = 1 << 10

// overWindows is a product with a constant matrix. Behind Im2Col it is a convolution, else lower
// makes it.
func overWindows(lower lowerFunc) lowerFunc {
	return func(n *node) *tensor {
		if w := n.in[0].windows; w != nil && n.in[1].konst != nil && len(n.in[1].shape) == 2 {
			return n.convolveWindows(w, n.in[1].konst, nil)
		}
		return lower(n)
	}
}

// convolveWindows returns conv2d of matrix m [KH*KW*C, O] over the windows w.
func (n *node) convolveWindows(w *windows, m *array, bias *graph.Tensor) *tensor {
	b, c, out := n.b, w.x.shape[1], m.shape[1]
	n.failIf(m.shape[0] != w.Kernel[0]*w.Kernel[1]*c || m.len() == 0,
		"", "a matrix of shape %v behind windows of %v pixels of %d channels", m.shape, w.Kernel, c)
	b.mem.take(m.len(), 4)
	weights := map[string]*graph.Tensor{"w": {Shape: []int{w.Kernel[0], w.Kernel[1], c, out},
		Data: graph.NumbersOf(slices.Clone(m.floats()))}}
	if bias != nil {
		weights["b"] = bias
	}
	win := w.Window
	x := b.fit(w.x, &win, 0)
	a := &graph.Conv2DAttrs{Strides: win.Strides, Pad: win.Padding(), Dilations: win.LayerDilations()}
	if d := depthwise(weights["w"]); d != nil && c > 1 {
		a.Groups, weights["w"] = c, d
	}
	v := b.emit("conv2d", a, weights, x.value)
	_, back := channelsFirst(4)
	return b.permuteAxes(ofImage(v), back)
}

// depthwise is w [KH, KW, C, C], where only the weights from each channel to itself are not 0, as
// [KH, KW, 1, C]; else nil.
func depthwise(w *graph.Tensor) *graph.Tensor {
	c, out := w.Shape[2], w.Shape[3]
	if c != out {
		return nil
	}
	diagonal := make([]float32, 0, w.Data.Len()/c)
	for i, v := range w.Data.All() {
		switch {
		case i/out%c == i%out:
			diagonal = append(diagonal, v)
		case v != 0:
			return nil
		}
	}
	return &graph.Tensor{Shape: []int{w.Shape[0], w.Shape[1], 1, c}, Data: graph.NumbersOf(diagonal)}
}

// lowerXnorPopcount counts the places where a row of bits and a column of bits agree: sum of 1 - a
// - b + 2ab over K bits is sum of a(2b - 1), plus K less the sum of b.
func lowerXnorPopcount(n *node) *tensor {
	b, x := n.b, n.in[0]
	bits := n.konst(1, "right side")
	n.failIf(len(bits.shape) != 2 || len(x.shape) < 2,
		"", "a product of shapes %v and %v, want matrices", x.shape, bits.shape)
	w := b.mem.newArray(dtFloat, bits.shape)
	out := bits.shape[1]
	sums := make([]float32, out)
	for i := range bits.len() {
		v := bits.number(i)
		if v != 0 && v != 1 {
			panic(n.fail("", "the right side holds %g, want bits, 0 or 1", v))
		}
		w.f[i] = float32(2*v - 1)
		sums[i%out] += float32(1 - v)
	}
	bias := &graph.Tensor{Shape: []int{out}, Data: graph.NumbersOf(sums)}
	if x.windows != nil {
		return n.convolveWindows(x.windows, w, bias)
	}
	shape := append(slices.Clone(x.shape[:len(x.shape)-1]), out)
	rows := b.reshape(x, []int{graph.Elems(x.shape[:len(x.shape)-1]), x.shape[len(x.shape)-1]})
	return b.reshape(b.dense(rows, w, bias, nil), shape)
}
