package graph

import "ripc/internal/enum"

// PaddingMode says how a window op pads its input.
type PaddingMode uint8

// The modes of padding.
const (
	PadValid    PaddingMode = iota // none
	PadSame                        // TensorFlow's: the odd one goes to the end
	PadExplicit                    // as given
)

var paddings = enum.Of[PaddingMode]("padding", "valid", "same", "explicit")

// String is the mode's name in models.
func (m PaddingMode) String() string { return paddings.Name(m) }

// ParsePaddingMode is the inverse of PaddingMode.String.
func ParsePaddingMode(text string) (PaddingMode, error) { return paddings.Parse(text) }

// PadValue is the padding of bipolar activations, which have no level for 0.
type PadValue uint8

// The values of padding.
const (
	PadZeros PadValue = iota
	PadOnes
)

var padValues = enum.Of[PadValue]("pad_value", "zero", "one")

// String is the value's name in models.
func (v PadValue) String() string { return padValues.Name(v) }

// ParsePadValue is the inverse of PadValue.String.
func ParsePadValue(text string) (PadValue, error) { return padValues.Parse(text) }

// WeightEncoding says which integers the float weights of a bitserial op become; see BinaryAttrs.
type WeightEncoding uint8

// The encodings of weights.
const (
	BipolarWeights WeightEncoding = iota
	TernaryWeights
	AffineWeights
)

var weightEncodings = enum.Of[WeightEncoding]("weight_encoding", "bipolar", "ternary", "affine")

// String is the encoding's name in models.
func (e WeightEncoding) String() string { return weightEncodings.Name(e) }

// ParseWeightEncoding is the inverse of WeightEncoding.String.
func ParseWeightEncoding(text string) (WeightEncoding, error) { return weightEncodings.Parse(text) }

// WeightScale says where the real value of a weight's integer 1 comes from; see BinaryAttrs.
type WeightScale uint8

// The scales of weights.
const (
	ScaleNone   WeightScale = iota // 1
	ScaleMean                      // the mean of the magnitudes
	ScaleMax                       // the largest magnitude
	ScaleTensor                    // weights "scale" [O]
	ScaleAP2                       // the power of two next to ScaleMean, or ScaleMax for several bits (Riptide)
)

var weightScales = enum.Of[WeightScale]("weight_scale", "none", "mean", "max", "tensor", "ap2")

// String is the scale's name in models.
func (s WeightScale) String() string { return weightScales.Name(s) }

// ParseWeightScale is the inverse of WeightScale.String.
func ParseWeightScale(text string) (WeightScale, error) { return weightScales.Parse(text) }

// BlockOrder says how the pixels of a block lie in channels; see BlockAttrs. The names are ONNX's.
type BlockOrder uint8

// The orders of blocks.
const (
	BlockDCR BlockOrder = iota // pixel after pixel
	BlockCRD                   // channel after channel
)

var blockOrders = enum.Of[BlockOrder]("order", "dcr", "crd")

// String is the order's name in models.
func (o BlockOrder) String() string { return blockOrders.Name(o) }

// ParseBlockOrder is the inverse of BlockOrder.String.
func ParseBlockOrder(text string) (BlockOrder, error) { return blockOrders.Parse(text) }

// ShiftMode says how shift_norm rounds.
type ShiftMode uint8

// The modes of shift_norm.
const (
	ShiftRiptide    ShiftMode = iota // half a step of the weight scale is added, as in Riptide
	ShiftExactRound                  // half a step of the shift is added: rounded to the nearest
)

var shiftModes = enum.Of[ShiftMode]("mode", "riptide", "exact_round")

// String is the mode's name in models.
func (m ShiftMode) String() string { return shiftModes.Name(m) }

// ParseShiftMode is the inverse of ShiftMode.String.
func ParseShiftMode(text string) (ShiftMode, error) { return shiftModes.Parse(text) }
