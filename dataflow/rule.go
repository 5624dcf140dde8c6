package dataflow

import (
	"sort"

	"ripc/graph"
	"ripc/graph/scalar"
)

// rule is the definition of a layer's levels: a function of the sum that, in each channel, never
// falls or, in falling ones, never rises.
type rule struct {
	level   func(o int, sum int64) int // level of a sum of channel o
	falling []bool                     // [Out]; nil: no channel falls
}

// ruleOf is the rule of c's epilogue for levels of some bits, or a reason why there is none. Sums
// that leave have the zero rule.
func ruleOf(c *graph.FusedConv, levelBits int) (rule, string) {
	e := &c.Epilogue
	switch {
	case levelBits == 0:
		return rule{}, ""
	case e.Thresholds != nil:
		r := rule{falling: e.Falling}
		r.level = func(o int, sum int64) int {
			if r.falling != nil && r.falling[o] {
				sum = -sum
			}
			n := 0
			for _, t := range e.Thresholds {
				if sum >= int64(t[o]) {
					n++
				}
			}
			return n
		}
		return r, ""
	case e.Shift != nil:
		return rule{level: func(o int, sum int64) int { return e.Shift.Level(o, sum, levelBits) }}, ""
	case e.Scale != nil:
		return rule{level: e.Scale.Level}, ""
	}
	return floatRule(c)
}

// floatRule is the rule of float steps and a quantizer.
func floatRule(c *graph.FusedConv) (rule, string) {
	e := &c.Epilogue
	r := rule{falling: make([]bool, c.Out)}
	for o := range c.Out {
		lo, hi := c.Sums(o)
		for _, sum := range []int64{lo, hi} {
			if x := scalar.EvalSteps(e.Steps, o, float32(sum)); x-x != 0 {
				return rule{}, "its float steps may be infinite or NaN"
			}
		}
		for _, s := range e.Steps {
			if s.Turns() && s.A[o%len(s.A)] < 0 {
				r.falling[o] = !r.falling[o]
			}
		}
	}
	for _, s := range e.Steps {
		if !s.Monotone() {
			return rule{}, "its float steps rise and fall"
		}
		if max(len(s.A), len(s.B)) > c.Out {
			return rule{}, "its float steps differ at the borders of pictures"
		}
	}
	r.level = func(o int, sum int64) int {
		x := scalar.EvalSteps(e.Steps, o, float32(sum))
		if e.Quantizer != nil {
			return e.Quantizer.Eval(x)
		}
		n := 0
		for j := range max(len(e.Levels), len(e.LevelRows)) {
			t := float32(0)
			if e.LevelRows != nil {
				t = e.LevelRows[j][o]
			} else {
				t = e.Levels[j]
			}
			if x >= t {
				n = j + 1
			}
		}
		return n
	}
	return r, ""
}

// searchThresholds searches the thresholds of m's rule: level >= j+1 iff the sum of channel o,
// negated where it falls, is at least [j][o]. One beyond the largest sum stands for levels that no
// sum reaches. The range of sums is that of all classes, for any levels outside the picture.
func (m *MVU) searchThresholds() [][]int32 {
	all := make([][]int32, 1<<m.YBits-1)
	for j := range all {
		all[j] = make([]int32, m.Conv.Out)
	}
	for o := range m.Conv.Out {
		lo, hi := m.Step*m.Lo[o]+m.K[o], m.Step*m.Hi[o]+m.K[o]
		most := int64(0)
		for _, b := range m.Border {
			most = max(most, b[o], -b[o])
		}
		lo, hi = lo-most, hi+most
		for j := range all {
			all[j][o] = int32(lo + int64(sort.Search(int(hi-lo)+1, func(i int) bool {
				return m.rule.level(o, m.sign(o)*(lo+int64(i))) > j
			})))
		}
	}
	return all
}
