package onnx

import (
	"cmp"
	"errors"
	"slices"

	"ripc/graph"
	"ripc/ir"
)

// unused makes a name unique among values.
func (b *builder) unused(name string) string {
	return b.used.Unique(cmp.Or(name, "tensor"))
}

// emit adds a node to the graph and gives its output. The names of both are provisional (rename, nameLayer).
func (b *builder) emit(op string, attrs any, weights map[string]*graph.Tensor, in ...*graph.Value) *graph.Value {
	gn := &graph.Node{Name: b.g.NodeName(b.n.called() + "." + op), Output: b.unused(b.n.base + "." + op), Op: op, Attrs: attrs, Weights: weights, Pos: ir.Pos{File: b.file}}
	for _, v := range in {
		gn.Inputs = append(gn.Inputs, v.Name)
	}
	v, err := b.g.Append(gn)
	if err != nil {
		var e *ir.Error
		if errors.As(err, &e) { // of the graph's node: the file's is meant
			panic(&ir.Error{Pos: ir.Pos{File: b.file}, Node: b.n.label, Msg: e.Msg, Help: e.Help, Err: e.Err})
		}
		panic(err)
	}
	b.n.failIf(len(v.Shape) == 0,
		"keep one axis (keepdims)", "its result is a single number without axes, which is only supported for constants")
	if _, err := elements(v.Shape); err != nil {
		panic(b.n.fail("", "its result: %v", err))
	}
	b.n.made = append(b.n.made, gn)
	b.n.unnamed = append(b.n.unnamed, v)
	return v
}

// layer is what n is to users: the first of the nodes that it became which is no move or change of form, or else the last; nil if it
// became none.
func (n *node) layer() *graph.Node {
	for _, gn := range n.made {
		if op := gn.Op; op != "dequantize" && op != "reshape" && op != "transpose" && op != "constant" {
			return gn
		}
	}
	if len(n.made) == 0 {
		return nil
	}
	return n.made[len(n.made)-1]
}

// nameLayer gives n's layer n's own name.
func (n *node) nameLayer() {
	if layer := n.layer(); layer != nil {
		n.b.g.RenameNode(layer, n.b.g.NodeName(n.called()))
	}
}

// rename gives t's value the name of the file's tensor, if it was made for it and the name is free.
func (b *builder) rename(t *tensor, name string) {
	k := slices.Index(b.n.unnamed, t.value)
	if k < 0 || b.used.Has(name) {
		return
	}
	b.n.unnamed = slices.Delete(b.n.unnamed, k, k+1)
	b.renameValue(t.value, name)
}

// renameValue renames a value.
func (b *builder) renameValue(v *graph.Value, name string) {
	b.used.Take(name)
	b.g.RenameTensor(v.Name, name)
}
