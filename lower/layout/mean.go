package layout

import "ripc/graph"

// Means reports whether a stage of f, by an algorithm, can make the mean over all positions of its floats. It has blocks of WordBits
// channels, which are to be nearly full. Tables are shared by more channels than that.
func Means(f *graph.FusedConv, by Algorithm) bool {
	return f.Epilogue.OutBits == 0 && f.Pool == nil && 4*Words(f.Out)*WordBits <= 5*f.Out && by != Table4 && by != Table6
}
