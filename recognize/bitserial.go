package recognize

import (
	"fmt"
	"slices"
	"strings"

	"ripc/fusedglue"
	"ripc/graph"
	"ripc/ir"
)

// bitserial turns the convolutions and dense layers that can be into bitserial ones, and notes of all what they became.
func bitserial(r *rewriter) error {
	for _, n := range slices.Clone(r.g.Nodes) {
		b, ok := binaryAttrs(n)
		if !ok {
			continue
		}
		if b != nil {
			r.note(n, became(r.g.Value(n.Inputs[0]), fusedglue.WeightBits(b)))
			continue
		}
		v, notLevels := r.source(n.Inputs[0])
		few, notFew := fusedglue.Decompose(n.Weights["w"])
		why := ""
		switch {
		case v == nil && few != nil && few.Trained():
			why = fmt.Sprintf("it has %s weights, but its input is not quantized: %s", few, notLevels)
		case v == nil:
			why = "its input is not quantized: " + notLevels
		case few == nil:
			if notFew = r.weights(n, notFew); strings.HasPrefix(notFew, "weights of ") {
				notFew += fmt.Sprintf(", where at most %d bits become bitserial", fusedglue.MaxWeightBits)
			}
			why = fmt.Sprintf("its input has %d bits, but it has %s", v.Bits, notFew)
		default:
			why = unfit(n, v, few)
		}
		if why != "" {
			r.note(n, "float: "+why)
			continue
		}
		if err := r.makeBitserial(n, v, few); err != nil {
			return err
		}
	}
	return nil
}

// binaryAttrs says whether n is a convolution or dense layer, and what its weights are if it is a bitserial one.
func binaryAttrs(n *graph.Node) (b *graph.BinaryAttrs, ok bool) {
	switch a := n.Attrs.(type) {
	case *graph.Conv2DAttrs:
		return a.Binary, true
	case *graph.DenseAttrs:
		return a.Binary, true
	}
	return nil, false
}

func became(x *graph.Value, weights string) string {
	return fmt.Sprintf("%s weights x %d-bit activations: bitserial", weights, x.Bits)
}

// note says text of n, behind what the importer wrote, unless n says what it became already.
func (r *rewriter) note(n *graph.Node, text string) {
	for _, part := range strings.Split(n.Note, "; ") {
		if strings.HasPrefix(part, "float: ") || strings.HasSuffix(part, ": bitserial") {
			return
		}
	}
	n.Note = behind(n.Note, text)
}

func behind(note, text string) string {
	if note == "" {
		return text
	}
	return note + "; " + text
}

// weights says what n's weights are, which are no few integers for each output channel.
func (r *rewriter) weights(n *graph.Node, why string) string {
	w := n.Weights["w"]
	in, outs := w.Shape[len(w.Shape)-2], w.Shape[len(w.Shape)-1]
	if in < 2 || len(w.Data) < 2*in {
		return why
	}
	t := &graph.Tensor{Shape: []int{len(w.Data) / in, in}, Data: make([]float32, len(w.Data))}
	for i, v := range w.Data {
		o, c, tap := i%outs, i/outs%in, i/outs/in
		t.Data[(tap*outs+o)*in+c] = v
	}
	if few, _ := fusedglue.Decompose(t); few != nil {
		return fmt.Sprintf("%s weights with a scale for each input channel", few)
	}
	return why
}

// maxPairs is the number of pairs of bit planes, one of activations and one of weights, up to which layers become bitserial.
// Each costs a popcount; from about 12 on AVX-512 (measured; on NEON by estimate 8) sums in f32 are as fast, but 4-bit weights and activations
// (20 pairs) shall be exact, and so shall 2-bit weights with 8-bit activations (24).
const maxPairs = 24

// unfit says why n over levels v does not become bitserial: its sums do not fit, or it has too many planes. "" if it does.
func unfit(n *graph.Node, v *graph.Value, few *fusedglue.FewBits) string {
	if pairs := v.Bits * few.Planes(); pairs > maxPairs {
		return fmt.Sprintf("%d-bit activations and %s weights are %d pairs of bit planes, which cost more than sums in f32", v.Bits, few, pairs)
	}
	w := n.Weights["w"]
	products := int64(len(w.Data) / w.Shape[len(w.Shape)-1])
	sum := (int64(1)<<v.Bits - 1) * products * few.Span()
	if a, ok := n.Attrs.(*graph.Conv2DAttrs); ok && v.Enc != ir.Unipolar && a.Pad.Top+a.Pad.Bottom+a.Pad.Left+a.Pad.Right > 0 {
		sum *= 2 // exact zeros are a correction
	}
	if sum <= fusedglue.MaxSum {
		return ""
	}
	return fmt.Sprintf("sums of %d products of %d-bit activations and %s weights do not fit the accumulator", products, v.Bits, few)
}

// makeBitserial makes n bitserial over the levels v.
func (r *rewriter) makeBitserial(n *graph.Node, v *graph.Value, few *fusedglue.FewBits) error {
	l, err := r.sink(n.Inputs[0])
	if err != nil {
		return err
	}
	r.changed = true
	b := few.Attrs
	b.PadValue = graph.PadZeros // as in the float layer, whatever the encoding
	switch a := n.Attrs.(type) {
	case *graph.Conv2DAttrs:
		c := *a
		c.Binary, n.Op, n.Attrs = &b, "bitserial_conv2d", &c
	case *graph.DenseAttrs:
		n.Op, n.Attrs = "bitserial_dense", &graph.DenseAttrs{Binary: &b}
	}
	bias := n.Weights["b"]
	n.Inputs, n.Weights = []string{l}, map[string]*graph.Tensor{"w": n.Weights["w"]}
	if b.WeightScale == graph.ScaleTensor {
		n.Weights["scale"] = &graph.Tensor{Shape: []int{len(few.Scale)}, Data: few.Scale}
	}
	n.Note = behind(r.imported[n], became(v, few.String()))
	out := n.Outputs[0]
	if bias != nil {
		n.Outputs = []string{r.tensor(out + ".sums")}
	}
	if err := r.infer(n); err != nil || bias == nil {
		return err
	}
	add := &graph.Node{Name: n.Name + ".bias", Op: "add", Attrs: &graph.BinaryOpAttrs{}, Inputs: slices.Clone(n.Outputs), Weights: map[string]*graph.Tensor{"b": bias}}
	return r.insert(n, add, out)
}
