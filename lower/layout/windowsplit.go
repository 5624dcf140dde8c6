package layout

import (
	"fmt"
	"math/bits"
	"slices"

	"ripc/graph"
	"ripc/targets"
)

// SplitLevels are two tables for the levels of windows of too many bits for one (WindowLevels), each for a part of these. What the bits of a part add to a filter's sum is a small number,
// and the filter's level is 1 where the number of the second part is no less than one that the first part says. Numbers lie plane by plane, those of
// 32 filters in as many words as a number has bits, so that all are compared at once by as many operations of words, as carries.
type SplitLevels struct {
	whole
	Counts *Counts // of the words that windows lie in
	Bits   [2]int  // of the parts: the lower ones of a window, and those above
	Planes int
	// Packed are for each value of the first part what the second has to be at least, complemented, and for each value of the second what it is:
	// [1<<Bits[i], Planes, Words(Out)]; nil without weights.
	Packed [2][]uint32
}

// tableWindowSplit is the row of the algorithm that looks up both parts of windows, and compares what it finds.
func tableWindowSplit() algorithm {
	return algorithm{name: "table_window_split", windows: true, lacks: lacksSplitLevels,
		layOut: func(f *graph.FusedConv, x *graph.Value, t targets.Target) Accumulation {
			levels := newSplitLevels(f, x)
			levels.Counts = newCounts(f, x, windowWords(), t)
			return levels
		}}
}

// lacksSplitLevels says why there are no two tables of the levels of f's windows over x; "" where there are.
func lacksSplitLevels(f *graph.FusedConv, x *graph.Value) string {
	if lacks := lacksLevels(f, x); lacks != "" {
		return lacks
	}
	n := f.Products() * x.Bits
	oh, ow := f.OutSize(x.Shape[1], x.Shape[2])
	switch {
	case f.Epilogue.OutBits > 1:
		return fmt.Sprintf("its levels have %d bits, and numbers of two tables are compared for one", f.Epilogue.OutBits)
	case corrected(f):
		return "its levels are others at borders"
	case n < 2:
		return "its windows have one bit"
	case n > WordBits || splitOf(f, x).bytes(f) > maxWindowTable:
		return fmt.Sprintf("its windows have %d bits, and two tables of their halves more than %d KiB", n, maxWindowTable>>10)
	case 1<<splitOf(f, x).Bits[0] > windowsPerPosition*x.Shape[0]*oh*ow:
		return fmt.Sprintf("its windows have %d bits, too many for tables that %d positions read", n, x.Shape[0]*oh*ow)
	}
	return ""
}

// splitOf are the tables without what they hold.
func splitOf(f *graph.FusedConv, x *graph.Value) *SplitLevels {
	n := f.Products() * x.Bits
	s := &SplitLevels{Bits: [2]int{(n + 1) / 2, n / 2}}
	most := 0
	for bit := s.Bits[0]; bit < n; bit++ {
		most += f.W.Largest() << (bit / f.Products())
	}
	s.Planes = bits.Len(uint(most + 1)) // one more is never reached
	return s
}

// bytes are those of both tables.
func (s *SplitLevels) bytes(f *graph.FusedConv) int {
	return (1<<s.Bits[0] + 1<<s.Bits[1]) * s.Planes * Words(f.Out) * WordBits / 8
}

// newSplitLevels computes the tables of f's windows over x.
func newSplitLevels(f *graph.FusedConv, x *graph.Value) *SplitLevels {
	s := splitOf(f, x)
	if f.Ints.Len() == 0 {
		return s
	}
	words := Words(f.Out)
	for i, n := range s.Bits {
		s.Packed[i] = make([]uint32, s.Planes*words<<n)
	}
	put := func(table, row, o, number int) {
		for n := range s.Planes {
			s.Packed[table][(row*s.Planes+n)*words+o/WordBits] |= uint32(number) >> n & 1 << (o % WordBits)
		}
	}
	for o := range f.Out {
		zero, each := windowBits(f, x, o, nil)
		first, second := sumsOf(zero, each[:s.Bits[0]]), sumsOf(0, each[s.Bits[0]:])
		unit, steps := int64(0), int64(0) // second is from steps of unit
		least, most := second[0], second[0]
		for _, v := range each[s.Bits[0]:] {
			unit = graph.GCD(unit, v)
			least, most = least+min(v, 0), most+max(v, 0)
		}
		if unit > 0 {
			steps = (most - least) / unit
		}
		if end := least; storedLevel(f, o, slices.Min(first)+least) > storedLevel(f, o, slices.Max(first)+most) { // the level falls with the sum
			least, unit = most, -unit
			most = end
		}
		for row, sum := range second {
			number := int64(0)
			if unit != 0 {
				number = (sum - least) / unit
			}
			put(1, row, o, int(number))
		}
		for row, sum := range first {
			reach := int64(0)
			for reach <= steps && storedLevel(f, o, sum+least+reach*unit) == 0 {
				reach++
			}
			put(0, row, o, 1<<s.Planes-1-int(reach))
		}
	}
	return s
}
