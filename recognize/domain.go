package recognize

import (
	"math"
	"slices"
	"sort"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
)

// domain bounds the numbers that a tensor may hold: none below lo or above hi.
type domain struct {
	lo, hi float32
	// contains reports whether some number of the tensor lies in a..b. nil: any number may.
	contains func(a, b float32) bool
}

// realDomain returns the domain of a tensor with unknown contents.
func realDomain() domain {
	inf := float32(math.Inf(1))
	return domain{lo: -inf, hi: inf}
}

// finiteDomain returns realDomain without the infinities.
func finiteDomain() domain { return domain{lo: -math.MaxFloat32, hi: math.MaxFloat32} }

// strand is a monotone list of n numbers, at(0) to at(n-1). A tensor's possible numbers form a few
// strands. The sums of a bitserial layer, for example, are a strand of integers, and each op behind
// the layer maps it to another strand.
type strand struct {
	n  int64
	at func(i int64) float32
}

// maxStrands bounds the strands of a tensor, and the numbers of a strand that is added to others.
const maxStrands = 256

// meets reports whether a number of s lies in a..b.
func (s strand) meets(a, b float32) bool {
	i := 0
	if s.at(0) <= s.at(s.n-1) {
		i = sort.Search(int(s.n), func(i int) bool { return s.at(int64(i)) >= a })
	} else {
		i = sort.Search(int(s.n), func(i int) bool { return s.at(int64(i)) <= b })
	}
	return int64(i) < s.n && s.at(int64(i)) >= a && s.at(int64(i)) <= b
}

// domainOf returns the domain of channel o of tensor t, or of all channels if o is -1.
func (r *rewriter) domainOf(t string, o int) domain {
	d := domain{lo: float32(math.Inf(1)), hi: float32(math.Inf(-1))}
	channels := []int{o}
	if o < 0 {
		channels = nil
		for c := range r.g.Value(t).Channels() {
			channels = append(channels, c)
		}
	}
	var all []strand
	clear(r.knownStrands)
	for _, c := range channels {
		strands := r.strands(t, c, 0)
		for _, s := range strands {
			for _, v := range []float32{s.at(0), s.at(s.n - 1)} {
				if v != v { // inf - inf
					return realDomain()
				}
				d.lo, d.hi = min(d.lo, v), max(d.hi, v)
			}
		}
		all = append(all, strands...)
	}
	d.contains = func(a, b float32) bool {
		return slices.ContainsFunc(all, func(s strand) bool { return s.meets(a, b) })
	}
	return d
}

// maxDepth bounds the producers that strands follows upwards.
const maxDepth = 32

// line returns the strand of all f32 numbers.
func line() []strand {
	lo, hi := f32.Order(float32(math.Inf(-1))), f32.Order(float32(math.Inf(1)))
	return []strand{{hi - lo + 1, func(i int64) float32 { return f32.Flush(f32.FromOrder(lo + i)) }}}
}

// strands returns the numbers that channel o of f32 tensor t may hold.
func (r *rewriter) strands(t string, o, depth int) []strand {
	n := r.Producer(t)
	if n == nil || depth > maxDepth {
		return line()
	}
	s, ok := r.knownStrands[place{t, o}]
	if !ok {
		if s = r.strandsOf(n, o, depth); len(s) == 0 || len(s) > maxStrands {
			s = line()
		}
		r.knownStrands[place{t, o}] = s
	}
	return s
}

// place is a channel of a tensor.
type place struct {
	tensor  string
	channel int
}

// strandsOf returns the strands of channel o of n's output. It returns none if nothing is known of
// them.
func (r *rewriter) strandsOf(n *graph.Node, o, depth int) []strand {
	above := func(o int) []strand { return r.strands(n.Inputs[0], o, depth+1) }
	if b, _ := binaryAttrs(n); b != nil {
		if s := r.sumsOf(n, b); s != nil {
			return []strand{s.strand(o)}
		}
		return nil
	}
	if steps := graph.Steps(r.g, n); len(steps) > 0 {
		if slices.ContainsFunc(steps, func(s scalar.Step) bool { return !s.Monotone() }) {
			return nil
		}
		return mapStrands(above(o), func(x float32) float32 { return scalar.EvalSteps(steps, o, x) })
	}
	in := func(i int) *graph.Value { return r.g.Value(n.Inputs[i]) }
	switch a := n.Attrs.(type) {
	case *graph.PoolAttrs:
		if n.Op == "max_pool" {
			return above(o)
		}
	case *graph.SpatialPadAttrs:
		v := float32(a.Value)
		return append(slices.Clone(above(o)), strand{1, func(int64) float32 { return v }})
	case *graph.ResizeAttrs, *graph.GatherAttrs:
		return above(o)
	case *graph.SliceAttrs:
		last := len(a.Begin) - 1
		return above(a.Begin[last] + o*a.Stride[last])
	case *graph.ReshapeAttrs:
		return r.reshapeStrands(n, o, above)
	case *graph.TransposeAttrs:
		if last := len(a.Perm) - 1; a.Perm[last] == last {
			return above(o)
		}
	case *graph.ConcatAttrs:
		for i, x := range n.Inputs {
			if c := in(i).Channels(); o < c {
				return r.strands(x, o, depth+1)
			} else {
				o -= c
			}
		}
	case *graph.BinaryOpAttrs:
		if len(n.Inputs) == 2 && (n.Op == "add" || n.Op == "sub") && in(0).Channels() == in(1).Channels() {
			return sumsOfStrands(above(o), r.strands(n.Inputs[1], o, depth+1), n.Op == "sub")
		}
	}
	switch n.Op {
	case "flatten":
		return r.reshapeStrands(n, o, above)
	case "dequantize":
		v := in(0).LevelType
		return []strand{{int64(1) << v.Bits, func(i int64) float32 { return v.Float(int(i)) }}}
	}
	return nil
}

