package recognize

import (
	"math"
	"slices"
	"strconv"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/lists"
	"ripc/ir"
)

// source traces f32 tensor t to levels. v is the type of the levels, but has another shape than t.
// If v is nil, why says which node makes t a tensor of real numbers. Levels come from a dequantize,
// and pass through ops that neither compute nor average.
func (r *rewriter) source(t string) (v *graph.Value, why graph.Verdict) {
	s := r.origin(t)
	return s.value, s.why
}

// origin is the result of source, kept for each tensor.
type origin struct {
	value          *graph.Value
	why            graph.Verdict
	needsQuantizer bool // the levels need a quantizer that the graph does not have yet
}

func (r *rewriter) origin(t string) origin {
	s, ok := r.sources[t]
	if ok {
		return s
	}
	s.value, s.why = r.findSource(t)
	if n := r.Producer(t); s.value != nil {
		_, sum := n.Attrs.(*graph.BinaryOpAttrs)
		if _, mean := r.poolWindow(n); mean {
			sum = true
		}
		s.needsQuantizer = sum || !r.isIdentity(n) && r.findQuantizer(t) != nil ||
			n.Op != "dequantize" && !r.isIdentity(n) && r.needsThreshold(n) || n.Op != "dequantize" &&
			slices.ContainsFunc(n.Inputs, func(in string) bool { return r.origin(in).needsQuantizer })
	}
	r.sources[t] = s
	return s
}

// verdictAt returns a verdict with n as its cause.
func verdictAt(why graph.Reason, n *graph.Node) graph.Verdict {
	return graph.Verdict{Reason: why, Where: n.Name, Args: ir.Args{Op: n.Op}}
}

// remark returns a verdict on n, a quantizer.
func remark(why graph.Reason, n *graph.Node) graph.Verdict {
	v := verdictAt(why, n)
	v.Kind = graph.Bits
	return v
}

func (r *rewriter) findSource(t string) (v *graph.Value, why graph.Verdict) {
	n := r.Producer(t)
	if n == nil {
		return nil, r.realInput(t)
	}
	float := verdictAt(graph.WhyMakesReals, n)
	if r.nearQuantizer(t) == nil {
		if u, ok := r.uneven[t]; ok && u.byChannel {
			float = verdictAt(graph.WhyScaledLevels, n)
		} else if ok {
			float = verdictAt(graph.WhyUnevenLevels, n)
			float.Args.Count = int64(u.values)
		}
	}
	if q := r.nearQuantizer(t); q != nil && q.isNear && r.options.ExactFloats {
		float = verdictAt(graph.WhyNearly, n)
		float.Args.Bits = q.value.Bits
	}
	if bits, ok := r.nearSums[t]; ok {
		float = verdictAt(graph.WhyNearly, n)
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
				if q := r.valueQuantizer(t); q != nil {
					return q.value, graph.Verdict{}
				}
				return nil, verdictAt(graph.WhyMixedLevels, n)
			}
			v = w
		}
		return v, graph.Verdict{}
	case *graph.SpatialPadAttrs:
		if v, why = r.source(n.Inputs[0]); v != nil && !isLevel(v, a.Value) {
			if q := r.valueQuantizer(t); q != nil {
				return q.value, graph.Verdict{}
			}
			why = verdictAt(graph.WhyPadValue, n)
			why.Args.Value, why.Args.Bits, why.Args.Levels = formatNumber(a.Value), v.Bits, v.Enc.String()
			return nil, why
		}
		return v, why
	case *graph.BinaryOpAttrs:
		if len(n.Inputs) == 2 {
			if q := r.findQuantizer(t); q != nil {
				return q.value, graph.Verdict{}
			}
			if v, why = r.sum(n); v != nil {
				return v, why
			}
			if q := r.valueQuantizer(t); q != nil {
				return q.value, graph.Verdict{}
			}
			if float.Reason != graph.WhyMakesReals {
				why = float
			}
			return nil, why
		}
		if q := r.findQuantizer(t); q == nil && !r.isIdentity(n) {
			if v = r.affine(n); v != nil {
				return v, graph.Verdict{}
			}
		}
	}
	switch n.Op {
	case "avg_pool", "global_avg_pool":
		return r.mean(n)
	case "dequantize":
		if q := r.findQuantizer(t); q != nil {
			return q.value, graph.Verdict{}
		}
		if v = r.g.Value(n.Inputs[0]); !(v.Scale > 0) {
			why = verdictAt(graph.WhyLevelScale, n)
			why.Args.Value = formatNumber(v.Scale)
			return nil, why
		}
		return v, graph.Verdict{}
	}
	if n.Moves() || r.isIdentity(n) {
		return r.source(n.Inputs[0])
	}
	if q := r.findQuantizer(t); q != nil {
		return q.value, graph.Verdict{}
	}
	if r.isElementwise(n) {
		if q := r.valueQuantizer(t); q != nil {
			return q.value, graph.Verdict{}
		}
	}
	if a, ok := n.Attrs.(*graph.FakeQuantAttrs); ok {
		return nil, fakeQuantReason(n, a)
	}
	if float.Reason == graph.WhyMakesReals {
		if why, ok := r.obstacle(n); ok {
			return nil, why
		}
		if why := r.realInput(t); why.Reason == graph.WhyDeclaredOnly {
			return nil, why
		}
	}
	return nil, float
}

