package graph_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
)

// TestBuilder: whatever a builder does, it finds what an index made anew finds, its nodes stay in topological order, and names
// are given once.
func TestBuilder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := graph.NewBuilder(&graph.Graph{Name: "g"})
		g := b.Graph()
		for i := range 2 {
			b.Input(&graph.Value{Name: fmt.Sprintf("x%d", i), Shape: []int{1, 4}, Layout: "NC"})
		}
		names := map[string]bool{}
		node := func(in ...string) *graph.Node {
			n := &graph.Node{Name: b.NodeName("n"), Op: "relu", Output: b.TensorName("t"), Inputs: in, Attrs: &graph.NoAttrs{}}
			if len(in) == 2 {
				n.Op, n.Attrs = "add", &graph.BinaryOpAttrs{}
			}
			if names[n.Name] || names[n.Output] {
				t.Fatalf("the name %s or %s is given twice", n.Name, n.Output)
			}
			names[n.Name], names[n.Output] = true, true
			return n
		}
		for range 30 {
			i := len(g.Nodes)
			if i > 0 {
				i = rapid.IntRange(0, i-1).Draw(t, "node")
			}
			before := slices.Clone(g.Inputs) // tensors that there are before node i
			for _, n := range g.Nodes[:i] {
				before = append(before, n.Output)
			}
			pick := rapid.SampledFrom(before)
			switch op := rapid.IntRange(0, 8).Draw(t, "op"); {
			case len(g.Nodes) == 0 || op == 0:
				if _, err := b.Append(node(pick.Draw(t, "a"), pick.Draw(t, "b"))); err != nil {
					t.Fatal(err)
				}
			case op == 1:
				if _, err := b.InsertAfter(g.Nodes[i], node(pick.Draw(t, "a"))); err != nil {
					t.Fatal(err)
				}
			case op == 2 || op == 3: // often between the same two
				b.InsertBefore(g.Nodes[i], node(pick.Draw(t, "a")), &graph.Value{Shape: []int{1, 4}, Layout: "NC"})
			case op == 4:
				b.SetInputs(g.Nodes[i], slices.Repeat([]string{pick.Draw(t, "a")}, len(g.Nodes[i].Inputs))...)
			case op == 5:
				b.RenameTensor(g.Nodes[i].Output, b.TensorName("r"))
			case op == 6:
				n := g.Nodes[i]
				b.Redirect(n.Output, n.Inputs[0])
				b.Remove(n)
			case op == 7 && i > 0:
				if p := g.Nodes[i-1]; len(g.Nodes[i].Inputs) == 1 && g.Nodes[i].Inputs[0] == p.Output && len(p.Inputs) == 1 {
					b.Exchange(p, g.Nodes[i])
				}
			case op == 8 && rapid.IntRange(0, 5).Draw(t, "prune") == 0:
				g.Outputs = []string{g.Nodes[i].Output}
				b.Prune()
				if last := g.Nodes[len(g.Nodes)-1]; last.Output != g.Outputs[0] {
					t.Fatalf("pruned to\n%s", g)
				}
				g.Outputs = nil
			}
			check(t, b)
		}
	})
}

func check(t *rapid.T, b *graph.Builder) {
	g, want := b.Graph(), graph.NewIndex(b.Graph())
	made := map[string]bool{}
	for _, in := range g.Inputs {
		made[in] = true
	}
	for _, n := range g.Nodes {
		for _, in := range n.Inputs {
			if !made[in] {
				t.Fatalf("%s reads %s before it is made:\n%s", n.Name, in, g)
			}
		}
		made[n.Output] = true
		if v := g.Value(n.Output); v.Name != n.Output {
			t.Fatalf("tensor %s is called %s", n.Output, v.Name)
		}
	}
	for tensor := range g.Values {
		if b.Producer(tensor) != want.Producer(tensor) || !slices.Equal(b.Consumers(tensor), want.Consumers(tensor)) || b.ConsumerCount(tensor) != len(want.Consumers(tensor)) {
			t.Fatalf("%s is made by %v and read by %v, the index says %v and %v", tensor, want.Producer(tensor), want.Consumers(tensor), b.Producer(tensor), b.Consumers(tensor))
		}
	}
}

// TestBuilderManyBetween: there is always room between two nodes.
func TestBuilderManyBetween(t *testing.T) {
	b := graph.NewBuilder(&graph.Graph{Name: "g"})
	b.Input(&graph.Value{Name: "x", Shape: []int{1, 4}})
	relu := func(name, in string) *graph.Node {
		return &graph.Node{Name: name, Op: "relu", Output: name, Inputs: []string{in}, Attrs: &graph.NoAttrs{}}
	}
	first := relu("first", "x")
	for _, n := range []*graph.Node{first, relu("last", "first")} {
		if _, err := b.Append(n); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 200 {
		if _, err := b.InsertAfter(first, relu(fmt.Sprint(i), "first")); err != nil {
			t.Fatal(err)
		}
	}
	readers := b.Consumers("first")
	if g := b.Graph(); len(readers) != 201 || !slices.Equal(readers, g.Nodes[1:]) || readers[0].Name != "199" {
		t.Errorf("%d readers, the first of them %s", len(readers), readers[0].Name)
	}
}
