package layout

import (
	"sort"

	"ripc/graph"
	"ripc/targets"
)

// maxThresholds is the number of thresholds that take the place of a shift: those of levels of
// three bits, which three comparisons find.
const maxThresholds = 7

// Glue is f with the glue of target t: thresholds in the place of add, shift and clip where there
// are few of them. Both give the same levels. A scalar shifts as easily as it compares, so that
// only levels of one bit have thresholds then.
func Glue(f *graph.FusedConv, t targets.Target) *graph.FusedConv {
	s, bits := f.Epilogue.Shift, f.Epilogue.OutBits
	most := maxThresholds
	if t.Scalar() {
		most = 1
	}
	if s == nil || 1<<bits-1 > most {
		return f
	}
	thresholds := make([][]int32, 1<<bits-1)
	for j := range thresholds {
		thresholds[j] = make([]int32, f.Out)
		for o := range f.Out {
			lo, hi := f.Sums(o)
			// The first of lo..hi at which the level reaches j+1; hi+1 if none does.
			first := sort.Search(int(hi-lo)+1, func(i int) bool { return s.Level(o, lo+int64(i), bits) >= j+1 })
			thresholds[j][o] = int32(lo + int64(first))
		}
	}
	g := *f
	g.Epilogue.Shift, g.Epilogue.Thresholds = nil, thresholds
	return &g
}
