package layout

import "ripc/graph"

// Means reports whether a stage of f can make the mean over all positions of its floats. It has
// blocks of WordBits channels, which are to be nearly full.
func Means(f *graph.FusedConv) bool {
	return f.Epilogue.OutBits == 0 && f.Pool == nil && 4*Words(f.Out)*WordBits <= 5*f.Out
}
