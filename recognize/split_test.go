package recognize

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
)

// valued are weights that are, in each filter, some of the values of a function.
func (n *net) valued(values func(o int) []float32, shape ...int) *graph.Tensor {
	t := &graph.Tensor{Shape: shape}
	outs := shape[len(shape)-1]
	for i := range t.Elems() {
		v := values(i % outs)
		t.Data = graph.NumbersOf(append(t.Data.Floats(), v[n.r.IntN(len(v))]))
	}
	return t
}

// bitserialLayers counts the bitserial layers of g, and the float ones.
func bitserialLayers(g *graph.Graph) (found, float int) {
	for _, l := range g.Nodes {
		switch b, ok := binaryAttrs(l); {
		case ok && b != nil:
			found++
		case ok:
			float++
		}
	}
	return found, float
}

// TestSplitWeights: a layer whose weights are sums of weights of 1 bit is a sum of bitserial layers.
func TestSplitWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNet(func(args ...any) { t.Fatal(args...) }, rapid.Uint64().Draw(t, "seed"))
		x := n.drawQuant(t, n.input(1, 4, 5, 8), 0.25)
		values := pick(t, "weights", []float32{-0.3173, 0, 0.2019}, []float32{0, 0.3173, 0.2019}, []float32{-0.7131, -0.1117, 0.1117, 0.7131}, []float32{-0.2519, 0, 0.5031, 0.7507, 1.2538})
		w := n.valued(func(o int) []float32 {
			scaled := slices.Clone(values)
			for i := range scaled {
				scaled[i] *= 1 + 0.1*float32(o)
			}
			return scaled
		}, 3, 3, n.c(x), 4)
		g := n.compare(t, 1e-5, n.conv(x, w, same, rapid.Bool().Draw(t, "biased")))
		if found, float := bitserialLayers(g); float > 0 || found != 2 && found != 3 {
			t.Fatalf("%d layers are bitserial, %d float\n%s", found, float, g)
		}
	})
}

// TestSplitLevels: a layer of levels in uneven steps is a sum of layers of their planes.
func TestSplitLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNet(func(args ...any) { t.Fatal(args...) }, rapid.Uint64().Draw(t, "seed"))
		x := n.input(1, 4, 5, 8)
		values := pick(t, "levels", []float32{0, 0.5031, 1.3519, 1.855}, []float32{0, 0.2019, 0.9731}, []float32{-0.5031, 0, 1.0007, 4.1191}, []float32{0.1019, 0.3331, 0.7177, 1.5001, 1.7313}, []float32{-1.8519, -0.8331, 0.8331, 1.8519})
		y := n.binary("add", values[0], n.binary("mul", 0, x))
		for i, v := range values[1:] {
			y = n.two("add", y, n.binary("mul", v-values[i], n.greater(x, float32(i)*0.7-1, rapid.Bool().Draw(t, "greater"))))
		}
		if rapid.Bool().Draw(t, "falling") {
			y = n.binary("mul", -1, y)
		}
		w := n.few([]int{-1, 1}, 3, 3, 8, 4)
		first, second := n.conv(y, w, same, true), n.conv(y, n.few([]int{-1, 0, 1}, 1, 1, 8, 4), same, false)
		g := n.compare(t, 1e-5, first, second)
		if found, float := bitserialLayers(g); float > 0 || found < 4 || found > 8 {
			t.Fatalf("%d layers are bitserial, %d float\n%s", found, float, g)
		}
	})
}

// TestMeans: the means of levels are levels, where they have 8 bits.
func TestMeans(t *testing.T) {
	means := 0
	rapid.Check(t, func(t *rapid.T) {
		n := newNet(func(args ...any) { t.Fatal(args...) }, rapid.Uint64().Draw(t, "seed"))
		x := n.drawQuant(t, n.input(between(t, 1, 2, "batch"), between(t, 3, 5, "h"), between(t, 3, 5, "w"), pick(t, "c", 1, 8, 33)), pick(t, "scale", 0.25, 0.37))
		if k := between(t, 1, 3, "kernel"); rapid.Bool().Draw(t, "of the image") {
			x = n.plain("global_avg_pool", x)
			x = n.add("dense", &graph.DenseAttrs{}, map[string]*graph.Tensor{"w": n.few([]int{-1, 1}, n.c(x), 3)}, x)
		} else {
			p := pick(t, "pad", valid, same)
			x = n.add("avg_pool", &graph.PoolAttrs{Kernel: [2]int{k, between(t, 1, 3, "width")}, Strides: [2]int{between(t, 1, 2, "stride"), k}, Pad: p}, nil, x)
			x = n.conv(x, n.few([]int{-1, 1}, 1, 1, n.c(x), 3), same, true)
		}
		g := n.compare(t, 1e-5, x)
		if found, _ := bitserialLayers(g); found > 0 {
			means++
		}
	})
	if means == 0 {
		t.Error("no means are levels")
	}
}

// TestSplitGroups: a layer whose weights have scales for groups of input channels is a sum of bitserial layers of one group each.
func TestSplitGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNet(func(args ...any) { t.Fatal(args...) }, rapid.Uint64().Draw(t, "seed"))
		groups, size := between(t, 2, 4, "groups"), pick(t, "channels", 8, 16, 32, 33)
		x := n.drawQuant(t, n.input(2, 3, 3, groups*size), 0.25)
		w := n.valued(func(int) []float32 { return []float32{-1, 0, 1} }, pick(t, "kernel", 1, 3), 1, groups*size, 4)
		for i := range w.Data.Len() {
			w.Data.Floats()[i] *= 0.1 + float32(i/4%(groups*size)/size)*0.0371 + float32(i%4)*0.017
		}
		g := n.compare(t, 1e-5, n.conv(x, w, same, rapid.Bool().Draw(t, "biased")))
		if found, float := bitserialLayers(g); float > 0 || found != groups {
			t.Fatalf("%d layers are bitserial, %d float, want %d\n%s", found, float, groups, g)
		}
	})
}
