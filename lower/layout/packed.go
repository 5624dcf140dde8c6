package layout

import (
	"ripc/graph"
)

// Packed holds weights of real numbers as bits, if each output channel has few different ones.
// Weight i of channel o is number j; i counts the row, column and input channel of a window. j has
// Bits bits of Words, PerWord numbers to a word from the least significant bit up. It is bit-equal
// to the float.
type Packed struct {
	Bits  int
	Words []uint32 // [ceil(products/PerWord), Out]
	// Values are the weights of numbers of one bit, [Out] each. Without them, j stands for f32((Min
	// + Step*j) * Scale[o]).
	Values    [][]float32
	Min, Step int
	Scale     []float32
}

// PerWord is the number of weights in a word.
func (p *Packed) PerWord() int { return WordBits / p.Bits }

// newPacked packs the weights of f, which are few; nil where that would hardly make them less.
func newPacked(f *graph.FusedConv) *Packed {
	w := f.Few.Attrs.Integers()
	p := &Packed{Bits: w.Bits(), Min: w.Min, Step: w.Step, Scale: f.Few.Scale}
	rows := (f.Products() + p.PerWord() - 1) / p.PerWord()
	if 2*rows > f.Products() {
		return nil
	}
	p.Words = make([]uint32, rows*f.Out)
	if p.Bits == 1 {
		p.Values = [][]float32{make([]float32, f.Out), make([]float32, f.Out)}
	}
	for i, v := range f.Few.Ints {
		k, o := i/f.Out, i%f.Out
		j := (int(v) - w.Min) / w.Step
		p.Words[k/p.PerWord()*f.Out+o] |= uint32(j) << (k % p.PerWord() * p.Bits)
		if p.Bits == 1 {
			p.Values[j][o] = f.WFloat[i]
		}
	}
	return p
}
