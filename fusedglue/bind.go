package fusedglue

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

func bind(ctx context.Context, r *rewriter) error {
	windows := map[string]string{}
	layers := weightedLayers(ctx, r)
	for n := range r.EachNode(ctx) {
		var err error
		if a, ok := n.Attrs.(*graph.ConvTranspose2DAttrs); ok {
			err = r.replaceTransposed(n, a)
		} else if l := layers[n]; l != nil && l.integer != nil {
			bindIntegerLayer(r.g, n, l.f, l.integer)
		} else if l != nil {
			err = finishBinding(r.g, n, l.f, l.binary)
		}
		if err != nil {
			return err
		}
		if f, ok := n.Attrs.(*graph.FusedConv); ok && f.Window != nil {
			r.bindWindow(n, f, windows)
		}
	}
	return nil
}

// weightedLayer is a fused convolution and the attributes of the layer that it is made of. At most
// one of binary and integer is not nil.
type weightedLayer struct {
	f       *graph.FusedConv
	binary  *graph.BinaryAttrs
	integer *graph.IntegerAttrs
}

// weightedLayers makes the fused convolutions of all convolutions and dense layers, side by side,
// with their weights: most of the pass's work. bindIntegerLayer sets those of integer layers.
func weightedLayers(ctx context.Context, r *rewriter) map[*graph.Node]*weightedLayer {
	all := map[*graph.Node]*weightedLayer{}
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	for n := range r.EachNode(ctx) {
		var l *weightedLayer
		perChannel := false
		switch a := n.Attrs.(type) {
		case *graph.Conv2DAttrs:
			w := n.Weights["w"]
			f := &graph.FusedConv{KH: w.Shape[0], KW: w.Shape[1], SH: a.Strides[0], SW: a.Strides[1], Pad: a.Pad,
				In: w.Shape[2] * a.GroupCount(), Out: w.Shape[3]}
			f.DH, f.DW, f.Groups = a.Dilation()[0], a.Dilation()[1], a.GroupCount()
			l, perChannel = &weightedLayer{f, a.Binary, a.Integer}, true
		case *graph.DenseAttrs:
			w := n.Weights["w"]
			f := &graph.FusedConv{KH: 1, KW: 1, SH: 1, SW: 1, In: w.Shape[0], Out: w.Shape[1]}
			l = &weightedLayer{f, a.Binary, a.Integer}
		default:
			continue
		}
		all[n] = l
		if l.integer == nil {
			work.Go(func() error {
				setWeights(n, l.f, l.binary, perChannel)
				return nil
			})
		}
	}
	_ = work.Wait() // no error
	return all
}

// bindWindow gives n, with offsets in its weights, the window sums of its input's integers as a
// second operand. A layer with all weights 1 computes them. Layers that read one input in the same
// way share it.
func (r *rewriter) bindWindow(n *graph.Node, f *graph.FusedConv, made map[string]string) {
	groups := f.GroupCount()
	w := &graph.FusedConv{KH: f.KH, KW: f.KW, SH: f.SH, SW: f.SW, DH: f.DH, DW: f.DW, Groups: f.Groups, Pad: f.Pad,
		In: f.In, Out: groups, X: f.X, W: graph.Integers{Min: -1, Max: 1, Step: 2},
		Ints: graph.IntNumbers(f.KH*f.KW*f.In, func(int) int { return 1 }), PadValue: f.PadValue,
		WeightBits: 1, WeightEnc: graph.BipolarWeights.String(), Alpha: slices.Repeat([]float64{1}, groups)}
	key := fmt.Sprint(n.Inputs[0], w.KH, w.KW, w.SH, w.SW, w.DH, w.DW, w.Groups, w.Pad, w.PadValue)
	if made[key] == "" {
		made[key] = r.TensorName(n.Output + ".window")
		y := *r.g.Value(n.Output)
		y.Shape = slices.Clone(y.Shape)
		y.Shape[len(y.Shape)-1] = groups
		ones := &graph.Node{Name: r.NodeName(n.Name + ".window"), Op: "window_sum", Attrs: w, Inputs: n.Inputs[:1:1],
			Output: made[key], Pos: n.Pos}
		ones.Verdict = graph.Verdict{Kind: graph.Bits, Reason: graph.WhyWeightOffset, Where: n.Name}
		r.InsertBefore(n, ones, &y)
	}
	r.SetInputs(n, n.Inputs[0], made[key])
}

// setWeights sets f's weights to those of n.
func setWeights(n *graph.Node, f *graph.FusedConv, b *graph.BinaryAttrs, perChannel bool) {
	if b != nil {
		bindIntegers(n, f, b, perChannel)
		f.WeightBits, f.WeightEnc = b.WeightType()
		return
	}
	f.WFloat = n.Weights["w"].Data.Floats()
	if bias := n.Weights["b"]; bias != nil {
		f.Bias = bias.Data.Floats()
	}
}

