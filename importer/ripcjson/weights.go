package ripcjson

import (
	"encoding/binary"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
	"ripc/internal/f32"
	"ripc/internal/human"
	"ripc/internal/safetensors"
	"ripc/internal/suggest"
	"ripc/ir"
)

// weights is where a model's constants come from: a file, a generator, or both.
type weights struct {
	file     string // as the model names it; "" if there is none
	tensors  map[string]safetensors.Tensor
	names    []string // of tensors, sorted
	random   *generator
	left     int // elements that may still be made
	cache    map[string]*graph.Tensor
	readFrom map[string]bool // tensors of the file that some node uses
}

// openWeights reads the model's weights entry and the file that it names; nil after a fault.
func (b *builder) openWeights(open Opener) *weights {
	w := &weights{left: b.lim.weights, cache: map[string]*graph.Tensor{}, readFrom: map[string]bool{}}
	at := "/weights"
	w.file = b.doc.text(at)
	if _, ok := b.doc.values[at].(map[string]any); ok {
		w.random = &generator{seed: uint64(b.doc.number(at+"/seed", 0)), gain: b.doc.number(at+"/gain", 1),
			values: b.doc.integer(at+"/values", 0)}
		at += "/file"
		w.file = b.doc.text(at)
	}
	if w.file == "" {
		return w
	}
	if !filepath.IsLocal(filepath.FromSlash(w.file)) {
		b.add(b.doc.lines[at], "", "use a path relative to the model's folder, without ..",
			"weights file %q is not in the model's folder", w.file)
		return nil
	}
	var err error
	if w.tensors, err = open(w.file); err != nil {
		b.addError(&ir.Error{Pos: ir.Pos{File: b.file, Line: b.doc.lines[at]},
			Msg: fmt.Sprintf("cannot read the weights file %q", w.file), Err: err})
		return nil
	}
	w.names = slices.Sorted(maps.Keys(w.tensors))
	return w
}

// checkUnused refuses tensors of the file that no node uses, if others are generated: a misspelt
// name would otherwise be replaced by random numbers without a word.
func (w *weights) checkUnused(b *builder) {
	if w.random == nil {
		return
	}
	for _, name := range w.names {
		if !w.readFrom[name] {
			b.add(b.doc.lines["/weights/file"], "", "name it NODE.KEY, or in the node's weights table",
				"weights file %q holds tensor %q, which no node uses", w.file, name)
		}
	}
}

// tensor finds the constant called name for weight key of n, or generates it with the given shape.
// A nil shape means that only a file can tell. It returns nil after a fault.
func (b *builder) tensor(n *rawNode, key, name string, shape []int, fanIn int) *graph.Tensor {
	w := b.weights
	at := join(n.at+"/weights", key)
	line, ok := b.doc.lines[at]
	if !ok {
		line = n.line
	}
	raw, inFile := w.tensors[name]
	if !inFile && w.random == nil && w.file == "" {
		b.add(line, n.label(), `add "weights" to the model: a safetensors file, or {"init": "random", "seed": 1}`,
			"weight %q is missing", key)
		return nil
	}
	if !inFile && w.random == nil {
		b.add(line, n.label(), b.didYouMean(name, w.names)+"it holds "+suggest.List(w.names, 12),
			"weights file %q has no tensor %q (weight %q)", w.file, name, key)
		return nil
	}
	if inFile {
		w.readFrom[name] = true
		shape = raw.Shape
	}
	for _, d := range shape {
		if d < 1 || d > graph.MaxElems {
			b.add(line, n.label(), fmt.Sprintf("extents are 1 to %d", graph.MaxElems), "weight %q has shape %v", key,
				shape)
			return nil
		}
	}
	id := name
	if !inFile {
		id = fmt.Sprintf("%s:%s:%v:%d", generated(n.op, key), name, shape, fanIn)
	}
	if t := w.cache[id]; t != nil {
		return t
	}
	if kit.Count(shape, w.left) > w.left {
		b.add(line, n.label(), "", "weight %q of shape %v: all weights together have more than %d elements", key, shape,
			b.lim.weights)
		return nil
	}
	t := &graph.Tensor{Shape: slices.Clone(shape)}
	w.left -= t.Elems()
	if !inFile {
		generate := w.random.numbers
		if key == "w" && graph.Bitserial(n.op) { // which become few bits
			generate = w.random.computedNumbers
		}
		t.Data = generate(generated(n.op, key), name, shape, fanIn)
	} else {
		var msg string
		if t.Data, msg = numbers(raw, t.Elems(), wideType(n.op, key)); msg != "" {
			b.add(line, n.label(), "use f32, or i8 or u8 for small integers", "weight %q: tensor %q of %q %s", key,
				name, w.file, msg)
			return nil
		}
	}
	if i := graph.NotFinite(n.op, t); i >= 0 {
		b.add(line, n.label(), "", "weight %q: element %d of tensor %q is %v, want finite numbers", key, i, name,
			t.Data.At(i))
		return nil
	}
	w.cache[id] = t
	return t
}

// generated is the kind of numbers that weight key of an op is made of.
func generated(op, key string) string {
	if op == "where" {
		return "value"
	}
	if key == "w" && (op == "int_conv2d" || op == "int_dense") {
		return "integers"
	}
	if key == "b" && !graph.Products(op) {
		return "gamma"
	}
	return key
}

// wideType is the element type beyond f32 that weight key of an op may have, "" if there is none.
func wideType(op, key string) string {
	if op == "int_conv2d" || op == "int_dense" {
		return map[string]string{"bias": "i32", "multiplier": "f64"}[key]
	}
	return ""
}

// numbers are the elements of a stored tensor, of f32, of 8 bits, or of the type wide.
func numbers(t safetensors.Tensor, n int, wide string) (out graph.Numbers, msg string) {
	size := safetensors.Size(t.DType)
	if t.DType != "f32" && t.DType != "i8" && t.DType != "u8" && t.DType != wide {
		return out, "has element type " + t.DType
	}
	if len(t.Data) != n*size {
		return out, fmt.Sprintf("has %s, its shape %v needs %d", human.Count(len(t.Data), "byte"), t.Shape, n*size)
	}
	switch t.DType {
	case "f32":
		return graph.NumbersOf(f32.FromBytes(t.Data)), ""
	case "i8":
		return graph.NumbersOf(f32.Int8s(t.Data)), ""
	case "i32":
		return decoded[int32](t.Data, n), ""
	case "f64":
		return decoded[float64](t.Data, n), ""
	}
	return graph.NumbersOf(t.Data), ""
}

// decoded are n numbers of T.
func decoded[T int32 | float64](data []byte, n int) graph.Numbers {
	out := make([]T, n)
	if _, err := binary.Decode(data, binary.LittleEndian, out); err != nil {
		panic("BUG: " + err.Error()) // the length was checked
	}
	return graph.NumbersOf(out)
}
