package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"ripc/graph"
	"ripc/internal/safetensors"
)

// calibrator chooses mean and var of each normalization from the values that reach it.
type calibrator struct {
	g     *graph.Graph
	done  []*graph.Node
	worst float64 // largest |mean|/S of any channel: above 1 Riptide's formula would clip it
}

// visit is forward's hook.
func (c *calibrator) visit(n *graph.Node, x []*value) error {
	switch a := n.Attrs.(type) {
	case *graph.BatchNormAttrs:
		c.batchNorm(n, x, a)
	case *graph.ShiftNormAttrs:
		if err := c.shiftNorm(n, x, a); err != nil {
			return err
		}
	default:
		return nil
	}
	c.done = append(c.done, n)
	return nil
}

// batchNorm: the float network gets true statistics. Before a quantizer the levels shall be equally
// frequent: y = gamma*(x-mean)/sqrt(var+eps) + beta is put at the first and the last threshold.
func (c *calibrator) batchNorm(n *graph.Node, x []*value, a *graph.BatchNormAttrs) {
	q := c.quantizer(n)
	for k := range x[0].c {
		mean, std := moments(channel(x, k))
		if q != nil {
			gamma, beta := float64(n.Weights["gamma"].Data[k]), float64(n.Weights["beta"].Data[k])
			levels := float64(int(1) << q.Bits)
			v := channel(x, k)
			low, high := quantile(v, 1/levels), quantile(v, 1-1/levels)
			if q.Bits > 1 {
				std = gamma * (high - low) / ((levels - 2) * q.Scale)
			}
			mean = low - float64((q.Scale/2-beta)*std)/gamma
		}
		n.Weights["mean"].Data[k] = float32(mean)
		n.Weights["var"].Data[k] = float32(max(float64(std*std)-a.Epsilon, 0))
	}
}

// quantizer finds the quantize node behind n.
func (c *calibrator) quantizer(n *graph.Node) *graph.QuantizeAttrs {
	if next := graph.NewIndex(c.g).Consumers(n.Output); len(next) == 1 && next[0].Op == "quantize" {
		return next[0].Attrs.(*graph.QuantizeAttrs)
	}
	return nil
}

// shiftNorm puts the middle threshold at the median of the accumulators, and takes the shift that spreads the levels
// most evenly.
func (c *calibrator) shiftNorm(n *graph.Node, x []*value, a *graph.ShiftNormAttrs) error {
	if x[0].conv == nil {
		return fmt.Errorf("node %q: no bitserial op before it", n.Name)
	}
	wb := weightBits(x[0].conv)
	levels := float64(int(1) << a.Bits)
	for k := range x[0].c {
		acc := channel(x, k)
		_, step := moments(acc)
		if a.Bits > 1 {
			step = (quantile(acc, 1-1/levels) - quantile(acc, 1/levels)) / (levels - 2)
		}
		mean, variance := riptideStatistics(medianThreshold(acc), step, wb[k], a)
		n.Weights["mean"].Data[k], n.Weights["var"].Data[k] = mean, variance
		f, err := newFixedPoint(mean, variance, wb[k], a)
		if err != nil {
			return fmt.Errorf("node %q, channel %d: %w", n.Name, k, err)
		}
		c.worst = max(c.worst, f.clip)
	}
	return nil
}

// riptideStatistics gives the mean and var for which the glue's middle level starts at accumulator `middle` and a level
// is about `step` wide. sqrt(var+eps) is exactly a power of two, so that no rounding can tip the shift.
func riptideStatistics(middle, step float64, wb int, a *graph.ShiftNormAttrs) (mean, variance float32) {
	t := log2AP2(max(step, 1))
	t = max(t, wb-7) // var cannot be less than 4^-7: epsilon is in the way
	variance = float32(math.Ldexp(1, 2*(t-wb)) - a.Epsilon)
	m := middle - math.Ldexp(1, t+a.Bits-1)
	if wb > 0 {
		m += math.Ldexp(1, wb-1)
	}
	return float32(m / (float64(int(1)<<a.Bits-1) * math.Ldexp(1, wb))), variance
}

// medianThreshold is the integer t for which the fraction of values >= t is nearest to a half. v is sorted.
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

// channel collects and sorts one channel over pictures and positions.
func channel(x []*value, k int) []float64 {
	var out []float64
	for _, v := range x {
		for i := k; i < v.h*v.w*v.c; i += v.c {
			if v.f != nil {
				out = append(out, float64(v.f[i]))
			} else {
				out = append(out, float64(v.q[i]))
			}
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

// stored is a vector for a safetensors file.
func stored(v []float32) safetensors.Tensor {
	t := safetensors.Tensor{DType: "f32", Shape: []int{len(v)}}
	for _, x := range v {
		t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(x))
	}
	return t
}
