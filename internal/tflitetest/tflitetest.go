// Package tflitetest writes small .tflite files, right and wrong ones, for tests of their readers.
package tflitetest

import (
	"encoding/binary"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Element types of the schema.
const (
	F32  = 0
	F16  = 1
	I32  = 2
	U8   = 3
	I64  = 4
	Bool = 6
	I8   = 9

	Resource = 13
)

// Tensor is a tensor of a model; one with Data is a constant.
type Tensor struct {
	Name      string
	Type      int8
	Shape     []int32
	Data      []byte
	Scales    []float32
	Zeros     []int64
	Axis      int32
	Signature []int32
	Variable  bool
	Sparsity  Table
}

// Op is an operator: a builtin one by its number, or a custom one by its name. Inputs and outputs
// are positions in Model.Tensors.
type Op struct {
	Code            int32
	Custom          string
	Inputs, Outputs []int32
	OptionType      int8
	Options         Table
	Flex            []byte
}

// Model is a model of one subgraph, and others that it names.
type Model struct {
	Tensors         []Tensor
	Ops             []Op
	Inputs, Outputs []int32
	More            []Model
}

// Table is a FlatBuffers table: fields by their number, each a bool, int8, int32, uint32, uint64,
// float32, string, Table, or slice of byte, int32, int64, float32 or Table.
type Table map[int]any

// Bytes is the model as a file.
func (m Model) Bytes() []byte {
	buffers, codes := []Table{{}}, []Table(nil)
	var graphs []Table
	for _, g := range append([]Model{m}, m.More...) {
		graphs = append(graphs, g.subgraph(&buffers, &codes))
	}
	return File(Table{0: uint32(3), 1: codes, 2: graphs, 3: "made by a test", 4: buffers})
}

// subgraph is m as a SubGraph. Its constants and operator codes are appended to the existing ones.
func (m Model) subgraph(buffers, codes *[]Table) Table {
	var tensors, ops []Table
	for _, t := range m.Tensors {
		x := Table{0: t.Shape, 1: t.Type, 3: t.Name, 5: t.Variable}
		if t.Data != nil {
			x[2] = uint32(len(*buffers))
			*buffers = append(*buffers, Table{0: t.Data})
		}
		if t.Scales != nil {
			x[4] = Table{2: t.Scales, 3: t.Zeros, 6: t.Axis}
		}
		if t.Sparsity != nil {
			x[6] = t.Sparsity
		}
		if t.Signature != nil {
			x[7] = t.Signature
		}
		tensors = append(tensors, x)
	}
	for _, o := range m.Ops {
		c := Table{0: int8(min(o.Code, 127)), 2: int32(1), 3: o.Code}
		if o.Custom != "" {
			c = Table{0: int8(32), 1: o.Custom, 2: int32(1), 3: int32(32)}
		}
		x := Table{0: uint32(len(*codes)), 1: o.Inputs, 2: o.Outputs}
		if o.Options != nil {
			x[3], x[4] = o.OptionType, o.Options
		}
		if o.Flex != nil {
			x[5] = o.Flex
		}
		*codes, ops = append(*codes, c), append(ops, x)
	}
	return Table{0: tensors, 1: m.Inputs, 2: m.Outputs, 3: ops, 4: "main"}
}

// File is a .tflite file with this root.
func File(root Table) []byte {
	w := &writer{b: append(make([]byte, 4), "TFL3"...)}
	w.link(0, w.table(root))
	return w.b
}

// writer appends parents before their children, so that offsets lead forwards.
type writer struct{ b []byte }

func (w *writer) align(n int) {
	for len(w.b)%n != 0 {
		w.b = append(w.b, 0)
	}
}

func (w *writer) link(at, to int) { binary.LittleEndian.PutUint32(w.b[at:], uint32(to-at)) }

// size is that of a field in its table: of a number, or of an offset.
func size(v any) int {
	if n := binary.Size(v); n > 0 && reflect.TypeOf(v).Kind() != reflect.Slice {
		return n
	}
	return 4
}

func (w *writer) table(t Table) int {
	ids := slices.Sorted(maps.Keys(t))
	n := 0
	if len(ids) > 0 {
		n = ids[len(ids)-1] + 1
	}
	vtable, length := make([]byte, 4+2*n), 4
	for _, id := range ids {
		s := size(t[id])
		length = (length + s - 1) / s * s
		binary.LittleEndian.PutUint16(vtable[4+2*id:], uint16(length))
		length += s
	}
	binary.LittleEndian.PutUint16(vtable, uint16(len(vtable)))
	binary.LittleEndian.PutUint16(vtable[2:], uint16(length))
	w.align(8)
	vt := len(w.b)
	w.b = append(w.b, vtable...)
	w.align(8)
	at := len(w.b)
	w.b = append(w.b, make([]byte, length)...)
	binary.LittleEndian.PutUint32(w.b[at:], uint32(at-vt))
	for _, id := range ids {
		w.field(at+int(binary.LittleEndian.Uint16(vtable[4+2*id:])), t[id])
	}
	return at
}

func (w *writer) field(at int, v any) {
	switch v := v.(type) {
	case bool, int8, int32, uint32, float32, uint64:
		copy(w.b[at:], Data(v))
	case Table:
		w.link(at, w.table(v))
	case []Table:
		start := w.vector(at, len(v), 4)
		w.b = append(w.b, make([]byte, 4*len(v))...)
		for i, t := range v {
			w.link(start+4*i, w.table(t))
		}
	case string:
		w.vector(at, len(v), 1)
		w.b = append(append(w.b, v...), 0)
	case []byte, []int32, []float32, []int64:
		n := reflect.TypeOf(v).Elem().Size()
		w.vector(at, reflect.ValueOf(v).Len(), int(n))
		w.b = append(w.b, Data(v)...)
	default:
		panic(fmt.Sprintf("BUG: a field of type %T", v))
	}
}

// vector writes the length; the first element, which is n bytes wide, is aligned.
func (w *writer) vector(at, length, n int) int {
	w.align(4)
	if n == 8 && len(w.b)%8 == 0 {
		w.b = append(w.b, 0, 0, 0, 0)
	}
	w.link(at, len(w.b))
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(length))
	return len(w.b)
}

// Data is a number, or a slice of numbers, as bytes.
func Data(v any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return b
}
