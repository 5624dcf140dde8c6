package ir

// Search is a binary search as a branch-free expression. It returns the bits, lowest first, of the
// number of limits that a value reaches. There are 2^bits - 1 limits, and a value that reaches one
// reaches all before it. Each bit takes one comparison: the higher bits select its limit. The
// expression of a bit contains those of all higher bits several times.
func Search(bits int, limit func(j int) Expr, reaches func(limit Expr) Expr) []Expr {
	out := make([]Expr, bits)
	for k := bits - 1; k >= 0; k-- {
		out[k] = reaches(selectLimit(out[k+1:], 1<<k, k, limit))
	}
	return out
}

// selectLimit returns the limit that decides bit k of a count. above are the bits from k+1 on, the
// lowest first. number is the count's known part: the bits selected so far, and bit k.
func selectLimit(above []Expr, number, k int, limit func(j int) Expr) Expr {
	if len(above) == 0 {
		return limit(number - 1)
	}
	top, rest := above[len(above)-1], above[:len(above)-1]
	set := number + 1<<(k+len(above))
	return &Select{Cond: top, A: selectLimit(rest, set, k, limit), B: selectLimit(rest, number, k, limit)}
}
