// Package randnet makes random networks of odd shapes, as ripc JSON, for tests.
package randnet

import (
	"fmt"
	"math/rand/v2"

	"ripc/graph/scalar"
)

// modelBuilder grows a network node by node. cur is the last tensor: its shape, and its levels if
// it is not float.
type modelBuilder struct {
	r     *rand.Rand
	name  string // prefix of all names
	nodes []map[string]any
	cur   string
	shape []int
	bits  int // 0: f32
	enc   string
	// scale of the current levels, 0 meaning their default, and the level that stands for 0.
	scale float64
	zero  int
	shift float64 // the levels' offset
}

func (b *modelBuilder) add(op string, attrs map[string]any) {
	b.addTo([]string{b.cur}, op, attrs)
}

func (b *modelBuilder) addTo(inputs []string, op string, attrs map[string]any) {
	b.cur = fmt.Sprintf("%sn%d", b.name, len(b.nodes))
	node := map[string]any{"name": b.cur, "op": op, "inputs": inputs}
	if attrs != nil {
		node["attrs"] = attrs
	}
	b.nodes = append(b.nodes, node)
}

func (b *modelBuilder) pick(ns ...int) int { return ns[b.r.IntN(len(ns))] }

// levels draws the bits of activations: mostly few, up to 8.
func (b *modelBuilder) levels() int {
	if b.r.IntN(5) == 0 {
		return 4 + b.r.IntN(5)
	}
	return 1 + b.r.IntN(3)
}

// window draws a kernel, strides and padding that fit the image, and updates the shape.
func (b *modelBuilder) window(attrs map[string]any, explicit bool) {
	var k, s, out [2]int
	mode := b.r.IntN(3)
	pad := []int{0, 0, 0, 0}
	for d := range 2 {
		k[d], s[d] = 1+b.r.IntN(min(3, b.shape[1+d])), 1+b.r.IntN(2)
		n := b.shape[1+d]
		switch {
		case mode == 0 || (mode == 2 && !explicit):
			out[d] = (n-k[d])/s[d] + 1
		case mode == 1:
			out[d] = (n + s[d] - 1) / s[d]
		default:
			pad[2*d], pad[2*d+1] = b.r.IntN(k[d]), b.r.IntN(k[d])
			out[d] = (n+pad[2*d]+pad[2*d+1]-k[d])/s[d] + 1
		}
	}
	attrs["kernel"], attrs["strides"] = k, s
	switch {
	case mode == 1:
		attrs["padding"] = "same"
	case mode == 2 && explicit:
		attrs["padding"] = pad
	default:
		attrs["padding"] = "valid"
	}
	b.shape = []int{b.shape[0], out[0], out[1], b.shape[3]}
}

// filters draws the window, the groups and the number of a convolution's filters.
func (b *modelBuilder) filters(attrs map[string]any) int {
	in, shape := b.shape[3], b.shape
	b.window(attrs, true)
	out := b.pick(1, 3, 16, 31, 32, 33, 40, 64, 70)
	if b.r.IntN(3) == 0 {
		out = b.groups(attrs, in, out)
	}
	if b.r.IntN(4) == 0 {
		b.dilate(attrs, shape)
	}
	attrs["filters"] = out
	return out
}

func (b *modelBuilder) conv(op string) {
	attrs := map[string]any{}
	out := b.filters(attrs)
	if op == "bitserial_conv2d" {
		attrs["weight_scale"], attrs["pad_value"] = []string{"mean", "none", "ap2"}[b.r.IntN(3)],
			[]string{"one", "zero"}[b.r.IntN(2)]
		b.weights(attrs)
	}
	b.add(op, attrs)
	b.shape[3], b.bits = out, 0
}

