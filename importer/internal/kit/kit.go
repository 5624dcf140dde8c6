package kit

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/internal/lists"
)

// Kit appends layers to the graph of a file. Its functions are the reader's.
type Kit struct {
	// Emit appends a node for the file node at work and returns its result.
	Emit func(op string, attrs any, weights map[string]*graph.Tensor, in ...*graph.Value) *graph.Value
	// Each is Emit for an op on single elements.
	Each func(op string, attrs any, weights map[string]*graph.Tensor, in ...*graph.Value) *graph.Value
	// Reshape gives a value another shape of equal size. It appends nothing if the value has that
	// shape.
	Reshape func(x *graph.Value, shape []int) *graph.Value
	// Take counts elements of constants that a layer needs beside those of the file.
	Take func(elements int)
}

// One is a weight of one number.
func One(v float32) *graph.Tensor { return Vector([]float32{v}) }

// Vector is a weight of one axis.
func Vector[T float32 | float64 | int32](v []T) *graph.Tensor {
	return &graph.Tensor{Shape: []int{len(v)}, Data: graph.NumbersOf(v)}
}

// Constant emits numbers of a shape.
func (k *Kit) Constant(shape []int, data []float32) *graph.Value {
	value := &graph.Tensor{Shape: slices.Clone(shape), Data: graph.NumbersOf(data)}
	return k.Emit("constant", &graph.ConstantAttrs{}, map[string]*graph.Tensor{"value": value})
}

// Plain emits ops without attributes, each on the result of the one before.
func (k *Kit) Plain(x *graph.Value, ops ...string) *graph.Value {
	for _, op := range ops {
		x = k.Each(op, &graph.NoAttrs{}, nil, x)
	}
	return x
}