// finishBinding turns n into convolution f, with weights set before.
func finishBinding(g *graph.Graph, n *graph.Node, f *graph.FusedConv, b *graph.BinaryAttrs) error {
	n.Attrs = f
	if b == nil {
		n.Op = "fconv2d"
		w := &graph.Tensor{Shape: []int{f.Products(), f.Out}, Data: graph.NumbersOf(f.WFloat)}
		if few := graph.DecomposeExactly(w); few != nil && few.Trained() {
			f.Few = few
		}
		return nil
	}
	x := g.Value(n.Inputs[0])
	f.X = graph.IntegersOf(x.LevelType)
	if f.Pad.Any() && b.PadValue == graph.PadOnes && x.Enc != ir.Unipolar {
		f.PadValue = f.X.Max
	}
	most := graph.MaxSpan(f.Pad.Any() && graph.Corrected(x.LevelType, f.PadValue))
	if span := graph.Span(f.Ints, f.Out, f.X); span > most {
		return g.Errorf(n, graph.FewerProducts,
			"sums of %d products of %d-bit activations and its weights have a range of %d, more than %d, so that "+
				"with constants added to them they could pass 32 bits",
			f.Products(), x.Bits, span, most)
	}
	n.Op = "bconv2d" // errors above name the op as the model does
	s := make([]float32, f.Out)
	for o := range s {
		s[o] = float32(x.Scale * f.Alpha[o])
	}
	f.Epilogue.Steps = []scalar.Step{{Kind: scalar.Mul, A: s, From: n.Name}}
	offset := make([]float32, f.Out)
	if b.Offset {
		offset = n.Weights["offset"].Data.Floats()
		f.Epilogue.Steps, f.Window = nil, &graph.Window{Scale: s}
		for _, v := range offset {
			f.Window.Offset = append(f.Window.Offset, float32(x.Scale*float64(v)))
		}
	}
	if x.Offset != 0 {
		f.Epilogue.Steps = append(f.Epilogue.Steps,
			scalar.Step{Kind: scalar.Add, A: offsets(f, x, offset, b.PadValue), From: n.Name})
	}
	return nil
}

// offsets returns the constants that the offset of f's input x adds to its sums: the offset times
// the sum of a window's weights, including their own offsets. Positions outside the image count as
// 0, or as the offset if they are levels (ones). So the constants differ between border classes.
func offsets(f *graph.FusedConv, x *graph.Value, weights []float32, outside graph.PadValue) []float32 {
	taps := make([]int64, f.KH*f.KW*f.Out)
	for i, w := range f.Ints.All() {
		taps[i/f.Out/f.GroupIn()*f.Out+i%f.Out] += int64(w)
	}
	classes := [][]bool{make([]bool, f.KH*f.KW)}
	if f.Pad.Any() && (outside == graph.PadZeros || x.Enc == ir.Unipolar) {
		classes = f.OutsideTaps(x.Shape[1], x.Shape[2])
	}
	var out []float32
	for _, skip := range classes {
		sums, products := make([]int64, f.Out), 0
		for i, v := range taps {
			if !skip[i/f.Out] {
				sums[i%f.Out] += v
			}
		}
		for _, out := range skip {
			if !out {
				products += f.GroupIn()
			}
		}
		for o, v := range sums {
			out = append(out,
				float32(x.Offset*(float64(f.Alpha[o]*float64(v))+float64(float64(weights[o])*float64(products)))))
		}
	}
	return out
}

// weightScale returns the real value of the weight +1 per output channel: alpha_k = mean|W_k| for a
// convolution, the mean over the whole layer for a dense one (Riptide), in float64.
func weightScale(n *graph.Node, f *graph.FusedConv, b *graph.BinaryAttrs, perChannel bool) []float64 {
	s := make([]float64, f.Out)
	switch b.WeightScale {
	case graph.ScaleTensor:
		for o, v := range n.Weights["scale"].Data.All() {
			s[o] = float64(v)
		}
		return s
	case graph.ScaleAP2:
		mean := *b
		mean.WeightScale = graph.ScaleMean
		return ap2(weightScale(n, f, &mean, perChannel))
	case graph.ScaleMean:
		w := n.Weights["w"].Data
		for i, v := range w.All() {
			s[i%f.Out] += math.Abs(float64(v))
		}
		per := float64(w.Len() / f.Out)
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
	return slices.Repeat([]float64{1}, f.Out)
}

// ap2 rounds each scale to the nearest power of two; 0 stays 0.
func ap2(scales []float64) []float64 {
	for o, v := range scales {
		if v > 0 && v-v == 0 {
			scales[o] = math.Ldexp(1, log2AP2(v))
		}
	}
	return scales
}

// dropIdentities removes bitpack, unpack and one-input concats.
func dropIdentities(r *rewriter, n *graph.Node) {
	if n.Op == "bitpack" || n.Op == "unpack" || n.Op == "concat" && len(n.Inputs) == 1 {
		r.bypass(n)
	}
}

// bypass removes n, with an output equal to its input, unless both are outputs of the network.
func (r *rewriter) bypass(n *graph.Node) {
	in, out := n.Inputs[0], n.Output
	p := r.Producer(in)
	if r.g.IsOutput(out) && (p == nil || r.g.IsOutput(in)) {
		return // the two outputs may have different representations: lowering copies
	}
	if r.g.IsOutput(out) { // the producer makes the output under the output's name
		r.Redirect(in, out)
		r.SetOutput(p, out)
	} else {
		r.Redirect(out, in)
	}
	r.Remove(n)
}
