package fit

import (
	"maps"
	"math/rand/v2"

	"ripc/targets"
)

// Sizes of drawn layers.
const (
	leastMultiplies = 60_000
	tailFilters     = 8 // output channels of the layer that reads the drawn layer's levels
)

// Limits on multiply-accumulates beyond which other layers are drawn, too: above manyMultiplies
// larger images, more channels and global pools, above largeMultiplies layers of networks for large
// images, above wideMultiplies those of language models.
const (
	manyMultiplies  = 30_000_000
	largeMultiplies = 100_000_000
	wideMultiplies  = 500_000_000
)

// firstPooled is the first seed of layers with pools and shortcuts before a quantizer. Kept points
// of earlier seeds have none.
const firstPooled = 10_000

// limits bound the multiply-accumulates of drawn layers.
type limits struct {
	measured int     // at most, of a layer that is measured
	guessed  float64 // at least, of a layer that a sieve learns from
}

// sizes returns the limits of t: a schedule is simulated in about a second.
func sizes(t targets.Target) limits {
	if t.Bare {
		return limits{300_000, 1e5}
	}
	return limits{3_000_000, 1e6}
}

// drawing builds the network around a layer of random kind, shape, bits, groups and strides.
type drawing struct {
	r          *rand.Rand
	nodes      []map[string]any
	last       string
	h, c       int
	multiplies int  // at most, of a layer
	larger     int  // factor on the height and width of images
	pooled     bool // pools and shortcuts may precede the quantizer
}

// DrawLayer returns a ripc.model/1 of one layer with random weights, between the producer of its
// input and a consumer of its output. The seed determines it. The layer has at most multiplies
// multiply-accumulates; one over n > 1 bits counts n/2 times.
func DrawLayer(seed uint64, multiplies int) map[string]any {
	r := rand.New(rand.NewPCG(seed, 2))
	for {
		d := &drawing{r: r, last: "x", larger: 1, multiplies: multiplies, pooled: seed >= firstPooled}
		if multiplies > manyMultiplies {
			d.larger = pick(r, 1, 1, 2, 4)
		}
		input, work := d.layer()
		if work < leastMultiplies || work > multiplies {
			continue
		}
		return d.model(map[string]any{"name": "x", "dtype": "f32", "shape": input})
	}
}

// layer adds the nodes of a layer of a random kind. It returns the shape of the input and the
// layer's work.
func (d *drawing) layer() (input []int, work int) {
	if d.multiplies > largeMultiplies && d.r.IntN(2) == 0 {
		if d.multiplies > wideMultiplies && d.r.IntN(2) == 0 {
			return d.wideDense()
		}
		return d.large()
	}
	d.h, d.c = pick(d.r, 7, 7, 8, 10, 13, 14, 14, 20, 28, 28, 35, 56), d.channels()
	d.h *= d.larger
	stride := pick(d.r, 1, 1, 1, 2)
	switch p := d.r.IntN(100); {
	case p < 42: // few bits by signs
		bits := pick(d.r, 1, 1, 2, 3)
		return d.convolution("bitserial_conv2d", bits, pick(d.r, 1, 3, 3, 3, 5), stride, d.groups(), d.channels(),
			d.weights(pick(d.r, 0, 0, 0, 0, 1), 1))
	case p < 50:
		bits, k := pick(d.r, 1, 2, 8, 8), pick(d.r, 3, 3, 5)
		if bits == 8 {
			return d.convolution("int_conv2d", bits, k, stride, d.c, d.c, nil)
		}
		return d.convolution("bitserial_conv2d", bits, k, stride, d.c, d.c, d.weights(0, 1))
	case p < 66:
		return d.dense()
	case p < 76:
		d.h, d.c = d.larger*pick(d.r, 28, 32, 40, 56), pick(d.r, 1, 3, 3, 3)
		return d.convolution("conv2d", 0, pick(d.r, 3, 3, 5, 7), pick(d.r, 1, 2, 2), 1, pick(d.r, 16, 24, 32, 64), nil)
	case p < 88:
		return d.convolution("int_conv2d", 8, pick(d.r, 1, 1, 3, 3), stride, 1, d.channels(), nil)
	}
	bits := pick(d.r, 2, 3, 4, 4)
	return d.convolution("bitserial_conv2d", bits, pick(d.r, 1, 3, 3), stride, 1, d.channels(),
		d.weights(pick(d.r, 0, 0, 1), pick(d.r, 2, 3, 4)))
}

