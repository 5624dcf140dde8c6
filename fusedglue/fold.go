package fusedglue

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

func foldSteps(r *rewriter) error {
	for _, n := range slices.Clone(r.g.Nodes) {
		s, ok := n.Attrs.(*graph.Elementwise)
		if !ok {
			continue
		}
		p := r.only(n)
		if f := open(p); f != nil && !long(s.Steps) && len(f.Epilogue.Steps)+len(s.Steps) <= maxSteps {
			f.Epilogue.Steps = append(slices.Clone(f.Epilogue.Steps), s.Steps...)
			r.absorb(p, n)
		}
	}
	return nil
}

// increasing reports whether n is a map that never falls in any channel.
func increasing(n *graph.Node) bool {
	switch a := n.Attrs.(type) {
	case *graph.Elementwise:
		return scalar.Increasing(a.Steps)
	case *graph.QuantizeAttrs:
		return true
	case *graph.ThresholdAttrs:
		_, ok := quantizerOf(n)
		return ok
	}
	return false
}

// maxThresholdBits is the number of output bits up to which a quantizer becomes thresholds: 2^bits-1 compares a channel. At 4
// bits they cost a 3x3 layer of 64 to 256 channels 2 to 9 %, a quantizer behind f32 sums 15 to 70 %.
const maxThresholdBits = 4

func foldQuantize(r *rewriter) error {
	for _, n := range slices.Clone(r.g.Nodes) {
		if q, ok := quantizerOf(n); ok {
			r.foldQuantizer(n, q)
		}
	}
	return nil
}

// foldQuantizer puts n into the convolution before it: as thresholds on the sums where those exist, else as levels of the
// float that the steps make.
func (r *rewriter) foldQuantizer(n *graph.Node, q quantizer) {
	p := r.only(n)
	f := open(p)
	if f == nil || q.bits > maxThresholdBits {
		return
	}
	switch {
	case f.Window != nil:
		p.Verdict = graph.Verdict{Kind: graph.Binary, Reason: graph.WhyTwoIntegers}
	case p.Op == "bconv2d":
		why := turning(f)
		if why.Reason == graph.NoReason {
			if thresholdsOf(f, q) {
				r.absorb(p, n)
				return
			}
			why = graph.Verdict{Kind: graph.Binary, Reason: graph.WhyBorders}
		}
		p.Verdict = why
	}
	steps := f.Epilogue.Steps
	if q.nan { // comparisons take a NaN for less than anything; this step makes it 0 and changes nothing else
		for o := range f.Out {
			if q.level(o, 0) != q.level(o, float32(math.NaN())) {
				n.Verdict = graph.Verdict{Kind: graph.Bits, Reason: graph.WhyNaNHighest}
				return
			}
		}
		steps = append(slices.Clone(steps), scalar.Step{Kind: scalar.PRelu, A: slices.Repeat([]float32{1}, f.Out), From: n.Name})
	}
	f.Epilogue.Steps, f.Epilogue.OutBits, f.Epilogue.OutEnc = steps, q.bits, q.enc
	if q.one {
		f.Epilogue.Levels = floatLevels(q, 0)
	} else {
		f.Epilogue.LevelRows = levelRows(q, f.Out)
	}
	r.absorb(p, n)
}

func foldPool(r *rewriter) error {
	for _, n := range slices.Clone(r.g.Nodes) {
		a, ok := n.Attrs.(*graph.PoolAttrs)
		if !ok || n.Op != "max_pool" || a.Kernel != a.Strides || a.Pad.Any() {
			continue
		}
		p := r.only(n)
		if p == nil || p.Op != "bconv2d" {
			continue
		}
		f := p.Attrs.(*graph.FusedConv)
		e := f.Epilogue
		if f.Pool != nil || e.Thresholds == nil && e.Shift == nil {
			continue
		}
		f.Pool = a
		r.absorb(p, n)
	}
	return nil
}
