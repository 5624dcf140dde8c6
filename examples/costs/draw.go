package main

import "math/rand/v2"

// drawing grows a network of layers as they are on small chips, drawn at random: kinds, shapes, bits, groups, strides.
type drawing struct {
	r          *rand.Rand
	nodes      []map[string]any
	last       string
	h, w, c    int
	multiplies int  // at most, of a layer
	larger     int  // how many times as high and wide images are
	pooled     bool // sums may be pooled, or a shortcut added, before they are levels
}

// drawNetwork is a ripc.model/1 with random weights, the same for the same r. Its layers have at most so many multiply-accumulates.
func drawNetwork(r *rand.Rand, multiplies int) map[string]any {
	d := &drawing{r: r, last: "x", h: 4 + r.IntN(21), c: drawn(r, 1, 3, 4, 8, 16, 24, 32, 48, 64), multiplies: multiplies}
	d.w = max(1, d.h+r.IntN(5)-2)
	input := map[string]any{"name": "x", "dtype": "f32", "shape": []int{1, d.h, d.w, d.c}}
	kind := r.IntN(4)
	for range 2 + r.IntN(4) {
		switch kind {
		case 0:
			d.floats()
		case 1:
			d.bytes()
		default:
			d.bits()
		}
		if r.IntN(4) == 0 && d.h > 3 && d.w > 3 {
			d.add("max_pool", map[string]any{"kernel": []int{2, 2}, "strides": []int{2, 2}})
			d.h, d.w = d.h/2, d.w/2
		}
	}
	if r.IntN(2) == 0 {
		if kind != 0 {
			d.add("dequantize", nil)
		}
		d.add("flatten", nil)
		d.add("dense", map[string]any{"units": drawn(r, 2, 10, 12, 33)})
	}
	return d.model(input)
}

// model is a ripc.model/1 of what was added.
func (d *drawing) model(input map[string]any) map[string]any {
	return map[string]any{
		"format": "ripc.model/1", "name": "drawn", "inputs": []any{input}, "weights": map[string]any{"init": "random", "seed": d.r.IntN(1000)},
		"nodes": d.nodes, "outputs": []string{d.last},
	}
}

// drawn is one of values.
func drawn(r *rand.Rand, values ...int) int { return values[r.IntN(len(values))] }

func (d *drawing) add(op string, attrs map[string]any) {
	name := string(rune('a'+len(d.nodes)%26)) + op
	node := map[string]any{"name": name, "op": op, "inputs": []string{d.last}}
	if attrs != nil {
		node["attrs"] = attrs
	}
	d.nodes, d.last = append(d.nodes, node), name
}

// window draws the attributes of a convolution, depthwise if groups may be, and moves on to the image that it makes.
func (d *drawing) window() map[string]any {
	k := drawn(d.r, 1, 1, 3, 3, 5)
	for k > min(d.h, d.w) {
		k -= 2
	}
	stride := drawn(d.r, 1, 1, 1, 2)
	h, w := (d.h+stride-1)/stride, (d.w+stride-1)/stride
	attrs := map[string]any{"kernel": []int{k, k}, "strides": []int{stride, stride}, "padding": "same"}
	filters, reads := drawn(d.r, 8, 10, 16, 24, 32, 40, 64, 96), d.c
	if k > 1 && d.r.IntN(4) == 0 {
		filters, reads, attrs["groups"] = d.c, 1, d.c
	}
	for filters > 8 && reads != 1 && h*w*k*k*reads*filters > d.multiplies {
		filters /= 2
	}
	attrs["filters"] = filters
	d.h, d.w, d.c = h, w, filters
	return attrs
}

// floats adds a layer of floats.
func (d *drawing) floats() {
	d.add("conv2d", d.window())
	d.add([]string{"relu", "batch_norm"}[d.r.IntN(2)], nil)
}

// bytes adds a layer of 8 bits by 8 bits, as quantized networks have.
func (d *drawing) bytes() {
	if len(d.nodes) == 0 {
		d.add("quantize", map[string]any{"bits": 8, "encoding": "affine", "dtype": "i8", "scale": 0.05, "zero_point": d.r.IntN(256) - 128})
	}
	attrs := d.window()
	attrs["requantize"], attrs["scale"], attrs["zero_point"], attrs["dtype"] = []string{"float", "fixed_point"}[d.r.IntN(2)], 0.3, d.r.IntN(256)-128, "i8"
	d.add("int_conv2d", attrs)
}

// bits adds a layer of few bits, and a quantizer.
func (d *drawing) bits() {
	if len(d.nodes) == 0 {
		d.quantize()
	}
	attrs := d.window()
	attrs["weight_scale"] = "none"
	switch d.r.IntN(4) {
	case 0:
		attrs["weight_encoding"], attrs["weight_bits"] = "bipolar", 2+d.r.IntN(3)
	case 1:
		attrs["weight_encoding"] = "ternary"
	}
	d.add("bitserial_conv2d", attrs)
	d.add("batch_norm", nil)
	d.quantize()
}

func (d *drawing) quantize() {
	d.add("quantize", map[string]any{"bits": drawn(d.r, 1, 1, 2, 2, 3, 4, 8), "encoding": []string{"unipolar", "bipolar"}[d.r.IntN(2)], "scale": 0.3, "rounding": "half_even"})
}
