package lower

import (
	"ripc/graph"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

// loosened are levels that the stage of node wrote one a byte to buf, and that are to be packed at
// to.
type loosened struct {
	node *graph.Node
	buf  string
	to   place
}

// store returns the form and the place in which the stage of n writes its result. With
// Options.PackApart, levels that others read as bit planes go to separate bytes first.
func (l *lowering) store(n *graph.Node) (layout.Form, place) {
	form, at := l.resultForm(n), l.result(n)
	if !l.packApart || form != layout.Planes {
		return form, at
	}
	b := ops.Buffer(layout.Tensor{Value: *l.g.Value(n.Output), Form: layout.Bytes})
	b.Name = l.unused(n.Output + ".levels")
	l.arena(b)
	l.loose = append(l.loose, loosened{n, b.Name, at})
	return layout.Bytes, place{buf: b.Name}
}

// packLoose adds the stages that pack the bytes of the last stage.
func (l *lowering) packLoose() {
	for _, p := range l.loose {
		v := l.g.Value(p.node.Output)
		n := &graph.Node{Name: p.node.Name, Op: "bitpack", Inputs: []string{v.Name}}
		t := layout.Tensor{Value: *v, Form: layout.Bytes}.StoredType()
		l.stage(n, ops.PackLevels(t, v.Shape, p.to.slice), 0, graph.NoReason, p.buf, p.to.buf)
	}
	l.loose = nil
}
