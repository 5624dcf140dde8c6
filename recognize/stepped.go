package recognize

import (
	"math"
	"slices"
	"sort"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
)

// A quantizer may be spelled out in ops on single elements: sign, or clip, mul, round and div as DoReFa has them. Such a chain
// is a map that never falls and has a few values; where these are levels, it is a threshold.

// steppedBits is the number of bits up to which chains of steps become thresholds, of which there are 2^bits-1.
const steppedBits = 4

// stepped is a chain of steps as thresholds on the tensor that it starts from.
type stepped struct {
	from       string
	value      *graph.Value // type of the levels
	thresholds *graph.Tensor
}

// stepped finds the shortest chain of steps that ends in f32 tensor t and makes levels; nil if there is none. A NaN gets the
// lowest level.
func (r *rewriter) stepped(t string) *stepped {
	if q, ok := r.chains[t]; ok {
		return q
	}
	var steps []scalar.Step
	var found *stepped
	rounds := false
	for x := t; found == nil; {
		n := r.Producer(x)
		if n == nil {
			break
		}
		s := graph.Steps(r.g, n)
		if n.Op == "dequantize" {
			if n = r.Producer(n.Inputs[0]); n == nil {
				break
			}
			s = realSteps(n, r.g.Value(n.Inputs[0]).Channels())
		}
		if len(s) == 0 || !scalar.Increasing(s) {
			break
		}
		rounds = rounds || slices.ContainsFunc(s, func(s scalar.Step) bool { return s.Kind == scalar.Round || s.Kind == scalar.Sign })
		if steps, x = slices.Concat(s, steps), n.Inputs[0]; rounds {
			if found = levelsOf(steps, r.g.Value(x).Channels()); found != nil {
				found.from = x
			}
		}
	}
	r.chains[t] = found
	return found
}

// realSteps are the real values of quantize node n's levels as steps; none if n is another node.
func realSteps(n *graph.Node, channels int) []scalar.Step {
	if a, ok := n.Attrs.(*graph.QuantizeAttrs); ok {
		return a.RealSteps(channels)
	}
	return nil
}

// levelsOf is the quantizer that steps are in each of the channels, nil if they are none.
func levelsOf(steps []scalar.Step, channels int) *stepped {
	vectors := slices.ContainsFunc(steps, func(s scalar.Step) bool { return len(s.Vectors()) > 0 })
	if !vectors {
		channels = 1
	}
	values, first := jumps(steps, 0)
	v := lattice(values)
	if v == nil {
		return nil
	}
	q := &stepped{value: v, thresholds: &graph.Tensor{Shape: []int{len(first), channels}, Data: make([]float32, len(first)*channels)}}
	alike := true
	for o := range channels {
		vs, at := jumps(steps, o)
		if !slices.Equal(vs, values) {
			return nil
		}
		for j, x := range at {
			q.thresholds.Data[j*channels+o] = x
		}
		alike = alike && slices.Equal(at, first)
	}
	if alike {
		q.thresholds = &graph.Tensor{Shape: []int{len(first), 1}, Data: first}
	}
	return q
}

// jumps are the values that steps have in channel o, ascending, and the smallest numbers that have each but the first; nil if
// there are more than levels of steppedBits.
func jumps(steps []scalar.Step, o int) (values, at []float32) {
	lo, hi := f32.Order(float32(math.Inf(-1))), f32.Order(float32(math.Inf(1)))
	f := func(i int64) float32 { return scalar.EvalSteps(steps, o, f32.FromOrder(i)) }
	last := f(hi)
	for i := lo; ; {
		v := f(i)
		if v-v != 0 || len(values) == 1<<steppedBits {
			return nil, nil
		}
		if values = append(values, v+0); v == last {
			return values, at
		}
		i += int64(sort.Search(int(hi-i), func(k int) bool { return f(i+int64(k)) > v }))
		at = append(at, f32.Flush(f32.FromOrder(i)))
	}
}

// lattice is the type of levels that values, ascending, are the real values of: to the bit or the next f32, since a quotient
// and the product with a reciprocal may be rounded differently.
func lattice(values []float32) *graph.Value {
	top := len(values) - 1
	if top < 1 {
		return nil
	}
	v := &graph.Value{LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 1}}
	for top >= 1<<v.Bits {
		v.Bits++
	}
	span := float64(values[top]) - float64(values[0])
	zero := math.RoundToEven(-float64(values[0]) * float64(top) / span)
	bipolar := values[0] == -values[top] && top == 1<<v.Bits-1
	switch {
	case bipolar:
		v.Enc, v.Scale = ir.Bipolar, float64(f32.Div(values[top], float32(top)))
	case zero < 0 || zero >= float64(int(1)<<v.Bits):
		return nil
	default:
		v.Zero = int(zero)
		far := top
		if v.Zero > top-v.Zero {
			far = 0
		}
		v.Scale = float64(f32.Div(values[far], float32(far-v.Zero)))
	}
	for l, x := range reals(v)[:top+1] {
		if d := math.Abs(float64(x) - float64(values[l])); d > math.Abs(float64(x))*0x1p-22 {
			return nil
		}
	}
	return v
}

// threshold puts quantizer q in place of the chain that ends in n, and gives its levels.
func (r *rewriter) threshold(n *graph.Node, q *stepped) (string, error) {
	l := r.TensorName(n.Output + ".levels")
	a := &graph.ThresholdAttrs{LevelType: q.value.LevelType}
	t := &graph.Node{Name: n.Name + ".threshold", Op: "threshold", Attrs: a, Inputs: []string{q.from}, Weights: map[string]*graph.Tensor{"thresholds": q.thresholds}}
	return l, r.insert(n, t, l)
}
