package lower

import (
	"slices"

	"ripc/graph"
	"ripc/lower/layout"
)

// Coupling says which stages of a network depend on which layers' algorithms. A layer's own
// stage does. So does a stage that touches levels with a form that varies: bytes if all layers that
// sum them read bytes, else bit planes.
type Coupling struct {
	// Forms are such levels, each by the layers that have to read bytes.
	Forms [][]string
	// Scopes are by the stages' names; a stage that is not there depends on nothing.
	Scopes map[string]Scope
}

// Scope is the set of choices that the stages of a name depend on.
type Scope struct {
	Layers []string // layers by algorithm
	Forms  []int    // of Coupling.Forms
}

// Couple finds the Coupling of the programs of g, a graph that fusedglue.Fuse made, that differ in
// the algorithms of layers which o leaves open. It fails as Program does.
func Couple(g *graph.Graph, o Options) (*Coupling, error) {
	g = ApplyGlue(g, o.Target)
	choices, err := choose(g, o)
	if err != nil {
		return nil, err
	}
	g, _ = rename(g)
	l := newLowering(g, o.Target, choices)
	for _, n := range g.Nodes {
		l.chooseBytes(n, o)
	}
	l.planOutputs()
	l.planRequantized()
	c := &coupler{lowering: l, of: map[string]int{}, Coupling: Coupling{Scopes: map[string]Scope{}}}
	for _, f := range l.families() {
		if _, ok := l.bytesOf(f); ok { // else they are planes by any algorithms
			form := c.form(f.members...)
			for _, name := range f.members {
				c.of[name] = form
			}
		}
	}
	for _, name := range g.Inputs {
		if v := g.Value(name); v.Encoded() && v.View == graph.Bytes {
			c.input(name)
		}
	}
	for _, n := range g.Nodes {
		c.node(n)
	}
	for _, name := range g.Outputs { // copies of outputs are called as their tensors
		if f, ok := c.of[name]; ok {
			c.add(name, Scope{Forms: []int{f}})
		}
	}
	return &c.Coupling, nil
}

// chooseBytes chooses an algorithm that reads bytes for n, if n is a layer with an open algorithm
// and has one.
func (l *lowering) chooseBytes(n *graph.Node, o Options) {
	f, ok := n.Attrs.(*graph.FusedConv)
	if _, given := o.Algorithms[n.Name]; !ok || given || slices.Contains(o.Bitserial, n.Name) {
		return
	}
	x := imageOf(l.g, n)
	for _, by := range layout.Applying(f, &x) {
		if by.ReadsBytes() {
			l.choices[n.Name] = layout.Choice{Algorithm: by}
			return
		}
	}
}

type coupler struct {
	*lowering
	Coupling
	of map[string]int // forms by tensor of a family
}

// form adds the form of tensors that lie alike.
func (c *coupler) form(tensors ...string) int {
	var layers []string
	for _, name := range tensors {
		for _, r := range c.Consumers(name) {
			if (r.Op == "bconv2d" || r.Op == "window_sum") && r.Inputs[0] == name {
				layers = union(layers, []string{r.Name})
			}
		}
	}
	c.Forms = append(c.Forms, layers)
	return len(c.Forms) - 1
}

// input adds the stage that packs the caller's bytes. It exists if a reader wants bits, or moves
// them into levels of a family.
func (c *coupler) input(name string) {
	s := Scope{Forms: []int{c.form(name)}}
	for _, r := range c.Consumers(name) {
		if f, ok := c.of[r.Output]; ok {
			s.Forms = append(s.Forms, f)
		}
	}
	c.add(name, s)
}

// node adds n's stage. It depends on n's own algorithm and on the forms of n's input and result.
// Stages fuse float steps and levels that become floats, so it also depends on the choices of
// those.
func (c *coupler) node(n *graph.Node) {
	var s Scope
	if _, ok := n.Attrs.(*graph.FusedConv); ok {
		s.Layers = []string{n.Name}
	} else {
		for _, in := range n.Inputs {
			if p := c.Producer(in); p != nil && (p.Op == "dequantize" || p.Op == "eltwise") {
				s = s.with(c.Scopes[p.Name])
			}
		}
	}
	for _, name := range append(slices.Clone(n.Inputs), n.Output) {
		if f, ok := c.of[name]; ok {
			s.Forms = append(s.Forms, f)
		}
	}
	c.add(n.Name, s)
	if _, ok := n.Attrs.(*graph.FusedConv); ok {
		c.add(windowStage(n.Name), s)
	}
}

func (c *coupler) add(stage string, s Scope) {
	c.Scopes[stage] = Scope{}.with(c.Scopes[stage]).with(s)
}

// with returns the union of s and o.
func (s Scope) with(o Scope) Scope {
	return Scope{union(s.Layers, o.Layers), union(s.Forms, o.Forms)}
}

// union returns the elements of a and b, each once, in order.
func union[T string | int](a, b []T) []T {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
