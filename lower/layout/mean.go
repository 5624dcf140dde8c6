package layout

import "ripc/graph"

// Means reports whether a stage of f, by an algorithm over levels or floats, can make the mean over all positions of its floats. It has
// blocks of WordBits channels, which are to be nearly full, and a copy of its whole input, which is not to be one of floats. Tables are
// made for rows, of which such a stage has one block of channels after the other.
func Means(f *graph.FusedConv, by Algorithm, levels bool) bool {
	switch {
	case f.Epilogue.OutBits > 0 || f.Pool != nil || 4*Words(f.Out)*WordBits > 5*f.Out:
		return false
	case by == Table4 || by == Table6:
		return false
	case by == Float:
		return !levels && !f.Pad.Any()
	}
	return true
}
