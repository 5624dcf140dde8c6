package fusedglue

import (
	"math"
	"math/bits"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

func bind(r *rewriter) error {
	for _, n := range r.g.Nodes {
		var err error
		switch a := n.Attrs.(type) {
		case *graph.Conv2DAttrs:
			w := n.Weights["w"]
			f := &graph.FusedConv{KH: w.Shape[0], KW: w.Shape[1], SH: a.Strides[0], SW: a.Strides[1], Pad: a.Pad, In: w.Shape[2] * a.GroupCount(), Out: w.Shape[3]}
			f.DH, f.DW, f.Groups = a.Dilation()[0], a.Dilation()[1], a.GroupCount()
			err = bindWeights(r.g, n, f, a.Binary, true)
		case *graph.DenseAttrs:
			w := n.Weights["w"]
			f := &graph.FusedConv{KH: 1, KW: 1, SH: 1, SW: 1, In: w.Shape[0], Out: w.Shape[1]}
			err = bindWeights(r.g, n, f, a.Binary, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bindWeights makes n a fused convolution.
func bindWeights(g *graph.Graph, n *graph.Node, f *graph.FusedConv, b *graph.BinaryAttrs, perChannel bool) error {
	n.Attrs = f
	if b == nil {
		n.Op, f.WFloat = "fconv2d", n.Weights["w"].Data
		if bias := n.Weights["b"]; bias != nil {
			f.Bias = bias.Data
		}
		return nil
	}
	x := g.Value(n.Inputs[0])
	f.Planes = x.Bits
	w := weightsOf(n, f, b, perChannel)
	f.WPlanes, f.Alpha = w.coefs, w.scale
	f.WeightBits, f.WeightEnc = WeightType(b)
	padded := f.Pad.Top+f.Pad.Bottom+f.Pad.Left+f.Pad.Right > 0
	exact := padded && x.Enc != ir.Unipolar && b.PadValue != graph.PadOnes
	if exact {
		f.PadCorr = &graph.PadCorr{}
	}
	if f.MaxP() > MaxSum {
		return g.Errorf(n, "", "sums of %d products of %d-bit activations do not fit the accumulator", f.Products(), f.Planes)
	}
	f.WBits = w.pack(f, x.Enc == ir.BipolarInv)
	// One is all 1 bits, or all 0 bits where those are the positive side.
	f.PadOnes = x.Enc == ir.Bipolar && !exact
	if exact {
		f.PadCorr = correction(f, x)
	}
	if f.Zero = x.Zero; padded {
		f.PadLevel = x.Zero
	}
	n.Op = "bconv2d" // errors above name the op as the model does
	setDot(f, x.Enc)
	s := make([]float32, f.Out)
	for o := range s {
		s[o] = float32(x.Scale * f.Alpha[o])
	}
	f.Epilogue.Steps = []scalar.Step{{Kind: scalar.Mul, A: s, From: n.Name}}
	return nil
}

// setDot computes a = DotBase - DotMul*P from the weights.
func setDot(f *graph.FusedConv, enc ir.EncodingKind) {
	f.DotBase, f.DotMul = make([]int32, f.Out), 1
	if enc != ir.Unipolar && f.PadCorr == nil {
		f.DotMul = 2
	}
	for o := range f.DotBase {
		f.DotBase[o] = dotBase(f, enc, o)
	}
}

// dotBase is the sum of m times the weights' 1 bits (unipolar), less the zero point times the weights, or of m times the weights' factors (bipolar).
func dotBase(f *graph.FusedConv, enc ir.EncodingKind, o int) int32 {
	coefs := f.Coefs()
	m := int32(1)<<f.Planes - 1
	var base int32
	for j, c := range coefs {
		if enc != ir.Unipolar {
			base += c * m * int32(f.Products())
			continue
		}
		for i := j*f.Out + o; i < len(f.WBits); i += len(coefs) * f.Out {
			base += c * (m - 2*int32(f.Zero)) * int32(bits.OnesCount32(f.WBits[i]))
		}
		base += c * int32(f.Zero) * int32(f.Products())
	}
	return base
}

// correction finds what padding, as 0 bits, adds to each border class: a padded tap of 0 bits counts -m (bipolar, times
// the weight) where it should count 0. WBits are as stored, so that bipolar_inv is the same sum.
func correction(f *graph.FusedConv, x *graph.Value) *graph.PadCorr {
	coefs, words := f.Coefs(), f.GroupWords()
	taps := make([]int32, f.KH*f.KW*f.Out)
	for i := range taps {
		tap, o := i/f.Out, i%f.Out
		for j, c := range coefs {
			var ones int32
			for q := range words {
				ones += int32(bits.OnesCount32(f.WBits[((tap*words+q)*len(coefs)+j)*f.Out+o]))
			}
			taps[i] += c * (2*ones - int32(f.GroupIn()))
		}
	}
	oh, ow := f.OutSize(x.Shape[1], x.Shape[2])
	dh, dw := f.Dilation()
	k := &graph.PadCorr{
		Rows: graph.PaddingClasses(oh, f.KH, dh, f.SH, f.Pad.Top, x.Shape[1]),
		Cols: graph.PaddingClasses(ow, f.KW, dw, f.SW, f.Pad.Left, x.Shape[2]),
	}
	m := int32(1)<<f.Planes - 1
	outside := func(at, before, size int) bool { return at < before || at >= before+size }
	for r := range k.Rows.Count() {
		for c := range k.Cols.Count() {
			row := make([]int32, f.Out)
			for tap := range f.KH * f.KW {
				h, w := k.Rows.At(r)*f.SH+tap/f.KW*dh, k.Cols.At(c)*f.SW+tap%f.KW*dw
				if outside(h, f.Pad.Top, x.Shape[1]) || outside(w, f.Pad.Left, x.Shape[2]) {
					for o := range row {
						row[o] += m * taps[tap*f.Out+o]
					}
				}
			}
			k.Corr = append(k.Corr, row...)
		}
	}
	return k
}

// weightScale is the real value of one weight bit per output channel: alpha_k = mean|W_k| for a convolution, the mean
// over the whole layer for a dense one (Riptide), in float64.
func weightScale(n *graph.Node, f *graph.FusedConv, b *graph.BinaryAttrs, perChannel bool) []float64 {
	s := make([]float64, f.Out)
	switch b.WeightScale {
	case graph.ScaleTensor:
		for o, v := range n.Weights["scale"].Data {
			s[o] = float64(v)
		}
		return s
	case graph.ScaleMean:
		w := n.Weights["w"].Data
		for i, v := range w {
			s[i%f.Out] += math.Abs(float64(v))
		}
		per := float64(len(w) / f.Out)
		if !perChannel {
			sum := 0.0
			for _, v := range s {
				sum += v
			}
			for o := range s {
				s[o] = sum / float64(f.Out)
			}
		}
		for o := range s {
			s[o] /= per
		}
		return s
	}
	for o := range s {
		s[o] = 1
	}
	return s
}

// flipFilter negates filter o: its dot product changes sign.
func flipFilter(f *graph.FusedConv, enc ir.EncodingKind, o int) {
	planes, words := len(f.Coefs()), f.GroupWords()
	for i := o; i < len(f.WBits); i += f.Out {
		f.WBits[i] ^= f.Mask(i/f.Out/planes%words, o)
	}
	f.DotBase[o] = dotBase(f, enc, o)
	if f.PadCorr != nil {
		for i := o; i < len(f.PadCorr.Corr); i += f.Out {
			f.PadCorr.Corr[i] = -f.PadCorr.Corr[i]
		}
	}
}

// dropIdentities takes out bitpack, unpack and one-input concats.
func dropIdentities(r *rewriter) error {
	for _, n := range slices.Clone(r.g.Nodes) {
		if n.Op != "bitpack" && n.Op != "unpack" && (n.Op != "concat" || len(n.Inputs) != 1) {
			continue
		}
		in, out := n.Inputs[0], n.Outputs[0]
		p := r.g.Producer(in)
		if r.g.IsOutput(out) && (p == nil || r.g.IsOutput(in)) {
			continue // the caller sees both representations: lowering copies
		}
		if r.g.IsOutput(out) { // the producer makes the output under its own name
			r.replaceInput(in, out)
			p.Outputs[slices.Index(p.Outputs, in)] = out
		} else {
			r.replaceInput(out, in)
		}
		r.remove(n)
	}
	return nil
}

// replaceInput makes the consumers of tensor from read tensor to.
func (r *rewriter) replaceInput(from, to string) {
	for _, n := range r.g.Nodes {
		for i := range n.Inputs {
			if n.Inputs[i] == from && n.Outputs[0] != to {
				n.Inputs[i] = to
			}
		}
	}
}
