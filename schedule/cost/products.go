package cost

import (
	"math"

	"ripc/targets"
)

// Float estimates sums in f32 over levels that are unpacked row by row.
func Float(t targets.Target, l Layer) Estimate {
	c := t.Sums()
	terms, unpack := multiplied(t, l, LaneBits, c.Fma, l.Direct, l.scattered(t, l.GroupFilters) || l.straddles())
	return Estimate(float64(l.Outputs*l.Filters*l.Taps*l.Channels)*terms + c.Unpack*unpack + streamed(t, l, 4*l.Taps*l.Channels) + levels(c, l))
}

// Dot estimates sums of products of bytes, four channels at once, over levels that are unpacked likewise.
func Dot(t targets.Target, l Layer) Estimate {
	c := t.Sums()
	op, scattered := c.Dot, l.BlockFilters < l.Groups*l.GroupFilters && l.scattered(t, l.BlockFilters) // vectors of all groups are of one, however many are left over
	if !scattered {
		op *= t.NarrowDot(l.Narrow)
	}
	bits, level := LaneBits, levels(c, l)
	switch {
	case l.ShortDots:
		op, bits, scattered = t.ShortDot(), 16, false
		if l.ShortLevels {
			level /= 2
		}
	case l.Band:
		op = t.DirectDot() * c.Fma
	}
	terms, unpack := multiplied(t, l, bits, op, l.Band, scattered)
	if l.grouped() && !l.Band {
		terms *= t.GroupedDot()
	}
	windows := c.Fma / 2 * float64(l.Windows) // by estimate for rpi5 0.1 to 0.4 of a cycle each, 2 where a pixel has few
	return Estimate(float64(l.Outputs*l.Filters*l.Steps)*terms + c.UnpackByte*unpack + windows + streamed(t, l, Quad*l.Steps) + level)
}

// Mean estimates the mean over all positions of l's floats by a stage of its own, which are written, read and added up.
func Mean(t targets.Target, l Layer) Estimate {
	c := t.Sums()
	return Estimate(float64(l.Outputs*l.Filters) * LaneBits / float64(max(LaneBits, t.VectorBits)) * (2*c.Load + c.Fma))
}

// scattered reports whether the lanes of a vector of sums of products read different channels, where so many filters read the same.
func (l Layer) scattered(t targets.Target, filters int64) bool {
	return l.grouped() && filters%max(1, int64(t.VectorBits/LaneBits)) != 0
}

// straddles reports whether words of filters are of several groups, not each group of several words or each word of whole groups: tiles of floats have words.
func (l Layer) straddles() bool {
	return l.grouped() && l.GroupFilters%WordChannels != 0 && WordChannels%max(1, l.GroupFilters) != 0
}

// Quad is the number of channels whose products with the weights of a filter are added up at once.
const Quad = targets.Quad

// multiplied is what a step of a filter's sum of so many bits costs where one vector of them takes op, and how many bits of levels are unpacked. Lanes read neighbouring channels (direct), one for all, or
// each one of its own (scattered).
func multiplied(t targets.Target, l Layer, bits int, op float64, direct, scattered bool) (terms, unpack float64) {
	c := t.Sums()
	lanes := float64(t.VectorBits) / float64(bits)
	vectors := WordChannels / lanes
	loads := c.Load * vectors
	if bits < LaneBits { // a load has the bytes of two vectors
		loads /= 2
	}
	positions := max(1, float64(int64((float64(t.Registers)-vectors-2)/vectors)))
	if l.Cols == 1 {
		positions = 1
	}
	twice := math.Ceil(float64(l.Cols)/positions) * positions / float64(l.Cols) // the last block of a row overlaps the one before
	step := (op*vectors*positions + loads + c.Position*positions + c.Step) / (WordChannels * positions)
	switch {
	case direct: // vectors of the input are loaded as those of the weights are
		step += loads / WordChannels
	case scattered: // each lane reads a channel of its own, one position after the other
		step, twice = op+c.Load+c.Position, 1
	}
	copies := again(t, l)
	if l.Rows == 1 {
		copies = float64(l.Filters) / WordChannels // each block of filters unpacks the input for itself
	}
	planes := l.ActivationPlanes
	if l.Bytes { // which are not taken apart
		planes = 1
	}
	return step * twice, float64(l.Inputs*planes) * copies
}
