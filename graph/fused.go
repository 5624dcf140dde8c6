package graph

import (
	"slices"

	"ripc/graph/scalar"
	"ripc/ir"
)

// The ops below are made by fusedglue, never by an importer.

// FusedConv is op "bconv2d" or "fconv2d": a convolution or dense layer (a 1x1 convolution of a 1x1
// image). Its epilogue takes in every op up to the next tensor in memory. Op "window_sum" is a
// bconv2d with all weights 1, which another one needs (Window). The weights, input and sums of a
// bconv2d are integers; lower/layout chooses their form on a machine.
type FusedConv struct {
	KH, KW, SH, SW int
	DH, DW, Groups int     // dilations and groups; 0 counts as 1
	Pad            Padding // resolved
	In, Out        int     // true channel counts

	// X are the integers that the input may hold, W those that the weights may be (bconv2d).
	X, W Integers
	// Ints are the weights of bconv2d, [KH, KW, In/Groups, Out].
	Ints Numbers
	// WeightBits and WeightEnc ("bipolar", "ternary" or "affine") are those of the model's weights
	// (bconv2d).
	WeightBits int
	WeightEnc  string
	// PadValue is the integer that positions outside the image count as (bconv2d): 0, even if it is
	// none of X, or one of X.
	PadValue int
	// Add [Out], or nil, is added to the sums, in integers (bconv2d). The epilogue's functions of a
	// sum include it, thresholds as well.
	Add []int32
	// Alpha [Out] is the real value of the weight 1 (bconv2d).
	Alpha []float64

	// Window, or nil: the weights have an offset (bconv2d). The node's second input, [B, OH, OW,
	// Groups], holds the sums of the input's integers in each window. The steps begin with
	// fma(window sum, Offset[o], f32(a) * Scale[o]), unless a Mul among them applies the scale.
	Window *Window

	WFloat []float32 // fconv2d: [KH, KW, In/Groups, Out]
	Bias   []float32 // fconv2d: [Out] or nil
	Few    *FewBits  // fconv2d: WFloat as few bits, nil if it has none

	Epilogue Epilogue
	Pool     *PoolAttrs // max-pool of the levels that the epilogue makes; kernel = strides, no padding
}

// Window has the factors of the sums of a layer's windows, [Out] each.
type Window struct{ Scale, Offset []float32 }

// Epilogue turns an accumulator into the stored element. It has exactly one form: integer
// Thresholds, integer add-then-shift (Shift), integer products and quotients (Scale), or floats:
// steps, joins, and a quantizer of their result.
type Epilogue struct {
	OutBits int // bit planes written; 0 = f32
	OutEnc  ir.EncodingKind

	// Thresholds [2^OutBits-1][Out], bconv2d: level >= j iff the sum of channel o is at least
	// Thresholds[j-1][o]. Where Falling[o] is set, the negated sum is compared, so that the level
	// falls as the sum grows. Falling is [Out], or nil for no channel. Border [classes*Out], or
	// nil, is added to the sum before: element k*Out + o where the position is of class k
	// (Borders).
	Thresholds [][]int32
	Falling    []bool
	Border     []int32

	// Shift, bconv2d: the level of the sum.
	Shift *ShiftAdd

	// Scale, bconv2d: the level of the sum.
	Scale *ScaleSums

	// Steps on f32, applied in order to f32(a) (bconv2d) or to the accumulator (fconv2d). Vectors
	// of those of a bconv2d may have an element for each class of positions and channel.
	Steps []scalar.Step
	// Joins, in order, come behind Steps: functions of their result and another tensor.
	Joins []Join
	// Levels, ascending, 2^OutBits-1 values: level >= j iff the float value >= Levels[j-1] (OutBits
	// > 0 with floats). Infinities are allowed; NaN stands for a level that no value reaches, and
	// those above it.
	Levels []float32
	// LevelRows are Levels that differ from channel to channel, [2^OutBits-1][Out], in their place:
	// parameters like Thresholds.
	LevelRows [][]float32
	// Quantizer makes levels of OutBits and OutEnc by its formula, in the place of both.
	Quantizer *scalar.Quantizer
}

// JoinedTensors are the tensors that a's joins meet, in their order: the last inputs of its node n.
func (a *FusedConv) JoinedTensors(n *Node) []string {
	return n.Inputs[len(n.Inputs)-len(a.Epilogue.Joins):]
}

// Join is a function of two numbers: of the float that an accumulator has become, and of the
// element of the same position of another tensor (Others): f32, or levels, which count as their
// real values. Its axes of extent 1 are repeated.
type Join struct {
	Function scalar.Function
	Reverse  bool          // the other tensor's element is the first of the two
	Steps    []scalar.Step // on the result
	From     string        // node that asked for it
}

// Floats lists the float steps before, between and behind the joins, which they count as none.
func (e *Epilogue) Floats() []scalar.Step {
	all := e.Steps
	for _, j := range e.Joins {
		all = append(all[:len(all):len(all)], j.Steps...)
	}
	return all
}

// AddSteps puts float steps behind those that there are. Attributes are shared, so nothing that was
// there is written to.
func (e *Epilogue) AddSteps(steps []scalar.Step) {
	if len(e.Joins) == 0 {
		e.Steps = append(slices.Clone(e.Steps), steps...)
		return
	}
	e.Joins = slices.Clone(e.Joins)
	last := &e.Joins[len(e.Joins)-1]
	last.Steps = append(slices.Clone(last.Steps), steps...)
}

// ShiftAdd is Riptide's glue in integers: level = clip(((a << Left[o]) + Add[o]) >> Right[o],
// Low[o], top), one entry for each channel. Left and Low may be nil (0).
type ShiftAdd struct{ Left, Add, Right, Low []int32 }

// Level is the level of integer a in channel o, of the given bits.
func (s *ShiftAdd) Level(o int, a int64, bits int) int {
	low := int64(0)
	if s.Left != nil {
		a <<= s.Left[o]
	}
	if s.Low != nil {
		low = int64(s.Low[o])
	}
	return int(max(low, min((a+int64(s.Add[o]))>>s.Right[o], int64(1)<<bits-1)))
}

// ScaleSums is the glue of integer layers that requantize in integers (IntegerAttrs): level =
// clip(product or quotient of the sum, + Zero) to Low..High.
type ScaleSums struct {
	By              []FixedPoint // [Out]; nil for a quotient
	Count           int          // of the mean
	Zero, Low, High int
}

// Level is that of sum a in channel o.
func (s *ScaleSums) Level(o int, a int64) int {
	var v int64
	switch half := int64(s.Count / 2); {
	case s.By != nil:
		v = s.By[o].Times(a)
	case a < 0:
		v = -((half - a) / int64(s.Count))
	default:
		v = (a + half) / int64(s.Count)
	}
	return int(max(int64(s.Low), min(v+int64(s.Zero), int64(s.High))))
}

// ShiftLevels is op "shift_levels": Shift of each element of a tensor of levels, or of one of sums,
// integers in f32, that no bitserial layer could take in. The result's type says the levels' bits
// and encoding.
type ShiftLevels struct{ Shift *ShiftAdd }

// LevelThresholds is op "level_thresholds": the levels that a quantizer makes of other levels' real
// values. The level of an element is the number of Thresholds, [count][C] or [count][1], ascending,
// that the integer of the element reaches.
type LevelThresholds struct{ Thresholds [][]int32 }

// Elementwise is op "eltwise": float steps, in order, that no layer before them could take in.
type Elementwise struct{ Steps []scalar.Step }
