package graph

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"ripc/internal/lists"
	"ripc/internal/names"
)

// Index finds the producer and the consumers of each tensor of a graph that does not change.
type Index struct {
	producers map[string]*Node
	consumers map[string][]*Node
}

// NewIndex indexes g.
func NewIndex(g *Graph) *Index {
	x := &Index{producers: map[string]*Node{}, consumers: map[string][]*Node{}}
	for _, n := range g.Nodes {
		x.producers[n.Output] = n
		for i, in := range n.Inputs {
			if !slices.Contains(n.Inputs[:i], in) {
				x.consumers[in] = append(x.consumers[in], n)
			}
		}
	}
	return x
}

// Producer is the node that makes a tensor, nil for an input.
func (x *Index) Producer(tensor string) *Node { return x.producers[tensor] }

// Consumers are the nodes that read a tensor, in the order of the graph. The caller may keep the
// list.
func (x *Index) Consumers(tensor string) []*Node { return slices.Clone(x.consumers[tensor]) }

// ConsumerCount is the number of nodes that read a tensor.
func (x *Index) ConsumerCount(tensor string) int { return len(x.consumers[tensor]) }

// Builder makes a graph, or rewrites one. It keeps nodes in topological order, gives tensors their
// types and new ones their names, and indexes producers and consumers. Nodes, Values, Inputs and
// Outputs of nodes are changed through it alone.
type Builder struct {
	*Index
	g       *Graph
	nodes   names.Set
	tensors names.Set
	places  map[*Node]int64 // ascending along g.Nodes, with gaps for new nodes between
	lookups int
}

// gap is between the places of neighbours.
const gap = 1 << 32

// NewBuilder is a builder that goes on with g, which it changes.
func NewBuilder(g *Graph) *Builder {
	if g.Values == nil {
		g.Values = map[string]*Value{}
	}
	b := &Builder{g: g}
	for name := range g.Values {
		b.tensors.Take(name)
	}
	for _, n := range g.Nodes {
		b.nodes.Take(n.Name)
	}
	b.reindex()
	return b
}

func (b *Builder) reindex() {
	b.Index = NewIndex(b.g)
	b.renumber()
}

func (b *Builder) renumber() {
	b.places = map[*Node]int64{}
	for i, n := range b.g.Nodes {
		b.places[n] = int64(i+1) * gap
	}
}

// Lookups counts the questions for producers and consumers, with one more for each consumer in an
// answer. Tests bound the work of passes by it.
func (b *Builder) Lookups() int { return b.lookups }

// Producer is the node that makes a tensor, nil for an input.
func (b *Builder) Producer(tensor string) *Node {
	b.lookups++
	return b.Index.Producer(tensor)
}

// Consumers are the nodes that read a tensor, in the order of the graph. The caller may keep the
// list.
func (b *Builder) Consumers(tensor string) []*Node {
	list := b.Index.Consumers(tensor)
	b.lookups += 1 + len(list)
	return list
}

// ConsumerCount is the number of nodes that read a tensor.
func (b *Builder) ConsumerCount(tensor string) int {
	b.lookups++
	return b.Index.ConsumerCount(tensor)
}

// EachNode yields the present nodes, even if the graph changes meanwhile, until ctx is done. The
// caller checks ctx afterwards.
func (b *Builder) EachNode(ctx context.Context) iter.Seq[*Node] {
	nodes := slices.Clone(b.g.Nodes)
	return func(yield func(*Node) bool) {
		for _, n := range nodes {
			if ctx.Err() != nil || !yield(n) {
				return
			}
		}
	}
}

// Holds reports whether v is a tensor of the graph that a node makes or the caller brings.
func (b *Builder) Holds(v *Value) bool {
	return v != nil && b.g.Values[v.Name] == v && (b.Index.Producer(v.Name) != nil ||
		slices.Contains(b.g.Inputs, v.Name))
}

// Graph is the graph as far as it is made.
func (b *Builder) Graph() *Graph { return b.g }

// NodeName gives a new node a name: name, or name with a number where another node has or had it.
func (b *Builder) NodeName(name string) string { return b.nodes.Unique(name) }

// TensorName is NodeName for tensors.
func (b *Builder) TensorName(name string) string { return b.tensors.Unique(name) }

// Input adds a tensor that the caller brings.
func (b *Builder) Input(v *Value) {
	b.g.Inputs = append(b.g.Inputs, v.Name)
	b.register(v)
}

func (b *Builder) register(v *Value) {
	b.tensors.Take(v.Name)
	b.g.Values[v.Name] = v
}

// Append adds n behind all nodes, and gives the tensor that it makes its type. Where that cannot be
// inferred the graph stays as it is.
func (b *Builder) Append(n *Node) (*Value, error) {
	v, err := b.infer(n)
	if err == nil {
		b.place(len(b.g.Nodes), n)
	}
	return v, err
}

// InsertAfter is Append directly behind another node.
func (b *Builder) InsertAfter(other, n *Node) (*Value, error) {
	v, err := b.infer(n)
	if err == nil {
		b.place(b.Place(other)+1, n)
	}
	return v, err
}

// InsertBefore adds n directly before another node. v is the tensor that it makes.
func (b *Builder) InsertBefore(other, n *Node, v *Value) {
	v.Name = n.Output
	b.register(v)
	b.place(b.Place(other), n)
}

// Retype infers the tensor of n, which is in the graph and has come to do something else.
func (b *Builder) Retype(n *Node) error {
	_, err := b.infer(n)
	return err
}

