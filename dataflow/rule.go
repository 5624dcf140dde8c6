package dataflow

import (
	"fmt"
	"math/bits"
	"slices"
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
	return floatRule(c, func(o int, sum int64) float32 { return scalar.EvalSteps(e.Steps, o, float32(sum)) })
}

// floatRule is the rule of a function of the sum and the quantizer behind it. The function is made
// of c's float steps.
func floatRule(c *graph.FusedConv, value func(o int, sum int64) float32) (rule, string) {
	e := &c.Epilogue
	r := rule{falling: make([]bool, c.Out)}
	for _, s := range e.Floats() {
		if !s.Monotone() {
			return rule{}, "its float steps rise and fall"
		}
		if max(len(s.A), len(s.B)) > c.Out {
			return rule{}, "its float steps differ at the borders of pictures"
		}
	}
	for o := range c.Out {
		lo, hi := c.Sums(o)
		for _, sum := range []int64{lo, hi} {
			if x := value(o, sum); x-x != 0 {
				return rule{}, "its float steps may be infinite or NaN"
			}
		}
		for _, s := range e.Floats() {
			if s.Turns() && s.A[o%len(s.A)] < 0 {
				r.falling[o] = !r.falling[o]
			}
		}
	}
	r.level = func(o int, sum int64) int {
		x := value(o, sum)
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

// rise makes the levels of falling channels rise, by counting them down from the top. It returns
// these channels.
func (r *rule) rise(levelBits int) []bool {
	falls, level := r.falling, r.level
	if falls != nil {
		r.falling, r.level = nil, func(o int, sum int64) int {
			if falls[o] {
				return 1<<levelBits - 1 - level(o, sum)
			}
			return level(o, sum)
		}
	}
	return falls
}

// meetsFloats is the reason of layers with joins that have no table.
const meetsFloats = "its sums meet another tensor in floats"

// joinRule is the rule of c where sums meet levels of another tensor on their way to a quantizer.
// Its level counts the pairs of a level of the other and a threshold that the sum reaches. A table
// has the quantizer's level for this number and the level of the other. All channels have to reach
// the pairs in one order.
func joinRule(c *graph.FusedConv, other, y *graph.Value) (*Lookup, rule, string) {
	e, j := &c.Epilogue, c.Epilogue.Joins[0]
	pairs := 1<<other.Bits*(1<<y.Bits) - 1<<other.Bits
	switch {
	case !other.Encoded() || !slices.Equal(other.Shape, y.Shape) || c.Window != nil || c.Pool != nil ||
		j.Function != scalar.Plus && (j.Function != scalar.Minus || j.Reverse):
		return nil, rule{}, meetsFloats
	case pairs >= 1<<maxLevelBits:
		return nil, rule{}, fmt.Sprintf("its sums meet levels of %d bits on the way to %d bits", other.Bits, y.Bits)
	}
	var rules []rule
	for l := range 1 << other.Bits {
		real := other.Float(int(Ascending(other.LevelType, int64(l))))
		r, why := floatRule(c, func(o int, sum int64) float32 {
			args := []float32{scalar.EvalSteps(e.Steps, o, float32(sum)), real}
			if j.Reverse {
				slices.Reverse(args)
			}
			return scalar.EvalSteps(j.Steps, o, j.Function.Eval(args...))
		})
		if why != "" {
			return nil, rule{}, why
		}
		rules = append(rules, r)
	}
	count := rule{falling: rules[0].falling, level: func(o int, sum int64) (n int) {
		for _, r := range rules {
			n += r.level(o, sum)
		}
		return n
	}}
	t := &Lookup{InBits: []int{bits.Len(uint(pairs)), other.Bits}, OutBits: y.Bits}
	const unknown = -1
	t.Table = slices.Repeat([]int64{unknown}, 1<<(t.InBits[0]+t.InBits[1]))
	for o := range c.Out {
		for sum, hi := c.Sums(o); sum <= hi; {
			n := count.level(o, sum)
			for l, r := range rules {
				e, v := &t.Table[l<<t.InBits[0]|n], int64(r.level(o, sum))
				if *e != unknown && *e != v {
					return nil, rule{}, "its sums meet levels in another order from channel to channel"
				}
				*e = v
			}
			first := sum
			sum += int64(sort.Search(int(hi-first)+1, func(i int) bool { return count.level(o, first+int64(i)) != n }))
		}
	}
	for i, v := range t.Table {
		t.Table[i] = max(0, v)
	}
	return t, count, ""
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
