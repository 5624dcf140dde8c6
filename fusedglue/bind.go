package fusedglue

import (
	"math"
	"math/bits"
	"slices"

	"ripc/ir"
	"ripc/ir/graph"
)

// wordBits is the width of a packed word of weights.
const wordBits = 32

// maxAcc bounds the sums of popcounts: the integer glue adds constants of like size and must stay inside i32.
const maxAcc = 1 << 28

func bind(r *rewriter) error {
	for _, n := range r.g.Nodes {
		var err error
		switch a := n.Attrs.(type) {
		case *graph.Conv2DAttrs:
			w := n.Weights["w"]
			f := &graph.FusedConv{KH: w.Shape[0], KW: w.Shape[1], SH: a.Strides[0], SW: a.Strides[1], Pad: a.Pad, In: w.Shape[2], Out: w.Shape[3]}
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
	w := n.Weights["w"].Data
	if b == nil {
		n.Op, f.WFloat = "fconv2d", w
		if bias := n.Weights["b"]; bias != nil {
			f.Bias = bias.Data
		}
		return nil
	}
	x := g.Value(n.Inputs[0])
	f.Planes = x.Bits
	padded := f.Pad.Top+f.Pad.Bottom+f.Pad.Left+f.Pad.Right > 0
	switch {
	case x.Enc == ir.Unipolar:
	case x.Enc == ir.Bipolar && (b.PadValue == "one" || !padded):
		f.PadOnes = true
	case x.Enc == ir.Bipolar:
		return g.Errorf(n, `use "pad_value": "one", or padding "valid"`, "padding bipolar activations with exact zeros is not supported yet")
	default:
		return g.Errorf(n, "use unipolar or bipolar", "activations are %s", x.Enc)
	}
	if k := f.KH * f.KW * f.In; k<<f.Planes > maxAcc {
		return g.Errorf(n, "", "sums of %d products of %d-bit activations do not fit the accumulator", k, f.Planes)
	}
	n.Op = "bconv2d" // errors above name the op as the model does
	f.WBits = packWeights(w, f)
	setDot(f, x.Enc)
	f.Alpha = weightScale(n, f, b, perChannel)
	s := make([]float32, f.Out)
	for o := range s {
		s[o] = float32(x.Scale * f.Alpha[o])
	}
	f.Epilogue.Steps = []graph.FloatStep{{Kind: "mul", A: s, From: n.Name}}
	return nil
}

// packWeights binarizes [KH, KW, In, Out] weights: bit = w >= 0, along In.
func packWeights(w []float32, f *graph.FusedConv) []uint32 {
	words := (f.In + wordBits - 1) / wordBits
	out := make([]uint32, f.KH*f.KW*words*f.Out)
	for k := range f.KH * f.KW {
		for c := range f.In {
			row := out[(k*words+c/wordBits)*f.Out:]
			for o := range f.Out {
				if w[(k*f.In+c)*f.Out+o] >= 0 {
					row[o] |= 1 << (c % wordBits)
				}
			}
		}
	}
	return out
}

// setDot computes a = DotBase - DotMul*P from the weights (SEMANTICS: unipolar . bipolar and bipolar . bipolar).
func setDot(f *graph.FusedConv, enc ir.EncodingKind) {
	m := int32(1)<<f.Planes - 1
	f.DotBase, f.DotMul = make([]int32, f.Out), 1
	if enc == ir.Bipolar {
		f.DotMul = 2
		for o := range f.DotBase {
			f.DotBase[o] = m * int32(f.KH*f.KW*f.In)
		}
		return
	}
	for i, w := range f.WBits {
		f.DotBase[i%f.Out] += m * int32(bits.OnesCount32(w))
	}
}

// weightScale is the real value of one weight bit per output channel: alpha_k = mean|W_k| for a convolution, the mean
// over the whole layer for a dense one (Riptide), in float64.
func weightScale(n *graph.Node, f *graph.FusedConv, b *graph.BinaryAttrs, perChannel bool) []float64 {
	s := make([]float64, f.Out)
	switch b.WeightScale {
	case "tensor":
		for o, v := range n.Weights["scale"].Data {
			s[o] = float64(v)
		}
		return s
	case "mean":
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
	words := (f.In + wordBits - 1) / wordBits
	var ones int32
	for i := o; i < len(f.WBits); i += f.Out {
		mask := ^uint32(0)
		if q := i / f.Out % words; q == words-1 && f.In%wordBits != 0 {
			mask = 1<<(f.In%wordBits) - 1
		}
		f.WBits[i] ^= mask
		ones += int32(bits.OnesCount32(f.WBits[i]))
	}
	if enc == ir.Unipolar {
		f.DotBase[o] = (int32(1)<<f.Planes - 1) * ones
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
