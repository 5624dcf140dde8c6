package graph

import "testing"

// TestPaddingClasses: positions of one class have windows that padding cuts alike, and At gives one of each class.
func TestPaddingClasses(t *testing.T) {
	for size := 1; size <= 9; size++ {
		for n := range 3 * 3 * 3 * 4 * 4 {
			k, d, s, before, after := 1+n%3, 1+n/3%3, 1+n/9%3, n/27%4, n/108
			span := (k-1)*d + 1
			if size+before+after < span {
				continue
			}
			cut := func(i int) string {
				taps := ""
				for j := range k {
					if at := i*s + j*d; at < before || at >= before+size {
						taps += "x"
					} else {
						taps += "."
					}
				}
				return taps
			}
			c := paddingClasses((size+before+after-span)/s+1, k, d, s, before, size)
			for i := range c.Size {
				if j := c.At(c.Of(i)); c.Of(i) >= c.Count() || c.Of(j) != c.Of(i) || cut(j) != cut(i) {
					t.Fatalf("size %d, kernel %d, dilation %d, stride %d, padding %d and %d: position %d is in class %d of %+v, whose window differs", size, k, d, s, before, after, i, c.Of(i), c)
				}
			}
		}
	}
}
