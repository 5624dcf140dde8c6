package ripcjson

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ripc/importer/internal/source"
	"ripc/internal/lists"
)

// nodes reads names and connections, and checks that names are unique.
func (b *builder) nodes() []*rawNode {
	var out []*rawNode
	byName := map[string]*rawNode{}
	for i := range b.doc.list("/nodes") {
		at := "/nodes/" + strconv.Itoa(i)
		n := &rawNode{at: at, line: b.doc.lines[at], name: b.doc.text(at + "/name"), op: b.doc.text(at + "/op"),
			inputs: b.doc.texts(at + "/inputs"), outputs: b.doc.texts(at + "/outputs")}
		if len(n.outputs) == 0 {
			n.outputs = []string{n.name}
		}
		if old := byName[n.name]; old != nil {
			b.fault(n, "", "the node in line %d has the same name", old.line)
			continue
		}
		byName[n.name] = n
		if b.made[n.outputs[0]] {
			b.fault(n, "", "tensor %q exists already: an input or another node makes it", n.outputs[0])
			continue
		}
		b.made[n.outputs[0]] = true
		out = append(out, n)
	}
	return out
}

// order sorts nodes so that each comes after those it reads, and otherwise as written. Nodes that
// read a tensor without a producer, and those in or behind a cycle, are reported and left out.
func (b *builder) order(nodes []*rawNode) []*rawNode {
	producer := map[string]int{}
	for i, n := range nodes {
		producer[n.outputs[0]] = i
	}
	known := slices.Sorted(maps.Keys(b.made))
	for _, n := range nodes {
		for _, in := range n.inputs {
			if !b.made[in] {
				b.fault(n, b.didYouMean(in, known), "reads tensor %q, which no node makes and which is no input", in)
			}
		}
	}
	reads := func(node int) (list []int) {
		for _, in := range nodes[node].inputs {
			if i, ok := producer[in]; ok {
				list = append(list, i)
			}
		}
		return list
	}
	pick := func(i int) *rawNode { return nodes[i] }
	order, cycles := source.Sort(len(nodes), reads, maxProblems)
	for _, c := range cycles {
		cycle := lists.Map(c, pick)
		b.fault(cycle[0], "", "the nodes form a cycle: %s", cyclePath(cycle))
	}
	return lists.Map(order, pick)
}

// cyclePath prints a cycle as the names along the data's way.
func cyclePath(cycle []*rawNode) string {
	var names []string
	for i := len(cycle) - 1; i >= 0; i-- {
		names = append(names, cycle[i].name)
	}
	const most = 12
	if len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("(%d more)", len(names)-most))
	}
	return strings.Join(names, " -> ") + " -> " + names[0]
}
