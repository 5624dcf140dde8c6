package layout

import (
	"testing"

	"pgregory.net/rapid"
)

// TestClassLimits: a count reaches the limit of its class of positions if, corrected, it reaches the threshold, and counts that no sum has change nothing.
func TestClassLimits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.Int32Range(1, 300).Draw(rt, "most")
		number := rapid.Int32Range(-700, 700)
		c := &Line{Base: []int32{number.Draw(rt, "base")}, Mul: 1, Half: rapid.Int32Range(0, 1).Draw(rt, "half")}
		k := &Correction{Twice: rapid.Bool().Draw(rt, "twice"), Sums: rapid.SliceOfN(number, 1, 9).Draw(rt, "corrections")}
		threshold := number.Draw(rt, "threshold")
		for class, limit := range c.classLimits(k, most)([]int32{threshold}) {
			for p := range most + 1 {
				corrected := p - k.Sums[class]
				if k.Twice {
					corrected += p
				}
				if sum := (c.Base[0] - corrected) >> c.Half; (sum >= threshold) != (p <= limit) {
					rt.Fatalf("class %d: a count of %d is a sum of %d, the threshold is %d, the limit %d", class, p, sum, threshold, limit)
				}
			}
		}
	})
}
