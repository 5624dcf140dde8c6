package recognize

import (
	"slices"
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// bits1 are levels -1 and 1.
func bits1() *graph.QuantizeAttrs {
	return &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Bipolar, Scale: 1}}
}

// ones are weights of 1 and -1 without a scale.
func (n *net) ones(shape ...int) *graph.Tensor {
	t := &graph.Tensor{Shape: shape}
	for range t.Elems() {
		t.Data = graph.NumbersOf(append(t.Data.Floats(), float32(1-2*n.r.IntN(2))))
	}
	return t
}

func (n *net) norm(x string, gamma, beta float32) string {
	w := map[string]*graph.Tensor{}
	for k, v := range map[string]float32{"gamma": gamma, "beta": beta, "mean": 0, "var": 1} {
		w[k] = &graph.Tensor{Shape: []int{n.c(x)}, Data: graph.NumbersOf(slices.Repeat([]float32{v}, n.c(x)))}
	}
	return n.add("batch_norm", &graph.BatchNormAttrs{}, w, x)
}

// TestSignOfSums: sign has one bit where no sum is 0, and says so where one is.
func TestSignOfSums(t *testing.T) {
	layer := func(n *net, c int, pad graph.Padding) string {
		return n.conv(n.quant(bits1(), n.input(1, 5, 5, c)), n.ones(3, 3, c, 4), pad, false)
	}
	for _, c := range []struct {
		name  string
		build func(n *net) string
		bits  int
	}{
		{"27 products", func(n *net) string { return layer(n, 3, valid) }, 1},
		{"36 products", func(n *net) string { return layer(n, 4, valid) }, 2},
		{"27 products, fewer at the border", func(n *net) string { return layer(n, 3, same) }, 2},
		{"half a sum away", func(n *net) string { return n.binary("add", 0.5, layer(n, 4, same)) }, 1},
		{"a sum away", func(n *net) string { return n.binary("add", 1, layer(n, 4, same)) }, 2},
		{"two sums away, of even ones", func(n *net) string { return n.binary("add", 2, layer(n, 4, valid)) }, 2},
		{"one sum away, of even ones", func(n *net) string { return n.binary("add", 1, layer(n, 4, valid)) }, 1},
		{"batch_norm", func(n *net) string { return n.norm(layer(n, 4, same), 0.37, 0.1) }, 1},
		{"batch_norm that hits 0", func(n *net) string { return n.norm(layer(n, 4, same), 0.5, 2) }, 2},
		{"relu", func(n *net) string { return n.plain("relu", layer(n, 3, valid)) }, 2},
		{"max_pool", func(n *net) string { return n.pool("max_pool", layer(n, 3, valid), 2, 2) }, 1},
		{"flattened", func(n *net) string { return n.plain("flatten", layer(n, 3, valid)) }, 1},
		{"reshaped", func(n *net) string {
			return n.add("reshape", &graph.ReshapeAttrs{Shape: []int{1, 3, 3, 4}}, nil, layer(n, 3, valid))
		}, 1},
		{"with levels added", func(n *net) string {
			y := layer(n, 3, valid)
			return n.two("add", y, n.binary("mul", 0.3, n.quant(bits1(), n.input(1, 3, 3, 4))))
		}, 1},
		{"with levels added that meet it", func(n *net) string {
			y := layer(n, 3, valid)
			return n.two("add", y, n.quant(bits1(), n.input(1, 3, 3, 4)))
		}, 2},
		{"with real numbers added", func(n *net) string {
			y := layer(n, 3, valid)
			return n.two("add", y, n.input(1, 3, 3, 4))
		}, 2},
		{"zeros around", func(n *net) string {
			return n.add("pad", &graph.SpatialPadAttrs{Pad: graph.Padding{Mode: graph.PadExplicit, Top: 1}}, nil, layer(n, 3, valid))
		}, 2},
		{"real numbers", func(n *net) string { return n.input(1, 5, 5, 4) }, 2},
		{"real numbers that no normalization makes 0", func(n *net) string { return n.norm(n.input(1, 5, 5, 4), 0.37, 0.1) }, 1},
	} {
		n := newNet(t.Fatal, 7)
		x := n.plain("sign", c.build(n))
		if s := n.Value(x).Shape; len(s) == 2 {
			x = n.add("reshape", &graph.ReshapeAttrs{Shape: []int{1, 1, 1, s[1]}}, nil, x)
		}
		y := n.conv(x, n.ones(1, 1, n.c(x), 2), valid, false)
		for zero, bits := range map[int]int{0: c.bits, 1: 1, -1: 1} {
			n.Outputs = []string{y}
			g, err := Run(t.Context(), n.Graph, Options{SignZero: zero})
			if err != nil {
				t.Fatal(err)
			}
			last := g.Nodes[len(g.Nodes)-1]
			v := g.Value(last.Inputs[0])
			if last.Attrs == nil || v.Bits != bits {
				t.Errorf("%s, zero %+d: %d bits, want %d\n%s", c.name, zero, v.Bits, bits, g)
			}
			want := graph.NoReason
			switch {
			case c.bits == 1:
			case zero == 0:
				want = graph.WhyThreeSigns
			default:
				want = graph.WhySignZero
			}
			q := graph.NewIndex(g).Producer(last.Inputs[0])
			if q.Op == "reshape" {
				q = graph.NewIndex(g).Producer(q.Inputs[0])
			}
			if q.Verdict.Reason != want {
				t.Errorf("%s, zero %+d: %q is said, want %q", c.name, zero, q.Verdict.Reason, want)
			}
		}
	}
}
