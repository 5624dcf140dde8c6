package ops_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

// drawRank draws a shape of 1 to 6 axes.
func drawRank(t *rapid.T, what string) []int {
	s := rapid.SliceOfN(rapid.IntRange(1, 4), 0, 5).Draw(t, what)
	return append(s, channels(t, what+" c"))
}

func elems(shape []int) int { return (&graph.Tensor{Shape: shape}).Elems() }

// position is index i of a tensor as a position on each axis, and index its inverse.
func position(i int, shape []int) []int {
	p := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		p[d], i = i%shape[d], i/shape[d]
	}
	return p
}

func index(p, shape []int) int {
	i := 0
	for d := range p {
		i = i*shape[d] + p[d]
	}
	return i
}

// planes are levels of a shape that lie as bits.
func planes(shape []int, bits int, enc ir.EncodingKind) layout.Tensor {
	return layout.Tensor{Value: graph.Value{LevelType: scalar.LevelType{Bits: bits, Enc: enc}, Shape: shape}, Form: layout.Planes}
}

// moves checks Funcs that move elements, f32 and levels: element i of the result is element from(i) of x.
func moves(t *rapid.T, move func(x layout.Tensor) *ir.Func, shape, to []int, from func(p []int) []int) {
	source := make([]int, elems(to))
	for i := range source {
		source[i] = index(from(position(i, to)), shape)
	}
	if rapid.Bool().Draw(t, "float") {
		x, want := drawFloats(t, elems(shape), "x"), make([]float32, len(source))
		for i, j := range source {
			want[i] = x[j]
		}
		f := move(layout.Tensor{Value: graph.Value{Shape: shape}})
		wantFloats(t, f, floats(run(t, f, x)), want)
		return
	}
	bits, enc := between(t, 1, 3, "bits"), encoding(t)
	x, want := drawLevels(t, elems(shape), bits, "x"), make([]int, len(source))
	for i, j := range source {
		want[i] = x[j]
	}
	f := move(planes(shape, bits, enc))
	wantWords(t, f, words(run(t, f, pack(x, bits, shape[len(shape)-1]))), pack(want, bits, to[len(to)-1]))
}

func TestTranspose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawRank(t, "shape")
		var axes []int
		for d := range s {
			axes = append(axes, d)
		}
		a := &graph.TransposeAttrs{Perm: rapid.Permutation(axes).Draw(t, "perm")}
		to := make([]int, len(s))
		for d, p := range a.Perm {
			to[d] = s[p]
		}
		moves(t, func(x layout.Tensor) *ir.Func { return ops.Transpose(a, x) }, s, to, func(p []int) []int {
			q := make([]int, len(p))
			for d := range p {
				q[a.Perm[d]] = p[d]
			}
			return q
		})
		if ops.TransposeIsView(a, 0, s) {
			for i := range elems(to) {
				q, p := make([]int, len(s)), position(i, to)
				for d := range p {
					q[a.Perm[d]] = p[d]
				}
				if index(q, s) != i {
					t.Fatalf("perm %v of %v moves element %d to %d: no view", a.Perm, s, index(q, s), i)
				}
			}
		}
	})
}

// TestTransposeIsView: what is not moved is not copied.
func TestTransposeIsView(t *testing.T) {
	for _, c := range []struct {
		perm, shape []int
		bits        int
		want        bool
	}{
		{[]int{0, 3, 1, 2}, []int{1, 1, 1, 40}, 0, true},
		{[]int{0, 3, 1, 2}, []int{1, 1, 1, 40}, 1, false}, // bits would have to move to words of their own
		{[]int{0, 3, 1, 2}, []int{1, 8, 1, 40}, 0, false},
		{[]int{0, 3, 1, 2}, []int{1, 1, 64, 1}, 1, false},
		{[]int{0, 2, 1, 3}, []int{1, 5, 1, 7}, 2, true},
		{[]int{0, 1, 2, 3}, []int{2, 5, 3, 7}, 2, true},
	} {
		if got := ops.TransposeIsView(&graph.TransposeAttrs{Perm: c.perm}, c.bits, c.shape); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

func TestSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawRank(t, "shape")
		a := &graph.SliceAttrs{}
		for _, n := range s {
			stride := between(t, 1, 2, "stride")
			begin := between(t, 0, n-1, "begin")
			a.Begin, a.Stride, a.Size = append(a.Begin, begin), append(a.Stride, stride), append(a.Size, between(t, 1, (n-1-begin)/stride+1, "size"))
		}
		if last := len(s) - 1; s[last] > 32 && rapid.Bool().Draw(t, "whole words") {
			a.Begin[last], a.Stride[last], a.Size[last] = 32, 1, s[last]-32
		}
		moves(t, func(x layout.Tensor) *ir.Func { return ops.CopySlice(a, x) }, s, a.Size, func(p []int) []int {
			q := slices.Clone(p)
			for d := range q {
				q[d] = a.Begin[d] + p[d]*a.Stride[d]
			}
			return q
		})
	})
}

func TestReshapeBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawRank(t, "shape")
		n := elems(s)
		to := []int{n}
		for len(to) < 6 && rapid.Bool().Draw(t, "split") {
			d := between(t, 1, to[0], "extent")
			for to[0]%d != 0 {
				d--
			}
			to = append([]int{to[0] / d, d}, to[1:]...)
		}
		bits, enc := between(t, 1, 3, "bits"), encoding(t)
		x, f := drawLevels(t, n, bits, "x"), ops.ReshapeBits(bits, s, to, enc)
		wantWords(t, f, words(run(t, f, pack(x, bits, s[len(s)-1]))), pack(x, bits, to[len(to)-1]))
	})
}

func TestBinaryOp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		full := drawRank(t, "shape")
		var shapes [2][]int
		for k := range shapes {
			shapes[k] = slices.Clone(full)
			for d := range full {
				if rapid.IntRange(0, 3).Draw(t, "repeated") == 0 && (k == 0 || shapes[0][d] == full[d]) {
					shapes[k][d] = 1
				}
			}
		}
		if rapid.Bool().Draw(t, "one a channel") {
			shapes[0], shapes[1] = full, []int{rapid.SampledFrom([]int{1, full[len(full)-1]}).Draw(t, "b")}
		}
		if rapid.Bool().Draw(t, "swapped") {
			shapes[0], shapes[1] = shapes[1], shapes[0]
		}
		op := rapid.SampledFrom([]scalar.Function{scalar.Plus, scalar.Minus, scalar.Times, scalar.Over, scalar.Minimum, scalar.Maximum}).Draw(t, "op")
		x := [2][]float32{drawFloats(t, elems(shapes[0]), "left"), drawFloats(t, elems(shapes[1]), "right")}
		want := make([]float32, elems(full))
		for i := range want {
			var v [2]float32
			for k, s := range shapes {
				p := position(i, full)[len(full)-len(s):]
				for d := range p {
					p[d] %= s[d]
				}
				v[k] = x[k][index(p, s)]
			}
			want[i] = map[scalar.Function]func(a, b float32) float32{scalar.Plus: f32.Add, scalar.Minus: f32.Sub, scalar.Times: f32.Mul, scalar.Over: f32.Div, scalar.Minimum: f32.Min, scalar.Maximum: f32.Max}[op](v[0], v[1])
		}
		f := ops.Function(op, shapes[0], shapes[1])
		wantFloats(t, f, floats(run(t, f, x[0], x[1])), want)
	})
}

// edges are f32 values at which roundings and comparisons go wrong.
func edges() []float32 {
	var out []float32
	for _, v := range []float64{0, 0x1p-149, 0x1p-126, 0x1p-30, 0.25, 0.49999997, 0.5, 0.50000006, 0.99999994, 1, 1.5, 2.5, 3.5, 127.5, 254.5, 255.5, 0x1p22 - 0.5, 0x1p22 + 0.5, 0x1p23 - 0.5, 0x1p23, 0x1p23 + 1,
		0x1p24 - 1, 0x1p24, 0x1p31, math.MaxFloat32, math.Inf(1)} {
		out = append(out, float32(v), -float32(v))
	}
	return append(out, float32(math.NaN()))
}
