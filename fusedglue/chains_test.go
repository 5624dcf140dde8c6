package fusedglue

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
)

// TestShorten: known lists stand for the runs of tensors that are theirs, the longest first, and never for a whole list.
func TestShorten(t *testing.T) {
	known := &concatTree{}
	for _, list := range []string{"ab", "abc", "de"} {
		known.enter(names(list), "<"+list+">")
	}
	for _, c := range []struct{ list, want string }{
		{"abcd", "<abc> d"}, {"xab", "x <ab>"}, {"abde", "<ab> <de>"}, {"abc", "<ab> c"}, {"ab", "a b"}, {"deabcx", "<de> <abc> x"}, {"ba", "b a"}, {"aab", "a <ab>"}, {"x", "x"}, {"", ""},
	} {
		var got []byte
		for i, name := range known.shorten(names(c.list)) {
			if i > 0 {
				got = append(got, ' ')
			}
			got = append(got, name...)
		}
		if string(got) != c.want {
			t.Errorf("%q: %q, want %q", c.list, got, c.want)
		}
	}
}

// names are the letters of list.
func names(list string) (all []string) {
	for _, c := range list {
		all = append(all, string(c))
	}
	return all
}

// TestChains: concatenations of what earlier ones join, at any end and in any order, have the same results with and without the pass, and a
// dense block joins no more than two tensors a layer.
func TestChains(t *testing.T) {
	shorter := 0
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.Uint32().Draw(t, "seed")
		n := newNet(t.Fatal, func() float64 { r = r*1664525 + 1013904223; return float64(r>>8)/(1<<24) - 0.5 })
		x := n.input(1, rapid.IntRange(1, 4).Draw(t, "h"), rapid.IntRange(1, 4).Draw(t, "w"), rapid.SampledFrom([]int{1, 4, 32}).Draw(t, "c"))
		parts, whole := []string{x}, x
		var wholes []string
		order := rapid.SampledFrom([]string{"behind", "before", "any"}).Draw(t, "order")
		layers := rapid.IntRange(2, 5).Draw(t, "layers")
		for range layers {
			out := rapid.SampledFrom([]int{2, 32}).Draw(t, "out")
			y := whole
			switch rapid.IntRange(0, 3).Draw(t, "layer") {
			case 0:
				y = n.plain("relu", n.conv(y, 3, out, graph.PadSame))
			case 1:
				y = n.conv(n.plain("relu", n.bn(y, 1)), 1, out, graph.PadSame)
			case 2:
				y = n.conv(n.plain("sign", n.bn(y, 1)), 3, out, graph.PadSame)
			default:
				y = n.pool(y, 3, 1, graph.PadSame)
			}
			switch order {
			case "behind":
				parts = append(slices.Clone(parts), y)
			case "before":
				parts = append([]string{y}, parts...)
			default:
				parts = slices.Insert(slices.Clone(parts), rapid.IntRange(0, len(parts)).Draw(t, "place"), y)
			}
			whole = n.add("concat", &graph.ConcatAttrs{}, nil, parts...)
			wholes = append(wholes, whole)
		}
		n.Outputs = []string{whole}
		if rapid.Bool().Draw(t, "an output between") {
			n.Outputs = []string{wholes[0], whole}
		}
		input, err := binary.Append(nil, binary.LittleEndian, n.tensor(0.3, 1, n.Value("x").Shape...).Data.Floats())
		if err != nil {
			t.Fatal(err)
		}
		want, before := interpret(t, n, []string{"chains"}, [][]byte{input})
		got, g := interpret(t, n, nil, [][]byte{input})
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("output %d differs:\n%s", i, g)
			}
		}
		joins := func(g *graph.Graph) (most int) {
			for _, n := range g.Nodes {
				if n.Op == "concat" && !g.Value(n.Output).Encoded() {
					most = max(most, len(n.Inputs))
				}
			}
			return most
		}
		if joins(g) < joins(before) {
			shorter++
		}
	})
	if shorter == 0 {
		t.Error("no concatenation became shorter")
	}
}
