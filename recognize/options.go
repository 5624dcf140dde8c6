package recognize

// Options say what recognition may take for granted. The zero value keeps the function that the
// file asks for.
type Options struct {
	// ExactFloats refuses what differs from the file's floats by rounding alone: (sign(x) - x) + x
	// for sign(x), and weights that are few bits up to roundings. Without it both are taken, and
	// graph.Graph.Roundings names each.
	ExactFloats bool
	// SignZero is what sign makes of 0, 1 or -1, where its values become levels and would take two
	// bits. 0: what it is, 0.
	SignZero int
}
