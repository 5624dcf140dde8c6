package layout

import (
	"math/bits"
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

// TestChosenLimits: counts of whole words reach what the bits that are left over choose if counts of all bits reach the limit.
func TestChosenLimits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := &Counts{Rest: rapid.IntRange(1, 6).Draw(rt, "rest")}
		c.rest = []uint32{rapid.Uint32Range(0, 1<<c.Rest-1).Draw(rt, "weights"), 0}
		limits := rapid.SliceOfN(rapid.Int32Range(-1, 40), 4, 4).Draw(rt, "limits") // of two classes
		chosen := c.residualLimits(limits)
		for n := range 1 << c.Rest {
			for i, limit := range limits {
				for p := range int32(40) {
					all := p + int32(bits.OnesCount32(uint32(n)^c.rest[i%2]))
					if (all <= limit) != (p <= chosen[n*len(limits)+i]) {
						rt.Fatalf("%d with rest %d: %d of %d, limit %d, chosen %d", p, n, i, all, limit, chosen[n*len(limits)+i])
					}
				}
			}
		}
	})
}
