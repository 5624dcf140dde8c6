package fusedglue

import (
	"context"
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

// foldSteps moves float steps, and functions of two tensors, into the convolution before them.
func foldSteps(r *rewriter, n *graph.Node) {
	s, ok := n.Attrs.(*graph.Elementwise)
	if !ok {
		r.foldJoin(n)
		return
	}
	p := r.soleProducer(n)
	if f := openConv(p); f != nil && !hasLong(s.Steps) && len(f.Epilogue.Floats())+len(s.Steps) <= maxSteps {
		f.Epilogue.AddSteps(s.Steps)
		r.absorb(p, n)
	}
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

// maxThresholdBits is the largest number of output bits for which a quantizer becomes thresholds:
// 2^bits-1 comparisons per channel. They pay, since a quantizer behind f32 sums costs much more.
const maxThresholdBits = 4

func foldQuantize(ctx context.Context, r *rewriter) error {
	for n := range r.EachNode(ctx) {
		if q, ok := quantizerOf(n); ok {
			r.foldQuantizer(n, q)
		}
	}
	for n := range r.EachNode(ctx) {
		if f, ok := n.Attrs.(*graph.FusedConv); ok && f.Epilogue.OutBits > 0 && len(f.Epilogue.Joins) > 0 {
			r.joinLevels(n, f)
		}
	}
	return nil
}

// foldQuantizer fuses n into the convolution before it: as thresholds on the sums if these exist,
// else as a quantizer of the floats that the steps yield.
func (r *rewriter) foldQuantizer(n *graph.Node, q quantizer) {
	p := r.soleProducer(n)
	f := openConv(p)
	if f == nil {
		return
	}
	if q.bits > maxThresholdBits {
		_, table := n.Attrs.(*graph.ThresholdAttrs)
		var why graph.Verdict
		if table && p.Op == "bconv2d" && f.Window == nil && len(f.Epilogue.Joins) == 0 {
			if why = turning(f); why.Reason == graph.NoReason && affineEpilogue(f, q, n.Name) {
				r.absorb(p, n)
				return
			}
		}
		if q.formula == nil {
			if why.Reason != graph.NoReason {
				p.Verdict = why
			}
			return
		}
		f.Epilogue.OutBits, f.Epilogue.OutEnc, f.Epilogue.Quantizer = q.bits, q.enc, q.formula
		r.absorb(p, n)
		return
	}
	switch {
	case len(f.Epilogue.Joins) > 0: // not a function of the sums alone
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
	if p.Op == "fconv2d" {
		q = foldSums(f, q)
	}
	if q.nan { // comparisons treat a NaN as less than any number; this step maps it to 0 and changes nothing else
		for o := range f.Out {
			if q.level(o, 0) != q.level(o, float32(math.NaN())) {
				n.Verdict = graph.Verdict{Kind: graph.Bits, Reason: graph.WhyNaNHighest}
				return
			}
		}
		f.Epilogue.AddSteps([]scalar.Step{{Kind: scalar.PRelu, A: slices.Repeat([]float32{1}, f.Out), From: n.Name}})
	}
	f.Epilogue.OutBits, f.Epilogue.OutEnc = q.bits, q.enc
	if q.sameInChannels {
		f.Epilogue.Levels = floatLevels(q, 0)
	} else {
		f.Epilogue.LevelRows = levelRows(q, f.Out)
	}
	r.absorb(p, n)
}

// foldSums takes the steps of f, a layer of floats, into the quantizer q behind them, and returns
// the quantizer of f's sums. It does so where thresholds of the sums are no more than the steps
// that they replace, and where NaN has the lowest level.
func foldSums(f *graph.FusedConv, q quantizer) quantizer {
	e := &f.Epilogue
	if 1<<q.bits-1 > len(e.Steps) || len(e.Joins) > 0 || q.nan || !scalar.Increasing(e.Steps) {
		return q
	}
	sums := q.compose(e.Steps)
	for o := range f.Out {
		if sums.level(o, float32(math.NaN())) > 0 {
			return q
		}
	}
	e.Steps = nil
	return sums
}

func foldPool(r *rewriter, n *graph.Node) {
	a, ok := n.Attrs.(*graph.PoolAttrs)
	if !ok || n.Op != "max_pool" || a.Kernel != a.Strides || a.Pad.Any() {
		return
	}
	p := r.soleProducer(n)
	if p == nil || p.Op != "bconv2d" {
		return
	}
	f := p.Attrs.(*graph.FusedConv)
	if f.Pool != nil || !risesInteger(f) {
		return
	}
	f.Pool = a
	r.absorb(p, n)
}

// risesInteger reports whether f yields integer levels that never fall as its sums grow, the same
// in all border classes. In falling channels the negated sums are compared, and pooled.
func risesInteger(f *graph.FusedConv) bool {
	e := f.Epilogue
	return e.Thresholds != nil || e.Shift != nil || e.Scale != nil ||
		e.Quantizer != nil && len(e.Joins) == 0 && f.Window == nil && classes(f) == 1 && scalar.Increasing(e.Steps)
}
