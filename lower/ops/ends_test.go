package ops_test

import (
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/lower/ops"
)

// TestEnds: the greatest and the least of rows, where they are, and logarithms of probabilities, with many equal elements.
func TestEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, c := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 40).Draw(t, "c")
		x := make([]float32, n*c)
		for i := range x {
			x[i] = float32(rapid.IntRange(-6, 6).Draw(t, "x")) / 2
		}
		least, last, k := rapid.Bool().Draw(t, "least"), rapid.Bool().Draw(t, "last"), rapid.IntRange(1, min(c, 5)).Draw(t, "k")
		arg := run(t, ops.Arg(least, &graph.ArgAttrs{Last: last}, []int{n, c}), x)
		top := &graph.TopKAttrs{K: k, Least: least}
		at, values := run(t, ops.TopK(true, top, []int{n, c}), x), floats(run(t, ops.TopK(false, top, []int{n, c}), x))
		logs := floats(run(t, ops.LogSoftmax([]int{n, c}), x))
		position := func(b []byte, i int) int { return int(int32(binary.LittleEndian.Uint32(b[4*i:]))) }
		for b := range n {
			row, taken, sum := x[b*c:(b+1)*c], map[int]bool{}, 0.0
			better := func(i, j int) bool { return !least && row[i] > row[j] || least && row[i] < row[j] }
			for j := range k {
				best := -1
				for i := range row {
					if !taken[i] && (best < 0 || better(i, best)) {
						best = i
					}
				}
				taken[best] = true
				if got := position(at, b*k+j); got != best || values[b*k+j] != row[best] {
					t.Fatalf("place %d of %v has %d (%g), want %d (%g)", j, row, got, values[b*k+j], best, row[best])
				}
			}
			want := 0
			for i, v := range row {
				if sum += math.Exp(float64(v)); better(i, want) || last && v == row[want] {
					want = i
				}
			}
			if got := position(arg, b); got != want {
				t.Fatalf("the best of %v is at %d, want %d", row, got, want)
			}
			for i, v := range row {
				if got, want := float64(logs[b*c+i]), float64(v)-math.Log(sum); math.Abs(got-want) > 2e-6 {
					t.Fatalf("logarithm %d of %v is %g, want %g", i, row, got, want)
				}
			}
		}
	})
}
