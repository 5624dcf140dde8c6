package ripcjson

import (
	"ripc/graph"
)

// weightReader gives a node the constants that its op has.
type weightReader struct {
	*builder
	n    *rawNode
	node *graph.Node
	x    *graph.Value // the first input, nil if there is none
}

func (b *builder) weightReader(n *rawNode, node *graph.Node) *weightReader {
	w := &weightReader{builder: b, n: n, node: node}
	if len(n.inputs) > 0 {
		w.x = b.g.Values[n.inputs[0]]
	}
	return w
}

// set reads a weight; shape and fanIn are for one that is generated.
func (w *weightReader) set(key string, shape []int, fanIn int) bool {
	t := w.tensor(w.n, key, w.weightName(w.n, key), shape, fanIn)
	if t != nil {
		w.node.Weights[key] = t
	}
	return t != nil
}

// vector is a weight of one number for each channel.
func (w *weightReader) vector(key string) bool { return w.set(key, []int{w.x.Channels()}, 0) }

// vectors is for ops with such weights alone.
func vectors(keys ...string) func(w *weightReader) bool {
	return func(w *weightReader) bool {
		ok := true
		for _, key := range keys {
			ok = w.vector(key) && ok
		}
		return ok
	}
}

// kernel reads the weights of convolutions and dense layers.
func (w *weightReader) kernel() bool {
	shape, known := w.kernelShape(w.n, w.x)
	if !known || !w.set("w", shape, product(shape[:max(len(shape)-1, 0)])) || !w.agrees(w.n, w.node.Weights["w"]) {
		return false
	}
	shape, ok := w.node.Weights["w"].Shape, true
	last := shape[len(shape)-1:]
	if w.wants(w.n, "b") {
		ok = w.set("b", last, 0)
	}
	if w.doc.text(w.n.at+"/attrs/weight_scale") == graph.ScaleTensor.String() {
		ok = w.set("scale", last, product(shape[:len(shape)-1])) && ok
	} else if _, given := w.doc.values[w.n.at+"/weights/scale"]; given {
		w.fault(w.n, "add weight_scale: tensor to attrs, or remove it", "weight \"scale\" is given but not used")
		return false
	}
	if w.doc.flag(w.n.at + "/attrs/weight_offset") {
		ok = w.set("offset", last, product(shape[:len(shape)-1])) && ok
	} else if _, given := w.doc.values[w.n.at+"/weights/offset"]; given {
		w.fault(w.n, "add weight_offset: true to attrs, or remove it", "weight \"offset\" is given but not used")
		return false
	}
	return ok
}

// integers reads the weights of an integer layer.
func (w *weightReader) integers() bool {
	shape, known := w.kernelShape(w.n, w.x)
	fanIn := product(shape[:max(len(shape)-1, 0)])
	if !known || !w.set("w", shape, fanIn) || !w.agrees(w.n, w.node.Weights["w"]) {
		return false
	}
	shape = w.node.Weights["w"].Shape
	last, ok := shape[len(shape)-1:], true
	if w.wants(w.n, "bias") {
		ok = w.set("bias", last, 0)
	}
	if r := graph.IntegerOf(w.node).Form; r == graph.FloatRequantization || r == graph.FixedRequantization {
		ok = w.set("multiplier", last, product(shape[:len(shape)-1])) && ok
	}
	return ok
}

// operand reads the second operand of an op of one input.
func (w *weightReader) operand() bool {
	return len(w.n.inputs) != 1 && !w.wants(w.n, "b") || w.vector("b")
}

// branches reads the constants between which a where chooses.
func (w *weightReader) branches() bool {
	ok := true
	for _, key := range []string{"a", "b"} {
		if w.wants(w.n, key) {
			ok = w.vector(key) && ok
		}
	}
	return ok
}

// value reads that of a constant.
func (w *weightReader) value() bool {
	shape := w.doc.integers(w.n.at + "/attrs/shape")
	if _, stored := w.weights.tensors[w.weightName(w.n, "value")]; shape == nil && !stored && w.weights.random != nil {
		w.fault(w.n, "add shape to attrs, or put the tensor into a weights file",
			"value is to be generated (no tensor %q is stored), but attrs.shape is missing", w.weightName(w.n, "value"))
		return false
	}
	return w.set("value", shape, 0)
}

func (w *weightReader) fakeQuant() bool {
	ok := w.vector("scale")
	if w.wants(w.n, "zero_point") {
		ok = w.vector("zero_point") && ok
	}
	return ok
}

func (w *weightReader) thresholds() bool {
	return w.set("thresholds", []int{1<<w.doc.integer(w.n.at+"/attrs/bits", 1) - 1, w.x.Channels()}, 0)
}

// weightName is the tensor that a node's weight comes from.
func (b *builder) weightName(n *rawNode, key string) string {
	return b.doc.textOr(n.at+"/weights/"+key, n.name+"."+key)
}

// wants reports whether an optional weight is there: named by the node, or in the file under its
// usual name.
func (b *builder) wants(n *rawNode, key string) bool {
	if graph.Bitserial(n.op) {
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
	if n.op == "dense" || n.op == "bitserial_dense" || n.op == "int_dense" {
		return []int{x.Channels(), b.doc.integer(at+"/units", 0)}, need("units")
	}
	k := b.doc.pair(at+"/kernel", [2]int{})
	filters, kernel := need("filters"), need("kernel")
	return []int{k[0], k[1], max(1, x.Channels()/b.doc.integer(at+"/groups", 1)), b.doc.integer(at+"/filters", 0)},
		filters && kernel
}

// agrees checks filters, kernel and units, where given, against w. Whether w fits the input is for
// graph.Infer to say.
func (b *builder) agrees(n *rawNode, w *graph.Tensor) bool {
	want := 4
	if n.op == "dense" || n.op == "bitserial_dense" || n.op == "int_dense" {
		want = 2
	}
	if len(w.Shape) != want {
		b.fault(n, "a convolution has w [KH, KW, I, O], a dense layer [I, O]",
			"weight \"w\" has shape %v, want %d axes", w.Shape, want)
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
