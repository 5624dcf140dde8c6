// Package readtest has the checks that the tests of all importers share.
package readtest

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"ripc/graph"
)

// CheckGraph wants nodes after those that they read, unique names, weights as large as their
// shapes, and values as graph.Infer has them.
func CheckGraph(t testing.TB, g *graph.Graph) {
	t.Helper()
	made, names := map[string]bool{}, map[string]bool{}
	for _, in := range g.Inputs {
		made[in] = true
	}
	for _, n := range g.Nodes {
		if names[n.Name] {
			t.Fatalf("two nodes are called %q", n.Name)
		}
		names[n.Name] = true
		for _, in := range n.Inputs {
			if !made[in] {
				t.Fatalf("node %q reads %q before it is made", n.Name, in)
			}
		}
		for key, w := range n.Weights {
			if w.Elems() != w.Data.Len() {
				t.Fatalf("node %q: %s of shape %v with %d elements", n.Name, key, w.Shape, w.Data.Len())
			}
		}
		v, _, err := graph.Infer(g, n)
		if err != nil {
			t.Fatal(err)
		}
		if v.Name = n.Output; made[v.Name] || !reflect.DeepEqual(v, g.Value(v.Name)) {
			t.Fatalf("node %q makes %v, the graph says %v", n.Name, v, g.Value(v.Name))
		}
		made[v.Name] = true
	}
	for _, out := range g.Outputs {
		if !made[out] {
			t.Fatalf("no node makes output %q", out)
		}
	}
}

// Operator is an operator that an importer reads, as far as its limits say.
type Operator struct{ Name, Limits string }

// Table is the table of a page about an importer: a row for all operators with the same limits, in
// the order of the first of each.
func Table(head string, all []Operator) string {
	var order []string
	by := map[string][]string{}
	for _, o := range all {
		if by[o.Limits] == nil {
			order = append(order, o.Limits)
		}
		by[o.Limits] = append(by[o.Limits], o.Name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | as far as |\n|---|---|\n", head)
	for _, limits := range order {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(by[limits], ", "), cmp.Or(limits, "all of it"))
	}
	return b.String()
}
