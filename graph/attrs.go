package graph

import (
	"ripc/graph/scalar"
	"ripc/ir"
)

// Padding of a window op.
type Padding struct {
	Mode                     PaddingMode
	Top, Bottom, Left, Right int // resolved by Infer
}

// Any reports whether there is any, once it is resolved.
func (p Padding) Any() bool { return p.Top+p.Bottom+p.Left+p.Right > 0 }

// Conv2DAttrs belongs to conv2d, bitserial_conv2d and int_conv2d. Weights: "w" [KH,KW,I,O], "b" [O]
// (conv2d only, optional); those of int_conv2d are IntegerAttrs'.
type Conv2DAttrs struct {
	Strides [2]int  `print:"strides"`
	Pad     Padding `print:"pad"`
	// Dilations is the distance of a filter's taps, Groups the number of parts that channels are
	// cut into, each output channel reading one; 0 counts as 1 in both. w is then [KH, KW,
	// I/Groups, O].
	Dilations [2]int        `print:"dilations" omit:"[0 0],[1 1]"`
	Groups    int           `print:"groups" omit:"0,1"`
	Binary    *BinaryAttrs  `print:""` // bitserial_conv2d
	Integer   *IntegerAttrs `print:""` // int_conv2d
}

// Dilation is the distance of the taps, resolved.
func (a *Conv2DAttrs) Dilation() [2]int {
	return [2]int{max(1, a.Dilations[0]), max(1, a.Dilations[1])}
}

// GroupCount is the number of groups, resolved.
func (a *Conv2DAttrs) GroupCount() int { return max(1, a.Groups) }

// ConvTranspose2DAttrs belongs to conv_transpose2d and bitserial_conv_transpose2d. Their weights
// are those of conv2d. Pixel (h, w) of the input times tap (i, j) is part of output pixel
// (h*Strides[0] + i*Dilations[0] - Pad.Top, ...). An output pixel sums its products over rows, then
// columns, then channels of the input. The output has
//
//	(H-1)*Strides[0] + (KH-1)*Dilations[0] + 1 - Pad.Top - Pad.Bottom + OutputPad[0]
//
// rows; with PadSame it has H*Strides[0]. Positions outside the input count as 0 for all levels.
type ConvTranspose2DAttrs struct {
	Strides   [2]int       `print:"strides"`
	Pad       Padding      `print:"pad"`                          // rows and columns that are cut off
	OutputPad [2]int       `print:"output_padding" omit:"[0 0]"`  // rows and columns that are added at the end
	Dilations [2]int       `print:"dilations" omit:"[0 0],[1 1]"` // as in Conv2DAttrs
	Groups    int          `print:"groups" omit:"0,1"`
	Binary    *BinaryAttrs `print:""`
}

// Dilation is the distance of the taps, resolved.
func (a *ConvTranspose2DAttrs) Dilation() [2]int {
	return [2]int{max(1, a.Dilations[0]), max(1, a.Dilations[1])}
}

// GroupCount is the number of groups, resolved.
func (a *ConvTranspose2DAttrs) GroupCount() int { return max(1, a.Groups) }

// DenseAttrs belongs to dense, bitserial_dense and int_dense. Weights: "w" [I,O], "b" [O] (dense
// only, optional).
type DenseAttrs struct {
	Binary  *BinaryAttrs  `print:""` // bitserial_dense
	Integer *IntegerAttrs `print:""` // int_dense
}