// large adds a layer of a network for large images: the fewer positions, the more channels.
func (d *drawing) large() (input []int, work int) {
	halved := d.r.IntN(5)
	d.h, d.c = 112>>halved+d.r.IntN(2)*pick(d.r, 0, 0, 1), pick(d.r, 1, 2, 2, 3, 4)<<(4+halved)
	kernel, stride := pick(d.r, 1, 1, 3, 3, 3), pick(d.r, 1, 1, 1, 2)
	filters := pick(d.r, d.c/2, d.c, d.c, d.c, 2*d.c)
	switch p := d.r.IntN(12); {
	case p < 3:
		return d.convolution("conv2d", 0, kernel, stride, 1, filters, nil)
	case p < 5:
		return d.convolution("int_conv2d", 8, kernel, stride, 1, filters, nil)
	case p < 6:
		return d.convolution("int_conv2d", 8, 3, stride, d.c, d.c, nil)
	case p < 7:
		return d.convolution("bitserial_conv2d", 4, kernel, stride, 1, filters, d.weights(0, 4))
	}
	return d.convolution("bitserial_conv2d", pick(d.r, 1, 1, 1, 2, 2, 3), kernel, stride, 1, filters, nil)
}

func (d *drawing) channels() int {
	usual := []int{16, 24, 32, 48, 64, 64, 96, 128, 128, 192, 256, 384, 512}
	if d.multiplies > manyMultiplies {
		usual = append(usual, 512, 1000, 1024, 2048)
	}
	return pick(d.r, usual...)
}

// groups is 1 for most layers.
func (d *drawing) groups() int {
	if d.r.IntN(6) > 0 {
		return 1
	}
	g := pick(d.r, 2, 4, 8)
	for d.c%g != 0 {
		g /= 2
	}
	return g
}

// weights returns the attributes of binary, ternary or multi-bit weights.
func (d *drawing) weights(ternary, bits int) map[string]any {
	switch {
	case ternary > 0:
		return map[string]any{"weight_encoding": "ternary"}
	case bits > 1:
		return map[string]any{"weight_encoding": "bipolar", "weight_bits": bits}
	}
	return map[string]any{}
}

// convolution adds a convolution over activations of bits bits, 0 for floats, with the quantizers
// of its input and its output.
func (d *drawing) convolution(op string, bits, kernel, stride, groups, filters int,
	weights map[string]any) (input []int, work int) {
	if filters%groups != 0 {
		groups = 1
	}
	attrs := map[string]any{"kernel": []int{kernel, kernel}, "strides": []int{stride, stride}, "padding": "same",
		"filters": filters}
	if groups > 1 {
		attrs["groups"] = groups
	}
	maps.Copy(attrs, weights)
	out := (d.h + stride - 1) / stride
	work = out * out * filters * d.c / groups * kernel * kernel
	input = []int{1, d.h, d.h, d.c}
	d.sums(op, bits, attrs)
	if op == "bitserial_conv2d" {
		work *= max(1, bits/2)
	}
	return input, work
}

// wideDense adds a dense layer of many inputs and outputs.
func (d *drawing) wideDense() (input []int, work int) {
	size := func() int { return pick(d.r, 192, 384, 768, 1024, 2048, 2048, 3072, 4096, 8192) }
	return d.product(pick(d.r, 1, 1, 4, 8, 8, 32, 128), size(), size(), pick(d.r, 1, 2, 4, 8, 8, 8, 8))
}

// dense adds a dense layer of a batch.
func (d *drawing) dense() (input []int, work int) {
	m, in, units := pick(d.r, 1, 2, 4, 8, 16, 32), pick(d.r, 64, 100, 128, 256, 384, 512, 1024, 2048),
		pick(d.r, 10, 64, 128, 256, 500, 512, 1024)
	return d.product(m, in, units, pick(d.r, 0, 1, 2, 4, 8, 8, 8))
}

