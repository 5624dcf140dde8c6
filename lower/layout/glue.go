package layout

import (
	"sort"

	"ripc/graph"
	"ripc/targets"
)

// Glue is f with the glue that costs less on target t: thresholds in the place of add, shift and clip where there are few of them.
// Both give the same levels.
func Glue(f *graph.FusedConv, t targets.Target) *graph.FusedConv {
	s, bits := f.Epilogue.Shift, f.Epilogue.OutBits
	if s == nil || int(1)<<bits-1 > t.MostThresholds() {
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