// BinaryAttrs says how the float weights of a bitserial op become integers, times a scale for each
// output channel. The zero value is one bit and no scale. The result is f32(sum of the products of
// integers) * f32(scale of the input * scale of the weights). Where the input has an offset,
// f32(offset * sum of the weights' real values inside the image) is added. The terms in parentheses
// are computed in float64, and every other operation rounds to f32.
type BinaryAttrs struct {
	// Enc of the weights. Bipolar of one bit (OneBit): +1 for w >= 0, else -1. Bipolar of more: the
	// odd integer 2*round((clip(w/s, -m, m) + m)/2) - m. Ternary: +1 for w > t, -1 for w < -t, else
	// 0. Its threshold t is 0.7*mean|w| of the filter, compared as |w|*n > 0.7*sum|w| in float64.
	// Affine: round(clip(w/s, -Zero, m - Zero)). Here m = 2^Bits-1, s is the weight scale, and
	// halves round to even.
	Enc        WeightEncoding
	Bits, Zero int
	// WeightScale: ScaleMean is mean|W_k|, per channel in convolutions, one for a dense layer. Of
	// ternary weights it is the mean of those that are not 0. It is for weights of one bit and
	// ternary ones only. ScaleMax is max|w| / the largest integer, for more bits. ScaleAP2 is
	// 2^round(log2 s), half to even, where s is the one of these two that the weights may have. A
	// filter of zeros has the scale 0, and the integers of 0.
	WeightScale WeightScale
	PadValue    PadValue // unipolar activations pad with 0 whatever it says
	// Offset says that a weight is its integer times the scale, plus the weight "offset" of its
	// output channel. Integers and scale are those of f32(w - offset). A fused multiply-add adds
	// f32(sum of the input's integers) * f32(scale of the input * offset) to the result. The offset
	// of the input is added after that.
	Offset bool
}

// OneBit reports whether the weights are +1 or -1 by their sign alone.
func (b *BinaryAttrs) OneBit() bool { return b.Enc == BipolarWeights && b.Bits <= 1 }

// PoolAttrs belongs to max_pool and avg_pool (which counts only positions inside the image).
type PoolAttrs struct {
	Kernel  [2]int  `print:"kernel"`
	Strides [2]int  `print:"strides"`
	Pad     Padding `print:"pad"`
}

// BatchNormAttrs: y = fma(x, s, b), s = f32(gamma/sqrt(var+eps)), b = f32(beta - mean*s) computed
// in float64. Weights: "gamma", "beta", "mean", "var", each [C].
type BatchNormAttrs struct{ Epsilon float64 }

// ConcatAttrs: along the last axis.
type ConcatAttrs struct{}

// PReluAttrs: x for x >= 0, else alpha*x. Weights: "alpha" [C].
type PReluAttrs struct{}

// BinaryOpAttrs belongs to add, sub, mul, div, minimum, maximum, greater, greater_equal, less,
// less_equal, equal and not_equal: of two f32 tensors of one rank, axes of extent 1 being repeated,
// or of one tensor and the weight "b", [C] or [1] (Reverse: b stands on the left). The comparisons
// make truth values: levels of one bit, unipolar, of scale 1. add and sub of two tensors of levels
// give levels, exactly (scalar.SumOf), and mul and div of levels by one number above 0 the same
// levels with another scale.
type BinaryOpAttrs struct{ Reverse bool }

// WhereAttrs belongs to where: a where the condition, truth values, holds, else b. The inputs are
// the condition, a and b, of one rank, axes of extent 1 being repeated; the weights "a" and "b",
// [C] or [1], may take the places of the inputs of these names.
type WhereAttrs struct{}

// SpatialPadAttrs belongs to pad: rows and columns around the image, all of one value, which levels
// must be able to express.
type SpatialPadAttrs struct {
	Pad   Padding `print:"pad"` // given, whatever the mode
	Value float64 `print:"value"`
}

// SliceAttrs: positions Begin[d] + i*Stride[d], i = 0..Size[d]-1, of every axis d.
type SliceAttrs struct {
	Begin  []int `print:"begin"`
	Size   []int `print:"size"`
	Stride []int `print:"strides"`
}

// ReshapeAttrs gives the elements, in row-major order, another shape.
type ReshapeAttrs struct {
	Shape []int `print:"shape"`
}

