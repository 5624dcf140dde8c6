package zoo

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"ripc/graph"
	"ripc/internal/refnet"
	"ripc/internal/safetensors"
	"ripc/ir"
)

// calibrator chooses statistics of each normalization from the values that reach it.
type calibrator struct {
	g      *graph.Graph
	index  *graph.Index
	e      *evaluator
	stored map[string]safetensors.Tensor
	worst  float64 // largest |mean|/S of any channel: above 1 Riptide's formula would clip it
}

// visit is called by forward before each node.
func (c *calibrator) visit(n *graph.Node, x []*refnet.Tensor) error {
	keys := []string{"mean", "var"}
	switch a := n.Attrs.(type) {
	case *graph.BatchNormAttrs:
		c.batchNorm(n, x, a)
	case *graph.ShiftNormAttrs:
		if err := c.shiftNorm(n, x, a); err != nil {
			return err
		}
	case *graph.ThresholdAttrs:
		keys = []string{"thresholds"}
		c.threshold(n, x)
	default:
		return nil
	}
	if c.stored == nil {
		c.stored = map[string]safetensors.Tensor{}
	}
	for _, key := range keys {
		c.stored[n.Name+"."+key] = tensorOf(n.Weights[key].Shape, n.Weights[key].Data.Floats())
	}
	return nil
}

// batchNorm: the float network gets true statistics. Before a quantizer the levels shall be equally
// frequent: y = gamma*(x-mean)/sqrt(var+eps) + beta is put at the first and the last threshold.
func (c *calibrator) batchNorm(n *graph.Node, x []*refnet.Tensor, a *graph.BatchNormAttrs) {
	q := c.quantizer(n)
	channels := c.g.Value(n.Output).Channels()
	means, variances := writable(n.Weights["mean"]), writable(n.Weights["var"])
	for k := range channels {
		v := channel(x, k, channels)
		mean, std := moments(v)
		if q != nil {
			gamma, beta := float64(n.Weights["gamma"].Data.At(k)), float64(n.Weights["beta"].Data.At(k))
			levels := float64(int(1) << q.Bits)
			first, gap := q.Scale/2, q.Scale
			if q.Enc != ir.Unipolar {
				first, gap = (2-levels)*q.Scale, 2*q.Scale
			}
			low, high := quantile(v, 1/levels), quantile(v, 1-1/levels)
			if q.Bits > 1 {
				std = gamma * (high - low) / ((levels - 2) * gap)
			}
			mean = low - float64((first-beta)*std)/gamma
		}
		means[k] = float32(mean)
		variances[k] = float32(max(float64(std*std)-a.Epsilon, 0))
	}
}

// writable gives t numbers of its own, which may be set.
func writable(t *graph.Tensor) []float32 {
	data := slices.Clone(t.Data.Floats())
	t.Data = graph.NumbersOf(data)
	return data
}

// quantizer finds the quantize node behind n.
func (c *calibrator) quantizer(n *graph.Node) *graph.QuantizeAttrs {
	if next := c.index.Consumers(n.Output); len(next) == 1 && next[0].Op == "quantize" {
		return next[0].Attrs.(*graph.QuantizeAttrs)
	}
	return nil
}

// threshold puts the thresholds of each channel where the levels are equally frequent.
func (c *calibrator) threshold(n *graph.Node, x []*refnet.Tensor) {
	t := n.Weights["thresholds"]
	rows, channels := t.Shape[0], t.Shape[1]
	data := writable(t)
	for k := range channels {
		v := channel(x, k, channels)
		for i := range rows {
			data[i*channels+k] = float32(quantile(v, float64(i+1)/float64(rows+1)))
		}
	}
}

// shiftNorm puts the middle threshold at the median of the integers, and takes the shift that
// spreads the levels most evenly.
func (c *calibrator) shiftNorm(n *graph.Node, x []*refnet.Tensor, a *graph.ShiftNormAttrs) error {
	in := c.g.Value(n.Inputs[0])
	u := c.e.unit(in.Name)
	if u == nil {
		return fmt.Errorf("node %q: no bitserial op before it", n.Name)
	}
	levels := float64(int(1) << a.Bits)
	means, variances := writable(n.Weights["mean"]), writable(n.Weights["var"])
	for k := range u.alpha {
		acc := channel(x, k, len(u.alpha))
		for i, v := range acc {
			acc[i] = float64(u.sum(in, float32(v), k))
		}
		_, step := moments(acc)
		if a.Bits > 1 {
			step = (quantile(acc, 1-1/levels) - quantile(acc, 1/levels)) / (levels - 2)
		}
		mean, variance := u.statistics(medianThreshold(acc), step, k, a)
		means[k], variances[k] = mean, variance
		f, err := u.fixedPoint(mean, variance, k, a)
		if err != nil {
			return fmt.Errorf("node %q, channel %d: %w", n.Name, k, err)
		}
		c.worst = max(c.worst, f.clip)
	}
	return nil
}

// statistics gives the mean and var for which the glue's middle level starts at integer `middle`
// and a level is about `step` wide. sqrt(var+eps) is a power of two times a constant, so that no
// rounding can tip the shift.
func (u *unit) statistics(middle, step float64, channel int, a *graph.ShiftNormAttrs) (mean, variance float32) {
	wb, levels, top := u.weightBits(channel), levelsOf(u.step), float64(int(1)<<a.Bits-1)
	if a.Enc != ir.Unipolar {
		step /= 2 // a level is two steps wide
	}
	t := log2AP2(max(step, 1))
	t = max(t, wb-7) // var cannot be less than 4^-7: epsilon is in the way
	variance = float32(math.Ldexp((top/levels)*(top/levels), 2*(t-wb)) - a.Epsilon)
	m := middle
	if a.Enc == ir.Unipolar {
		m -= math.Ldexp(1, t+a.Bits-1)
		switch {
		case a.Mode == graph.ShiftExactRound && t > 0:
			m += math.Ldexp(1, t-1)
		case a.Mode == graph.ShiftRiptide && wb > 0:
			m += math.Ldexp(1, wb-1)
		}
	}
	return float32(m / (levels * math.Ldexp(1, wb))), variance
}

// medianThreshold is the integer t for which the fraction of values >= t is nearest to a half. v is
// sorted.
func medianThreshold(v []float64) float64 {
	best, bestOff := v[len(v)/2], math.Inf(1)
	for _, t := range []float64{v[len(v)/2], v[len(v)/2] + 1} {
		below, _ := slices.BinarySearch(v, t)
		if off := math.Abs(float64(below)/float64(len(v)) - 0.5); off < bestOff {
			best, bestOff = t, off
		}
	}
	return best
}

// channel collects and sorts the values of one channel over pictures and positions.
func channel(x []*refnet.Tensor, k, channels int) []float64 {
	var out []float64
	for _, v := range x {
		for i := k; i < len(v.F); i += channels {
			out = append(out, float64(v.F[i]))
		}
	}
	slices.Sort(out)
	return out
}

// quantile reads sorted values.
func quantile(v []float64, p float64) float64 { return v[int(p*float64(len(v)-1))] }

func moments(v []float64) (mean, std float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		d := x - mean
		std += float64(d*d) / float64(len(v))
	}
	return mean, math.Sqrt(std)
}

// tensorOf makes a tensor for a safetensors file.
func tensorOf(shape []int, v []float32) safetensors.Tensor {
	t := safetensors.Tensor{DType: "f32", Shape: shape}
	for _, x := range v {
		t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(x))
	}
	return t
}