// product adds a dense layer over m rows of activations of bits bits, 0 for floats.
func (d *drawing) product(m, in, units, bits int) (input []int, work int) {
	attrs := map[string]any{"units": units}
	op := "dense"
	if bits > 0 {
		op = "bitserial_dense"
		maps.Copy(attrs, d.weights(pick(d.r, 0, 1, 1), pick(d.r, 1, 1, 2)))
	}
	work = m * in * units
	if bits < 8 {
		work *= max(1, bits/2)
	}
	d.sums(op, bits, attrs)
	return []int{m, in}, work
}

// sums adds a convolution or a dense layer between quantizers.
func (d *drawing) sums(op string, bits int, attrs map[string]any) {
	images := attrs["filters"] != nil
	switch op {
	case "int_conv2d":
		d.add("quantize", map[string]any{"bits": 8, "encoding": "affine", "dtype": "i8", "scale": 0.05,
			"zero_point": d.r.IntN(256) - 128})
		attrs["requantize"], attrs["scale"], attrs["zero_point"],
			attrs["dtype"] = []string{"float", "fixed_point"}[d.r.IntN(2)], 0.3, d.r.IntN(256)-128, "i8"
		d.add(op, attrs)
		if d.r.IntN(2) == 0 {
			d.add("dequantize", nil)
		}
		return
	case "bitserial_conv2d", "bitserial_dense":
		encoding := "unipolar"
		if bits == 1 && d.r.IntN(2) == 0 {
			encoding = "bipolar"
		}
		d.add("quantize", map[string]any{"bits": bits, "encoding": encoding, "scale": 0.3, "rounding": "half_even"})
		attrs["weight_scale"] = "none"
	}
	d.add(op, attrs)
	switch {
	case d.pooled && images:
		d.tail(attrs)
	case d.r.IntN(2) == 0:
		d.add("batch_norm", nil)
	}
	out := pick(d.r, 0, 1, 1, 2, 3)
	switch {
	case images && out > 0:
		d.add("quantize", map[string]any{"bits": out, "encoding": "bipolar", "scale": 0.3, "rounding": "half_even"})
		d.add("bitserial_conv2d", map[string]any{"kernel": []int{1, 1}, "filters": tailFilters, "weight_scale": "none"})
	case images && d.r.IntN(6) == 0:
		d.add([]string{"max_pool", "avg_pool"}[d.r.IntN(2)],
			map[string]any{"kernel": []int{2, 2}, "strides": []int{2, 2}})
	case images && d.multiplies > manyMultiplies && d.r.IntN(4) == 0:
		d.add("global_avg_pool", nil)
	default:
		d.add("relu", nil)
	}
}

// tail adds the float layers between a convolution and the next quantizer: a pool before or behind
// a batch norm, or a shortcut and an activation.
func (d *drawing) tail(attrs map[string]any) {
	pool := func() {
		size := pick(d.r, 2, 2, 2, 3)
		d.add("max_pool", map[string]any{"kernel": []int{size, size}, "strides": []int{2, 2}})
	}
	norm := func() { d.add("batch_norm", nil) }
	alike := attrs["filters"] == d.c && attrs["strides"].([]int)[0] == 1
	switch p := d.r.IntN(10); {
	case p < 2:
		norm()
		pool()
	case p < 3:
		pool()
		norm()
	case p < 6 && alike:
		norm()
		d.add("add", nil)
		d.nodes[len(d.nodes)-1]["inputs"] = []string{d.nodes[len(d.nodes)-2]["name"].(string), "x"}
		if d.r.IntN(3) == 0 {
			d.add("prelu", nil)
		}
	case p < 8:
		norm()
	}
}

// model returns the ripc.model/1 of the added nodes.
func (d *drawing) model(input map[string]any) map[string]any {
	return map[string]any{
		"format": "ripc.model/1", "name": "drawn", "inputs": []any{input},
		"weights": map[string]any{"init": "random", "seed": d.r.IntN(1000)},
		"nodes":   d.nodes, "outputs": []string{d.last},
	}
}

// pick returns one of values.
func pick(r *rand.Rand, values ...int) int { return values[r.IntN(len(values))] }

func (d *drawing) add(op string, attrs map[string]any) {
	name := string(rune('a'+len(d.nodes)%26)) + op
	node := map[string]any{"name": name, "op": op, "inputs": []string{d.last}}
	if attrs != nil {
		node["attrs"] = attrs
	}
	d.nodes, d.last = append(d.nodes, node), name
}
