package graph

import "ripc/graph/scalar"

// Integers is a set of integers at even distances: Min, Min+Step, ..., Max.
type Integers struct{ Min, Max, Step int }

// Bits is the number of bits that tell the integers apart; 0 for the empty Integers{}.
func (s Integers) Bits() int {
	n := 0
	for s.Step > 0 && s.Min+s.Step<<n <= s.Max {
		n++
	}
	return n
}

// Largest is the largest absolute value.
func (s Integers) Largest() int { return max(s.Max, -s.Min) }

// Has reports whether v is one of them.
func (s Integers) Has(v int) bool { return v >= s.Min && v <= s.Max && (v-s.Min)%s.Step == 0 }

// IntegersOf are those that levels of type t stand for; their real values have t.Offset besides.
func IntegersOf(t scalar.LevelType) Integers {
	lo, hi := t.Range()
	return Integers{Min: lo, Max: hi, Step: (hi - lo) / t.Top()}
}

// Dilation is the distance of the taps, resolved.
func (a *FusedConv) Dilation() (dh, dw int) { return max(1, a.DH), max(1, a.DW) }

// GroupCount is the number of groups, resolved.
func (a *FusedConv) GroupCount() int { return max(1, a.Groups) }

// OutSize is the number of output rows and columns for an input of h by w.
func (a *FusedConv) OutSize(h, w int) (oh, ow int) {
	dh, dw := a.Dilation()
	return (h+a.Pad.Top+a.Pad.Bottom-(a.KH-1)*dh-1)/a.SH + 1, (w+a.Pad.Left+a.Pad.Right-(a.KW-1)*dw-1)/a.SW + 1
}

// GroupIn is the number of input channels of one group.
func (a *FusedConv) GroupIn() int { return a.In / a.GroupCount() }

// GroupOut is the number of output channels of one group.
func (a *FusedConv) GroupOut() int { return a.Out / a.GroupCount() }

// Products is the number of products in one output.
func (a *FusedConv) Products() int { return a.KH * a.KW * a.GroupIn() }

// MaxSum is what SumBound may be: the integer glue adds constants of like size and must stay inside i32.
const MaxSum = 1 << 29

// SumBound bounds sums of products of levels x and weights w in whatever units a layout computes them: levels count from 0,
// weights that are not odd integers come doubled, and so do sums that exact zeros, none of the levels, are taken out of.
func SumBound(products int, x, w Integers, zeros bool) int64 {
	bound := int64(products) * int64(x.Max-x.Min) / int64(x.Step) * int64(w.Largest()) * 2 / int64(w.Step)
	if zeros {
		bound *= 2
	}
	return bound
}

// SumBound bounds a's sums, those of its pictures' borders included (bconv2d).
func (a *FusedConv) SumBound() int64 {
	most := int64(0)
	for _, v := range a.Epilogue.Border {
		most = max(most, int64(v), -int64(v))
	}
	return SumBound(a.Products(), a.X, a.W, a.Pad.Any() && !a.X.Has(a.PadValue)) + 2*most
}

// Sums are the smallest and the largest sum of output channel o, with what is added to it (bconv2d).
func (a *FusedConv) Sums(o int) (lo, hi int64) {
	for i := o; i < len(a.Ints); i += a.Out {
		w := int64(a.Ints[i])
		p, q := w*int64(a.X.Min), w*int64(a.X.Max)
		lo, hi = lo+min(p, q), hi+max(p, q)
	}
	if a.Add != nil {
		lo, hi = lo+int64(a.Add[o]), hi+int64(a.Add[o])
	}
	return lo, hi
}
