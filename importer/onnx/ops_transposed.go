package onnx

import (
	"slices"

	"ripc/graph"
)

// lowerConvTranspose makes conv_transpose2d of weights [I, O/groups, KH, KW].
func lowerConvTranspose(n *node) *tensor {
	b := n.b
	x, axes, w, kernel := n.filters()
	groups := n.intAttr("group", 1)
	if groups < 1 || min(kernel[0], kernel[1], w.shape[0], w.shape[1]) < 1 || w.shape[0] != x.shape[1] || w.shape[0]%groups != 0 {
		panic(n.fail("", "%d groups of weight %v do not fit the %d channels of the input", groups, w.shape, x.shape[1]))
	}
	in, out := w.shape[0]/groups, w.shape[1]
	hwio := b.mem.permuted(w.view([]int{groups, in, out, kernel[0], kernel[1]}), []int{3, 4, 1, 0, 2})
	shape := []int{kernel[0], kernel[1], in, groups * out}
	weights := map[string]*graph.Tensor{"w": {Shape: shape, Data: hwio.numbers()}}
	n.withBias(weights, groups*out)
	a := n.transposedWindow(kernel, x.shape, axes)
	if groups > 1 {
		a.Groups = groups
	}
	return b.fromImage(ofImage(b.emit("conv_transpose2d", a, weights, x.value)), axes)
}

// transposedWindow reads strides, dilations and what is cut off of an image of shape [N, C, H, W] that a kernel makes larger.
func (n *node) transposedWindow(kernel [2]int, shape []int, axes int) *graph.ConvTranspose2DAttrs {
	auto := n.textAttr("auto_pad", "NOTSET")
	if auto == "SAME_UPPER" || auto == "SAME_LOWER" {
		delete(n.attrs, "pads") // as they are found here
		n.attrs["auto_pad"] = nil
	}
	w := n.readWindow(kernel, shape, axes)
	var lists [2][]int
	for i, name := range []string{"output_padding", "output_shape"} {
		v := n.intsAttr(name)
		if name == "output_shape" && len(v) == 2+axes { // some write all of the shape
			v = v[2:]
		}
		n.failIf(v != nil && (len(v) != axes || slices.Min(v) < 0 || slices.Max(v) > graph.MaxElems),
			"", "attribute %q is %v, want a number for each of %d spatial axes", name, v, axes)
		lists[i] = v
	}
	a := &graph.ConvTranspose2DAttrs{Strides: w.strides, Pad: w.padding(), Dilations: w.dilated()}
	if lists[0] != nil {
		a.OutputPad = spatial(lists[0], 0)
	}
	want := [2]int{shape[2] * w.strides[0], shape[3] * w.strides[1]}
	switch {
	case lists[1] != nil:
		want = spatial(lists[1], shape[2])
	case auto != "SAME_UPPER" && auto != "SAME_LOWER":
		return a
	}
	for d := range 2 {
		total := (shape[2+d]-1)*w.strides[d] + w.extent(d) + a.OutputPad[d] - want[d]
		if total < 0 {
			a.OutputPad[d], total = a.OutputPad[d]-total, 0
		}
		w.before[d], w.after[d] = total-total/2, total/2
		if auto == "SAME_UPPER" {
			w.before[d], w.after[d] = w.after[d], w.before[d]
		}
	}
	a.Pad = w.padding()
	return a
}
