package kit

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
)

// tracer is a Kit that computes the elements of the values that it emits.
type tracer struct {
	Kit
	elements map[*graph.Value][]int
}

func newTracer() *tracer {
	tr := &tracer{elements: map[*graph.Value][]int{}}
	add := func(shape, data []int) *graph.Value {
		v := &graph.Value{Shape: slices.Clone(shape)}
		tr.elements[v] = data
		return v
	}
	tr.Reshape = func(x *graph.Value, shape []int) *graph.Value {
		if slices.Equal(shape, x.Shape) {
			return x
		}
		return add(shape, tr.elements[x])
	}
	tr.Emit = func(op string, attrs any, _ map[string]*graph.Tensor, in ...*graph.Value) *graph.Value {
		perm := attrs.(*graph.TransposeAttrs).Perm
		return add(Permuted(in[0].Shape, perm), PermuteArray(in[0].Shape, tr.elements[in[0]], perm))
	}
	return tr
}

// TestView compares views with arrays after random changes of shape and order.
func TestView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := newTracer()
		shape := rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 3, 4, 6}), 1, 4).Draw(t, "shape")
		perm := rapid.Permutation(Identity(len(shape))).Draw(t, "stored")
		data := Identity(graph.Elems(shape))
		v := &graph.Value{Shape: Permuted(shape, perm)}
		tr.elements[v] = PermuteArray(shape, data, perm)
		view := ViewIn(v, perm)
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "reshape") {
				shape = rapid.SampledFrom(shapesOf(len(data))).Draw(t, "to")
				view = tr.Reshaped(view, shape)
				continue
			}
			move := rapid.Permutation(Identity(len(shape))).Draw(t, "move")
			data, shape = PermuteArray(shape, data, move), Permuted(shape, move)
			view = view.Permuted(move)
		}
		if !slices.Equal(view.Shape, shape) {
			t.Fatalf("shape %v, want %v", view.Shape, shape)
		}
		if axes, whole := view.Axes(); whole {
			if got := PermuteArray(shape, data, axes); !slices.Equal(got, tr.elements[view.Value]) {
				t.Fatalf("axes %v: %v, want %v", axes, tr.elements[view.Value], got)
			}
		}
		axes := rapid.Permutation(Identity(len(shape))).Draw(t, "axes")
		if got := tr.elements[tr.StoreView(view, axes)]; !slices.Equal(got, PermuteArray(shape, data, axes)) {
			t.Fatalf("%v of %v stored as %v, want %v", axes, data, got, PermuteArray(shape, data, axes))
		}
		ordered := make([]float32, len(data))
		for i, e := range data {
			ordered[i] = float32(e)
		}
		_, memory := view.InMemory(shape, ordered)
		if fmt.Sprint(memory) != fmt.Sprint(tr.elements[view.Value]) {
			t.Fatalf("in memory %v, want %v", memory, tr.elements[view.Value])
		}
	})
}

// shapesOf lists shapes of n elements with up to three axes.
func shapesOf(n int) (list [][]int) {
	for a := 1; a <= n; a++ {
		for b := 1; a*b <= n; b++ {
			if n%(a*b) == 0 {
				list = append(list, []int{a, b, n / (a * b)})
			}
		}
		if n%a == 0 {
			list = append(list, []int{a, n / a}, []int{n / a, 1, a})
		}
	}
	return list
}
