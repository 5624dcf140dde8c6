package layout

// Classes sorts positions 0..Size-1 by how padding cuts their windows: the first First and the last Last positions are
// classes of their own, those between them are one.
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

// paddingClasses sorts the output positions along one axis: kernel k of dilation d and stride s over size positions with
// before padded ones in front.
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