func (b *Builder) infer(n *Node) (*Value, error) {
	v, attrs, err := Infer(b.g, n)
	if err != nil {
		return nil, err
	}
	v.Name, n.Attrs = n.Output, attrs
	b.register(v)
	return v, nil
}

// Precedes reports whether n stands before m in the graph.
func (b *Builder) Precedes(n, m *Node) bool { return b.places[n] < b.places[m] }

// Place is the index of n among the nodes.
func (b *Builder) Place(n *Node) int {
	i, ok := slices.BinarySearchFunc(b.g.Nodes, b.places[n], func(m *Node, place int64) int {
		return cmp.Compare(b.places[m], place)
	})
	if !ok {
		panic("BUG: node " + n.Name + " is not in graph " + b.g.Name)
	}
	return i
}

// place makes n the node with index i.
func (b *Builder) place(i int, n *Node) {
	b.nodes.Take(n.Name)
	before, after := int64(0), int64(0)
	if i > 0 {
		before = b.places[b.g.Nodes[i-1]]
	}
	if after = before + 2*gap; i < len(b.g.Nodes) {
		after = b.places[b.g.Nodes[i]]
	}
	b.g.Nodes = slices.Insert(b.g.Nodes, i, n)
	if b.places[n] = before + (after-before)/2; after-before < 2 {
		b.renumber()
	}
	b.link(n)
}

// link enters n's tensors into the index.
func (b *Builder) link(n *Node) {
	b.producers[n.Output] = n
	for _, in := range n.Inputs {
		list := b.consumers[in]
		if i, there := b.search(list, n); !there {
			b.consumers[in] = slices.Insert(list, i, n)
		}
	}
}

// unlink takes n's tensors out of the index.
func (b *Builder) unlink(n *Node) {
	if b.producers[n.Output] == n {
		delete(b.producers, n.Output)
	}
	for _, in := range n.Inputs {
		list := b.consumers[in]
		if i, there := b.search(list, n); there {
			b.consumers[in] = slices.Delete(list, i, i+1)
		}
	}
}

// search finds the place of n in a list of nodes in the graph's order.
func (b *Builder) search(list []*Node, n *Node) (i int, there bool) {
	return slices.BinarySearchFunc(list, b.places[n], func(m *Node, place int64) int {
		return cmp.Compare(b.places[m], place)
	})
}

// Remove takes n out of the graph. Its tensor keeps its type: another node may come to make it.
func (b *Builder) Remove(n *Node) {
	i := b.Place(n)
	b.unlink(n)
	b.g.Nodes = slices.Delete(b.g.Nodes, i, i+1)
	delete(b.places, n)
}

// SetInputs lets n read other tensors.
func (b *Builder) SetInputs(n *Node, inputs ...string) {
	b.unlink(n)
	n.Inputs = inputs
	b.link(n)
}

// SetOutput lets n make another tensor.
func (b *Builder) SetOutput(n *Node, tensor string) {
	b.unlink(n)
	n.Output = tensor
	b.link(n)
}

// Exchange gives two nodes each other's place, inputs and output.
func (b *Builder) Exchange(n, m *Node) {
	i, j := b.Place(n), b.Place(m)
	b.unlink(n)
	b.unlink(m)
	b.g.Nodes[i], b.g.Nodes[j] = m, n
	b.places[n], b.places[m] = b.places[m], b.places[n]
	n.Inputs, n.Output, m.Inputs, m.Output = m.Inputs, m.Output, n.Inputs, n.Output
	b.link(n)
	b.link(m)
}

// Redirect lets the consumers of tensor from read tensor to instead, except the producer of to.
// changed reports whether there was one.
func (b *Builder) Redirect(from, to string) (changed bool) {
	for _, n := range b.Consumers(from) {
		if n.Output == to {
			continue
		}
		inputs := slices.Clone(n.Inputs)
		for i, in := range inputs {
			if in == from {
				inputs[i] = to
			}
		}
		b.SetInputs(n, inputs...)
		changed = true
	}
	return changed
}

// RenameTensor renames a tensor that a node makes. The old name is free after that.
func (b *Builder) RenameTensor(from, to string) {
	v := b.g.Values[from]
	delete(b.g.Values, from)
	v.Name = to
	b.register(v)
	b.SetOutput(b.Producer(from), to)
	b.Redirect(from, to)
}

// RenameNode renames n.
func (b *Builder) RenameNode(n *Node, name string) {
	b.nodes.Take(name)
	n.Name = name
}

// Truncate drops all nodes after the first n, with their tensors.
func (b *Builder) Truncate(nodes int) {
	for _, n := range slices.Clone(b.g.Nodes[nodes:]) {
		b.Remove(n)
		delete(b.g.Values, n.Output)
	}
}

// Prune drops the nodes that lead to no output, and their tensors.
func (b *Builder) Prune() {
	needed := lists.Set(b.g.Outputs...)
	keep := map[*Node]bool{}
	for _, n := range slices.Backward(b.g.Nodes) {
		if keep[n] = needed[n.Output]; keep[n] {
			for _, in := range n.Inputs {
				needed[in] = true
			}
		}
	}
	for _, in := range b.g.Inputs {
		needed[in] = true
	}
	b.g.Nodes = slices.DeleteFunc(b.g.Nodes, func(n *Node) bool { return !keep[n] })
	maps.DeleteFunc(b.g.Values, func(name string, _ *Value) bool { return !needed[name] })
	b.reindex()
}
