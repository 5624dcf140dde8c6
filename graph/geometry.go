package graph

// WordBits is the number of channels in one word of packed levels.
const WordBits = 32

// Words is the number of words that n channels take.
func Words(n int) int { return (n + WordBits - 1) / WordBits }

// Dilation is the distance of the taps, resolved.
func (a *FusedConv) Dilation() (dh, dw int) { return max(1, a.DH), max(1, a.DW) }

// GroupCount is the number of groups, resolved.
func (a *FusedConv) GroupCount() int { return max(1, a.Groups) }

// OutSize is the number of output rows and columns for an input of h by w.
func (a *FusedConv) OutSize(h, w int) (oh, ow int) {
	dh, dw := a.Dilation()
	return (h+a.Pad.Top+a.Pad.Bottom-(a.KH-1)*dh-1)/a.SH + 1, (w+a.Pad.Left+a.Pad.Right-(a.KW-1)*dw-1)/a.SW + 1
}

// GroupIn is the number of input channels of one group.
func (a *FusedConv) GroupIn() int { return a.In / a.GroupCount() }

// GroupOut is the number of output channels of one group.
func (a *FusedConv) GroupOut() int { return a.Out / a.GroupCount() }

// Products is the number of products in one output.
func (a *FusedConv) Products() int { return a.KH * a.KW * a.GroupIn() }

// FirstWord is the first of the words of a pixel that hold the channels of output o's group.
func (a *FusedConv) FirstWord(o int) int { return o / a.GroupOut() * a.GroupIn() / WordBits }

// GroupWords is the most words of a pixel that the channels of one group touch.
func (a *FusedConv) GroupWords() int {
	n, most := a.GroupIn(), 0
	for g := range a.GroupCount() {
		most = max(most, ((g+1)*n-1)/WordBits-g*n/WordBits+1)
	}
	return most
}

// Mask has a 1 for each bit of word FirstWord(o)+q of a pixel that belongs to output o's group.
func (a *FusedConv) Mask(q, o int) uint32 {
	g := o / a.GroupOut()
	var m uint32
	for b := range WordBits {
		if c := (a.FirstWord(o)+q)*WordBits + b; c >= g*a.GroupIn() && c < (g+1)*a.GroupIn() {
			m |= 1 << b
		}
	}
	return m
}

// Masked reports whether words hold channels of other groups, which a mask must take out.
func (a *FusedConv) Masked() bool { return a.GroupCount() > 1 && a.GroupIn()%WordBits != 0 }

// Coefs are the factors of the weight planes; {1} for binary weights.
func (a *FusedConv) Coefs() []int32 {
	if a.WPlanes == nil {
		return []int32{1}
	}
	return a.WPlanes
}

// MaxP is the largest raw sum P.
func (a *FusedConv) MaxP() int64 {
	var c int64
	for _, v := range a.Coefs() {
		c += int64(v)
	}
	if a.PadCorr != nil {
		c *= 2
	}
	return c * (int64(1)<<a.Planes - 1) * int64(a.Products())
}

// PadCorr makes padded positions count as exact zeros, although the padded copy holds the level of 0 bits: the raw sum of
// output (h, w, o) becomes P = 2*P - Corr[row class of h][column class of w][o].
type PadCorr struct {
	Rows, Cols Classes
	Corr       []int32 // [Rows.Count(), Cols.Count(), Out]
}

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

// PaddingClasses sorts the output positions along one axis: kernel k of dilation d and stride s over size positions with
// before padded ones in front.
func PaddingClasses(out, k, d, s, before, size int) Classes {
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
