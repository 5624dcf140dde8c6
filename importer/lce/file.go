package lce

import (
	"errors"
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/importer/lce/internal/flatbuf"
	"ripc/internal/lists"
	"ripc/internal/stop"
	"ripc/ir"
)

// Limits of a file.
const (
	maxFile    = 1 << 30 // bytes
	maxWeights = 3 << 26 // elements of all constants together: 768 MiB as f32
	maxName    = 1 << 12
	identifier = "TFL3"
)

// file is a model without the parts that ripc does not read: its first subgraph.
type file struct {
	tensors         []tensor
	ops             []operator
	inputs, outputs []int          // tensors
	notes           map[int]string // notes on inputs
}

// tensor is a tensor as the file describes it.
type tensor struct {
	name     string
	typ      int // of the schema's TensorType
	shape    []int
	elems    int
	data     []byte // nil unless the tensor is a constant
	empty    bool   // has no elements
	sparse   bool   // data has only some of the elements, as sparsity says
	state    bool   // a variable, which operators keep from one run to the next
	sparsity *sparsity
	// signature is the shape with -1 for extents that are not fixed, which shape has as 1; nil if
	// all are fixed.
	signature []int
	scales    []float32
	zeros     []int64
	axis      int    // of several scales
	fault     string // why no operator can use it, or ""
}

// operator is an operator as the file describes it.
type operator struct {
	index           int
	op              string // "CONV_2D", "LceBconv2d"
	custom          bool
	version         int
	inputs, outputs []int // tensors; -1 is a missing input
	optionType      int   // of the schema's BuiltinOptions
	options         flatbuf.Table
	flex            []byte // options of a custom operator
}

// Numbers of the schema's TensorType.
const (
	typeF32  = 0
	typeF16  = 1
	typeI32  = 2
	typeU8   = 3
	typeI64  = 4
	typeBool = 6
	typeI8   = 9
	customOp = 32
)

// decoder reads a file's tables. Fields are named by their position in the schema.
type decoder struct {
	r    *flatbuf.Reader
	data []byte
	name string
}

// decode reads the tables of a model.
func decode(name string, data []byte) *file {
	d := &decoder{flatbuf.NewReader(data), data, name}
	root := d.r.Root(identifier)
	d.check(d.r.Err(), "is this a .tflite file? it may be incomplete")
	if v := root.Int32(0, 0); v != 3 {
		panic(d.fault(fmt.Errorf("version %d of the format", v), "version 3 is read"))
	}
	codes, graphs, buffers := root.Tables(1), root.Tables(2), root.Tables(4)
	d.check(d.r.Err(), "the file is damaged or incomplete")
	if len(graphs) == 0 {
		panic(d.fault(errors.New("the model has no subgraph"), ""))
	}
	// The first subgraph, and those that begin its variables.
	parts := lists.Map(d.subgraphs(graphs, codes), func(i int) *file { return d.subgraph(graphs[i], codes, buffers) })
	if len(parts[0].outputs) == 0 {
		panic(d.fault(errors.New("the model has no outputs"), "the file is damaged"))
	}
	d.check(parts[0].variables(parts[1:]), "")
	return parts[0]
}

// subgraphs lists the first subgraph, and those that its CALL_ONCE operators name.
func (d *decoder) subgraphs(graphs, codes []flatbuf.Table) []int {
	list := []int{0}
	for i, t := range graphs[0].Tables(3) {
		var op operator
		if stop.Try(func() { op = d.operator(i, t, codes) }) == nil && op.op == "CALL_ONCE" && !op.custom {
			if k := op.options.Int32(0, 0); k > 0 && k < len(graphs) && !slices.Contains(list, k) {
				list = append(list, k)
			}
		}
	}
	return list
}

// subgraph reads a SubGraph.
func (d *decoder) subgraph(g flatbuf.Table, codes, buffers []flatbuf.Table) *file {
	f := &file{inputs: g.Int32s(1), outputs: g.Int32s(2), notes: map[int]string{}}
	f.tensors = lists.Map(g.Tables(0), func(t flatbuf.Table) tensor { return d.tensor(t, buffers) })
	for i, t := range g.Tables(3) {
		f.ops = append(f.ops, d.operator(i, t, codes))
	}
	d.check(d.r.Err(), "the file is damaged or incomplete")
	d.order(f)
	return f
}

// check panics with the fault err, if it is not nil.
func (d *decoder) check(err error, help string) {
	if err != nil {
		panic(d.fault(err, help))
	}
}

// failIf ends the reading, as the file is damaged, if a condition holds.
func (d *decoder) failIf(condition bool, format string, args ...any) {
	if condition {
		panic(d.fault(fmt.Errorf(format, args...), "the file is damaged"))
	}
}

func (d *decoder) fault(err error, help string) error {
	return &ir.Error{Pos: ir.Pos{File: d.name}, Err: err, Help: help}
}

