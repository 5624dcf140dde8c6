package onnx

import (
	"errors"
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/ir"
)

// unused makes a name unique among values and nodes.
func (b *builder) unused(name string) string {
	if name == "" {
		name = "tensor"
	}
	for k, s := 1, name; ; k++ {
		if !b.used[s] {
			b.used[s] = true
			return s
		}
		s = fmt.Sprintf("%s.%d", name, k)
	}
}

// emit adds a node to the graph and gives its output's name. Node and output share a name, which is provisional for the
// last node of an op (rename).
func (b *builder) emit(op string, attrs any, weights map[string]*graph.Tensor, in ...*graph.Value) (*graph.Value, error) {
	gn := &graph.Node{Name: b.unused(b.n.base + "." + op), Op: op, Attrs: attrs, Weights: weights, Pos: ir.Pos{File: b.file}}
	for _, v := range in {
		gn.Inputs = append(gn.Inputs, v.Name)
	}
	v, err := graph.Infer(b.g, gn)
	if err != nil {
		var e *ir.Error
		if errors.As(err, &e) { // of the graph's node: the file's is meant
			err = &ir.Error{Pos: ir.Pos{File: b.file}, Node: b.n.label, Msg: e.Msg, Help: e.Help, Err: e.Err}
		}
		return nil, err
	}
	if len(v.Shape) == 0 {
		return nil, b.n.fail("keep one axis (keepdims)", "its result is a single number without axes, which is only supported for constants")
	}
	if _, err := elements(v.Shape); err != nil {
		return nil, b.n.fail("", "its result: %v", err)
	}
	v.Name = gn.Name
	gn.Outputs = []string{v.Name}
	b.g.Nodes = append(b.g.Nodes, gn)
	b.g.Values[v.Name] = v
	b.made[v] = gn
	b.n.unnamed = append(b.n.unnamed, v)
	return v, nil
}

// rename gives the node that made t's value the name of the file's tensor, if it was made for it and the name is free.
func (b *builder) rename(t *tensor, name string) {
	k := slices.Index(b.n.unnamed, t.value)
	if k < 0 || b.used[name] {
		return
	}
	b.n.unnamed = slices.Delete(b.n.unnamed, k, k+1)
	b.used[name] = true
	b.renameValue(slices.Index(b.g.Nodes, b.made[t.value]), name)
}

// renameValue renames node i, its output, and all that reads it.
func (b *builder) renameValue(i int, name string) {
	gn := b.g.Nodes[i]
	old := gn.Outputs[0]
	v := b.g.Values[old]
	delete(b.g.Values, old)
	v.Name, gn.Name, gn.Outputs[0] = name, name, name
	b.g.Values[name] = v
	for _, r := range b.g.Nodes[i:] {
		for k, in := range r.Inputs {
			if in == old {
				r.Inputs[k] = name
			}
		}
	}
}