// reshapeStrands returns the strands of n, a flatten. Several input channels may meet in channel o.
func (r *rewriter) reshapeStrands(n *graph.Node, o int, above func(o int) []strand) []strand {
	from, to := r.g.Value(n.Inputs[0]).Channels(), r.g.Value(n.Output).Channels()
	switch {
	case to%from == 0:
		return above(o % from)
	case from%to != 0:
		return nil
	}
	var all []strand
	for c := o; c < from; c += to {
		if all = append(all, above(c)...); len(all) > maxStrands {
			return nil
		}
	}
	return all
}

// mapStrands applies f, which is monotone, to strands.
func mapStrands(strands []strand, f func(x float32) float32) []strand {
	var out []strand
	for _, s := range strands {
		out = append(out, strand{s.n, func(i int64) float32 { return f(s.at(i)) }})
	}
	return out
}

// sumsOfStrands returns the strands of a + b, or of a - b. One of them must have few numbers.
func sumsOfStrands(a, b []strand, sub bool) []strand {
	var out []strand
	each := func(few []strand, all []strand, sum func(few, all float32) float32) {
		for _, f := range few {
			for i := range f.n {
				v := f.at(i)
				out = append(out, mapStrands(all, func(x float32) float32 { return sum(v, x) })...)
			}
		}
	}
	count := func(s []strand) (n int64) {
		for _, s := range s {
			n += s.n
		}
		return n
	}
	add := f32.Add
	if sub {
		add = f32.Sub
	}
	switch na, nb := count(a), count(b); {
	case na <= nb && na*int64(len(b)) <= maxStrands:
		each(a, b, add)
	case nb*int64(len(a)) <= maxStrands:
		each(b, a, func(few, all float32) float32 { return add(all, few) })
	}
	return out
}

// sums bounds the sums of a bitserial layer.
type sums struct {
	lo, hi, step []int64 // per output channel: lo, lo+step, up to hi
	scale        []float32
}

func (s *sums) strand(o int) strand {
	lo, step, scale := s.lo[o], s.step[o], s.scale[o]
	return strand{(s.hi[o]-lo)/step + 1, func(i int64) float32 { return f32.Mul(float32(lo+i*step), scale) }}
}

// sumsOf returns the sums of bitserial layer n. It returns nil for a form of weights that
// recognition never produces.
func (r *rewriter) sumsOf(n *graph.Node, b *graph.BinaryAttrs) *sums {
	if s, ok := r.sums[n]; ok {
		return s
	}
	s := r.findSums(n, b)
	r.sums[n] = s
	return s
}

func (r *rewriter) findSums(n *graph.Node, b *graph.BinaryAttrs) *sums {
	v := r.g.Value(n.Inputs[0])
	w := n.Weights["w"]
	scaled := b.WeightScale == graph.ScaleTensor
	if !scaled && b.WeightScale != graph.ScaleNone || v.Offset != 0 || b.Offset || b.PadValue != graph.PadZeros {
		return nil
	}
	var ints []int16
	if b.OneBit() {
		ints = make([]int16, w.Data.Len())
		for i, x := range w.Data.All() {
			if ints[i] = 1; x < 0 {
				ints[i] = -1
			}
		}
	} else if few, _ := graph.Decompose(w); few == nil || few.Attrs != *b {
		return nil
	} else {
		ints = few.Ints
	}
	x := graph.IntegersOf(v.LevelType)
	outs := w.Shape[len(w.Shape)-1]
	a, conv := n.Attrs.(*graph.Conv2DAttrs)
	padded := conv && a.Pad.Any() // padding may drop products, as zero activations would
	s := &sums{make([]int64, outs), make([]int64, outs), make([]int64, outs), make([]float32, outs)}
	for i, q := range ints {
		o, p := i%outs, int64(q)*int64(x.Min)
		m := int64(q) * int64(x.Max)
		if padded {
			s.lo[o], s.hi[o] = s.lo[o]+min(p, m, 0), s.hi[o]+max(p, m, 0)
			s.step[o] = graph.GCD(s.step[o], p)
		} else {
			s.lo[o], s.hi[o] = s.lo[o]+min(p, m), s.hi[o]+max(p, m)
		}
		s.step[o] = graph.GCD(s.step[o], int64(q)*int64(x.Step))
	}
	for o := range outs {
		s.step[o] = max(1, s.step[o])
		if padded { // multiples of the step
			s.lo[o] -= (s.lo[o]%s.step[o] + s.step[o]) % s.step[o]
		}
		if s.scale[o] = float32(v.Scale); scaled {
			s.scale[o] = float32(v.Scale * float64(n.Weights["scale"].Data.At(o)))
		}
	}
	return s
}