// realInput returns the verdict on f32 tensor t, which elementwise ops compute from a real input of
// the graph.
func (r *rewriter) realInput(t string) graph.Verdict {
	why := graph.Verdict{Reason: graph.WhyInputReal}
	if declared := r.g.Value(r.startOf(t)).Declared; declared != "" {
		why.Reason, why.Args.Levels = graph.WhyDeclaredOnly, declared
	}
	return why
}

// startOf returns the tensor from which ops on single elements and ops that move elements compute
// f32 tensor t.
func (r *rewriter) startOf(t string) string {
	from, known := t, false
	var passed []string
	for !known {
		n := r.Producer(from)
		if n == nil || len(n.Inputs) != 1 ||
			!r.isElementwise(n) && n.Op != "transpose" && n.Op != "reshape" && n.Op != "flatten" {
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

// obstacle returns the reason why n, an elementwise op on levels, makes no levels. ok is false if n
// is no such op or is not to blame.
func (r *rewriter) obstacle(n *graph.Node) (why graph.Verdict, ok bool) {
	if !r.isElementwise(n) || len(n.Inputs) != 1 || n.Op == "dequantize" {
		return why, false
	}
	if v, _ := r.source(n.Inputs[0]); v == nil {
		return why, false
	}
	if r.variesByChannel(n) {
		return verdictAt(graph.WhyScaledLevels, n), true
	}
	if values := r.values(n.Output, 0); values != nil {
		why = verdictAt(graph.WhyUnevenLevels, n)
		why.Args.Count = int64(len(values))
		return why, true
	}
	return why, false
}

// affine returns the type of the levels that n makes by giving its input's levels another scale or
// offset. It returns nil if n is no such op, or if its f32 results differ from the real values of
// that type.
func (r *rewriter) affine(n *graph.Node) *graph.Value {
	x, _ := r.source(n.Inputs[0])
	if x == nil {
		return nil
	}
	m := *n
	g := &graph.Graph{Values: map[string]*graph.Value{n.Inputs[0]: {Name: n.Inputs[0],
		Shape: r.g.Value(n.Inputs[0]).Shape, LevelType: x.LevelType}}}
	v, _, err := graph.Infer(g, &m)
	if err != nil || !v.Encoded() {
		return nil
	}
	f := graph.ElementFunction(r.g, n)
	out := levelValues(v)
	largest := math.Max(math.Abs(float64(out[0])), math.Abs(float64(out[len(out)-1])))
	for l, y := range levelValues(x) {
		if math.Abs(float64(f(0, []float32{y})-out[l])) > 0x1p-22*largest {
			return nil
		}
	}
	return v
}

// fakeQuantReason returns the reason why fake_quant n makes no levels.
func fakeQuantReason(n *graph.Node, a *graph.FakeQuantAttrs) graph.Verdict {
	switch {
	case n.Weights["scale"].Data.Len() > 1:
		return verdictAt(graph.WhyChannelScales, n)
	case a.Max-a.Min > 255:
		why := verdictAt(graph.WhyWideQuantizer, n)
		why.Args.Most = 8
		return why
	}
	return verdictAt(graph.WhyMakesReals, n)
}

// formatNumber formats a real number for a verdict's arguments.
func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// isIdentity reports whether n, an elementwise op, maps the real value of each input level to
// itself.
func (r *rewriter) isIdentity(n *graph.Node) bool {
	steps := graph.Steps(r.g, n)
	if len(steps) == 0 || slices.ContainsFunc(steps,
		func(s scalar.Step) bool { return slices.ContainsFunc(s.Vectors(), differ) }) {
		return false
	}
	v, _ := r.source(n.Inputs[0])
	return v != nil && !slices.ContainsFunc(levelValues(v), func(x float32) bool {
		return scalar.EvalSteps(steps, 0, x) != x
	})
}

// isLevel reports whether real is the value of one of v's levels, to the bit.
func isLevel(v *graph.Value, real float64) bool {
	level, ok := v.Level(real)
	return ok && v.Float(level) == float32(real)
}

// levelValues returns the real values of all levels of v.
func levelValues(v *graph.Value) []float32 {
	var out []float32
	for l := range 1 << v.Bits {
		out = append(out, v.Float(l))
	}
	return out
}

// differ reports whether the numbers in v differ.
func differ(v []float32) bool {
	return slices.ContainsFunc(v, func(x float32) bool { return x != v[0] })
}

// sink returns the tensor of levels that f32 tensor t, which has a source, is made from. The nodes
// between t and its dequantize come to work on levels. Readers that still want floats get a
// dequantize of their own.
func (r *rewriter) sink(t string) string {
	if l, ok := r.levels[t]; ok {
		return l
	}
	n := r.Producer(t)
	l := ""
	switch {
	case n.Op != "dequantize" && r.isIdentity(n):
		l = r.sink(n.Inputs[0])
	case r.findQuantizer(t) != nil:
		l = r.threshold(n, r.findQuantizer(t))
	case n.Op == "dequantize":
		l = n.Inputs[0]
	case r.averagesLevels(n):
		l = r.meanLevels(n)
	case r.addsLevels(n):
		l = r.sumLevels(n)
	case r.needsThreshold(n):
		l = r.threshold(n, r.valueQuantizer(t))
	default:
		l = r.sinkNode(n)
	}
	r.levels[t] = l
	return l
}

// addsLevels reports whether n adds levels and yields levels.
func (r *rewriter) addsLevels(n *graph.Node) bool {
	if _, ok := n.Attrs.(*graph.BinaryOpAttrs); !ok || len(n.Inputs) != 2 {
		return false
	}
	v, _ := r.sum(n)
	return v != nil
}

// needsThreshold reports whether n, which has a source, must compute in floats. A quantizer behind
// n then makes its levels from the values.
func (r *rewriter) needsThreshold(n *graph.Node) bool {
	switch a := n.Attrs.(type) {
	case *graph.ConcatAttrs:
		v, _ := r.source(n.Inputs[0])
		return slices.ContainsFunc(n.Inputs, func(in string) bool {
			w, _ := r.source(in)
			return w.LevelType != v.LevelType
		})
	case *graph.SpatialPadAttrs:
		v, _ := r.source(n.Inputs[0])
		return !isLevel(v, a.Value)
	}
	return r.isElementwise(n) && (len(n.Inputs) > 1 || r.affine(n) == nil)
}

// sinkNode makes n work on levels, and returns its output.
func (r *rewriter) sinkNode(n *graph.Node) string {
	in := lists.Map(n.Inputs, r.sink)
	out := n.Output
	l := r.TensorName(out + ".levels")
	r.SetInputs(n, in...)
	r.SetOutput(n, l)
	r.retype(n)
	r.insert(n, &graph.Node{Name: n.Name + ".dequantize", Op: "dequantize", Attrs: &graph.NoAttrs{},
		Inputs: []string{l}}, out)
	return l
}

// requantize removes quantizers that map each input level to itself. Readers of their real values
// then read the input's values, and readers of their levels the input's levels.
func requantize(r *rewriter, n *graph.Node) {
	a, ok := n.Attrs.(*graph.QuantizeAttrs)
	if !ok {
		return
	}
	s, y := r.origin(n.Inputs[0]), r.g.Value(n.Output)
	if v := s.value; v == nil || s.needsQuantizer || v.LevelType != y.LevelType || !keepsLevels(a, v) {
		return
	}
	for _, c := range r.Consumers(y.Name) {
		if c.Op == "dequantize" && !r.g.IsOutput(c.Output) {
			r.changed = r.Redirect(c.Output, n.Inputs[0]) || r.changed
			continue
		}
		l := r.sink(n.Inputs[0])
		inputs := slices.Clone(c.Inputs)
		for i, in := range inputs {
			if in == y.Name {
				inputs[i], r.changed = l, true
			}
		}
		r.SetInputs(c, inputs...)
	}
}

// keepsLevels reports whether quantizer a maps the real value of each level of v to that level.
func keepsLevels(a *graph.QuantizeAttrs, v *graph.Value) bool {
	for l, x := range levelValues(v) {
		if a.Eval(x) != v.StoredLevel(l) {
			return false
		}
	}
	return true
}
