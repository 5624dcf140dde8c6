package graph

import (
	"ripc/graph/scalar"
	"ripc/ir"
)

// The ops below are made by fusedglue, never by an importer.

// FusedConv is op "bconv2d" or "fconv2d": a convolution or dense layer (a 1x1 convolution of a 1x1 image) with
// everything up to the next tensor in memory folded into its epilogue.
type FusedConv struct {
	KH, KW, SH, SW int
	DH, DW, Groups int     // dilations and groups; 0 counts as 1
	Pad            Padding // resolved
	In, Out        int     // true channel counts
	Planes         int     // bit planes of the input (bconv2d)
	Zero           int     // level that stands for 0 (bconv2d, unipolar)
	PadLevel       int     // level of padding positions unless PadOnes (bconv2d)
	PadOnes        bool    // padding positions hold 1 bits instead of 0 bits (bconv2d, bipolar "one")

	// WBits are the weights of bconv2d, [KH, KW, GroupWords, planes, Out]: a weight is the sum over planes of WPlanes[m] (nil:
	// one plane, factor 1) times +1 for a 1 bit, -1 for a 0 bit; or the other way round where activations are bipolar_inv.
	WBits   []uint32
	WPlanes []int32
	// WeightBits and WeightEnc ("bipolar", "ternary" or "affine") are what the model's weights are, however many planes they
	// take (bconv2d).
	WeightBits int
	WeightEnc  string
	WFloat     []float32 // fconv2d: [KH, KW, In/Groups, Out]
	Bias       []float32 // fconv2d: [Out] or nil

	// PadCorr, if not nil, corrects P for padded positions (bconv2d, activations without a level for 0).
	PadCorr *PadCorr

	// DotBase and DotMul give the dot product from the raw popcount sum P: a[o] = DotBase[o] - DotMul*P (bconv2d).
	DotBase []int32
	DotMul  int32

	// Alpha [Out] is the real value of one weight bit (bconv2d).
	Alpha []float64

	Epilogue Epilogue
	Pool     *PoolAttrs // max-pool of the accumulators before the epilogue; kernel = strides, no padding
}

// Epilogue is what happens to an accumulator before it is stored. Exactly one of Thresholds, Shift and Steps' form is
// used: integer thresholds, integer add-then-shift, or float steps.
type Epilogue struct {
	OutBits int // bit planes written; 0 = f32
	OutEnc  ir.EncodingKind

	// Thresholds [2^OutBits-1][Out], bconv2d: level >= j iff P <= Thresholds[j-1][o], P the raw popcount sum.
	Thresholds [][]int32

	// Shift, bconv2d: level = clip(((a + Add[o]) << Left[o]) >> Right[o], 0, 2^OutBits-1).
	Shift *ShiftAdd

	// Steps on f32, applied in order to f32(a) (bconv2d) or to the accumulator (fconv2d).
	Steps []scalar.Step
	// Levels, ascending, 2^OutBits-1 values: level >= j iff the float value >= Levels[j-1] (OutBits > 0 with Steps). Infinities
	// are allowed; NaN stands for a level that no value reaches, and those above it.
	Levels []float32
	// LevelRows are Levels that differ from channel to channel, [2^OutBits-1][Out], in their place: parameters like Thresholds.
	LevelRows [][]float32
}

// ShiftAdd is Riptide's glue in integers; one entry per output channel.
type ShiftAdd struct{ Add, Left, Right []int32 }

// Elementwise is op "eltwise": float steps, in order, that no layer before them could take in.
type Elementwise struct{ Steps []scalar.Step }