func (b *modelBuilder) quantize() {
	b.bits, b.enc = b.levels(), []string{"unipolar", "unipolar", "bipolar", "bipolar_inv"}[b.r.IntN(4)]
	b.scale, b.zero = 0.3, 0
	switch rounding := scalar.Roundings()[b.r.IntN(8)].String(); b.r.IntN(8) {
	case 0, 1:
		attrs := map[string]any{"scale": 0.05, "rounding": rounding, "offset": b.offset()}
		b.affine(attrs)
		b.scale = 0.05
		if b.r.IntN(2) == 0 {
			low := b.r.IntN(40) - 20
			attrs["range"] = []int{low, low + b.r.IntN(1<<b.bits)}
		}
		b.add("quantize", attrs)
	case 2, 3:
		b.add("threshold", map[string]any{"bits": b.bits, "encoding": b.enc, "scale": 0.3, "offset": b.offset(),
			"not_less": b.r.IntN(2) == 0})
	default:
		b.add("quantize", map[string]any{"bits": b.bits, "encoding": b.enc, "rounding": rounding, "scale": 0.3,
			"offset": b.offset()})
	}
}

// offset draws the real value of the integer 0, and keeps it for who has to know the levels'
// values.
func (b *modelBuilder) offset() float64 {
	b.shift = 0
	if b.r.IntN(4) == 0 {
		b.shift = b.r.NormFloat64() / 4
	}
	return b.shift
}

// bitserial adds a binary layer with glue behind it; the result is float, or levels in most cases.
func (b *modelBuilder) bitserial() {
	shift, in := b.shift, b.shape[len(b.shape)-1]
	dense := len(b.shape) == 2
	if dense {
		units := b.pick(1, 10, 33)
		attrs := map[string]any{"units": units}
		b.weights(attrs)
		b.add("bitserial_dense", attrs)
		b.shape, b.bits = []int{b.shape[0], units}, 0
	} else {
		b.conv("bitserial_conv2d")
	}
	attrs := b.nodes[len(b.nodes)-1]["attrs"].(map[string]any)
	joined := b.r.IntN(5) == 0 // a sum of two layers, which shift_norm does not normalize
	if joined {
		b.residual()
	}
	if !dense && b.r.IntN(4) == 0 {
		b.pool("max_pool")
	}
	if !joined && shift == 0 && attrs["weight_offset"] == nil && b.hasLongFilters(in) && b.r.IntN(2) == 0 {
		for _, op := range []string{"add", "relu"} {
			if b.r.IntN(4) == 0 {
				b.add(op, nil)
			}
		}
		b.shiftNorm()
		return
	}
	if b.r.IntN(2) == 0 {
		b.add("batch_norm", nil)
	}
	if b.r.IntN(3) == 0 {
		b.activation()
	}
	if b.r.IntN(5) > 0 {
		floats := b.cur
		if b.quantize(); !dense && b.r.IntN(4) == 0 {
			b.shortcut(floats)
		}
	} else if !dense && b.r.IntN(2) == 0 {
		b.mean()
	}
}

// mean adds the mean over all positions.
func (b *modelBuilder) mean() {
	b.add("global_avg_pool", nil)
	b.shape = []int{b.shape[0], b.shape[3]}
}

func (b *modelBuilder) pool(op string) {
	attrs := map[string]any{}
	b.window(attrs, false)
	b.add(op, attrs)
}

