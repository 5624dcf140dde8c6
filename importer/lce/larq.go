package lce

import (
	"encoding/binary"
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer/lce/internal/flatbuf"
	"ripc/ir"
)

// Names of Larq's operators.
const (
	opBConv      = "LceBconv2d"
	opQuantize   = "LceQuantize"
	opDequantize = "LceDequantize"
	opMaxPool    = "LceBMaxPool2d"
)

// wordBits is the number of channels in one of Larq's words of bits.
const wordBits = 32

// words is the number of words that n channels take.
func words(n int) int { return (n + wordBits - 1) / wordBits }

func flexOptions(o *operator) flatbuf.Map {
	m, err := flatbuf.ParseMap(o.flex)
	failIf(err != nil, "the file is damaged", "options: %v", err)
	return m
}

// option is a number from lo to hi among the options.
func option(m flatbuf.Map, key string, def, lo, hi int) int {
	if _, ok := m[key]; !ok && def >= lo {
		return def
	}
	n, ok := m.Int(key)
	failIf(!ok, "the file may be made by another version of Larq Compute Engine",
		"option %s is missing or no whole number", key)
	failIf(n < int64(lo) || n > int64(hi), "", "option %s is %d, want %d to %d", key, n, lo, hi)
	return int(n)
}

// optionPair reads a height and a width, which are 1 where they are missing.
func optionPair(m flatbuf.Map, h, w string) [2]int {
	a := option(m, h, 1, 1, math.MaxInt16)
	c := option(m, w, 1, 1, math.MaxInt16)
	return [2]int{a, c}
}

// flexWindow reads padding and strides of Larq's convolutions and pools.
func flexWindow(m flatbuf.Map) (pad graph.Padding, strides [2]int) {
	strides = optionPair(m, "stride_height", "stride_width")
	pad.Mode = padMode(option(m, "padding", -1, 0, 1))
	return pad, strides
}

// padMode is the graph's name of the schema's Padding.
func padMode(p int) graph.PaddingMode {
	switch p {
	case 0:
		return graph.PadSame
	case 1:
		return graph.PadValid
	}
	panic(faultf("the file is damaged", "padding %d, want 0 (SAME) or 1 (VALID)", p))
}

// lceQuantize: bit = x < 0, so that NaN and -0 give +1.
func lceQuantize(b *builder) *graph.Value {
	x := b.floatInput(0)
	zero := &graph.Tensor{Shape: []int{1, 1}, Data: graph.NumbersOf([]float32{0})}
	return b.add("threshold", signThreshold(), map[string]*graph.Tensor{"thresholds": zero}, x)
}

// signThreshold makes bits of floats: -1 below the threshold.
func signThreshold() *graph.ThresholdAttrs {
	return &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.BipolarInv, Scale: 1}, NotLess: true}
}

func lceDequantize(b *builder) *graph.Value {
	return b.add("dequantize", &graph.NoAttrs{}, nil, b.levels(0))
}

func lceMaxPool(b *builder) *graph.Value {
	x := b.levels(0)
	m := flexOptions(b.op)
	a := &graph.PoolAttrs{}
	a.Kernel = optionPair(m, "filter_height", "filter_width")
	a.Pad, a.Strides = flexWindow(m)
	return b.add("max_pool", a, nil, x)
}

// bconv is a binary convolution: y = clamp(K - 2 popcount) * multiplier + bias, or bits by
// thresholds on the popcount.
func bconv(b *builder) *graph.Value {
	x := b.levels(0)
	m := flexOptions(b.op)
	c := option(m, "channels_in", -1, 1, graph.MaxElems)
	failIf(x.Channels() != c,
		"the file is damaged", "option channels_in is %d, input %q has %d channels", c, x.Name, x.Channels())
	a := &graph.Conv2DAttrs{Binary: &graph.BinaryAttrs{WeightScale: graph.ScaleNone}}
	a.Dilations = optionPair(m, "dilation_height_factor", "dilation_width_factor")
	a.Pad, a.Strides = flexWindow(m)
	ones := option(m, "pad_values", 0, 0, 1)
	if ones == 1 {
		a.Binary.PadValue = graph.PadOnes
	}
	w, groups := b.filters(c)
	if a.Groups = groups; groups == 1 {
		a.Groups = 0
	}
	y := b.add("bitserial_conv2d", a, map[string]*graph.Tensor{"w": w}, x)
	k := w.Shape[0] * w.Shape[1] * w.Shape[2]
	failIf(k > 1<<24, "", "%d products in a sum, at most %d are exact in f32", k, 1<<24)
	if b.file.tensors[b.op.outputs[0]].typ == typeI32 {
		return b.bitOutput(y, k, w.Shape[3])
	}
	y = b.activation(y, option(m, "fused_activation_function", 0, 0, math.MaxInt8))
	return b.affine(y, k, w.Shape[3])
}

