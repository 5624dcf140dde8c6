package randnet

import "math"

// integer adds a layer of integers over the current levels; the result is levels of 8 bits, or f32.
func (b *modelBuilder) integer() {
	attrs, op := map[string]any{}, "int_dense"
	if len(b.shape) == 2 {
		attrs["units"] = b.pick(1, 10, 33)
		b.shape = []int{b.shape[0], attrs["units"].(int)}
	} else {
		op = "int_conv2d"
		b.shape[3] = b.filters(attrs)
	}
	weights := map[string]string{}
	form := []string{"none", "float", "float", "fixed_point", "fixed_point", "mean"}[b.r.IntN(6)]
	if form != "none" {
		attrs["requantize"] = form
	}
	if b.r.IntN(4) > 0 {
		weights["bias"] = "bias"
	}
	if form == "fixed_point" && b.r.IntN(4) == 0 {
		attrs["coarse"] = true
	}
	if form == "mean" {
		attrs["count"] = 1 + b.r.IntN(3000)
	}
	b.bits = 0
	if form != "none" {
		b.result(attrs)
	}
	b.add(op, attrs)
	named := map[string]string{}
	for key, name := range weights {
		named[key] = b.cur + "." + name
	}
	if len(named) > 0 {
		b.nodes[len(b.nodes)-1]["weights"] = named
	}
}

// result draws the type of levels of 8 bits that come out, and makes them the current ones.
func (b *modelBuilder) result(attrs map[string]any) {
	b.bits, b.enc, b.scale, b.zero, b.shift = 8, "affine", []float64{0.05, 0.3}[b.r.IntN(2)], b.r.IntN(256), 0
	attrs["scale"] = b.scale
	low := 0
	if b.r.IntN(2) == 0 {
		attrs["dtype"], low = "i8", -128
	}
	if b.r.IntN(8) == 0 {
		b.zero = 0
	}
	attrs["zero_point"] = b.zero + low
	if b.r.IntN(3) == 0 {
		least := b.r.IntN(200)
		attrs["range"] = []int{low + least, low + least + b.r.IntN(256-least)}
	}
}

// integerMap maps each of the current levels to another one: to another scale, through a leaky
// ReLU, or at random.
func (b *modelBuilder) integerMap() {
	attrs, zero, slope := map[string]any{}, b.zero, 1.0
	b.result(attrs)
	delete(attrs, "range")
	low := attrs["zero_point"].(int) - b.zero
	if b.r.IntN(2) == 0 {
		slope = b.r.Float64()
	}
	by, any := 2*b.r.Float64(), b.r.IntN(3) == 0
	table := make([]int, 256)
	for l := range table {
		v := float64(l-zero) * by
		if v < 0 {
			v *= slope
		}
		if table[l] = low + max(0, min(b.zero+int(math.RoundToEven(v)), 255)); any {
			table[l] = low + b.r.IntN(256)
		}
	}
	attrs["table"] = table
	b.add("int_map", attrs)
}

// integerPool takes means of windows of the current levels.
func (b *modelBuilder) integerPool() {
	attrs := map[string]any{}
	b.window(attrs, false)
	b.result(attrs)
	delete(attrs, "range")
	b.add("int_avg_pool", attrs)
}

// integerSoftmax takes softmax of the current levels.
func (b *modelBuilder) integerSoftmax() {
	attrs := map[string]any{}
	b.result(attrs)
	delete(attrs, "range")
	b.scale = []float64{1.0 / 256, 1.0 / 255, 0.05}[b.r.IntN(3)]
	attrs["scale"] = b.scale
	if b.shape[len(b.shape)-1] <= 2 {
		attrs["scale"], b.scale = 0.05, 0.05
	}
	b.add("int_softmax", attrs)
}

// integerPair adds the current levels, an image of 8 bits, and others up, or multiplies them.
func (b *modelBuilder) integerPair() {
	cur, c := b.cur, b.shape[3]
	switch b.r.IntN(4) { // two of an axis of one that is repeated
	case 0:
		b.add("max_pool", map[string]any{"kernel": []int{b.shape[1], b.shape[2]}})
	case 1:
		b.add("slice", map[string]any{"begin": []int{0, 0, 0, c - 1},
			"size": []int{b.shape[0], b.shape[1], b.shape[2], 1}})
	default:
		b.cur = b.twin()
	}
	in := []string{cur, b.cur}
	if b.r.IntN(2) == 0 {
		in[0], in[1] = in[1], in[0]
	}
	attrs := map[string]any{"requantize": "float", "factors": []float64{float64(float32(0.2 + b.r.Float64())),
		float64(float32(0.1 + b.r.Float64())), float64(float32(40 * b.r.NormFloat64()))}}
	if b.r.IntN(2) == 0 {
		attrs["requantize"], attrs["sub"] = "fixed_point", b.r.IntN(3) == 0
		attrs["factors"] = []float64{float64(1+b.r.IntN(1<<22)) / (1 << 23), float64(1+b.r.IntN(1<<22)) / (1 << 23),
			float64(1+b.r.IntN(1<<20)) / (1 << 38)}
	}
	op := "int_add"
	if b.r.IntN(3) == 0 {
		op = "int_mul"
		delete(attrs, "factors")
		delete(attrs, "sub")
		attrs["factor"] = float64(float32(math.Exp(3*b.r.NormFloat64() - 5)))
	}
	b.result(attrs)
	b.addTo(in, op, attrs)
}
