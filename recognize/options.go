package recognize

// Options set the liberties of recognition. The zero value keeps the function that the file asks
// for.
type Options struct {
	// ExactFloats refuses rewrites that change floats by roundings: (sign(x) - x) + x to sign(x),
	// and weights that are few-bit up to roundings. Without it both are done, and
	// graph.Graph.Roundings names each.
	ExactFloats bool
	// SignZero replaces sign(0) by 1 or -1 where the values of sign become levels and would take
	// two bits. 0 keeps sign(0) = 0.
	SignZero int
}
