package onnx

import (
	"cmp"
	"errors"
	"slices"

	"ripc/graph"
	"ripc/ir"
)

// unused makes a name unique among values and nodes.
func (b *builder) unused(name string) string {
	return b.used.Unique(cmp.Or(name, "tensor"))
}

// emit adds a node to the graph and gives its output's name. Node and output share a name, which is provisional for the
// last node of an op (rename).
func (b *builder) emit(op string, attrs any, weights map[string]*graph.Tensor, in ...*graph.Value) (*graph.Value, error) {
	gn := &graph.Node{Name: b.unused(b.n.base + "." + op), Op: op, Attrs: attrs, Weights: weights, Pos: ir.Pos{File: b.file}}
	for _, v := range in {
		gn.Inputs = append(gn.Inputs, v.Name)
	}
	gn.Output = gn.Name
	v, err := b.g.Append(gn)
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
	b.n.unnamed = append(b.n.unnamed, v)
	return v, nil
}

// rename gives the node that made t's value the name of the file's tensor, if it was made for it and the name is free.
func (b *builder) rename(t *tensor, name string) {
	k := slices.Index(b.n.unnamed, t.value)
	if k < 0 || b.used.Has(name) {
		return
	}
	b.n.unnamed = slices.Delete(b.n.unnamed, k, k+1)
	b.renameValue(t.value, name)
}

// renameValue renames a value and the node that makes it.
func (b *builder) renameValue(v *graph.Value, name string) {
	b.used.Take(name)
	n := b.g.Producer(v.Name)
	b.behind.Renamed(v.Name, name)
	b.g.RenameTensor(v.Name, name)
	b.g.RenameNode(n, name)
}
