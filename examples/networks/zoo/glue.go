package zoo

import (
	"fmt"
	"math"

	"ripc/graph"
	"ripc/internal/refnet"
	"ripc/ir"
)

// log2AP2 is the exponent of the power of two nearest to x (Riptide's approximate power of two).
func log2AP2(x float64) int { return int(math.RoundToEven(math.Log2(x))) }

// fixedPoint is one channel of Riptide's glue: docs/shift-norm.md has the formula.
type fixedPoint struct {
	m, round int
	t        int
	clip     float64 // |mean|/S; above 1 the mean is clipped
}

// levelsOf is 1/step, which is an integer for levels from 0 to 1.
func levelsOf(step float64) float64 {
	if r := math.Round(1 / step); 1/r == step {
		return r
	}
	return 1 / step
}

// weightBits is -log2 AP2 of the scale of the weights' integers in a channel.
func (u *unit) weightBits(channel int) int { return -log2AP2(u.alpha[channel]) }

func (u *unit) fixedPoint(mean, variance float32, channel int, a *graph.ShiftNormAttrs) (fixedPoint, error) {
	wb, levels, top := u.weightBits(channel), levelsOf(u.step), float64(int(1)<<a.Bits-1)
	t := wb + log2AP2(math.Sqrt(float64(variance)+a.Epsilon)*(levels/top))
	if wb < 0 || t < 0 || t > 24 {
		return fixedPoint{}, fmt.Errorf("weight bits %d, shift %d", wb, t)
	}
	s := (u.largest + 1 - math.Ldexp(1, -wb)) / levels
	m := math.RoundToEven(min(max(float64(mean), -s), s) * levels * math.Ldexp(1, wb))
	f := fixedPoint{m: int(m), t: t, clip: math.Abs(float64(mean)) / s}
	switch {
	case a.Mode == graph.ShiftExactRound && t > 0:
		f.round = 1 << (t - 1)
	case a.Mode == graph.ShiftRiptide && wb > 0:
		f.round = 1 << (wb - 1)
	}
	return f, nil
}

// level quantizes an integer.
func (f fixedPoint) level(sum int, a *graph.ShiftNormAttrs) int {
	top := 1<<a.Bits - 1
	if a.Enc == ir.Unipolar {
		return min(max((sum+f.round-f.m)>>f.t, 0), top)
	}
	return min(max((sum-f.m+top<<f.t+1<<f.t)>>(f.t+1), 0), top)
}

// integer is the integer of v in channel c.
func (u *unit) integer(v float32, c int) int {
	return int(math.Round(float64(v) / float64(float32(u.step*u.alpha[c]))))
}

// track notes the unit of n's result where n moves or pools the integers of its inputs.
func (e *evaluator) track(n *graph.Node) {
	switch n.Op {
	case "max_pool", "relu", "reshape", "flatten", "concat":
	default:
		return
	}
	var out *unit
	for _, in := range n.Inputs {
		u := e.unit(in)
		if u == nil || out != nil && (out.step != u.step || out.largest != u.largest) {
			return
		}
		if out == nil {
			out = &unit{step: u.step, largest: u.largest}
		}
		out.alpha = append(out.alpha, u.alpha...)
	}
	for c := e.g.Value(n.Output).Channels(); len(out.alpha) < c; {
		out.alpha = append(out.alpha, out.alpha[:min(len(out.alpha), c-len(out.alpha))]...)
	}
	e.units[n.Output] = out
}

// unit is the scale of a tensor's integers; nil of one that has none.
func (e *evaluator) unit(tensor string) *unit {
	v := e.g.Value(tensor)
	if u := e.units[tensor]; u != nil || !v.Encoded() {
		return u
	}
	u := &unit{step: v.Scale, largest: float64(graph.IntegersOf(v.LevelType).Largest())}
	for range v.Channels() {
		u.alpha = append(u.alpha, 1)
	}
	return u
}

// sum is the integer of channel c that f, an element of v, stands for.
func (u *unit) sum(v *graph.Value, f float32, c int) int {
	if v.Encoded() {
		return int(f)
	}
	return u.integer(f, c)
}

func (e *evaluator) shiftNorm(n *graph.Node,
	a *graph.ShiftNormAttrs) (func(map[string]*refnet.Tensor) *refnet.Tensor, error) {
	in := e.g.Value(n.Inputs[0])
	u := e.unit(in.Name)
	if u == nil {
		return nil, fmt.Errorf("node %q: no bitserial op before it", n.Name)
	}
	fps := make([]fixedPoint, len(u.alpha))
	for k := range fps {
		var err error
		if fps[k], err = u.fixedPoint(n.Weights["mean"].Data.At(k), n.Weights["var"].Data.At(k), k, a); err != nil {
			return nil, fmt.Errorf("node %q, channel %d: %w", n.Name, k, err)
		}
	}
	out := e.g.Value(n.Output)
	return func(vals map[string]*refnet.Tensor) *refnet.Tensor {
		y := refnet.New(out)
		for i, v := range vals[in.Name].F {
			k := i % len(fps)
			y.F[i] = float32(out.Integer(fps[k].level(u.sum(in, v, k), a)))
		}
		return y
	}, nil
}

func batchNorm(g *graph.Graph, n *graph.Node, a *graph.BatchNormAttrs) func(map[string]*refnet.Tensor) *refnet.Tensor {
	c := g.Value(n.Output).Channels()
	s, b := make([]float32, c), make([]float32, c)
	for k := range s {
		scale := float64(n.Weights["gamma"].Data.At(k)) / math.Sqrt(float64(n.Weights["var"].Data.At(k))+a.Epsilon)
		s[k] = float32(scale)
		b[k] = float32(float64(n.Weights["beta"].Data.At(k)) - float64(n.Weights["mean"].Data.At(k))*scale)
	}
	return func(vals map[string]*refnet.Tensor) *refnet.Tensor {
		y := refnet.New(g.Value(n.Output))
		for i, v := range vals[n.Inputs[0]].F {
			y.F[i] = float32(v*s[i%c]) + b[i%c]
		}
		return y
	}
}

// quantize rounds values on a border of two levels, as the middle value of each channel is after
// calibration, without the rounding of a product: one level or the other would do, but the
// committed statistics of later layers are those of this one.
func quantize(g *graph.Graph, n *graph.Node, a *graph.QuantizeAttrs) func(map[string]*refnet.Tensor) *refnet.Tensor {
	top := float64(int(1)<<a.Bits - 1)
	return func(vals map[string]*refnet.Tensor) *refnet.Tensor {
		y := refnet.New(g.Value(n.Output))
		for i, v := range vals[n.Inputs[0]].F {
			y.F[i] = float32(math.RoundToEven(min(max(float64(v)/a.Scale, 0), top)))
		}
		return y
	}
}
