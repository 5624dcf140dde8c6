// Package layout decides how the tensors and layers of a fused graph lie in memory and how their
// sums are computed, and translates the graph's integers into that. Graphs know levels, weights and
// thresholds as integers; words, planes, masks, flipped bits and counts are made here.
package layout

import (
	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/targets"
)

// Form is how a tensor lies in memory.
type Form int

const (
	// Floats: f32[batch, height, width, channels].
	Floats Form = iota
	// Planes: u32[planes, batch, height, width, words], bit planes of levels, WordBits channels in
	// a word.
	Planes
	// Bytes: u8[batch, height, width, channels], a level a byte.
	Bytes
	// SignedBytes: i8[batch, height, width, channels], levels of 8 bits less 128.
	SignedBytes
	// Int8s: i8[batch, height, width, channels]: a tensor's floats are Multiples of these integers.
	Int8s
	// Int16s: i16[batch, height, width, channels], likewise.
	Int16s
)

// BytesOf is the form of levels of type t where the caller brings or takes them one a byte.
func BytesOf(t scalar.LevelType) Form {
	if t.Signed {
		return SignedBytes
	}
	return Bytes
}

// Integers reports whether floats are stored as integer multiples of a unit.
func (f Form) Integers() bool { return f == Int8s || f == Int16s }

// Bytewise reports whether levels lie one a byte.
func (f Form) Bytewise() bool { return f == Bytes || f == SignedBytes }

// Tensor is a tensor as it lies in memory.
type Tensor struct {
	graph.Value
	Form      Form
	Multiples Multiples // in a form of integers
}

// Element is the type of t's elements, the words of planes included.
func (t Tensor) Element() ir.Type {
	switch t.Form {
	case Planes:
		return ir.U32
	case Bytes:
		return ir.U8
	case SignedBytes, Int8s:
		return ir.I8
	case Int16s:
		return ir.I16
	}
	return t.DType()
}

// StoredType returns the type of t's stored levels, with Signed set for their bytes.
func (t Tensor) StoredType() scalar.LevelType {
	s := t.LevelType
	s.Signed = t.Form == SignedBytes
	return s
}

// MinBytes is the number of bits from which on levels lie in memory as bytes where all that reads
// them can: more than half a byte.
const MinBytes = 5

// ReadsBytes reports whether sums by a can be made of levels that lie in memory as bytes.
func (a Algorithm) ReadsBytes() bool { return a == Dot || a == Float }

// FormOf is the form in which stages of a Program pass v on, unless lowering lets it lie as Bytes.
func FormOf(v *graph.Value) Form {
	if v.Encoded() {
		return Planes
	}
	return Floats
}

// WordBits is the number of channels in one word of packed levels.
const WordBits = 32

// Words is the number of words that n channels take.
func Words(n int) int { return ceilDiv(n, WordBits) }

// Block is the number of channels that a layer of n computes for a word of its packed output: all
// of the word, or, where there is just one that n channels leave half empty, the next power of two,
// from leastBlock on.
func Block(n int) int {
	size := leastBlock
	for size < min(n, WordBits) {
		size *= 2
	}
	return size
}

// leastBlock is the least number of channels that is computed at once: a register of 256 bits holds
// their 32-bit sums.
const leastBlock = 8

func ceilDiv(n, by int) int { return (n + by - 1) / by }

// BitBuffer is a packed tensor: planes x the logical shape, with the channels packed.
func BitBuffer(name string, planes int, shape []int, enc ir.EncodingKind) ir.Buffer {
	c := shape[len(shape)-1]
	s := append([]int{planes}, shape...)
	s[len(s)-1] = Words(c)
	return ir.Buffer{Name: name, Type: ir.U32, Shape: s, Enc: ir.Encoding{Kind: enc, Channels: c}}
}

// Conv is a fused convolution or dense layer laid out.
type Conv struct {
	*graph.FusedConv
	Accumulation Accumulation
	X            graph.Value // the input, [B, H, W, C]
	Others       []Tensor    // tensors of the epilogue's joins, [B, H, W, C], where 1 stands for any extent
	Beside       []Beside    // levels that are written beside the floats
	Mean         bool        // of the floats of all positions, which is written in their place
	From         Form        // of X
	To           Form        // of the output
	Made         Multiples   // the unit of the output, in a form of integers
	Once         bool        // fixed-point factors round once where that is the same
}

// Accumulation is how the sums of a layer are added up, with its weights as they lie in memory.
// There is one type for each family of algorithms: *Counts, *Tables, *FloatSums and *Dots. Each has
// a file here and one in lower/ops, which makes the loops.
type Accumulation interface {
	// WeightParts are the parts that weights are made of, nil where weights are stored whole.
	WeightParts() *Parts
}

// whole is embedded in accumulations without parts of weights.
type whole struct{}

// WeightParts returns nil.
func (whole) WeightParts() *Parts { return nil }

// NewConv lays f out for target t, a layer over x, of shape [B, H, W, C], which others join, by an
// algorithm that applies to it. A layer without its weights has the layout that any weights would
// have, with none in it.
func NewConv(f *graph.FusedConv, x graph.Value, t targets.Target, by Algorithm, others ...Tensor) *Conv {
	c := &Conv{FusedConv: f, X: x, Others: others, From: FormOf(&x), Once: !t.RoundedProducts()}
	if f.Epilogue.OutBits > 0 {
		c.To = Planes
	}
	c.Accumulation = algorithms()[by].layOut(f, &x, t)
	return c
}

// signs are -1 for the falling channels of f, 1 for the others.
func signs(f *graph.FusedConv) []int {
	s := make([]int, f.Out)
	for o := range s {
		if s[o] = 1; f.Epilogue.Falling != nil && f.Epilogue.Falling[o] {
			s[o] = -1
		}
	}
	return s
}
