package lce

import (
	"math"

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

// flexWindow reads what Larq's convolutions and pools have in common: padding and strides.
func flexWindow(m flatbuf.Map) (pad graph.Padding, strides [2]int) {
	strides = optionPair(m, "stride_height", "stride_width")
	p := option(m, "padding", -1, 0, 1)
	pad.Mode = padMode(p)
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
	x := b.float(0)
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
