package ir

// Axis is the role of a loop in the layer that the Func computes. Strategies find loops by their
// axes and the buffers that they fill. An axis never changes the result, and a loop need not have
// one.
type Axis uint8

// The axes. Loops made from one loop, as parts or copies, keep its axis.
const (
	NoAxis      Axis = iota
	Batch            // images
	Row              // of positions
	Col              // positions in a row
	Channel          // one number of a position
	Word             // words of channels at a position
	Bit              // channels in a word
	TapRow           // rows of a window over the input
	TapCol           // positions in such a row
	Reduce           // channels, or words of them, that are summed
	Plane            // bit planes of the input
	WeightPlane      // bit planes of the weights
	Part             // smaller words in a word (steps.SetEncoding)
	Copy             // copies of an element (steps.Replicate)
	Entry            // entries of a table
	Half             // halves of a row
)

// String returns the axis in .ripir text; NoAxis is not written.
func (a Axis) String() string {
	return [...]string{"none", "batch", "row", "col", "channel", "word", "bit", "tap_row", "tap_col", "reduce", "plane",
		"weight_plane", "part", "copy", "entry", "half"}[a]
}

// ParseAxis is the inverse of Axis.String, for axes but NoAxis.
func ParseAxis(s string) (Axis, error) { return parse("axis", s, Half) }
