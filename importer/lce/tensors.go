package lce

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer/internal/source"
	"ripc/internal/lists"
	"ripc/internal/stop"
	"ripc/ir"
)

// nameTensors gives every tensor its name in the file; those without one, and second ones of a
// name, get a number.
func (b *builder) nameTensors() {
	b.names = make([]string, len(b.file.tensors))
	callers := append(slices.Clone(b.file.inputs), b.file.outputs...)
	for _, i := range callers { // first choice: callers see these
		if b.names[i] == "" {
			b.names[i] = b.unique(b.file.tensors[i].name)
		}
	}
	for i, t := range b.file.tensors {
		if b.names[i] == "" && t.data == nil {
			b.names[i] = b.unique(t.name)
		} else if b.names[i] == "" {
			b.names[i] = t.name // a constant is no value
		}
	}
}

// unique is name, or name with a number that makes it one of a kind.
func (b *builder) unique(name string) string {
	return b.used.Unique(legalName(name))
}

// longest is the number of bytes of a tensor's name that are kept. Names of a graph have room for a
// suffix behind it.
const longest = 512

// legalName returns name as names of a graph are: not empty, not too long, in UTF-8 and without
// control characters.
func legalName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, name[:min(len(name), longest)])
	if name == "" {
		return "tensor"
	}
	return name
}

// shortName returns the first of the names that the converter joined by semicolons.
func shortName(name string) string {
	s, _, _ := strings.Cut(name, ";")
	return s
}

// countBits finds the tensors that operators of Larq read as words of bits, and how many channels
// the words hold: the file says so where they are read.
func (b *builder) countBits() {
	b.bits = map[int]int{}
	for i := len(b.file.ops) - 1; i >= 0; i-- {
		o := &b.file.ops[i]
		reshaped := !o.custom && (o.op == "RESHAPE" || o.op == "SQUEEZE" || o.op == "EXPAND_DIMS")
		if !o.custom && !reshaped || len(o.inputs) == 0 || len(o.outputs) != 1 || o.inputs[0] < 0 {
			continue
		}
		c, known := b.bits[o.outputs[0]]
		switch out := o.outputs[0]; o.op {
		case opBConv:
			if stop.Try(func() { c = option(flexOptions(o), "channels_in", -1, 1, graph.MaxElems) }) != nil {
				c = 0
			}
		case opDequantize:
			if s := b.file.tensors[out].shape; len(s) > 0 {
				c = s[len(s)-1]
			}
		case opMaxPool:
		default:
			if !reshaped || !known {
				continue
			}
		}
		b.bits[o.inputs[0]] = max(c, b.bits[o.inputs[0]])
	}
}

// inputs adds the caller's tensors to the graph.
func (b *builder) inputs() {
	names := lists.Map(b.file.inputs, func(i int) string { return b.names[i] })
	b.sizes = stop.Must(source.NewSizes(b.g.File, b.options, names))
	for _, i := range b.file.inputs {
		t := &b.file.tensors[i]
		v := &graph.Value{Name: b.names[i]}
		fault := t.fault
		if fault == "" && len(t.shape) > 0 {
			v.Note = strings.TrimPrefix(b.resize(i)+"; "+b.file.notes[i], "; ")
			v.Note = strings.TrimSuffix(v.Note, "; ")
		}
		v.Shape, v.Layout = slices.Clone(t.shape), graph.LayoutOf(t.shape)
		c, isBits := b.bits[i]
		switch {
		case fault != "":
		case len(t.shape) == 0:
			fault = "is a scalar; inputs have one axis or more"
		case t.typ == typeF32:
		case t.typ == typeI8 || t.typ == typeU8:
			if err := stop.Try(func() { levelsOf(t, v) }); err != nil {
				fault = err.Error()
			}
		case t.typ == typeI32 && isBits:
			last := len(v.Shape) - 1
			if c == 0 {
				c = wordBits * v.Shape[last]
			}
			if words(c) != v.Shape[last] {
				fault = fmt.Sprintf("has %d words of bits, its reader wants %d channels", v.Shape[last], c)
			}
			v.LevelType, v.View, v.Shape[last] = signThreshold().LevelType, graph.IntWords, c
			if elems(v.Shape) > graph.MaxElems {
				fault = fmt.Sprintf("has bits of shape %v; a tensor has at most %d elements", v.Shape, graph.MaxElems)
			}
		default:
			fault = fmt.Sprintf("has element type %s, and no operator of Larq reads it; "+
				"inputs are float32, int8, uint8, or int32 words of bits", typeName(t.typ))
		}
		if fault != "" {
			b.failed[i] = true
			b.faults.Add(&ir.Error{Pos: ir.Pos{File: b.g.File}, Node: fmt.Sprintf("input %q", b.names[i]), Msg: fault})
			continue
		}
		b.out.Input(v)
		b.values[i] = v
	}
}

