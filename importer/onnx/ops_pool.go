package onnx

import (
	"cmp"
	"math"

	"ripc/graph"
)

// lowerPool makes max_pool and avg_pool.
func lowerPool(op string) func(n *node) ([]*tensor, error) {
	return func(n *node) ([]*tensor, error) {
		return one(n.pool(op, false, func(a *graph.PoolAttrs, x *graph.Value) (*graph.Value, error) { return n.b.emit(op, a, nil, x) }))
	}
}

// pool reads max_pool or avg_pool of input 0, an image of which emit makes another one; over says that of means over padding, what ceil_mode lets hang over the end counts as well, as
// ONNX does not have it, but onnxruntime's QLinearAveragePool does.
func (n *node) pool(op string, over bool, emit func(a *graph.PoolAttrs, x *graph.Value) (*graph.Value, error)) (*tensor, error) {
	b := n.b
	x, axes, err := b.image(n.in[0])
	if err != nil {
		return nil, err
	}
	padded := n.in[0].margin // the image has these rows and columns in the file, and not here
	if !n.has("kernel_shape") {
		return nil, n.fail("", "attribute \"kernel_shape\" is missing")
	}
	kernel, err := n.pairAttr("kernel_shape", axes)
	if err != nil {
		return nil, err
	}
	w, err := n.readWindow(kernel, x.shape, axes)
	if err != nil {
		return nil, err
	}
	if w.dilations != [2]int{1, 1} {
		return nil, n.fail("", "dilations %v of a pool are not supported", w.dilations)
	}
	ceil, err := n.intAttr("ceil_mode", 0)
	if err != nil {
		return nil, err
	}
	after := w.after
	if ceil != 0 {
		w.ceil(x.shape)
	}
	if padded != nil {
		x = &tensor{shape: ofImage(x.value).shape, value: x.value, perm: x.perm, integers: x.integers}
		for d := range 2 {
			w.before[d] += padded.before[d]
			w.after[d] += padded.after[d]
		}
	}
	fill := math.Inf(-1)
	if op == "avg_pool" {
		count, err := n.intAttr("count_include_pad", 0)
		if err != nil {
			return nil, err
		}
		if count != 0 { // zeros that count are part of the image
			if over {
				after = w.after
			}
			if x, err = b.padImage(x, w.before, after, 0); err != nil {
				return nil, err
			}
			w.before, w.after = [2]int{}, [2]int{w.after[0] - after[0], w.after[1] - after[1]}
		}
	}
	for d := range 2 {
		if err := n.pixelsInAll(w, d, x.shape[2+d], axes); err != nil {
			return nil, err
		}
	}
	if x, err = b.fit(x, w, fill); err != nil {
		return nil, err
	}
	v, err := emit(&graph.PoolAttrs{Kernel: w.kernel, Strides: w.strides, Pad: w.padding()}, x.value)
	if err != nil {
		return nil, err
	}
	y := ofImage(v)
	y.integers = x.integers
	return b.fromImage(y, axes)
}

// pixelsInAll fails if a window along spatial axis d, of an image with count pixels there, lies in the padding alone. Padding behind the last window goes, if it is as long as the kernel.
func (n *node) pixelsInAll(w *window, d, count, axes int) error {
	kernel, stride := w.kernel[d], w.strides[d]
	last := (count + w.before[d] + w.after[d] - kernel) / stride
	empty := func(i int) error {
		from, along := i*stride-w.before[d], []string{"rows", "columns"}[d]
		if axes == 1 {
			along = "positions"
		}
		return n.fail("pad by less than the kernel's extent", "window %d of %d along the %s lies in the padding alone, from %d to %d of 0 to %d", i, last+1, along, from, from+kernel-1, count-1)
	}
	switch {
	case w.before[d] >= kernel:
		return empty(0)
	case last*stride-w.before[d] >= count:
		return empty(last)
	case w.after[d] < kernel:
		return nil
	}
	w.after[d] = min(w.after[d], max(0, last*stride-w.before[d]+kernel-count))
	return nil
}

// lowerQLinearAveragePool takes means of windows. Inputs: x, its scale and zero point, those of y.
func lowerQLinearAveragePool(n *node) ([]*tensor, error) {
	xq, yq, err := n.paramsOfOne()
	if err != nil {
		return nil, err
	}
	if _, err := n.integerLevels(0, n.in[0], xq); err != nil {
		return nil, err
	}
	if v, err := n.intAttr("channels_last", 0); err != nil || v != 0 {
		return nil, cmp.Or(err, n.fail("channels_last 0 is", "channels_last is not supported"))
	}
	y, err := n.with(0).pool("avg_pool", true, func(a *graph.PoolAttrs, x *graph.Value) (*graph.Value, error) {
		if x = n.b.behind.Of(x); x == nil {
			return nil, n.fail("put DequantizeLinear before AveragePool, and QuantizeLinear behind it", "its windows cannot be read as integers")
		}
		return n.b.intPool(a, x, yq)
	})
	if err != nil {
		return nil, err
	}
	return one(n.b.result(y, yq))
}

// intPool emits means of windows of levels x, as levels of q.
func (b *builder) intPool(a *graph.PoolAttrs, x *graph.Value, q *quantParams) (*graph.Value, error) {
	return b.emit("int_avg_pool", &graph.IntPoolAttrs{PoolAttrs: *a, LevelType: q.levelType()}, nil, x)
}
