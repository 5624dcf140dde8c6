package layout

import (
	"ripc/graph"
)

// Packed are the weights of a layer over real numbers, which are few for each output channel, as bits: weight i of channel o,
// i counting the row, column and input channel of a window, is number j that lies in Bits bits of Words, PerWord of them to a
// word from the least significant bit on. It is bit-equal to the float that it stands for.
type Packed struct {
	Bits  int
	Words []uint32 // [ceil(products/PerWord), Out]
	// Values are what the numbers of one bit stand for, [Out] each. Where there are none j stands for f32((Min + Step*j) * Scale[o]).
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