// filters gives the filters of a binary convolution as +1 and -1, [KH, KW, I/groups, O]; the file
// has them as words of bits, [O, KH, KW, ceil(I/groups/32)].
func (b *builder) filters(channels int) (w *graph.Tensor, groups int) {
	t := b.constant(1, "filter", typeI32)
	failIf(len(t.shape) != 4, "", "its filter %q has shape %v, want [O, H, W, words]", t.name, t.shape)
	o, h, wd, n := t.shape[0], t.shape[1], t.shape[2], t.shape[3]
	groups = words(channels) / n
	failIf(groups*n != words(channels) || groups > 1 && channels != groups*n*wordBits,
		"groups have whole words of 32 channels",
		"its filter %q has %d words of channels, the input has %d channels", t.name, n, channels)
	in := channels / groups
	w = b.weights(1, "bits", func() *graph.Tensor {
		b.take(elems([]int{h, wd, in, o}))
		return &graph.Tensor{Shape: []int{h, wd, in, o}, Data: transposedBits(t.data, o, h*wd, n, in)}
	})
	failIf(w.Shape[2] != in, "", "its filter %q is read with %d and with %d channels", t.name, w.Shape[2], in)
	return w, groups
}

// transposedBits reads words [out, taps, n] and gives +1 for each 0 bit, -1 for each 1 bit, [taps,
// in, out].
func transposedBits(data []byte, out, taps, n, in int) graph.Numbers {
	count := taps * in * out
	signs := make([]uint64, graph.SignWords(count))
	column := make([]uint32, out)
	for tap := range taps {
		for q := range n {
			for o := range column {
				column[o] = binary.LittleEndian.Uint32(data[4*((o*taps+tap)*n+q):])
			}
			for l := range min(wordBits, in-q*wordBits) {
				at := (tap*in + q*wordBits + l) * out
				for _, word := range column {
					signs[at/64] |= uint64(word>>l&1) << (at % 64)
					at++
				}
			}
		}
	}
	return graph.Signs(signs, count)
}

// bitOutput makes bits of y = k - 2 popcount: the bit is set (-1) where popcount > tau, that is
// where y < k - 2 tau. So the popcount of a position padded with zeros is half its channels, as in
// Larq Compute Engine's reference kernel.
func (b *builder) bitOutput(y *graph.Value, k, out int) *graph.Value {
	t := b.constant(4, "thresholds", typeI32)
	failIf(t.elems != out || len(t.shape) != 1, "", "its thresholds %q have shape %v, want [%d]", t.name, t.shape, out)
	b.take(out)
	th := make([]float32, out)
	for i := range th {
		switch tau := int(int32(binary.LittleEndian.Uint32(t.data[4*i:]))); {
		case tau < 0: // every popcount is above
			th[i] = float32(math.Inf(1))
		case tau >= k:
			th[i] = float32(math.Inf(-1))
		default:
			th[i] = float32(k - 2*tau)
		}
	}
	return b.add("threshold", signThreshold(),
		map[string]*graph.Tensor{"thresholds": {Shape: []int{1, out}, Data: graph.NumbersOf(th)}}, y)
}

// affine multiplies y = k - 2 popcount by input 2 and adds input 3, where they do something. It
// rounds where Larq Compute Engine does: (y - k) * multiplier + (bias + k * multiplier), so that
// numbers near 0 get the same sign there and here.
func (b *builder) affine(y *graph.Value, k, out int) *graph.Value {
	failIf(b.input(4) != nil,
		"", "has thresholds, and an output of type %s", typeName(b.file.tensors[b.op.outputs[0]].typ))
	mul := b.vector(2, "multiplier", out)
	bias := b.vector(3, "bias", out)
	if bias == nil {
		bias = &graph.Tensor{Shape: []int{out}, Data: graph.NumbersOf(make([]float32, out))}
	}
	if mul == nil || allEqual(mul.Data.Floats(), 1) && allEqual(bias.Data.Floats(), 0) { // exact without more ado
		if allEqual(bias.Data.Floats(), 0) {
			return y
		}
		return b.add("add", &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": bias}, y)
	}
	sum := make([]float32, out)
	for i, m := range mul.Data.All() {
		sum[i] = float32(float64(bias.Data.At(i)) + float64(k)*float64(m))
	}
	minusK := &graph.Tensor{Shape: []int{1}, Data: graph.NumbersOf([]float32{float32(-k)})}
	y = b.add("add", &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": minusK}, y)
	y = b.add("mul", &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": mul}, y)
	return b.add("add", &graph.BinaryOpAttrs{},
		map[string]*graph.Tensor{"b": {Shape: []int{out}, Data: graph.NumbersOf(sum)}}, y)
}

func allEqual(data []float32, v float32) bool {
	return !slices.ContainsFunc(data, func(f float32) bool { return f != v })
}
