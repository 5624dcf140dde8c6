package pt2

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer/internal/kit"
)

// truths returns t's truth values as a value of levels.
func (n *node) truths(t *tensor) *tensor {
	switch {
	case t.truth && t.konst != nil:
		v := n.b.constant(t.konst)
		return &tensor{View: n.b.inRank(n.b.NonZero(v), t.konst.shape).View, truth: true}
	case t.truth:
		return t
	case t.konst != nil:
		return n.truths(&tensor{konst: t.konst, truth: true})
	}
	return t.derived(n.b.NonZero(t.Value))
}

// compare is a comparison of two tensors, or of a tensor and a number.
func compare(op string) func(n *node) []*tensor {
	return one(func(n *node) *tensor {
		x, y := n.operand("self"), n.operand("other")
		if !x.truth && !y.truth {
			return n.b.binary(op, x, y)
		}
		x, y = n.truths(x), n.truths(y)
		if out := n.b.each("logical_xor", &graph.NoAttrs{}, x, y); op == "not_equal" {
			return out
		} else if op == "equal" {
			return n.b.pipe(out, "logical_not")
		}
		panic(n.fail("convert them with .float()", "compares truth values"))
	})
}

// logic is an operator of truth values.
func logic(op string) func(n *node) []*tensor {
	return one(func(n *node) *tensor {
		in := []*tensor{n.truths(n.operand("self"))}
		if n.has("other") {
			in = append(in, n.truths(n.operand("other")))
		}
		return n.b.each(op, &graph.NoAttrs{}, in...)
	})
}

// where takes elements of one operand or the other. With two constant numbers behind a comparison
// it is a threshold.
func where(n *node) *tensor {
	cond, yes, no := n.operand("condition"), n.operand("self"), n.operand("other")
	if yes.truth || no.truth {
		panic(n.fail("use torch.logical_and and torch.logical_or", "chooses between truth values"))
	}
	if out := n.choose(cond, yes, no); out != nil {
		return out
	}
	return n.b.each("where", &graph.WhereAttrs{}, n.truths(cond), yes, no)
}

// choose returns yes or no, constants, by a comparison; nil if one of them is none.
func (n *node) choose(cond, yes, no *tensor) *tensor {
	b := n.b
	if cond.View == nil || yes.konst == nil || no.konst == nil || !finite(yes.konst) || !finite(no.konst) {
		return nil
	}
	shape := n.broadcast(cond, yes, no)
	c, ok := kit.ComparisonOf(b.g, cond.Value)
	if !ok || !slices.Equal(shape, cond.Shape) || max(len(yes.konst.shape), len(no.konst.shape)) > len(shape) {
		return nil
	}
	y, z := yes.konst.narrowed(), no.konst.narrowed()
	if len(y.data) == 1 && len(z.data) == 1 {
		if v, ok := b.Choose(c, y.data[0], z.data[0]); ok {
			return cond.derived(v)
		}
	}
	// d*yes + (1-d)*no with d 0 or 1.
	v, _ := b.Choose(c, 1, 0)
	d := cond.derived(v)
	rest := cond.derived(b.Reversed("sub", 1, v))
	return b.binary("add", b.binary("mul", d, yes), b.binary("mul", rest, no))
}

// finite reports whether all numbers are finite.
func finite(c *constant) bool {
	return len(c.data) > 0 && !slices.ContainsFunc(c.data, func(v float32) bool { return v-v != 0 })
}

// convert is a conversion to another type. Those to float and bool are read.
func convert(n *node) *tensor {
	t := n.operand("self")
	to := dtFloat
	switch a := n.args["dtype"]; {
	case a != nil && a.ScalarType != nil:
		to = *a.ScalarType
	case a != nil && a.Int != nil:
		to = dtype(*a.Int)
	case n.has("other") && n.operand("other").truth:
		to = dtBool
	default:
		return t // to a device, or to a layout in memory
	}
	switch {
	case to == dtBool:
		if t.konst != nil {
			return n.folded(t, func(v float32) float32 { return truth(v != 0) }, true)
		}
		return n.truths(t)
	case t.konst != nil && to == dtFloat:
		return &tensor{konst: t.konst}
	case t.konst != nil && !to.float():
		return n.folded(t, func(v float32) float32 { return float32(math.Trunc(float64(v))) }, false)
	case to != dtFloat:
		panic(n.fail("keep float32 in the network",
			"a conversion to %v of a tensor that depends on an input is not supported", to))
	case t.truth:
		if out := n.choose(t, number(1), number(0)); out != nil {
			return out
		}
		return n.b.pipe(t, "dequantize")
	case t.Value.Whole:
		return n.b.pipe(t, "dequantize")
	}
	return t
}

// truth is 1 for true.
func truth(v bool) float32 {
	if v {
		return 1
	}
	return 0
}

