package source

// Sort numbers n nodes so that each comes behind the nodes that it reads, and otherwise keeps their
// order. reads lists the nodes that a node reads. Nodes in or behind a cycle are left out. cycles
// has up to most cycles, the first one found on the way up from each node. In a cycle each node
// reads the next, and the last reads the first. Sort does not recurse, as networks may be as deep
// as their files are long.
func Sort(n int, reads func(node int) []int, most int) (order []int, cycles [][]int) {
	type state uint8
	const (
		unseen state = iota
		open         // on the path
		done
		broken // in or behind a cycle
	)
	type frame struct {
		node, next int // next is the first of reads that was not looked at
		reads      []int
		broken     bool
	}
	states := make([]state, n)
	for root := range n {
		if states[root] != unseen {
			continue
		}
		var path []frame
		enter := func(node int) {
			states[node] = open
			path = append(path, frame{node: node, reads: reads(node)})
		}
		var cycle []int
		for enter(root); len(path) > 0; {
			top := &path[len(path)-1]
			if top.next < len(top.reads) {
				p := top.reads[top.next]
				if states[p] == unseen {
					enter(p) // top is looked at again when p is done
					continue
				}
				if states[p] == open && cycle == nil && len(cycles) < most {
					for _, f := range path {
						if f.node == p || cycle != nil {
							cycle = append(cycle, f.node)
						}
					}
				}
				top.broken = top.broken || states[p] != done
				top.next++
				continue
			}
			states[top.node] = done
			if top.broken {
				states[top.node] = broken
			} else {
				order = append(order, top.node)
			}
			path = path[:len(path)-1]
		}
		if cycle != nil {
			cycles = append(cycles, cycle)
		}
	}
	return order, cycles
}
