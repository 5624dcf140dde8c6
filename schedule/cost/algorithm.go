// Package cost estimates what code costs on a target before there is any: which algorithm a layer should have (algorithm.go,
// in times of its target), and which schedule a Func. The unit of schedules is an operation of a vector; loads of what lies
// in registers anyway, addresses and loops count nothing, so that their formulas compare ways to compute the same sums with
// each other, and say nothing about time.
package cost

import (
	"math"

	"ripc/targets"
)

// Layer is what the algorithms of a layer cost by.
type Layer struct {
	Outputs, Rows, Cols, Filters   int64 // positions of all pictures; rows and columns of one; output channels, those that only fill words included
	Taps, TapRows, Channels        int64 // of the window; rows of it; input channels that an output reads
	Words                          int64 // of 32 channels that hold those
	Steps                          int64 // of Quad channels that an output adds up as products of bytes, or of one where Grouped
	ActivationPlanes, WeightPlanes int64
	Inputs                         int64 // elements of the input with its padding
	Levels                         int64 // thresholds that a sum is compared with; 0 where it leaves as it is
	Grouped                        bool  // output channels read different input channels
}

// Estimate is a cost, in the unit of its target's SumCosts.
type Estimate float64

// WordChannels is the number of channels in a word whose bits are counted, and that of the filters in a block of sums.
const WordChannels = 32

// Popcount estimates sums of popcounts of words: a count for each pair of planes of each word.
func Popcount(t targets.Target, l Layer) Estimate {
	c := t.Sums()
	words := float64(l.Outputs * l.Filters * l.Taps * l.Words * l.ActivationPlanes * l.WeightPlanes)
	each := c.Word
	if l.WeightPlanes > 1 {
		each = c.PlaneWord + c.ExtraPlane*float64(l.WeightPlanes-2)
	}
	return Estimate(words*each + streamed(t, l, l.Words*WordChannels/8*l.WeightPlanes) + levels(c, l))
}

// Float estimates sums in f32 over levels that are unpacked row by row: each block of rows (as schedules share
// them out, see Rows) unpacks those that its windows reach.
func Float(t targets.Target, l Layer) Estimate {
	c := t.Sums()
	terms, unpack := multiplied(t, l, c.Fma)
	return Estimate(float64(l.Outputs*l.Filters*l.Taps*l.Channels)*terms + c.Unpack*unpack + streamed(t, l, 4*l.Channels) + levels(c, l))
}

// Dot estimates sums of products of bytes, four channels at once, over levels that are unpacked likewise.
func Dot(t targets.Target, l Layer) Estimate {
	c := t.Sums()
	terms, unpack := multiplied(t, l, c.Dot)
	return Estimate(float64(l.Outputs*l.Filters*l.Steps)*terms + c.UnpackByte*unpack + streamed(t, l, Quad*l.Steps/l.Taps) + levels(c, l))
}

// Quad is the number of channels whose products with the weights of a filter are added up at once.
const Quad = 4

// multiplied is what a step of a filter's sum costs where one vector of them takes op, and how many bits of levels are unpacked.
func multiplied(t targets.Target, l Layer, op float64) (terms, unpack float64) {
	c := t.Sums()
	lanes := float64(t.VectorBits) / 32
	vectors := WordChannels / lanes
	positions := max(1, float64(int64((float64(t.Registers)-vectors-2)/vectors)))
	if l.Cols == 1 {
		positions = 1
	}
	twice := math.Ceil(float64(l.Cols)/positions) * positions / float64(l.Cols) // the last block of a row overlaps the one before
	step := (op*vectors*positions + c.Load*vectors + c.Position*positions + c.Step) / (WordChannels * positions)
	if l.Grouped { // each lane reads a channel of its own, one position after the other
		step, twice = op+c.Load+c.Position, 1
	}
	rows := int64(Rows(int(l.Rows)))
	again := float64(rows+l.TapRows-1) / float64(rows)
	if l.Rows == 1 {
		again = float64(l.Filters) / WordChannels // each block of filters unpacks the input for itself
	}
	return step * twice, float64(l.Inputs*l.ActivationPlanes) * again
}

// streamed estimates what it takes to read the weights, perTap bytes for each filter and tap, once for each row of outputs:
// from farther away where a block of filters does not fit the second cache.
func streamed(t targets.Target, l Layer, perTap int64) float64 {
	each := t.Sums().Byte
	if WordChannels*l.Taps*perTap > int64(t.L2) {
		each = t.Sums().FarByte
	}
	return each * float64(l.Outputs/l.Cols) * float64(l.Filters*l.Taps*perTap)
}

// levels estimates what makes levels of the sums, whatever these are.
func levels(c targets.SumCosts, l Layer) float64 {
	return c.Level * float64(l.Outputs*l.Filters*(l.Levels+1))
}
