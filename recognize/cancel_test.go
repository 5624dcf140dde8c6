package recognize

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
)

// absmax is the largest magnitude of each image of x [N, H, W, C], or of each position of it, as [N, 1, 1, 1] or [N, H, W, 1].
func (n *net) absmax(x string, ofImage bool) string {
	s := n.Value(x).Shape
	turned := n.add("transpose", &graph.TransposeAttrs{Perm: []int{0, 3, 1, 2}}, nil, n.plain("abs", x)) // channels to rows
	kernel := [2]int{s[3], 1}
	if ofImage {
		turned = n.add("reshape", &graph.ReshapeAttrs{Shape: []int{s[0], s[1] * s[2] * s[3], 1, 1}}, nil, n.plain("abs", x))
		kernel = [2]int{s[1] * s[2] * s[3], 1}
	} else {
		turned = n.add("reshape", &graph.ReshapeAttrs{Shape: []int{s[0], s[3], s[1] * s[2], 1}}, nil, turned)
	}
	m := n.add("max_pool", &graph.PoolAttrs{Kernel: kernel, Strides: [2]int{1, 1}, Pad: valid}, nil, turned)
	m = n.clip(m, 1e-3, 1e6)
	if ofImage {
		return m
	}
	return n.add("reshape", &graph.ReshapeAttrs{Shape: []int{s[0], s[1], s[2], 1}}, nil, m)
}

// rowQuant quantizes x to 8 bits by a scale for each row, as BitNet does, and gives its real values.
func (n *net) rowQuant(x, absmax string, reciprocal bool) string {
	scale := n.from("div", 127, absmax)
	q := n.clip(n.round(n.two("mul", x, scale)), -128, 127)
	if reciprocal {
		return n.two("mul", q, n.from("div", 1, scale))
	}
	return n.two("div", q, scale)
}

// TestRowScales: a scale of each row, or image, moves behind the sums of a layer whose windows have one of it.
func TestRowScales(t *testing.T) {
	moved := 0
	rapid.Check(t, func(t *rapid.T) {
		n := newNet(func(args ...any) { t.Fatal(args...) }, rapid.Uint64().Draw(t, "seed"))
		x := n.input(2, 4, 4, 8)
		ofImage, k := rapid.Bool().Draw(t, "of image"), between(t, 1, 3, "kernel")
		q := n.rowQuant(x, n.absmax(x, ofImage), rapid.Bool().Draw(t, "reciprocal"))
		if rapid.Bool().Draw(t, "estimator") {
			q = n.two("add", x, n.two("sub", q, x))
		}
		if rapid.Bool().Draw(t, "scaled once more") {
			q = n.binary("mul", 0.37, q)
		}
		g := n.compare(t, 1e-5, n.conv(q, n.few([]int{-1, 0, 1}, k, k, 8, 4), same, rapid.Bool().Draw(t, "biased")))
		found := slices.ContainsFunc(g.Nodes, func(l *graph.Node) bool { return graph.Bitserial(l.Op) })
		if want := ofImage || k == 1; found != want {
			t.Fatalf("bitserial: %v, want %v\n%s", found, want, g)
		}
		if found {
			moved++
		}
	})
	if moved == 0 {
		t.Error("no scale was moved")
	}
}

// TestCancel: what a sum adds and subtracts is left out, in any order, where levels are left.
func TestCancel(t *testing.T) {
	quant := func(n *net, x string) string { return n.rowQuant(x, n.absmax(x, true), false) }
	for _, c := range []struct {
		name  string
		build func(n *net, x string) string
		want  bool
	}{
		{"x + (q - x)", func(n *net, x string) string { return n.two("add", x, n.two("sub", quant(n, x), x)) }, true},
		{"(q - x) + x", func(n *net, x string) string { return n.ste(quant(n, x), x) }, true},
		{"(q + x) - x", func(n *net, x string) string { return n.two("sub", n.two("add", quant(n, x), x), x) }, true},
		{"x - (x - q)", func(n *net, x string) string { return n.two("sub", x, n.two("sub", x, quant(n, x))) }, true},
		{"-(x - q) + x", func(n *net, x string) string {
			return n.two("add", n.binary("mul", -1, n.two("sub", x, quant(n, x))), x)
		}, true},
		{"clipped twice", func(n *net, x string) string {
			return n.two("add", n.clip(x, -1, 1), n.two("sub", quant(n, x), n.clip(x, -1, 1)))
		}, true},
		{"clipped otherwise", func(n *net, x string) string {
			return n.two("add", n.clip(x, -1, 1), n.two("sub", quant(n, x), n.clip(x, -2, 2)))
		}, false},
		{"twice x", func(n *net, x string) string {
			return n.two("add", n.two("add", x, x), n.two("sub", quant(n, x), x))
		}, false},
		{"a residual", func(n *net, x string) string { // (q - (x + y)) + (y + x)
			y := n.plain("tanh", x)
			return n.two("add", n.two("sub", quant(n, x), n.two("add", x, y)), n.two("add", y, x))
		}, true},
		{"minus q", func(n *net, x string) string { return n.two("sub", n.two("sub", x, quant(n, x)), x) }, false},
	} {
		for _, exact := range []bool{false, true} {
			n := newNet(t.Fatal, 4)
			x := n.input(1, 4, 4, 8)
			n.Outputs = []string{n.conv(c.build(n, x), n.few([]int{-1, 1}, 3, 3, 8, 4), same, true)}
			g, err := Run(t.Context(), n.Graph, Options{ExactFloats: exact})
			if err != nil {
				t.Fatal(err)
			}
			found := slices.ContainsFunc(g.Nodes, func(l *graph.Node) bool { return graph.Bitserial(l.Op) })
			named := len(g.Roundings) == 1 && g.Roundings[0].Reason == graph.WhyFoldedSum
			if want := c.want && !exact; found != want || named != want {
				t.Errorf("%s, exactly %v: bitserial %v, named %v, want %v\n%s", c.name, exact, found, named, want, g)
			}
			for _, l := range g.Nodes {
				if b, ok := binaryAttrs(l); ok && b == nil && c.want && l.Verdict.Reason != graph.WhyNearly {
					t.Errorf("%s, exactly: %+v", c.name, l.Verdict)
				}
			}
		}
	}
}