// folded applies f to the elements of a constant.
func (n *node) folded(t *tensor, f func(v float32) float32, truths bool) *tensor {
	n.b.take(len(t.konst.data))
	out := &constant{t.konst.shape, make([]float32, len(t.konst.data))}
	for i, v := range t.konst.data {
		out.data[i] = f(v)
	}
	return &tensor{konst: out, truth: truths}
}

// clamp is an operator that keeps numbers between bounds, which have these names. Bounds that are
// tensors are minima and maxima.
func clamp(low, high string) func(n *node) []*tensor {
	return one(func(n *node) *tensor {
		t := n.operand("self")
		lo, hi := math.Inf(-1), math.Inf(1)
		for i, name := range []string{low, high} {
			c := n.operand(name)
			switch {
			case c == nil:
			case c.konst == nil || len(c.konst.data) != 1:
				t = n.b.binary([]string{"maximum", "minimum"}[i], t, c)
			case c.konst.data[0] != c.konst.data[0]:
				panic(n.fail("", "bound %q is not a number", name))
			case i == 0:
				lo = n.number(name, 0)
			default:
				hi = n.number(name, 0)
			}
		}
		return n.b.clip(t, lo, hi)
	})
}

// rounding is an operator that rounds.
func rounding(mode scalar.Rounding) func(n *node) []*tensor {
	return one(func(n *node) *tensor {
		if n.integer("decimals", 0) != 0 {
			panic(n.fail("", "rounds to decimals"))
		}
		return n.b.rounded(n.operand("self"), mode)
	})
}

// elu is scale * elu(x) with these defaults.
func elu(alpha, scale float64) func(n *node) []*tensor {
	return one(func(n *node) *tensor {
		if n.number("input_scale", 1) != 1 {
			panic(n.fail("", "input_scale is not supported"))
		}
		alpha, scale := n.number("alpha", alpha), n.number("scale", scale)
		y := n.b.each("elu", &graph.EluAttrs{Alpha: float64(float32(alpha))}, n.operand("self"))
		if scale != 1 {
			y = n.b.with("mul", y, scale)
		}
		return y
	})
}

func softplus(n *node) *tensor {
	if n.number("beta", 1) != 1 {
		panic(n.fail("", "beta is not supported"))
	}
	return n.operand("self").derived(n.b.softplus(n.operand("self").Value))
}

// softplus emits max(x, 0) + log(1 + e**-|x|).
func (b *builder) softplus(x *graph.Value) *graph.Value {
	y := b.Plain(b.Affine(b.Plain(b.Affine(b.Plain(x, "abs"), -1, 0), "exp"), 1, 1), "log")
	return b.Pair("add", b.Plain(x, "relu"), y)
}

// power is x to an integer up to 8, a half, or the negative of one.
func power(n *node) *tensor {
	b, x, p := n.b, n.operand("self"), n.number("exponent", 2)
	var y *tensor
	switch whole := math.Abs(p); {
	case whole == 0.5:
		y = b.pipe(x, "sqrt")
	case whole != math.Floor(whole) || whole < 1 || whole > 8:
		panic(n.fail("", "exponent %g: want 0.5, an integer up to 8, or the negative of one", p))
	default:
		y = x
		for range int(whole) - 1 {
			y = b.binary("mul", y, x)
		}
	}
	if p < 0 {
		y = b.each("div", &graph.BinaryOpAttrs{}, number(1), y)
	}
	return y
}

// prelu is x for x >= 0, else a slope times x.
func prelu(n *node) *tensor {
	t, slopes := n.operand("self"), n.weight("weight").narrowed()
	if len(slopes.data) == 1 {
		return t.derived(n.b.Slope(t.Value, slopes.data[0]))
	}
	if len(slopes.shape) == 1 {
		slopes = slopes.viewed(append([]int{len(slopes.data)}, slices.Repeat([]int{1}, max(0, len(t.Shape)-2))...))
	}
	negative := n.b.binary("mul", n.b.clip(t, math.Inf(-1), 0), &tensor{konst: slopes})
	return n.b.binary("add", n.b.pipe(t, "relu"), negative)
}

// fakeQuantize rounds to integers of a scale and gives back the numbers that they stand for.
func fakeQuantize(n *node) *tensor {
	scale, zero := n.number("scale", 1), n.number("zero_point", 0)
	y := n.b.rounded(n.b.with("mul", n.operand("self"), float64(1/float32(scale))), scalar.HalfEven)
	return n.b.with("mul", n.b.clip(y, n.number("quant_min", 0)-zero, n.number("quant_max", 0)-zero), scale)
}

// softmax is softmax or log_softmax along an axis.
func softmax(op string) func(n *node) []*tensor {
	return one(func(n *node) *tensor {
		t := n.operand("self")
		axes := t.AxisLast(n.axis(n.integer("dim", -1), len(t.Shape)))
		return &tensor{View: kit.ViewIn(n.b.Plain(n.b.StoreView(t.View, axes), op), axes)}
	})
}