// resize gives input i the shape that is asked for, and returns a note on it.
func (b *builder) resize(i int) (note string) {
	t := &b.file.tensors[i]
	shape := slices.Clone(t.shape)
	for d, n := range t.signature {
		if n < 0 {
			shape[d] = 0
		}
	}
	got, note, err := b.sizes.Shape(b.names[i], shape, nil)
	stop.Check(err)
	if !slices.Equal(got, t.shape) {
		b.sizes.Written(t.shape[0], got[0])
		b.resized = true
		t.shape, t.elems = got, elems(got)
	}
	return note
}

// allowsShape reports whether t may have a shape. The file leaves some extents of t open.
func (t *tensor) allowsShape(shape []int) bool {
	if t.signature == nil || len(shape) != len(t.signature) {
		return false
	}
	for d, n := range t.signature {
		if n >= 0 && shape[d] != n {
			return false
		}
	}
	return true
}

// outputShape is the shape of the operator's result, which has the elements of a tensor of shape
// from: as the file says, or, where the file leaves extents open, with numbers computed of shapes,
// or with the one extent that is left.
func (b *builder) outputShape(from []int) []int {
	t := &b.file.tensors[b.op.outputs[0]]
	want := t.shape
	if t.signature == nil || elems(want) == elems(from) {
		return want
	}
	for _, given := range [][]int{b.numbersOf(1), t.signature} {
		shape := slices.Clone(given)
		open := slices.Index(shape, -1)
		if open >= 0 {
			shape[open] = 1
			if rest := elems(shape); !slices.Contains(shape, -1) && elems(from)%rest == 0 {
				shape[open] = elems(from) / rest
			}
		}
		if len(shape) > 0 && elems(shape) == elems(from) {
			return shape
		}
	}
	return want
}

// levelsOf makes v the levels of an 8-bit tensor.
func levelsOf(t *tensor, v *graph.Value) {
	scale, zero := quantization(t)
	v.LevelType = scalar.LevelType{Enc: ir.Unipolar, Bits: 8, Scale: scale, Zero: zero, Signed: t.typ == typeI8}
}

// leastOf is the smallest integer of an 8-bit tensor.
func leastOf(t *tensor) int64 {
	if t.typ == typeI8 {
		return math.MinInt8
	}
	return 0
}

// holds reports whether z is an integer of an 8-bit tensor's type.
func holds(t *tensor, z int64) bool {
	lo := leastOf(t)
	return z >= lo && z <= lo+math.MaxUint8
}

// quantization gives the scale and the level of zero of an 8-bit tensor, levels counting from 0 up.
func quantization(t *tensor) (scale float64, zero int) {
	failIf(len(t.scales) != 1 || len(t.zeros) > 1,
		"quantize activations per tensor",
		"tensor %q is %s with %d scales and %d zero points, want one each",
		t.name, typeName(t.typ), len(t.scales), len(t.zeros))
	s := float64(t.scales[0])
	failIf(!(s >= graph.MinScale && s <= graph.MaxScale),
		"", "tensor %q has the scale %g, want %g to %g", t.name, s, graph.MinScale, graph.MaxScale)
	var z int64
	if len(t.zeros) == 1 {
		z = t.zeros[0]
	}
	failIf(!holds(t, z), "", "tensor %q has the zero point %d, which is no %s", t.name, z, typeName(t.typ))
	return s, int(z - leastOf(t))
}

// finishOutputs lists the model's outputs.
func (b *builder) finishOutputs() {
	callers := lists.Set(b.g.Inputs...)
	for _, i := range b.file.outputs {
		switch {
		case b.failed[i]:
			continue
		case b.g.Values[b.names[i]] != nil && !callers[b.names[i]]:
		default:
			b.faults.Add(&ir.Error{Pos: ir.Pos{File: b.g.File}, Node: fmt.Sprintf("output %q", b.names[i]),
				Msg: "is an input or a constant", Help: "an output must be made by an operator"})
			continue
		}
		b.g.Outputs = append(b.g.Outputs, b.names[i])
	}
}
