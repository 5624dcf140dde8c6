package ripcjson

import (
	"ripc/graph"
)

// readWeights gives node the constants that its op has. It reports faults and returns false after any.
func (b *builder) readWeights(n *rawNode, node *graph.Node) bool {
	var x *graph.Value
	if len(n.inputs) > 0 {
		x = b.g.Values[n.inputs[0]]
	}
	ok := true
	set := func(key string, shape []int, fanIn int) {
		if t := b.tensor(n, key, b.weightName(n, key), shape, fanIn); t != nil {
			node.Weights[key] = t
		} else {
			ok = false
		}
	}
	switch n.op {
	case "conv2d", "bitserial_conv2d", "dense", "bitserial_dense":
		shape, known := b.kernelShape(n, x)
		if !known {
			return false
		}
		set("w", shape, product(shape[:max(len(shape)-1, 0)]))
		if !ok || !b.agrees(n, node.Weights["w"]) {
			return false
		}
		w := node.Weights["w"].Shape
		last := w[len(w)-1:]
		if b.wants(n, "b") {
			set("b", last, 0)
		}
		scaled := b.doc.text(n.at+"/attrs/weight_scale") == "tensor"
		if scaled {
			set("scale", last, product(w[:len(w)-1]))
		} else if _, given := b.doc.values[n.at+"/weights/scale"]; given {
			b.fault(n, "add weight_scale: tensor to attrs, or remove it", "weight \"scale\" is given but not used")
			return false
		}
	case "batch_norm":
		for _, key := range []string{"gamma", "beta", "mean", "var"} {
			set(key, []int{x.Channels()}, 0)
		}
	case "prelu":
		set("alpha", []int{x.Channels()}, 0)
	case "add", "sub", "mul", "div":
		if len(n.inputs) == 1 || b.wants(n, "b") {
			set("b", []int{x.Channels()}, 0)
		}
	case "constant":
		shape := b.doc.integers(n.at + "/attrs/shape")
		if _, stored := b.weights.tensors[b.weightName(n, "value")]; shape == nil && !stored && b.weights.random != nil {
			b.fault(n, "add shape to attrs, or put the tensor into a weights file", "value is to be generated (no tensor %q is stored), but attrs.shape is missing", b.weightName(n, "value"))
			return false
		}
		set("value", shape, 0)
	case "fake_quant":
		set("scale", []int{x.Channels()}, 0)
		if b.wants(n, "zero_point") {
			set("zero_point", []int{x.Channels()}, 0)
		}
	case "threshold":
		set("thresholds", []int{1<<b.doc.integer(n.at+"/attrs/bits", 1) - 1, x.Channels()}, 0)
	case "shift_norm":
		for _, key := range []string{"mean", "var"} {
			set(key, []int{x.Channels()}, 0)
		}
	}
	return ok
}

// weightName is the tensor that a node's weight comes from.
func (b *builder) weightName(n *rawNode, key string) string {
	return b.doc.textOr(n.at+"/weights/"+key, n.name+"."+key)
}

// wants reports whether an optional weight is there: named by the node, or in the file under its usual name.
func (b *builder) wants(n *rawNode, key string) bool {
	if n.op == "bitserial_conv2d" || n.op == "bitserial_dense" {
		return false
	}
	_, named := b.doc.values[n.at+"/weights/"+key]
	_, stored := b.weights.tensors[n.name+"."+key]
	return named || stored
}

// kernelShape is the shape that a generated w would have; nil if w comes from the file.
func (b *builder) kernelShape(n *rawNode, x *graph.Value) (shape []int, ok bool) {
	if _, stored := b.weights.tensors[b.weightName(n, "w")]; stored || b.weights.random == nil {
		return nil, true
	}
	need := func(key string) bool {
		_, given := b.doc.values[n.at+"/attrs/"+key]
		if !given {
			b.fault(n, "add "+key+" to attrs, or put the tensor into a weights file",
				"w is to be generated (no tensor %q is stored), but attrs.%s is missing", b.weightName(n, "w"), key)
		}
		return given
	}
	at := n.at + "/attrs"
	if n.op == "dense" || n.op == "bitserial_dense" {
		return []int{x.Channels(), b.doc.integer(at+"/units", 0)}, need("units")
	}
	k := b.doc.pair(at+"/kernel", [2]int{})
	filters, kernel := need("filters"), need("kernel")
	return []int{k[0], k[1], max(1, x.Channels()/b.doc.integer(at+"/groups", 1)), b.doc.integer(at+"/filters", 0)}, filters && kernel
}

// agrees checks filters, kernel and units, where given, against w. Whether w fits the input is for graph.Infer to say.
func (b *builder) agrees(n *rawNode, w *graph.Tensor) bool {
	want := 4
	if n.op == "dense" || n.op == "bitserial_dense" {
		want = 2
	}
	if len(w.Shape) != want {
		b.fault(n, "a convolution has w [KH, KW, I, O], a dense layer [I, O]", "weight \"w\" has shape %v, want %d axes", w.Shape, want)
		return false
	}
	last := w.Shape[want-1]
	at := n.at + "/attrs"
	ok := true
	for _, key := range []string{"filters", "units"} {
		if got := b.doc.integer(at+"/"+key, last); got != last {
			b.fault(n, "change it or leave it out", "attrs.%s is %d, but weight \"w\" has shape %v", key, got, w.Shape)
			ok = false
		}
	}
	if want == 4 {
		k := [2]int{w.Shape[0], w.Shape[1]}
		if got := b.doc.pair(at+"/kernel", k); got != k {
			b.fault(n, "change it or leave it out", "attrs.kernel is %v, but weight \"w\" has shape %v", got, w.Shape)
			ok = false
		}
	}
	return ok
}

// product multiplies extents that a limit bounds elsewhere; it saturates instead of overflowing.
func product(shape []int) int {
	n := 1
	for _, d := range shape {
		if d > 0 && n > (1<<30)/d {
			return 1 << 30
		}
		n *= d
	}
	return n
}
