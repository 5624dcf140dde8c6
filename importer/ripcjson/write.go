package ripcjson

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/importer"
	"ripc/internal/files"
	"ripc/internal/lists"
	"ripc/internal/safetensors"
	"ripc/ir"
)

// Write writes g, a graph that graph.Check accepts, as path, a .json file, and its weights beside
// it (.safetensors for .json), replacing files that are there. Read gives the same graph again.
// Equal graphs give equal bytes; the files appear together or not at all. It fails with
// *files.WriteError where they cannot be written.
func Write(ctx context.Context, path string, g *graph.Graph) error {
	base, ok := strings.CutSuffix(filepath.Base(path), ".json")
	if !ok || base == "" {
		return &ir.Error{Pos: ir.Pos{File: path}, Msg: "a model's file does not end in .json",
			Help: "call it NAME.json; the weights become NAME.safetensors"}
	}
	text, weights, err := encode(ctx, g, base+".safetensors")
	if err != nil {
		return err
	}
	return files.ReplaceAll(files.New{Path: filepath.Join(filepath.Dir(path), base+".safetensors"), Data: weights,
		Mode: 0o666},
		files.New{Path: path, Data: text, Mode: 0o666})
}

// encode gives the two files that Write writes, weights being called file.
func encode(ctx context.Context, g *graph.Graph, file string) (text, weights []byte, err error) {
	if err := graph.Check(g); err != nil {
		return nil, nil, err
	}
	w := &writer{tensors: map[string]safetensors.Tensor{}, names: map[*graph.Tensor]string{}}
	text = w.model(g, file)
	var b bytes.Buffer
	if err := safetensors.Write(&b, w.tensors); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", g.File, err)
	}
	// The text reads as the same graph, or ripc is at fault.
	h, err := checked(ctx, g.File, text, func(string) (map[string]safetensors.Tensor, error) {
		return w.tensors, nil
	}, importer.Options{})
	if done := ctx.Err(); done != nil {
		return nil, nil, done
	}
	if err == nil && (h.String() != g.String() || h.Name != g.Name) {
		err = fmt.Errorf("it reads as\n%s\nwant\n%s", h, g)
	}
	if err != nil {
		return nil, nil, &ir.Error{Pos: ir.Pos{File: g.File}, Msg: "BUG: the graph cannot be written as a model",
			Help: "please report this", Err: err}
	}
	return text, b.Bytes(), nil
}

// writer collects the weights while it writes the nodes.
type writer struct {
	tensors map[string]safetensors.Tensor
	names   map[*graph.Tensor]string // of those that have been written
}

// object is a JSON object with keys in their order.
type object []member

type member struct {
	key   string
	value any
}

func (o *object) set(key string, value any) { *o = append(*o, member{key, value}) }

// MarshalJSON writes the object on one line.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %s", plain(m.key), plain(m.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plain is JSON on one line, without the escapes meant for HTML, and with a blank after a comma in
// lists of numbers.
func plain(v any) string {
	switch v := v.(type) {
	case object:
		text, _ := v.MarshalJSON() // has no error
		return string(text)
	case []int, []float32:
		return strings.ReplaceAll(fmt.Sprint(v), " ", ", ")
	case []string:
		quoted := lists.Map(v, func(s string) string { return plain(s) })
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("BUG: " + err.Error()) // text, numbers and flags, which are finite
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// model is the JSON file: a line for each input and node.
func (w *writer) model(g *graph.Graph, file string) []byte {
	var b bytes.Buffer
	list := func(key string, items []object) {
		fmt.Fprintf(&b, "  %q: [", key)
		for i, o := range items {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n    " + plain(o))
		}
		b.WriteString("\n  ],\n")
	}
	fmt.Fprintf(&b, "{\n  \"format\": %q,\n  \"name\": %s,\n", Format, plain(g.Name))
	nodes := lists.Map(g.Nodes, w.node)
	list("inputs", lists.Map(g.Inputs, func(in string) object { return inputObject(g.Value(in)) }))
	fmt.Fprintf(&b, "  \"weights\": %s,\n", plain(file))
	list("nodes", nodes)
	if len(g.Roundings) > 0 {
		list("roundings", lists.Map(g.Roundings, reasonObject))
	}
	fmt.Fprintf(&b, "  \"outputs\": %s\n}\n", plain(g.Outputs))
	return b.Bytes()
}

// node writes n and stores its weights; those that an earlier node has as well are named.
func (w *writer) node(n *graph.Node) object {
	o := object{{"name", n.Name}, {"op", n.Op}, {"inputs", append([]string{}, n.Inputs...)}}
	if n.Output != n.Name {
		o.set("outputs", []string{n.Output})
	}
	c := &coder{}
	if formats()[n.Op].attrs(c, n.Attrs); len(c.out) > 0 {
		o.set("attrs", c.out)
	}
	var shared object
	for _, key := range slices.Sorted(maps.Keys(n.Weights)) {
		t, name := n.Weights[key], n.Name+"."+key
		if old, ok := w.names[t]; ok {
			shared.set(key, old)
			continue
		}
		w.names[t] = name
		w.tensors[name] = storedTensor(t)
	}
	if len(shared) > 0 {
		o.set("weights", shared)
	}
	if n.Verdict.Reason != graph.NoReason {
		o.set("reason", reasonObject(n.Verdict))
	}
	if p := n.Part; p.Of != "" {
		c := &coder{out: object{{"of", p.Of}}}
		c.write(p.Repeats, "repeats", true)
		c.write(p.Groups > 0, "groups", p.Groups)
		o.set("part", c.out)
	}
	if n.Note != "" {
		o.set("note", n.Note)
	}
	return o
}

// smallTensor is the size up to which integers are stored as floats all the same.
const smallTensor = 64

// storedTensor is t as bytes where all its values are small integers, and there are many, else as
// i32 and f64 where it has these, or as f32.
func storedTensor(t *graph.Tensor) safetensors.Tensor {
	if v, ok := graph.StoredList[int32](t.Data); ok {
		return safetensors.Tensor{DType: "i32", Shape: t.Shape, Data: encoded(v)}
	}
	if v, ok := graph.StoredList[float64](t.Data); ok {
		return safetensors.Tensor{DType: "f64", Shape: t.Shape, Data: encoded(v)}
	}
	integer := func(v float32) bool {
		return v >= -128 && v <= 127 && math.Float32bits(float32(int8(v))) == math.Float32bits(v)
	}
	if t.Data.Len() > smallTensor && !slices.ContainsFunc(t.Data.Floats(), func(v float32) bool {
		return !integer(v)
	}) {
		data := make([]byte, t.Data.Len())
		for i, v := range t.Data.All() {
			data[i] = byte(int8(v))
		}
		return safetensors.Tensor{DType: "i8", Shape: t.Shape, Data: data}
	}
	return safetensors.Tensor{DType: "f32", Shape: t.Shape, Data: encoded(t.Data.Floats())}
}

// encoded are the bytes of numbers.
func encoded[T int32 | float32 | float64](v []T) []byte {
	data, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic("BUG: " + err.Error()) // all types have a size
	}
	return data
}

// inputObject is an input as Read takes it.
func inputObject(v *graph.Value) object {
	o := object{{"name", v.Name}, {"dtype", v.DType().String()}, {"shape", v.Shape}, {"layout", v.Layout}}
	if v.Encoded() {
		o = append(o, levelsObject(v.LevelType)...)
		o.set("bits", v.Bits)
		o.set("scale", v.Scale)
	}
	if v.View != graph.Bytes {
		o.set("packed", true)
	}
	if v.Note != "" {
		o.set("note", v.Note)
	}
	return o
}