// TransposeAttrs: axis d of the result is axis Perm[d] of the input, f32 or levels. Channels of
// levels are the last axis, before and after.
type TransposeAttrs struct {
	Perm []int `print:"perm"`
}

// BlockAttrs belongs to depth_to_space and space_to_depth, f32 or levels: a block of Block[0] rows
// and Block[1] columns of the larger image is one pixel of the smaller one, its channels side by
// side. With DCR, channel c of the pixel (i, j) of a block is channel (i*Block[1] + j)*C + c, C
// being the channels of the larger image; with CRD it is (c*Block[0] + i)*Block[1] + j.
type BlockAttrs struct {
	Block [2]int     `print:"block"`
	Order BlockOrder `print:"order"`
}

// ResizeAttrs belongs to resize: each pixel, f32 or levels, Factor[0] times in a column and
// Factor[1] times in a row.
type ResizeAttrs struct {
	Factor [2]int `print:"factor"`
}

// GatherAttrs belongs to gather, of f32 or levels: row i of the result is row Rows[i] of the input,
// and likewise its columns. An empty list leaves its axis as it is.
type GatherAttrs struct {
	Rows    []int `print:"rows" omit:"[]"`
	Columns []int `print:"columns" omit:"[]"`
}

// InterpolateAttrs belongs to interpolate, of f32: row i of the result is the input at position p =
// Rows[i], between rows l = floor(p) and l+1, and likewise its columns. Behind the last pixel is
// that pixel again. The value between a at l and b at l+1 is fma(b, s, a*(1-s)), s = p - l, every
// operation rounded to f32: between rows first, then between columns. An empty list leaves its axis
// as it is.
type InterpolateAttrs struct {
	Rows    []float32 `print:"rows" omit:"[]"`
	Columns []float32 `print:"columns" omit:"[]"`
}

// ConstantAttrs belongs to constant, which has no inputs and yields its weight "value", f32 of any
// shape.
type ConstantAttrs struct{}

// ArgAttrs belongs to argmax and argmin: the position, i32, of the greatest or least element along
// the last axis. Of equal elements it is the first, or the last (Last). A NaN is neither greater
// nor less than anything. The axis stays with extent 1 unless Drop is set.
type ArgAttrs struct {
	Last bool `print:"last"`
	Drop bool `print:"drop"`
}

// TopKAttrs belongs to top_k and top_k_indices. top_k makes the K greatest elements along the last
// axis in falling order, or the K least in rising order (Least). top_k_indices makes their
// positions, i32. Of equal elements the first comes first. A NaN is neither greater nor less than
// anything: it is taken where it is the first remaining element.
type TopKAttrs struct {
	K     int  `print:"k"`
	Least bool `print:"least"`
}

// ClipAttrs: min(max(x, Min), Max); either may be infinite.
type ClipAttrs struct {
	Min float64 `print:"min"`
	Max float64 `print:"max"`
}

// HardSigmoidAttrs: min(max(x*Alpha + Beta, 0), 1), product and sum rounded.
type HardSigmoidAttrs struct {
	Alpha float64 `print:"alpha"`
	Beta  float64 `print:"beta"`
}

// EluAttrs: x for x > 0, else Alpha * (e**x - 1).
type EluAttrs struct {
	Alpha float64 `print:"alpha"`
}

// RoundAttrs belongs to round: to an integer, in f32.
type RoundAttrs struct {
	Mode scalar.Rounding `print:"rounding"`
}

// FakeQuantAttrs belongs to fake_quant, a quantizer with an f32 result: y = (round(clip(x/scale +
// zp, Min, Max)) - zp) * scale, each operation rounded. Weights: "scale" and "zero_point", each [C]
// or [1]; "zero_point" may be missing (0).
type FakeQuantAttrs struct {
	Min, Max float64
	Rounding scalar.Rounding
}

