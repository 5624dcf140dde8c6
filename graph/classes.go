package graph

// Classes sorts positions 0..Size-1 by how padding cuts their windows: the first First and the last
// Last positions are classes of their own, those between them are one.
type Classes struct{ Size, First, Last int }

// Count is the number of classes.
func (c Classes) Count() int { return min(c.Size, c.First+1+c.Last) }

// Of is the class of position i: min(i, First) + max(i-(Size-1-Last), 0).
func (c Classes) Of(i int) int { return min(i, c.First) + max(i-(c.Size-1-c.Last), 0) }

// At is the first position of class k.
func (c Classes) At(k int) int {
	if k <= c.First {
		return k
	}
	return c.Size - 1 - c.Last + k - c.First
}

// paddingClasses sorts the output positions along one axis: kernel k of dilation d and stride s
// over size positions with before padded ones in front.
func paddingClasses(out, k, d, s, before, size int) Classes {
	c := Classes{Size: out}
	for i := range out {
		if i*s < before {
			c.First++
		}
		if i*s+(k-1)*d >= before+size {
			c.Last++
		}
	}
	if c.First+c.Last >= out { // each position a class: Of(i) = i
		c.First, c.Last = out-1, 0
	}
	return c
}

// Borders sort the positions of a's output, for an input of h by w, by the taps of their windows
// that lie outside it. The class of a position is rows' class of its row times cols.Count(), plus
// cols' class of its column.
func (a *FusedConv) Borders(h, w int) (rows, cols Classes) {
	oh, ow := a.OutSize(h, w)
	dh, dw := a.Dilation()
	return paddingClasses(oh, a.KH, dh, a.SH, a.Pad.Top, h), paddingClasses(ow, a.KW, dw, a.SW, a.Pad.Left, w)
}

// OutsideTaps says, for each class of a's Borders and each tap [KH, KW], whether the tap lies
// outside an input of h by w.
func (a *FusedConv) OutsideTaps(h, w int) [][]bool {
	rows, cols := a.Borders(h, w)
	dh, dw := a.Dilation()
	outside := func(at, before, size int) bool { return at < before || at >= before+size }
	var out [][]bool
	for r := range rows.Count() {
		for c := range cols.Count() {
			taps := make([]bool, a.KH*a.KW)
			for t := range taps {
				taps[t] = outside(rows.At(r)*a.SH+t/a.KW*dh, a.Pad.Top, h) ||
					outside(cols.At(c)*a.SW+t%a.KW*dw, a.Pad.Left, w)
			}
			out = append(out, taps)
		}
	}
	return out
}
