package fusedglue

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
)

// TestPoolParts: a pool behind a concatenation of floats pools its parts, with the same result, unless that makes nothing smaller, a part is
// no layer's, or the whole is read elsewhere.
func TestPoolParts(t *testing.T) {
	split := 0
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.Uint32().Draw(t, "seed")
		n := newNet(t.Fatal, func() float64 { r = r*1664525 + 1013904223; return float64(r>>8)/(1<<24) - 0.5 })
		x := n.input(1, rapid.IntRange(4, 7).Draw(t, "h"), rapid.IntRange(4, 7).Draw(t, "w"), rapid.IntRange(1, 5).Draw(t, "c"))
		var parts []string
		for range rapid.IntRange(2, 3).Draw(t, "parts") {
			switch rapid.IntRange(0, 3).Draw(t, "part") {
			case 0:
				parts = append(parts, n.plain("relu", n.bn(n.conv(x, 3, rapid.SampledFrom([]int{3, 32, 40}).Draw(t, "out"), graph.PadSame), 1)))
			case 1:
				parts = append(parts, n.pool(x, 3, 1, graph.PadSame))
			case 2:
				parts = append(parts, n.bn(x, -1))
			default:
				parts = append(parts, x)
			}
		}
		distinct := map[string]bool{}
		for _, p := range parts {
			distinct[p] = true
		}
		whole := n.add("concat", &graph.ConcatAttrs{}, nil, parts...)
		k, s := rapid.IntRange(1, 3).Draw(t, "kernel"), rapid.IntRange(1, 2).Draw(t, "stride")
		op, pad := rapid.SampledFrom([]string{"max_pool", "avg_pool"}).Draw(t, "op"), rapid.SampledFrom([]graph.PaddingMode{graph.PadSame, graph.PadValid}).Draw(t, "pad")
		y := n.add(op, &graph.PoolAttrs{Kernel: [2]int{k, k}, Strides: [2]int{s, s}, Pad: graph.Padding{Mode: pad}}, nil, whole)
		n.Outputs = []string{y}
		alone := rapid.IntRange(0, 3).Draw(t, "alone") > 0
		if !alone {
			n.Outputs = append(n.Outputs, n.plain("relu", whole))
		}
		input, err := binary.Append(nil, binary.LittleEndian, n.tensor(0.3, 1, n.Value("x").Shape...).Data.Floats())
		if err != nil {
			t.Fatal(err)
		}
		want, _ := interpret(t, n, []string{"pool_parts"}, [][]byte{input})
		got, g := interpret(t, n, nil, [][]byte{input})
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("output %d differs:\n%s", i, g)
			}
		}
		smaller := n.Value(y).Elems() < n.Value(whole).Elems()
		producer := graph.NewIndex(g).Producer(y)
		if can := alone && smaller && len(distinct) == len(parts) && !distinct["x"]; can != (producer.Op == "concat") {
			t.Fatalf("pools its parts %v, want %v:\n%s", !can, can, g)
		} else if can {
			split++
		}
	})
	if split == 0 {
		t.Error("no pool was split")
	}
}
