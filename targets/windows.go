package targets

// What instructions there are that count all words of a window at once (targets/isa): of windows of so many rows and columns, with an even number of words
// a pixel up to so many, at so many neighbouring positions, at least and at most, for so many filters.
const (
	WindowSide           = 3
	WindowWords          = 16
	LeastWindowPositions = 2
	WindowPositions      = 4
	WindowFilters        = 16
)

// CountsWindow reports whether t has such an instruction for a window of so many rows, columns and words a pixel: where any function of three registers is one
// operation and counting a register takes several, three words of equal weight are better added up than counted.
func (t Target) CountsWindow(rows, cols, words int) bool {
	return t.Arch == "x86_64" && t.Has("avx512bw") && t.Ternary && t.CountOps > 1 &&
		rows == WindowSide && cols == WindowSide && words%2 == 0 && words > 0 && words <= WindowWords
}
