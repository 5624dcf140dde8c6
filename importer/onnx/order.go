package onnx

import (
	"fmt"
	"strings"

	"ripc/ir"
)

// sorted numbers the file's nodes so that each comes behind those that make what it reads. Files are to be so, but not all
// are; one that is keeps its order. Nodes that read each other in a circle are left out and reported.
func (b *builder) sorted() []int {
	nodes := b.model.Graph.Node
	maker := map[string]int{"": -1}
	for _, t := range b.model.Graph.Initializer {
		maker[t.GetName()] = -1
	}
	for _, v := range b.model.Graph.Input {
		maker[v.GetName()] = -1
	}
	for i, n := range nodes {
		for _, out := range n.Output {
			if _, made := maker[out]; !made {
				maker[out] = i
			}
		}
	}
	const unseen, open, done = 0, 1, 2
	state := make([]uint8, len(nodes))
	order := make([]int, 0, len(nodes))
	type frame struct{ node, input int }
	for i := range nodes {
		var path []frame // from node i up to one that it needs: an own stack, since networks are thousands of nodes deep
		if state[i] == unseen {
			path, state[i] = append(path, frame{node: i}), open
		}
		for len(path) > 0 {
			top := &path[len(path)-1]
			in := nodes[top.node].Input
			if top.input == len(in) {
				state[top.node] = done
				order = append(order, top.node)
				path = path[:len(path)-1]
				continue
			}
			m, made := maker[in[top.input]]
			top.input++
			switch {
			case !made || m < 0:
			case state[m] == unseen:
				path, state[m] = append(path, frame{node: m}), open
			case state[m] == open:
				var circle []string
				for k := len(path) - 1; k >= 0; k-- {
					n := &node{NodeProto: nodes[path[k].node], b: b}
					n.name(path[k].node)
					if circle = append(circle, n.called()); path[k].node == m {
						break
					}
				}
				b.faults.Add(&ir.Error{Pos: ir.Pos{File: b.file}, Msg: fmt.Sprintf("nodes read each other in a circle: %s", strings.Join(circle[:min(len(circle), 5)], ", "))})
				return nil
			}
		}
	}
	return order
}
