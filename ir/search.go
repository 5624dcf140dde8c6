package ir

// Search is the bits, the lowest first, of how many of 2^bits - 1 limits a value reaches, where it
// reaches none without those before: from the highest bit on, those above a bit select the limit
// that decides it, so that there is a comparison for each bit. The expression of each holds those
// of all above it several times.
func Search(bits int, limit func(j int) Expr, reaches func(limit Expr) Expr) []Expr {
	out := make([]Expr, bits)
	for k := bits - 1; k >= 0; k-- {
		out[k] = reaches(searched(out[k+1:], 1<<k, k, limit))
	}
	return out
}

// searched is the last limit of a number whose bits from k+1 on are above, and which is number
// without them.
func searched(above []Expr, number, k int, limit func(j int) Expr) Expr {
	if len(above) == 0 {
		return limit(number - 1)
	}
	top, rest := above[len(above)-1], above[:len(above)-1]
	set := number + 1<<(k+len(above))
	return &Select{Cond: top, A: searched(rest, set, k, limit), B: searched(rest, number, k, limit)}
}
