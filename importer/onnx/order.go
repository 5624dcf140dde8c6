package onnx

import (
	"fmt"
	"strings"

	"ripc/importer/internal/source"
	"ripc/ir"
)

// sorted numbers the file's nodes so that each comes behind those that make what it reads. Files are to be so, but not all
// are; one that is keeps its order. Nodes that read each other in a circle are an error, and none is read then.
func (b *builder) sorted() []int {
	nodes := b.model.Graph.Node
	maker := map[string]int{}
	for i, n := range nodes {
		for _, out := range n.Output {
			if _, made := maker[out]; !made {
				maker[out] = i
			}
		}
	}
	for _, t := range b.model.Graph.Initializer {
		delete(maker, t.GetName())
	}
	for _, v := range b.model.Graph.Input {
		delete(maker, v.GetName())
	}
	delete(maker, "")
	order, cycles := source.Sort(len(nodes), func(node int) (list []int) {
		for _, in := range nodes[node].Input {
			if m, made := maker[in]; made {
				list = append(list, m)
			}
		}
		return list
	}, 1)
	if len(cycles) == 0 {
		return order
	}
	var circle []string
	for _, i := range cycles[0][max(0, len(cycles[0])-5):] {
		n := &node{NodeProto: nodes[i], b: b}
		n.name(i)
		circle = append([]string{n.called()}, circle...)
	}
	b.faults.Add(&ir.Error{Pos: ir.Pos{File: b.file}, Msg: fmt.Sprintf("nodes read each other in a circle: %s", strings.Join(circle, ", "))})
	return nil
}