// ThresholdAttrs belongs to threshold: f32 -> levels. The level is the number of thresholds t with
// x >= t, or, where NotLess is set, of those for which x < t does not hold (a NaN counts). Weights:
// "thresholds" [T, C] or [T, 1], T <= 2^Bits-1, ascending along T, infinities allowed.
type ThresholdAttrs struct {
	scalar.LevelType
	NotLess bool
}

// NoAttrs belongs to ops without attributes. Functions of one element: relu, relu6, hard_tanh, sign
// (-1, 0 or 1), abs, sigmoid, tanh, hard_swish, silu, exp, log, sqrt and erf. Logic: logical_not,
// logical_and, logical_or and logical_xor. Others: matmul, global_avg_pool, softmax, log_softmax,
// flatten, unpack and dequantize.
//
// matmul is of f32 tensors [..., M, K] and [..., K, N] of one rank from 2 to 4. Their axes of
// extent 1 before the last two are repeated. Each result is a chain of fused multiply-adds over K,
// in that order, from 0.
type NoAttrs struct{}

// BitpackAttrs belongs to bitpack. The caller sees its result as u32 words, or as int32 words
// without an axis of planes (1 bit).
type BitpackAttrs struct {
	Int32 bool `print:"dtype=i32"`
}

// QuantizeAttrs: f32 -> levels. Where the model gives no scale, Scale is 1/(2^Bits-1).
type QuantizeAttrs = scalar.Quantizer

// ShiftNormAttrs is Riptide's glue (Fromm et al., Riptide, MLSys 2020, section 4.2). It turns
// integers into levels of Bits and Enc, of scale 1/(2^Bits-1), by an addition, a shift and a clip
// for each channel. The integers a are the sums of a bitserial op, or levels, such as the sum of
// two tensors of levels. Between the op and shift_norm there may be ops that only move or pool the
// sums, constants that are added, and relu. Weights: "mean", "var" [C], those of the real tensor.
// In float64, for one channel:
//
//	s   = the scale of the levels that the op reads; N is the number of their bits;
//	L   = the largest integer of these levels (2^N-1 of unipolar and bipolar ones);
//	wb  = -log2 AP2(alpha), alpha the real value of the weight 1; wb = 0 behind levels;
//	      AP2(x) = 2^round(log2 |x|);
//	u   = s * 2^-wb, the real value that the integer 1 counts as;
//	S   = s * (L + 1 - 2^-wb);
//	m   = round(clip(mean, -S, S) / u), half to even: the paper's FPQ;
//	T   = wb + log2 AP2(sqrt(var + Epsilon) / ((2^Bits-1) * s));
//	r   = 2^(wb-1) (0 for wb = 0), or 2^(T-1) in mode exact_round.
//
// The level, in both modes, is
//
//	unipolar  clip((a + r - m) >> T, 0, 2^Bits-1);
//	bipolar   clip((a - m + ((2^Bits-1) << T) + (1 << T)) >> (T+1), 0, 2^Bits-1).
//
// A bipolar level stands for the integer 2*level - (2^Bits-1). bipolar_inv is bipolar with the bits
// inverted. A constant b is round(b/u) in these integers. Where the op reads N = Bits bits of scale
// 1/(2^N-1), this is the paper's S = 1 + (1 - 2^-wb)/(2^N-1), m with (2^N-1) * 2^wb, and T = wb +
// sb. T < 0 shifts left; wb < 0 and numbers beyond 32 bits are errors.
type ShiftNormAttrs struct {
	Bits    int             `print:"bits"`
	Mode    ShiftMode       `print:"mode"`
	Enc     ir.EncodingKind `print:"encoding" omit:"unipolar"`
	Epsilon float64
}

// Levels is the type of the levels that a makes.
func (a *ShiftNormAttrs) Levels() scalar.LevelType {
	return scalar.LevelType{Enc: a.Enc, Bits: a.Bits,
		Scale: 1 / float64(int(1)<<min(max(a.Bits, 1), scalar.MaxLevelBits)-1)}
}