func (b *modelBuilder) step() {
	switch {
	case b.r.IntN(4) == 0:
		b.shapeStep()
	case b.r.IntN(8) == 0:
		b.ranks()
	case len(b.shape) == 4 && b.r.IntN(8) == 0 && b.shape[1]*b.shape[2]*b.shape[3] < 1<<12:
		switch b.r.IntN(4) {
		case 0, 1:
			b.transposed()
			return
		case 2:
			if b.bits == 0 {
				b.matmul()
				return
			}
		}
		b.blocks()
	case b.bits == 0 && b.r.IntN(6) == 0:
		b.operand()
	case b.bits > 0 && b.shift == 0 && (len(b.shape) == 4 || len(b.shape) == 2) && b.r.IntN(5) == 0:
		b.integer()
	case b.bits == 8 && b.shift == 0 && len(b.shape) == 4 && (b.enc == "unipolar" || b.enc == "affine") &&
		b.r.IntN(4) == 0:
		b.integerPair()
	case b.bits == 8 && b.shift == 0 && (b.enc == "unipolar" || b.enc == "affine") && b.r.IntN(4) == 0:
		switch kind := b.r.IntN(3); {
		case kind == 0 && len(b.shape) == 4:
			b.integerPool()
		case kind == 1:
			b.integerSoftmax()
		default:
			b.integerMap()
		}
	case b.bits > 0 && len(b.shape) == 4:
		switch b.r.IntN(10) {
		case 0:
			b.pool("max_pool")
		case 8:
			b.levelSum()
		case 9:
			b.shiftNorm()
		case 1:
			b.add("dequantize", nil)
			b.bits = 0
		case 2:
			b.add("flatten", nil)
			b.shape = []int{b.shape[0], b.shape[1] * b.shape[2] * b.shape[3]}
		case 3:
			b.addTo([]string{b.cur, b.twin()}, "concat", nil)
			b.shape = append(append([]int{}, b.shape[:3]...), 2*b.shape[3])
		default:
			b.bitserial()
		}
	case b.bits > 0:
		b.bitserial()
	case len(b.shape) == 4:
		switch b.r.IntN(9) {
		case 5:
			b.addTo([]string{b.cur, b.twin()}, "concat", nil)
			b.shape = append(append([]int{}, b.shape[:3]...), 2*b.shape[3])
			b.pool([]string{"max_pool", "avg_pool"}[b.r.IntN(2)])
		case 0:
			if b.conv("conv2d"); b.r.IntN(4) == 0 {
				b.mean()
			}
		case 1:
			b.activation()
		case 2:
			b.pool([]string{"max_pool", "avg_pool"}[b.r.IntN(2)])
		case 3:
			b.mean()
		case 4:
			b.add("batch_norm", nil)
		default:
			b.quantize()
		}
	default:
		switch b.r.IntN(4) {
		case 0:
			b.add([]string{"softmax", "log_softmax"}[b.r.IntN(2)], nil)
		case 1:
			units := b.pick(1, 10, 17, 64)
			b.add("dense", map[string]any{"units": units})
			b.shape = []int{b.shape[0], units}
		default:
			b.quantize()
		}
	}
}

// twin adds a pool that keeps the shape of the current levels, for a concatenation of two tensors.
func (b *modelBuilder) twin() string {
	cur := b.cur
	b.add("max_pool", map[string]any{"kernel": []int{2, 2}, "strides": []int{1, 1}, "padding": "same"})
	twin := b.cur
	b.cur = cur
	return twin
}

// Model is a random network, in which every name begins with name.
func Model(r *rand.Rand, name string) map[string]any {
	b := &modelBuilder{r: r, name: name, cur: name + "x", enc: "unipolar"}
	b.shape = []int{b.pick(1, 1, 2), 1 + r.IntN(9), 1 + r.IntN(9), b.pick(1, 3, 8, 31, 32, 33, 64, 100)}
	input := map[string]any{"name": b.cur, "dtype": "f32", "shape": b.shape}
	if kind := r.IntN(3); kind > 0 {
		b.bits, b.enc = b.levels(), []string{"unipolar", "bipolar", "bipolar_inv"}[r.IntN(3)]
		input["encoding"], input["bits"], input["dtype"], input["offset"] = b.enc, b.bits, "u8", b.offset()
		if r.IntN(4) == 0 {
			b.affine(input)
		}
		if kind == 2 && input["dtype"] != "i8" {
			input["dtype"], input["packed"] = "u32", true
			if b.bits == 1 && b.enc != "affine" && r.IntN(2) == 0 {
				input["dtype"] = "i32"
			}
		}
	}
	if b.bits > 0 && input["packed"] == nil && b.frame() {
		b.fromBytes()
	}
	for n := 1 + r.IntN(5); n > 0 || len(b.nodes) == 0; n-- {
		b.step()
	}
	if b.bits == 0 && r.IntN(4) == 0 {
		b.end()
	}
	if b.bits > 0 && r.IntN(2) == 0 {
		attrs := map[string]any{"dtype": "u32"}
		if b.bits == 1 && r.IntN(2) == 0 {
			attrs["dtype"] = "i32"
		}
		b.add("bitpack", attrs)
	}
	weights := map[string]any{"init": "random", "seed": r.IntN(1000)}
	if r.IntN(3) == 0 {
		weights["values"] = 2 + r.IntN(8)
	}
	return map[string]any{
		"format": "ripc.model/1", "name": "random", "inputs": []any{input},
		"weights": weights, "nodes": b.nodes, "outputs": []string{b.cur},
	}
}
