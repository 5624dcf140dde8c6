package graph

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestNumbers: however numbers are held, all ways to read them give the same.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.Uint64(), 0, 20).Draw(t, "words")
		count := len(words) * 64
		if count > 0 {
			count -= rapid.IntRange(0, 63).Draw(t, "short")
		}
		ints := make([]int, count)
		for i := range ints {
			ints[i] = 1 - 2*int(words[i/64]>>(i%64)&1)
		}
		check := func(name string, n Numbers, want []int) {
			t.Helper()
			if n.Len() != len(want) {
				t.Fatalf("%s: %d numbers, want %d", name, n.Len(), len(want))
			}
			all := n.Floats()
			for i, v := range n.All() {
				if w := float32(want[i]); v != w || all[i] != w || n.At(i) != w {
					t.Fatalf("%s: number %d is %g, %g and %g, want %g", name, i, v, all[i], n.At(i), w)
				}
			}
			if len(want) > 0 {
				from := rapid.IntRange(0, len(want)-1).Draw(t, "from")
				part := make([]float32, rapid.IntRange(0, len(want)-from).Draw(t, "part"))
				if n.Read(from, part); !slices.Equal(part, all[from:from+len(part)]) {
					t.Fatalf("%s: numbers from %d are %v, want %v", name, from, part, all[from:from+len(part)])
				}
			}
			for o := range min(3, len(want)) {
				column := make([]float32, len(want)/3)
				n.column(o, 3, column)
				for i, v := range column {
					if v != all[3*i+o] {
						t.Fatalf("%s: number %d of column %d is %g, want %g", name, i, o, v, all[3*i+o])
					}
				}
			}
			if len(want)%3 == 0 {
				columns := len(want) / 3
				for i, v := range n.Transposed(3, columns).All() {
					if w := all[i%3*columns+i/3]; v != w {
						t.Fatalf("%s: number %d of 3 rows transposed is %g, want %g", name, i, v, w)
					}
				}
			}
			if !n.Equal(NumbersOf(all)) {
				t.Fatalf("%s: differs from its floats", name)
			}
		}
		check("signs", Signs(words, count), ints)
		for _, r := range [][2]int{{-1, 1}, {math.MinInt8, math.MaxInt8}, {0, math.MaxUint8}, {math.MinInt16, math.MaxInt16}} {
			for i := range ints {
				ints[i] = rapid.IntRange(r[0], r[1]).Draw(t, "n")
			}
			whole := IntNumbers(len(ints), func(i int) int { return ints[i] })
			check("whole", whole, ints)
			check("computed", ComputedNumbers(len(ints), integersOf(ints)), ints)
			if len(ints) == 0 || r[1] > math.MaxUint8 {
				continue
			}
			run := rapid.SampledFrom([]int{1, 2, len(ints), max(1, len(ints)/3)}).Draw(t, "run")
			var zero []float32
			scale, real := make([]float32, rapid.SampledFrom([]int{1, 2, 3, max(1, len(ints)/3)}).Draw(t, "scales")), make([]int, len(ints))
			if rapid.Bool().Draw(t, "zeros") {
				zero = make([]float32, len(scale))
			}
			for c := range scale {
				if scale[c] = float32(rapid.IntRange(1, 1000).Draw(t, "scale")); len(zero) > 0 {
					zero[c] = float32(rapid.IntRange(-128, 255).Draw(t, "zero"))
				}
			}
			for i, v := range ints {
				c := i / run % len(scale)
				if real[i] = v * int(scale[c]); len(zero) > 0 {
					real[i] -= int(zero[c]) * int(scale[c])
				}
			}
			check("dequantized", Dequantized(whole, scale, zero, run), real)
		}
	})
}

// integersOf are integers as a Computer.
type integersOf []int

func (v integersOf) At(i int) float32 { return float32(v[i]) }
