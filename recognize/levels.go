package recognize

import (
	"context"
	"math"
	"slices"
	"strconv"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// source is what f32 tensor t is made from as levels: v is their type (its shape is not t's), why,
// where v is nil, says what makes it a tensor of real numbers. Levels come from a dequantize, and
// pass what neither computes nor averages.
func (r *rewriter) source(t string) (v *graph.Value, why graph.Verdict) {
	s := r.origin(t)
	return s.value, s.why
}

// origin is what source says, found once.
type origin struct {
	value *graph.Value
	why   graph.Verdict
	made  bool // a quantizer, which the graph does not have yet, makes the levels
}

func (r *rewriter) origin(t string) origin {
	s, ok := r.sources[t]
	if ok {
		return s
	}
	s.value, s.why = r.findSource(t)
	if n := r.Producer(t); s.value != nil {
		_, sum := n.Attrs.(*graph.BinaryOpAttrs)
		if _, mean := r.averaged(n); mean {
			sum = true
		}
		s.made = sum || !r.idle(n) && r.stepped(t) != nil || n.Op != "dequantize" && !r.idle(n) && r.ends(n) || n.Op != "dequantize" && slices.ContainsFunc(n.Inputs, func(in string) bool { return r.origin(in).made })
	}
	r.sources[t] = s
	return s
}

// because is a verdict that n causes.
func because(why graph.Reason, n *graph.Node) graph.Verdict {
	return graph.Verdict{Reason: why, Where: n.Name, Args: ir.Args{Op: n.Op}}
}

// remark is what there is to say of the quantizer that n is.
func remark(why graph.Reason, n *graph.Node) graph.Verdict {
	v := because(why, n)
	v.Kind = graph.Bits
	return v
}

func (r *rewriter) findSource(t string) (v *graph.Value, why graph.Verdict) {
	n := r.Producer(t)
	if n == nil {
		return nil, r.realInput(t)
	}
	float := because(graph.WhyMakesReals, n)
	if r.chain(t) == nil {
		if u, ok := r.uneven[t]; ok && u.channels {
			float = because(graph.WhyScaledLevels, n)
		} else if ok {
			float = because(graph.WhyUnevenLevels, n)
			float.Args.Count = int64(u.values)
		}
	}
	if q := r.chain(t); q != nil && q.nearly && r.options.ExactFloats {
		float = because(graph.WhyNearly, n)
		float.Args.Bits = q.value.Bits
	}
	if bits, ok := r.nearSums[t]; ok {
		float = because(graph.WhyNearly, n)
		float.Args.Bits = bits
	}
	switch a := n.Attrs.(type) {
	case *graph.ConcatAttrs:
		for i, in := range n.Inputs {
			w, why := r.source(in)
			if w == nil {
				return nil, why
			}
			if i > 0 && w.LevelType != v.LevelType {
				if q := r.valued(t); q != nil {
					return q.value, graph.Verdict{}
				}
				return nil, because(graph.WhyMixedLevels, n)
			}
			v = w
		}
		return v, graph.Verdict{}
	case *graph.SpatialPadAttrs:
		if v, why = r.source(n.Inputs[0]); v != nil && !exactly(v, a.Value) {
			if q := r.valued(t); q != nil {
				return q.value, graph.Verdict{}
			}
			why = because(graph.WhyPadValue, n)
			why.Args.Value, why.Args.Bits, why.Args.Levels = number(a.Value), v.Bits, v.Enc.String()
			return nil, why
		}
		return v, why
	case *graph.BinaryOpAttrs:
		if len(n.Inputs) == 2 {
			if q := r.stepped(t); q != nil {
				return q.value, graph.Verdict{}
			}
			if v, why = r.sum(n); v != nil {
				return v, why
			}
			if q := r.valued(t); q != nil {
				return q.value, graph.Verdict{}
			}
			if float.Reason != graph.WhyMakesReals {
				why = float
			}
			return nil, why
		}
		if q := r.stepped(t); q == nil && !r.idle(n) {
			if v = r.affine(n); v != nil {
				return v, graph.Verdict{}
			}
		}
	case *graph.SliceAttrs, *graph.ReshapeAttrs, *graph.TransposeAttrs, *graph.BlockAttrs, *graph.ResizeAttrs, *graph.GatherAttrs:
		return r.source(n.Inputs[0])
	case *graph.PoolAttrs:
		if n.Op == "max_pool" {
			return r.source(n.Inputs[0])
		}
		return r.mean(n)
	}
	switch n.Op {
	case "global_avg_pool":
		return r.mean(n)
	case "dequantize":
		if q := r.stepped(t); q != nil {
			return q.value, graph.Verdict{}
		}
		if v = r.g.Value(n.Inputs[0]); !(v.Scale > 0) {
			why = because(graph.WhyLevelScale, n)
			why.Args.Value = number(v.Scale)
			return nil, why
		}
		return v, graph.Verdict{}
	case "flatten":
		return r.source(n.Inputs[0])
	}
	if r.idle(n) {
		return r.source(n.Inputs[0])
	}
	if q := r.stepped(t); q != nil {
		return q.value, graph.Verdict{}
	}
	if r.single(n) {
		if q := r.valued(t); q != nil {
			return q.value, graph.Verdict{}
		}
	}
	if a, ok := n.Attrs.(*graph.FakeQuantAttrs); ok {
		return nil, fakeQuantReason(n, a)
	}
	if float.Reason == graph.WhyMakesReals {
		if why, ok := r.spoilt(n); ok {
			return nil, why
		}
		if why := r.realInput(t); why.Reason == graph.WhyDeclaredOnly {
			return nil, why
		}
	}
	return nil, float
}

// realInput says of f32 tensor t, which single ops make of an input, that it has real numbers.
func (r *rewriter) realInput(t string) graph.Verdict {
	why := graph.Verdict{Reason: graph.WhyInputReal}
	if declared := r.g.Value(r.start(t)).Declared; declared != "" {
		why.Reason, why.Args.Levels = graph.WhyDeclaredOnly, declared
	}
	return why
}

// start is the tensor from which single ops, and ops that only move elements, make f32 tensor t.
func (r *rewriter) start(t string) string {
	from, known := t, false
	var passed []string
	for !known {
		n := r.Producer(from)
		if n == nil || len(n.Inputs) != 1 || !r.single(n) && n.Op != "transpose" && n.Op != "reshape" && n.Op != "flatten" {
			break
		}
		passed = append(passed, from)
		if from, known = r.starts[n.Inputs[0]]; !known {
			from = n.Inputs[0]
		}
	}
	for _, p := range passed {
		r.starts[p] = from
	}
	return from
}

// spoilt says what keeps n, an op on single elements of levels, from making levels, if it is that.
func (r *rewriter) spoilt(n *graph.Node) (why graph.Verdict, ok bool) {
	if !r.single(n) || len(n.Inputs) != 1 || n.Op == "dequantize" {
		return why, false
	}
	if v, _ := r.source(n.Inputs[0]); v == nil {
		return why, false
	}
	if r.varies(n) {
		return because(graph.WhyScaledLevels, n), true
	}
	if values := r.values(n.Output, 0); values != nil {
		why = because(graph.WhyUnevenLevels, n)
		why.Args.Count = int64(len(values))
		return why, true
	}
	return why, false
}

// affine is the type that levels have which n, an op with a number, gives another scale or offset;
// nil if n is no such op, or its f32 values are others.
func (r *rewriter) affine(n *graph.Node) *graph.Value {
	x, _ := r.source(n.Inputs[0])
	if x == nil {
		return nil
	}
	m := *n
	g := &graph.Graph{Values: map[string]*graph.Value{n.Inputs[0]: {Name: n.Inputs[0], Shape: r.g.Value(n.Inputs[0]).Shape, LevelType: x.LevelType}}}
	v, _, err := graph.Infer(g, &m)
	if err != nil || !v.Encoded() {
		return nil
	}
	f := graph.ElementFunction(r.g, n)
	out := reals(v)
	largest := math.Max(math.Abs(float64(out[0])), math.Abs(float64(out[len(out)-1])))
	for l, y := range reals(x) {
		if math.Abs(float64(f(0, []float32{y})-out[l])) > 0x1p-22*largest {
			return nil
		}
	}
	return v
}

// fakeQuantReason says why fake_quant n makes no levels.
func fakeQuantReason(n *graph.Node, a *graph.FakeQuantAttrs) graph.Verdict {
	switch {
	case n.Weights["scale"].Data.Len() > 1:
		return because(graph.WhyChannelScales, n)
	case a.Max-a.Min > 255:
		why := because(graph.WhyWideQuantizer, n)
		why.Args.Most = 8
		return why
	}
	return because(graph.WhyMakesReals, n)
}

// number is a real number as an argument.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// idle reports whether n, an op on single elements, gives each of the levels that its input is made
// from back.
func (r *rewriter) idle(n *graph.Node) bool {
	steps := graph.Steps(r.g, n)
	if len(steps) == 0 || slices.ContainsFunc(steps, func(s scalar.Step) bool { return slices.ContainsFunc(s.Vectors(), mixed) }) {
		return false
	}
	v, _ := r.source(n.Inputs[0])
	return v != nil && !slices.ContainsFunc(reals(v), func(x float32) bool { return scalar.EvalSteps(steps, 0, x) != x })
}

// exactly reports whether real is one of v's levels, to the bit.
func exactly(v *graph.Value, real float64) bool {
	level, ok := v.Level(real)
	return ok && v.Float(level) == float32(real)
}

// reals are the real values of all levels that v can have.
func reals(v *graph.Value) []float32 {
	var out []float32
	for l := range 1 << v.Bits {
		out = append(out, v.Float(l))
	}
	return out
}

// mixed reports whether the numbers in v differ.
func mixed(v []float32) bool {
	return slices.ContainsFunc(v, func(x float32) bool { return x != v[0] })
}

// sink gives the levels that f32 tensor t, which has a source, is made from. The nodes between t
// and its dequantize come to work on levels, each with a dequantize behind it for those who still
// want floats.
func (r *rewriter) sink(t string) (string, error) {
	if l, ok := r.levels[t]; ok {
		return l, nil
	}
	n := r.Producer(t)
	l, err := "", error(nil)
	switch {
	case n.Op != "dequantize" && r.idle(n):
		l, err = r.sink(n.Inputs[0])
	case r.stepped(t) != nil:
		l, err = r.threshold(n, r.stepped(t))
	case n.Op == "dequantize":
		l = n.Inputs[0]
	case r.averages(n):
		l, err = r.meanLevels(n)
	case r.adds(n):
		l, err = r.sumLevels(n)
	case r.ends(n):
		l, err = r.threshold(n, r.valued(t))
	default:
		l, err = r.sinkNode(n)
	}
	if err == nil {
		r.levels[t] = l
	}
	return l, err
}

// adds reports whether n adds up levels to levels.
func (r *rewriter) adds(n *graph.Node) bool {
	if _, ok := n.Attrs.(*graph.BinaryOpAttrs); !ok || len(n.Inputs) != 2 {
		return false
	}
	v, _ := r.sum(n)
	return v != nil
}

// ends reports whether the levels of n, of which there is a source, are made behind it, by value.
func (r *rewriter) ends(n *graph.Node) bool {
	switch a := n.Attrs.(type) {
	case *graph.ConcatAttrs:
		v, _ := r.source(n.Inputs[0])
		return slices.ContainsFunc(n.Inputs, func(in string) bool {
			w, _ := r.source(in)
			return w.LevelType != v.LevelType
		})
	case *graph.SpatialPadAttrs:
		v, _ := r.source(n.Inputs[0])
		return !exactly(v, a.Value)
	}
	return r.single(n) && (len(n.Inputs) > 1 || r.affine(n) == nil)
}

// sinkNode makes n a node of levels.
func (r *rewriter) sinkNode(n *graph.Node) (string, error) {
	in := make([]string, len(n.Inputs))
	for i := range in {
		var err error
		if in[i], err = r.sink(n.Inputs[i]); err != nil {
			return "", err
		}
	}
	out := n.Output
	l := r.TensorName(out + ".levels")
	r.SetInputs(n, in...)
	r.SetOutput(n, l)
	if err := r.Retype(n); err != nil {
		return "", err
	}
	return l, r.insert(n, &graph.Node{Name: n.Name + ".dequantize", Op: "dequantize", Attrs: &graph.NoAttrs{}, Inputs: []string{l}}, out)
}

// requantize takes out quantizers that give the levels which their input is made from: who reads
// their real values reads that input, and who reads the levels gets those.
func requantize(ctx context.Context, r *rewriter) error {
	for n := range r.Each(ctx) {
		a, ok := n.Attrs.(*graph.QuantizeAttrs)
		if !ok {
			continue
		}
		s, y := r.origin(n.Inputs[0]), r.g.Value(n.Output)
		v := s.value
		if v == nil || s.made || v.LevelType != y.LevelType || !keeps(a, v) {
			continue
		}
		for _, c := range r.Consumers(y.Name) {
			if c.Op == "dequantize" && !r.g.IsOutput(c.Output) {
				r.changed = r.Redirect(c.Output, n.Inputs[0]) || r.changed
				continue
			}
			l, err := r.sink(n.Inputs[0])
			if err != nil {
				return err
			}
			inputs := slices.Clone(c.Inputs)
			for i, in := range inputs {
				if in == y.Name {
					inputs[i], r.changed = l, true
				}
			}
			r.SetInputs(c, inputs...)
		}
	}
	return nil
}

// keeps reports whether quantizer a gives each level of v for its real value.
func keeps(a *graph.QuantizeAttrs, v *graph.Value) bool {
	for l, x := range reals(v) {
		if a.Eval(x) != v.Stored(l) {
			return false
		}
	}
	return true
}
