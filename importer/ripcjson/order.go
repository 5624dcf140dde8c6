package ripcjson

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
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

// order sorts nodes so that each comes after those it reads, and otherwise as written. Nodes that read what nobody
// makes, and those in or behind a cycle, are reported and left out.
func (b *builder) order(nodes []*rawNode) []*rawNode {
	producer := map[string]*rawNode{}
	for _, n := range nodes {
		producer[n.outputs[0]] = n
	}
	known := slices.Sorted(maps.Keys(b.made))
	s := &sorter{producer: producer, state: map[*rawNode]int{}}
	for _, n := range nodes {
		for _, in := range n.inputs {
			if !b.made[in] {
				b.fault(n, b.didYouMean(in, known), "reads tensor %q, which no node makes and which is no input", in)
			}
		}
		if cycle := s.visit(n); cycle != nil {
			b.fault(cycle[0], "", "the nodes form a cycle: %s", cyclePath(cycle))
		}
	}
	return s.sorted
}

// sorter is a depth-first topological sort.
type sorter struct {
	producer map[string]*rawNode
	state    map[*rawNode]int // 0 new, 1 on the path, 2 done, 3 in or behind a cycle
	path     []*rawNode
	sorted   []*rawNode
	cycles   int // found so far; only so many are spelt out
}

// visit adds n behind what it reads. The first visit that closes a cycle returns it.
func (s *sorter) visit(n *rawNode) (cycle []*rawNode) {
	if s.state[n] != 0 {
		return nil
	}
	s.state[n] = 1
	s.path = append(s.path, n)
	broken := false
	for _, in := range n.inputs {
		p := s.producer[in]
		if p == nil {
			continue
		}
		if s.state[p] == 1 && cycle == nil && s.cycles < maxProblems {
			s.cycles++
			for i, q := range s.path {
				if q == p {
					cycle = append([]*rawNode(nil), s.path[i:]...)
				}
			}
		}
		if c := s.visit(p); c != nil && cycle == nil {
			cycle = c
		}
		broken = broken || s.state[p] != 2
	}
	s.path = s.path[:len(s.path)-1]
	s.state[n] = 2
	if broken {
		s.state[n] = 3
		return cycle
	}
	s.sorted = append(s.sorted, n)
	return cycle
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
