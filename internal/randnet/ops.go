package randnet

import (
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// activation adds a float activation.
func (b *modelBuilder) activation() {
	ops := append(tameActivations(), "prelu", "clip", "round", "fake_quant", "hard_sigmoid", "elu")
	switch op := ops[b.r.IntN(len(ops))]; op {
	case "clip":
		b.add(op, map[string]any{[]string{"min", "max"}[b.r.IntN(2)]: b.r.NormFloat64()})
	case "round":
		b.add(op, map[string]any{"rounding": scalar.Roundings()[b.r.IntN(8)].String()})
	case "fake_quant":
		low := b.r.IntN(20) - 10
		attrs := map[string]any{"min": low, "max": low + b.r.IntN(16),
			"rounding": scalar.Roundings()[b.r.IntN(8)].String()}
		if b.addTo([]string{b.cur}, op, attrs); b.r.IntN(2) == 0 {
			b.nodes[len(b.nodes)-1]["weights"] = map[string]any{"zero_point": b.cur + ".zero_point"}
		}
	default:
		b.add(op, nil)
	}
}

// residual joins the last layer's output with another layer's numbers, or with levels made of
// those.
func (b *modelBuilder) residual() {
	last := b.nodes[len(b.nodes)-1]
	if b.r.IntN(2) == 0 {
		b.add("batch_norm", nil)
	}
	cur := b.cur
	attrs, _ := last["attrs"].(map[string]any)
	b.addTo(last["inputs"].([]string), last["op"].(string), attrs)
	if b.r.IntN(2) == 0 {
		b.quantize()
		b.add("dequantize", nil)
		b.bits = 0
	}
	pair := []string{cur, b.cur}
	if b.r.IntN(2) == 0 {
		pair = []string{b.cur, cur}
	}
	b.addTo(pair, []string{"add", "add", "sub", "mul", "minimum"}[b.r.IntN(5)], nil)
}

// shortcut adds a layer over levels, and around it the floats that the levels were made of.
func (b *modelBuilder) shortcut(floats string) {
	attrs := map[string]any{"kernel": []int{1 + b.r.IntN(2), 1 + b.r.IntN(3)}, "strides": []int{1, 1},
		"padding": "same", "filters": b.shape[3],
		"weight_scale": "mean", "pad_value": []string{"one", "zero"}[b.r.IntN(2)]}
	b.weights(attrs)
	b.add("bitserial_conv2d", attrs)
	b.addTo([]string{b.cur, floats}, "add", nil)
	if b.bits = 0; b.r.IntN(2) == 0 {
		b.quantize()
	}
}

// shapeStep adds an op that moves elements or, on floats, combines two tensors.
func (b *modelBuilder) shapeStep() {
	kind := b.r.IntN(4)
	switch {
	case kind == 0 && b.bits == 0:
		cur := b.cur
		other := cur
		if b.r.IntN(4) > 0 {
			b.activation()
			other = b.cur
		}
		b.join(cur, other)
	case kind <= 1 && len(b.shape) == 4:
		p := []int{b.r.IntN(3), b.r.IntN(3), b.r.IntN(3), b.r.IntN(3)}
		attrs := map[string]any{"padding": p}
		switch {
		case b.bits == 0:
			attrs["value"] = b.r.Float32()
		case b.enc != "affine" && (b.r.IntN(2) == 0 || b.enc != "unipolar"):
			attrs["value"] = b.levelType().Scale*float64(int(1)<<b.bits-1) + b.shift
		default:
			attrs["value"] = b.shift
		}
		b.add("pad", attrs)
		b.shape = []int{b.shape[0], b.shape[1] + p[0] + p[1], b.shape[2] + p[2] + p[3], b.shape[3]}
	case kind == 2:
		var begin, size, strides []int
		for _, n := range b.shape {
			s := 1 + b.r.IntN(2)
			at := b.r.IntN((n + 1) / 2)
			begin, strides, size = append(begin, at), append(strides, s), append(size, 1+b.r.IntN((n-1-at)/s+1))
		}
		attrs := map[string]any{"begin": begin, "size": size, "strides": strides}
		if c := len(b.shape) - 1; b.r.IntN(2) == 0 {
			begin[c], strides[c], size[c] = 0, 1, b.shape[c]
		}
		b.add("slice", attrs)
		b.shape = size
	default:
		n := 1
		for _, d := range b.shape {
			n *= d
		}
		c := 1 + b.r.IntN(n)
		for n%c != 0 {
			c--
		}
		h := 1 + b.r.IntN(n/c)
		for n/c%h != 0 {
			h--
		}
		b.shape = []int{n / c / h, 1, h, c}
		if b.r.IntN(2) == 0 {
			b.shape[1], b.shape[2] = h, 1
		}
		if b.r.IntN(3) == 0 {
			b.shape = []int{n / c, c}
		}
		if b.shape[0] > 4 {
			b.shape = []int{1, 1, n / c, c}
		}
		b.add("reshape", map[string]any{"shape": b.shape})
	}
}

// levelType is the type of the current levels.
func (b *modelBuilder) levelType() scalar.LevelType {
	t := scalar.LevelType{Bits: b.bits, Scale: b.scale, Zero: b.zero, Offset: b.shift}
	switch t.Enc = ir.Unipolar; b.enc {
	case "bipolar":
		t.Enc = ir.Bipolar
	case "bipolar_inv":
		t.Enc = ir.BipolarInv
	}
	if b.scale == 0 {
		t.Scale = 1 / float64(t.Top())
	}
	return t
}

// levelSum adds or subtracts the current levels, an image, and others. If the sum has too many bits
// for levels, the current ones stay.
func (b *modelBuilder) levelSum() {
	x, cur := b.levelType(), b.cur
	y, minus := x, b.r.IntN(2) == 0
	requantized := b.r.IntN(2) == 0
	if requantized { // of another type
		y = scalar.LevelType{Enc: []ir.EncodingKind{ir.Unipolar, ir.Bipolar, ir.BipolarInv}[b.r.IntN(3)], Bits: 1 +
			b.r.IntN(4)}
		y.Scale = x.Scale * []float64{0.5, 1, 1, 2, 4}[b.r.IntN(5)]
	}
	swapped := b.r.IntN(2) == 0
	types := [2]scalar.LevelType{x, y}
	if swapped {
		types = [2]scalar.LevelType{y, x}
	}
	sum, fault := scalar.SumOf(types[0], types[1], minus)
	if fault != scalar.SumExact {
		b.bitserial()
		return
	}
	switch h, w, c := b.shape[1], b.shape[2], b.shape[3]; b.r.IntN(5) { // two of an axis of one that is repeated
	case 0:
		b.add("max_pool", map[string]any{"kernel": []int{h, w}})
	case 1:
		b.add("slice", map[string]any{"begin": []int{0, 0, 0, c - 1}, "size": []int{b.shape[0], h, w, 1}})
	case 2:
	default:
		b.cur = b.twin()
	}
	if requantized {
		b.add("dequantize", nil)
		b.add("quantize", map[string]any{"bits": y.Bits, "encoding": y.Enc.String(), "scale": y.Scale})
	}
	in := []string{cur, b.cur}
	if swapped {
		in[0], in[1] = in[1], in[0]
	}
	b.addTo(in, map[bool]string{false: "add", true: "sub"}[minus], nil)
	b.bits, b.enc, b.scale, b.zero, b.shift = sum.Type.Bits, sum.Type.Enc.String(), sum.Type.Scale,
		sum.Type.Zero, sum.Type.Offset
	if b.zero != 0 {
		b.enc = "affine"
	}
}

// shiftNorm adds a shift_norm behind sums or levels, and in some cases another layer that reads the
// sums, too.
func (b *modelBuilder) shiftNorm() {
	from, sums := b.cur, b.bits == 0
	b.bits, b.enc = b.levels(), []string{"unipolar", "unipolar", "bipolar", "bipolar_inv"}[b.r.IntN(4)]
	b.scale, b.zero, b.shift = 0, 0, 0
	attrs := map[string]any{"bits": b.bits, "mode": []string{"riptide", "exact_round"}[b.r.IntN(2)]}
	if b.enc != "unipolar" {
		attrs["encoding"] = b.enc
	}
	b.add("shift_norm", attrs)
	if !sums || b.r.IntN(4) > 0 {
		return
	}
	other := b.cur
	b.addTo([]string{from}, []string{"quantize", "shift_norm"}[b.r.IntN(2)],
		map[string]any{"bits": b.bits, "encoding": b.enc})
	b.addTo([]string{other, b.cur}, "concat", nil)
	b.shape = append(append([]int{}, b.shape[:len(b.shape)-1]...), 2*b.shape[len(b.shape)-1])
}

// hasLongFilters reports whether the last layer, with in input channels, has enough weights per
// filter for their mean to stay below 1.
func (b *modelBuilder) hasLongFilters(in int) bool {
	for i := len(b.nodes) - 1; ; i-- {
		attrs, _ := b.nodes[i]["attrs"].(map[string]any)
		switch b.nodes[i]["op"] {
		case "bitserial_conv2d":
			if g, ok := attrs["groups"].(int); ok {
				in /= g
			}
			k := attrs["kernel"].([2]int)
			return in*k[0]*k[1] >= 16
		case "bitserial_dense":
			return in >= 16
		}
	}
}

// groups cuts the channels into groups, of one channel each in half of the cases, and gives the
// number of filters. Few groups may have filters that fill registers.
func (b *modelBuilder) groups(attrs map[string]any, in, out int) int {
	if g := b.pick(2, 4); in%(4*g) == 0 && b.r.IntN(2) == 0 {
		attrs["groups"] = g
		return g * b.pick(8, 16, 32, 48)
	}
	g := 1 + b.r.IntN(in)
	if b.r.IntN(2) == 0 {
		g = in
	}
	for in%g != 0 {
		g--
	}
	attrs["groups"] = g
	return g * max(1, min(3, out/g))
}

// dilate spreads the taps of a convolution where that fits the image, and corrects the shape.
func (b *modelBuilder) dilate(attrs map[string]any, shape []int) {
	k, s, ok := attrs["kernel"].([2]int), attrs["strides"].([2]int), true
	d := [2]int{1 + b.r.IntN(3), 1 + b.r.IntN(3)}
	var out [2]int
	for i := range 2 {
		span := (k[i]-1)*d[i] + 1
		switch pad, _ := attrs["padding"].([]int); {
		case pad != nil:
			out[i] = (shape[1+i]+pad[2*i]+pad[2*i+1]-span)/s[i] + 1
			ok = ok && shape[1+i]+pad[2*i]+pad[2*i+1] >= span
		case attrs["padding"] == "same":
			out[i] = (shape[1+i] + s[i] - 1) / s[i]
		default:
			out[i] = (shape[1+i]-span)/s[i] + 1
			ok = ok && shape[1+i] >= span
		}
	}
	if ok {
		attrs["dilations"] = d
		b.shape = []int{shape[0], out[0], out[1], b.shape[3]}
	}
}

// weights draws an encoding of a bitserial layer's weights, binary in half of the cases.
func (b *modelBuilder) weights(attrs map[string]any) {
	if b.r.IntN(5) == 0 {
		attrs["weight_offset"] = true
	}
	switch b.r.IntN(6) {
	case 0:
		attrs["weight_encoding"] = "ternary"
	case 1:
		attrs["weight_encoding"], attrs["weight_bits"] = "bipolar", 2+b.r.IntN(3)
		attrs["weight_scale"] = []string{"max", "none", "tensor", "ap2"}[b.r.IntN(4)]
	case 2:
		bits := 1 + b.r.IntN(3)
		attrs["weight_encoding"], attrs["weight_bits"], attrs["weight_zero_point"] = "affine", bits, b.r.IntN(1<<bits)
		attrs["weight_scale"] = []string{"max", "tensor", "ap2"}[b.r.IntN(3)]
	}
}

// affine makes the current levels affine, of up to 8 bits, signed if that fits.
func (b *modelBuilder) affine(attrs map[string]any) {
	b.bits, b.enc = b.pick(2, 3, 5, 8, 8), "affine"
	b.zero = b.r.IntN(1 << b.bits)
	attrs["encoding"], attrs["bits"], attrs["dtype"], attrs["zero_point"] = b.enc, b.bits, "u8", b.zero
	if b.bits == 8 && b.r.IntN(2) == 0 {
		attrs["dtype"], attrs["zero_point"] = "i8", b.zero-128
	}
}

// end asks for the greatest or least of the current floats, or where they are, as networks do at
// their end: not behind probabilities, which the reference knows to a few digits only.
func (b *modelBuilder) end() {
	for _, n := range b.nodes {
		if n["op"] == "softmax" || n["op"] == "log_softmax" {
			return
		}
	}
	switch op := []string{"argmax", "argmin", "top_k", "top_k_indices"}[b.r.IntN(4)]; op {
	case "argmax", "argmin":
		b.add(op, map[string]any{"select_last_index": b.r.IntN(2) == 0, "keepdims": b.r.IntN(2) == 0})
	default:
		b.add(op, map[string]any{"k": 1 + b.r.IntN(min(5, b.shape[len(b.shape)-1])), "largest": b.r.IntN(2) == 0})
	}
	if op := b.nodes[len(b.nodes)-1]["op"]; op != "top_k" && b.r.IntN(3) == 0 {
		b.add("dequantize", nil)
	}
}

// tameActivations returns the activations without attributes that have finite results, and that the
// reference knows to the bit.
func tameActivations() []string {
	return slices.DeleteFunc(graph.PlainOps(),
		func(op string) bool { return slices.Contains([]string{"exp", "log", "sqrt", "erf"}, op) })
}
