package recognize

// Options say what recognition may take for granted. The zero value keeps the function that the file asks for.
type Options struct {
	// FoldSTE takes what is a quantizer but for roundings for that quantizer, as (sign(x) - x) + x for sign(x).
	FoldSTE bool
	// SignZero is what sign makes of 0, 1 or -1, where its values become levels and would take two bits. 0: what it is, 0.
	SignZero int
}