// Number emits x op v.
func (k *Kit) Number(op string, x *graph.Value, v float32) *graph.Value {
	return k.Each(op, &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": One(v)}, x)
}

// Reversed emits v op x.
func (k *Kit) Reversed(op string, v float32, x *graph.Value) *graph.Value {
	return k.Each(op, &graph.BinaryOpAttrs{Reverse: true}, map[string]*graph.Tensor{"b": One(v)}, x)
}

// Pair emits x op y. Both have one shape.
func (k *Kit) Pair(op string, x, y *graph.Value) *graph.Value {
	return k.Each(op, &graph.BinaryOpAttrs{}, nil, x, y)
}

// Affine emits x*mul + add, without factors of 1 and summands of 0.
func (k *Kit) Affine(x *graph.Value, mul, add float32) *graph.Value {
	if mul != 1 {
		x = k.Number("mul", x, mul)
	}
	if add != 0 {
		x = k.Number("add", x, add)
	}
	return x
}

// Slope emits x for x >= 0 and alpha*x for others.
func (k *Kit) Slope(x *graph.Value, alpha float32) *graph.Value {
	c := x.Channels()
	k.Take(c)
	return k.Each("prelu", &graph.PReluAttrs{},
		map[string]*graph.Tensor{"alpha": Vector(slices.Repeat([]float32{alpha}, c))}, x)
}

// Gelu emits x/2 * (1 + erf(x/sqrt(2))), or its approximation by the tanh of sqrt(2/pi) * (x +
// 0.044715 x^3).
func (k *Kit) Gelu(x *graph.Value, tanh bool) *graph.Value {
	var y *graph.Value
	if tanh {
		c := math.Sqrt(2 / math.Pi)
		y = k.Plain(k.Pair("mul", k.Affine(k.Pair("mul", x, x), float32(0.044715*c), float32(c)), x), "tanh")
	} else {
		y = k.Plain(k.Number("mul", x, float32(math.Sqrt(0.5))), "erf")
	}
	return k.Pair("mul", x, k.Affine(y, 0.5, 0.5))
}

// NonZero emits where x is not 0, as truth values.
func (k *Kit) NonZero(x *graph.Value) *graph.Value { return k.Number("not_equal", x, 0) }

// Ranked gives x leading axes of extent 1 up to a rank.
func (k *Kit) Ranked(x *graph.Value, rank int) *graph.Value {
	return k.Reshape(x, slices.Concat(slices.Repeat([]int{1}, rank-len(x.Shape)), x.Shape))
}

// Transpose emits x with axis d of the result being axis perm[d] of x, and nothing if all axes
// stay.
func (k *Kit) Transpose(x *graph.Value, perm []int) *graph.Value {
	if slices.IsSorted(perm) {
		return x
	}
	return k.Emit("transpose", &graph.TransposeAttrs{Perm: perm}, nil, x)
}

// Rows gives f the last axis of x as the columns of rows, and the result of f the other axes of x.
func (k *Kit) Rows(x *graph.Value, f func(rows *graph.Value) *graph.Value) *graph.Value {
	axes, last := slices.Clone(x.Shape[:len(x.Shape)-1]), x.Channels()
	y := f(k.Reshape(x, []int{graph.Elems(axes), last}))
	return k.Reshape(y, append(axes, y.Channels()))
}

// Reduce emits the mean, or the maximum, over count axes from axis first on. The result has the
// rank of the pooled image.
func (k *Kit) Reduce(x *graph.Value, first, count int, mean bool) *graph.Value {
	image := ImageOf(x.Shape, first, count)
	x = k.Reshape(x, image)
	if mean {
		return k.Emit("global_avg_pool", &graph.NoAttrs{}, nil, x)
	}
	window := [2]int{image[1], image[2]}
	return k.Emit("max_pool",
		&graph.PoolAttrs{Kernel: window, Strides: window, Pad: graph.Padding{Mode: graph.PadValid}}, nil, x)
}

// ImageOf is the shape [B, H, W, C] of an image that has count axes, from axis first on, as its
// rows: or as rows and columns, if that is how the shape has them.
func ImageOf(shape []int, first, count int) []int {
	if len(shape) == 4 && first == 1 && count == 2 {
		return shape
	}
	last := first + count
	return []int{graph.Elems(shape[:first]), graph.Elems(shape[first:last]), 1, graph.Elems(shape[last:])}
}

// EachChannel emits the sums over windows of each channel of levels x: a convolution with weights
// of 1.
func (k *Kit) EachChannel(x *graph.Value, kernel, strides [2]int, a *graph.IntegerAttrs,
	weights map[string]*graph.Tensor) *graph.Value {
	c, taps := x.Channels(), kernel[0]*kernel[1]
	weights["w"] = &graph.Tensor{Shape: []int{kernel[0], kernel[1], 1, c},
		Data: graph.NumbersOf(slices.Repeat([]float32{1}, taps*c))}
	attrs := &graph.Conv2DAttrs{Strides: strides, Integer: a}
	if c > 1 {
		attrs.Groups = c
	}
	return k.Emit("int_conv2d", attrs, weights, x)
}

// InRange reports whether all numbers are from lo to hi.
func InRange(numbers []int, lo, hi int) bool {
	return !slices.ContainsFunc(numbers, func(v int) bool { return v < lo || v > hi })
}

// Count is the number of elements of a shape. It is limit+1 for larger shapes, and for those with
// negative extents.
func Count(shape []int, limit int) int {
	n := 1
	for _, d := range shape {
		if d < 0 || d > 0 && n > limit/d {
			return limit + 1
		}
		n *= d
	}
	return n
}

// Identity is 0, 1, ... n-1.
func Identity(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	return p
}

// Permuted is list in another order: element d of the result is element perm[d] of list.
func Permuted(list, perm []int) []int {
	return lists.Map(perm, func(p int) int { return list[p] })
}

// Places returns, for each element of list, its index in order.
func Places(list, order []int) []int {
	return lists.Map(list, func(v int) int { return slices.Index(order, v) })
}
