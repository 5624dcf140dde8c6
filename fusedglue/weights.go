package fusedglue

import (
	"ripc/ir/graph"
)

// intWeights are the weights of a bitserial layer as sums of planes of +-1.
type intWeights struct {
	planes [][]bool // [plane][KH*KW*In/Groups*Out]: true is +1
	coefs  []int32  // nil: one plane
	scale  []float64
}

func weightsOf(n *graph.Node, f *graph.FusedConv, b *graph.BinaryAttrs, perChannel bool) *intWeights {
	data := n.Weights["w"].Data
	w := &intWeights{planes: [][]bool{make([]bool, len(data))}, scale: weightScale(n, f, b, perChannel)}
	for i, v := range data {
		w.planes[0][i] = v >= 0
	}
	return w
}

// pack makes f's WBits: each filter has the words that its group touches.
func (w *intWeights) pack(f *graph.FusedConv, inverted bool) []uint32 {
	words, planes, in := f.GroupWords(), len(w.planes), f.GroupIn()
	out := make([]uint32, f.KH*f.KW*words*planes*f.Out)
	for j, plane := range w.planes {
		for i, plus := range plane {
			if plus == inverted {
				continue
			}
			o, c, tap := i%f.Out, i/f.Out%in, i/f.Out/in
			bit := o/f.GroupOut()*in + c - f.FirstWord(o)*wordBits
			out[((tap*words+bit/wordBits)*planes+j)*f.Out+o] |= 1 << (bit % wordBits)
		}
	}
	return out
}
