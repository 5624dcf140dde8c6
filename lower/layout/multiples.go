package layout

import (
	"math"
	"slices"
	"sort"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// Multiples says of a tensor of floats that each of them is f32(k) * Unit, to the bit, for an
// integer k of at most Bound in absolute value. So its elements can lie in memory as these
// integers, if whatever reads them begins with that product.
type Multiples struct {
	Unit  float32 // finite and above 0, so that the floats rise with the integers
	Bound int64
}

// MultiplesOf are the floats that f makes of its sums, if they are multiples: the sums with at most
// one factor for all channels, to which tensors may be added that are multiples of the same unit.
// others are those that its joins meet, nil where one is no such tensor.
func MultiplesOf(f *graph.FusedConv, others []*Multiples) (m Multiples, ok bool) {
	e := &f.Epilogue
	if f.WFloat != nil || f.Window != nil || f.Pool != nil || e.OutBits > 0 {
		return m, false
	}
	m = Multiples{Unit: 1, Bound: int64(f.Products()) * int64(max(f.X.Largest(), f.PadValue,
		-f.PadValue)) * int64(f.W.Largest())}
	if f.Add != nil {
		m.Bound += max(int64(slices.Max(f.Add)), -int64(slices.Min(f.Add)))
	}
	switch steps := e.Steps; {
	case len(steps) == 1 && steps[0].Kind == scalar.Mul && alike(steps[0].A):
		m.Unit = steps[0].A[0]
	case len(steps) > 0:
		return m, false
	}
	if !(m.Unit > 0) || m.Unit > math.MaxFloat32 {
		return m, false
	}
	for k, j := range e.Joins {
		o := others[k]
		if j.Function != scalar.Plus || len(j.Steps) > 0 || o == nil || o.Unit != m.Unit || !m.sumsExact() {
			return m, false
		}
		m.Bound += o.Bound
	}
	return m, m.Bound <= MaxExact
}

// alike reports whether all of v, which is not empty, are the same number.
func alike(v []float32) bool {
	return !slices.ContainsFunc(v, func(x float32) bool { return x != v[0] })
}

// sumsExact reports whether the sum of two of m's floats is the float of the sum of their integers:
// f32 holds multiples of a power of two that is neither too small nor too large.
func (m Multiples) sumsExact() bool {
	fraction, exp := math.Frexp(float64(m.Unit))
	return fraction == 0.5 && exp > -100 && exp < 100
}

// Form is that of the integers: the smallest that holds them and one more; ok is false where none
// is smaller than f32.
func (m Multiples) Form() (form Form, ok bool) {
	switch {
	case m.Bound < math.MaxInt8:
		return Int8s, true
	case m.Bound < math.MaxInt16:
		return Int16s, true
	}
	return Floats, false
}

// Thresholds returns the integers for thresholds t of a: the least from -Bound to Bound with a
// float that reaches the threshold, or Bound + 1.
func (m Multiples) Thresholds(a *graph.ThresholdAttrs, t []float32) []int64 {
	out := make([]int64, len(t))
	for i, v := range t {
		out[i] = -m.Bound + int64(sort.Search(int(2*m.Bound)+1, func(k int) bool {
			return a.Reaches(m.Float(int64(k)-m.Bound), v)
		}))
	}
	return out
}

// Float is the number that integer k stands for.
func (m Multiples) Float(k int64) float32 { return scalar.EvalSteps(m.steps(), 0, float32(k)) }

// steps returns the steps from m's integers, as floats, to m's floats.
func (m Multiples) steps() []scalar.Step {
	if m.Unit == 1 {
		return nil
	}
	return []scalar.Step{{Kind: scalar.Mul, A: []float32{m.Unit}}}
}

// Number is the type of t's numbers where these are floats: that of the integers which stand for
// them, or f32.
func (t Tensor) Number() ir.Type {
	if t.Form.Integers() {
		return t.Element()
	}
	return ir.F32
}

// UnitSteps returns the steps from t's integers, as floats, to t's numbers: none in other forms.
func (t Tensor) UnitSteps() []scalar.Step {
	if !t.Form.Integers() {
		return nil
	}
	return t.Multiples.steps()
}