// tensor reads a Tensor.
func (d *decoder) tensor(t flatbuf.Table, buffers []flatbuf.Table) tensor {
	x := tensor{shape: t.Int32s(0), typ: t.Int8(1, 0), name: t.String(3), elems: 1}
	d.failIf(len(x.name) > maxName, "byte %d: a tensor's name of %d bytes, at most %d are read", t.At(), len(x.name),
		maxName)
	b := t.Int32(2, 0)
	d.failIf(b < 0 || b >= len(buffers), "byte %d: tensor %q has buffer %d, the file has %d", t.At(), x.name, b,
		len(buffers))
	x.data = d.buffer(buffers[b])
	if q := t.Table(4); q.Has() {
		x.scales, x.zeros, x.axis = q.Float32s(2), q.Int64s(3), q.Int32(6, 0)
	}
	signature := t.Int32s(7)
	switch {
	case len(x.shape) > graph.MaxRank:
		x.fault = fmt.Sprintf("has %d axes, at most %d are supported", len(x.shape), graph.MaxRank)
	case t.Bool(5):
		x.state, x.fault = true, "is a variable, in which an operator keeps its state from one run to the next"
	case t.Table(6).Has():
		x.sparse, x.fault = true, "is sparse; only DENSIFY reads sparse tensors"
		x.sparsity = readSparsity(t.Table(6))
	case len(signature) == len(x.shape) && slices.Contains(signature, -1):
		x.signature = slices.Clone(signature)
	}
	for _, n := range x.shape {
		if n < 1 || x.elems > graph.MaxElems/n {
			x.fault = fmt.Sprintf("has shape %v; extents are at least 1, and a tensor has at most %d elements", x.shape,
				graph.MaxElems)
			x.empty = n == 0
			return x
		}
		x.elems *= n
	}
	return x
}

// buffer gives the bytes of a Buffer: inside the table, or, in large files, at an offset of the
// file.
func (d *decoder) buffer(b flatbuf.Table) []byte {
	off, size := b.Uint64(1), b.Uint64(2)
	if off <= 1 || size == 0 {
		return b.Bytes(0)
	}
	n := uint64(len(d.data))
	d.failIf(off > n || size > n-off,
		"byte %d: a buffer of %d bytes at %d does not lie in the file, which has %d", b.At(), size, off, n)
	return d.data[off : off+size]
}

// operator reads an Operator.
func (d *decoder) operator(i int, t flatbuf.Table, codes []flatbuf.Table) operator {
	o := operator{index: i, inputs: t.Int32s(1), outputs: t.Int32s(2), optionType: t.Int8(3, 0), options: t.Table(4),
		flex: t.Bytes(5)}
	k := t.Int32(0, 0)
	d.failIf(k < 0 || k >= len(codes), "byte %d: operator %d has code %d, the file has %d codes", t.At(), i, k,
		len(codes))
	c := codes[k]
	// Numbers from 127 on stand in the newer field alone; older files have only the older one.
	code := max(c.Int32(3, 0), c.Int8(0, 0))
	o.op, o.version = builtinName(code), c.Int32(2, 1)
	if code == customOp {
		o.op, o.custom = c.String(1), true
		d.failIf(len(o.op) > maxName, "byte %d: an operator's name of %d bytes, at most %d are read", c.At(), len(o.op),
			maxName)
	}
	return o
}

// order checks the numbers of tensors. All must be in range, operators must come behind those that
// make their inputs, and every tensor must be made once.
func (d *decoder) order(f *file) {
	made := make([]bool, len(f.tensors))
	for i, t := range f.tensors {
		// A constant without elements needs no bytes, and a variable is there before any operator.
		made[i] = t.data != nil || t.empty || t.state
	}
	bad := func(i int) bool { return i < 0 || i >= len(f.tensors) }
	for _, i := range f.inputs {
		d.failIf(bad(i), "the model's inputs name tensor %d, the file has %d", i, len(f.tensors))
		t := &f.tensors[i]
		d.failIf(made[i] && !t.empty && !t.state, "input %q is listed twice or a constant", t.name)
		made[i] = true
	}
	for _, o := range f.ops {
		for _, i := range o.inputs {
			if i == -1 {
				continue
			}
			d.failIf(bad(i), "operator %d (%s) reads tensor %d, the file has %d", o.index, o.op, i, len(f.tensors))
			d.failIf(!made[i],
				"operator %d (%s) reads tensor %d (%q) before an operator makes it",
				o.index, o.op, i, f.tensors[i].name)
		}
		for _, i := range o.outputs {
			d.failIf(bad(i), "operator %d (%s) makes tensor %d, the file has %d", o.index, o.op, i, len(f.tensors))
			d.failIf(made[i] && !f.tensors[i].empty,
				"operator %d (%s) makes tensor %d (%q), which is there already", o.index, o.op, i, f.tensors[i].name)
			made[i] = true
		}
	}
	seen := map[int]bool{}
	for _, i := range f.outputs {
		d.failIf(bad(i), "the model's outputs name tensor %d, the file has %d", i, len(f.tensors))
		d.failIf(!made[i], "no operator makes output %q", f.tensors[i].name)
		d.failIf(seen[i], "output %q is listed twice", f.tensors[i].name)
		seen[i] = true
	}
}