// extreme is the greatest or the least of elements: of two tensors, or along axes.
func extreme(greatest bool) func(n *node) []*tensor {
	return func(n *node) []*tensor {
		t := n.operand("self")
		if n.has("other") {
			op := map[bool]string{true: "maximum", false: "minimum"}[greatest]
			return []*tensor{n.b.binary(op, t, n.operand("other"))}
		}
		if !greatest {
			t = n.b.with("mul", t, -1)
		}
		out := n.b.reduce(t, n.axes("dim", len(t.Shape)), n.flag("keepdim", false), false)
		if !greatest {
			out = n.b.with("mul", out, -1)
		}
		return []*tensor{out}
	}
}

// average is the mean over axes, or the sum.
func average(sum bool) func(n *node) []*tensor {
	return one(func(n *node) *tensor {
		t := n.operand("self")
		axes := n.axes("dim", len(t.Shape))
		out := n.b.reduce(t, axes, n.flag("keepdim", false), true)
		if sum {
			of := 1
			for _, d := range axes {
				of *= t.Shape[d]
			}
			out = n.b.with("mul", out, float64(min(of, maxExact)))
		}
		return out
	})
}

// arg is argmax or argmin along an axis.
func arg(op string) func(n *node) []*tensor {
	return one(func(n *node) *tensor {
		t := n.operand("self")
		if !n.has("dim") {
			panic(n.fail("give an axis (dim)", "looks for a position among all elements"))
		}
		axis := n.axis(n.integer("dim", 0), len(t.Shape))
		axes := t.AxisLast(axis)
		v := n.b.emit(op, &graph.ArgAttrs{}, nil, n.b.StoreView(t.View, axes))
		n.b.g.Producer(v.Name).Note = "the program makes int64 of these positions, ripc i32"
		out := kit.ViewIn(v, axes)
		if !n.flag("keepdim", false) {
			out = n.b.Reshaped(out, slices.Delete(slices.Clone(out.Shape), axis, axis+1))
		}
		return &tensor{View: out}
	})
}

// reduce emits the mean or the maximum over axes: a pool of an image that has these axes as rows.
func (b *builder) reduce(t *tensor, axes []int, keep, mean bool) *tensor {
	order, whole := t.Axes()
	if !whole {
		order = kit.Identity(len(t.Shape))
	}
	gone := func(d int) bool { return slices.Contains(axes, d) }
	stay := slices.DeleteFunc(slices.Clone(order), gone)
	rows := slices.DeleteFunc(slices.Clone(order), func(d int) bool { return !gone(d) })
	// The reduced axes must be adjacent. If not, they move before the last axis that stays.
	first := slices.IndexFunc(order, gone)
	if first < 0 {
		return t
	}
	if slices.ContainsFunc(order[first:min(first+len(rows), len(order))], func(d int) bool { return !gone(d) }) {
		first = max(0, len(stay)-1)
	}
	want := slices.Concat(stay[:min(first, len(stay))], rows, stay[min(first, len(stay)):])
	v := b.Reduce(b.StoreView(t.View, want), first, len(rows), mean)
	shape := slices.Clone(t.Shape)
	for _, d := range axes {
		shape[d] = 1
	}
	out := kit.ViewIn(b.Reshape(v, kit.Permuted(shape, want)), want)
	if keep {
		return &tensor{View: out}
	}
	left := make([]int, 0, len(stay))
	for d, extent := range shape {
		if !gone(d) {
			left = append(left, extent)
		}
	}
	return &tensor{View: b.Reshaped(out, left)}
}

// constantMean is the mean over axes of a constant, or the sum, in float64 and rounded once.
func constantMean(sum bool) func(n *node) []*tensor {
	return one(func(n *node) *tensor {
		c := n.operand("self").konst
		if len(c.data) == 0 {
			panic(n.fail("", "its operand of shape %v is empty", c.shape))
		}
		axes, keep := n.axes("dim", len(c.shape)), n.flag("keepdim", false)
		var stay, shape []int
		for d, extent := range c.shape {
			switch gone := slices.Contains(axes, d); {
			case !gone:
				stay, shape = append(stay, d), append(shape, extent)
			case keep:
				shape = append(shape, 1)
			}
		}
		run := len(c.data) / graph.Elems(kit.Permuted(c.shape, stay))
		moved := n.b.permuted(c, append(stay, axes...)).data
		out := n.b.filled(shape, 0)
		for i := range out.konst.data {
			total := 0.0
			for _, v := range moved[i*run : (i+1)*run] {
				total += float64(v)
			}
			if !sum {
				total /= float64(run)
			}
			out.konst.data[i] = float32(total)
		}
		return out
	})
}
