package onnx

import (
	"math"

	"ripc/graph"
)

// lowerPool makes max_pool and avg_pool.
func lowerPool(op string) func(n *node) *tensor {
	return func(n *node) *tensor {
		return n.pool(op, false, func(a *graph.PoolAttrs, x *graph.Value) *graph.Value { return n.b.emit(op, a, nil, x) })
	}
}

// pool reads max_pool or avg_pool of input 0, an image of which emit makes another one; over says that of means over padding, what ceil_mode lets hang over the end counts as well, as
// ONNX does not have it, but onnxruntime's QLinearAveragePool does.
func (n *node) pool(op string, over bool, emit func(a *graph.PoolAttrs, x *graph.Value) *graph.Value) *tensor {
	b := n.b
	x, axes := b.image(n.in[0])
	padded := n.in[0].margin // the image has these rows and columns in the file, and not here
	n.failIf(!n.has("kernel_shape"), "", "attribute \"kernel_shape\" is missing")
	w := n.readWindow(n.pairAttr("kernel_shape", axes), x.shape, axes)
	n.failIf(w.dilations != [2]int{1, 1}, "", "dilations %v of a pool are not supported", w.dilations)
	ceil := n.intAttr("ceil_mode", 0)
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
		count := n.intAttr("count_include_pad", 0)
		if count != 0 { // zeros that count are part of the image
			if over {
				after = w.after
			}
			x = b.padImage(x, w.before, after, 0)
			w.before, w.after = [2]int{}, [2]int{w.after[0] - after[0], w.after[1] - after[1]}
		}
	}
	for d := range 2 {
		n.pixelsInAll(w, d, x.shape[2+d], axes)
	}
	x = b.fit(x, w, fill)
	y := ofImage(emit(&graph.PoolAttrs{Kernel: w.kernel, Strides: w.strides, Pad: w.padding()}, x.value))
	y.integers = x.integers
	return b.fromImage(y, axes)
}

// pixelsInAll fails if a window along spatial axis d, of an image with count pixels there, lies in the padding alone. Padding behind the last window goes, if it is as long as the kernel.
func (n *node) pixelsInAll(w *window, d, count, axes int) {
	kernel, stride := w.kernel[d], w.strides[d]
	last := (count + w.before[d] + w.after[d] - kernel) / stride
	empty := func(i int) {
		from, along := i*stride-w.before[d], []string{"rows", "columns"}[d]
		if axes == 1 {
			along = "positions"
		}
		panic(n.fail("pad by less than the kernel's extent", "window %d of %d along the %s lies in the padding alone, from %d to %d of 0 to %d", i, last+1, along, from, from+kernel-1, count-1))
	}
	switch {
	case w.before[d] >= kernel:
		empty(0)
		return
	case last*stride-w.before[d] >= count:
		empty(last)
		return
	case w.after[d] < kernel:
		return
	}
	w.after[d] = min(w.after[d], max(0, last*stride-w.before[d]+kernel-count))
}

// lowerQLinearAveragePool takes means of windows. Inputs: x, its scale and zero point, those of y.
func lowerQLinearAveragePool(n *node) *tensor {
	xq, yq := n.paramsOfOne()
	n.integerLevels(0, n.in[0], xq)
	if v := n.intAttr("channels_last", 0); v != 0 {
		panic(n.fail("channels_last 0 is", "channels_last is not supported"))
	}
	y := n.with(0).pool("avg_pool", true, func(a *graph.PoolAttrs, x *graph.Value) *graph.Value {
		x = n.b.behind.Of(x)
		n.failIf(x == nil, "put DequantizeLinear before AveragePool, and QuantizeLinear behind it",
			"its windows cannot be read as integers")
		return n.b.intPool(a, x, yq)
	})
	return n.b.result(y, yq)
}

// intPool emits means of windows of levels x, as levels of q.
func (b *builder) intPool(a *graph.PoolAttrs, x *graph.Value, q *quantParams) *graph.Value {
	return b.emit("int_avg_pool", &graph.IntPoolAttrs{PoolAttrs: *a, LevelType: q.levelType()}, nil, x)
}
