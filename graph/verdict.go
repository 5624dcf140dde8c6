package graph

import (
	"ripc/internal/enum"
	"ripc/ir"
)

// A Verdict is the kind of layer that a node became, and the reason. Code that knows the node
// decides it; package explain puts it into words.
type Verdict struct {
	Kind   Kind
	Reason Reason // why the node or its glue stays float, or NoReason
	Where  string // the node or step that caused it, "" for the node itself
	Args   ir.Args
}

// Kind is the kind of layer that a node became.
type Kind uint8

// Kinds. A convolution or dense layer is Binary or Float, all else is Bits or Glue.
const (
	Undecided Kind = iota
	Binary         // sums of products of levels and weights of few bits, exact
	Float          // sums of products in f32
	Bits           // works on levels, or makes levels or real numbers of the other
	Glue           // works on f32 alone
)

var verdictKinds = enum.Of[Kind]("kind of layer", "", "binary", "float", "bits", "glue")

// String is the kind's name in JSON and in .ripir text, "" for Undecided.
func (k Kind) String() string { return verdictKinds.Name(k) }

// ParseKind finds the kind of a name.
func ParseKind(s string) (Kind, error) { return verdictKinds.Parse(s) }

// GlueForm is the arithmetic that a layer applies to its sums.
type GlueForm uint8

// The forms of glue.
const (
	NoGlue         GlueForm = iota
	GlueSteps               // in f32
	GlueThresholds          // in integers: levels by comparison
	GlueShift               // in integers: add, then shift, then clip
	GlueScale               // in integers: a fixed-point product or a quotient, then clip
)

var forms = enum.Of[GlueForm]("form of glue", "", "steps", "thresholds", "shift", "scale")

// String is the form's name in JSON and in .ripir text, "" for NoGlue.
func (f GlueForm) String() string { return forms.Name(f) }

// ParseGlueForm finds the form of a name.
func ParseGlueForm(s string) (GlueForm, error) { return forms.Parse(s) }

// Reason is why something stays float, or costs a stage of its own. The comments name the meaning
// of Verdict.Where and the Args that belong to it.
type Reason uint8

// Reasons.
const (
	NoReason Reason = iota

	// Why the weights of a layer keep it float; but for WhyFloatWeights, Bits are those of its
	// input.
	WhyFloatWeights // the model asks for it: its op has f32 weights
	WhyRealWeights  // no few integers times a scale
	WhyNearlyFew    // WeightBits of encoding Weights but for rounding
	WhyWeightsNaN   // some are no numbers
	WhyWideWeights  // integers of WeightBits, more than Most
	WhyInputScales  // WeightBits of encoding Weights, but with a scale for each input channel
	WhyAccumulator  // sums of Count products with WeightBits of Weights and the glue's additions could pass 32 bits

	// Why the input of a layer is not quantized. WeightBits and Weights describe its weights where
	// they have few bits.
	WhyInputReal     // the caller brings real numbers
	WhyDeclaredOnly  // the caller brings real numbers, which the file says are Levels
	WhyMakesReals    // Where, an Op, makes real numbers
	WhyMixedLevels   // Where, an Op, joins levels of different types
	WhyPadValue      // Where pads with Value, which is none of the levels of Bits and Levels
	WhyLevelScale    // the levels of Where have scale Value
	WhyMixedScales   // Where, an Op, is of levels of different scales
	WhyWideLevels    // Where, an Op, makes levels of Bits
	WhyWideMean      // Where, an Op, makes means of Count levels of Bits; the sums have more than Most bits
	WhyChannelScales // Where, an Op, has a scale for each channel
	WhyWideQuantizer // Where, an Op, has more than Most bits
	WhyScaledLevels  // Where, an Op, scales or shifts levels, each channel by a number of its own
	WhyUnevenLevels  // Where, an Op, makes Count values, not in even steps

	// Notes on a quantizer. Where is the node that it stands for, an Op.
	WhyNearly     // the input of a layer is not quantized: Where is a quantizer of Bits but for rounding
	WhyFewFolded  // the weights of Where, an Op, were taken for few bits, from which they differ by rounding
	WhyFolded     // Where was taken for a quantizer of Bits, from which it differs by rounding
	WhyThreeSigns // Where has three values, 0 included
	WhyFoldedSign // Where was taken for the sign, of three values, from which it differs by rounding
	WhyFoldedSum  // Where, an Op, was taken for Value, its first terms, since the others cancel but for rounding
	WhySignZero   // Where makes Value of 0, as was asked for

	// Why the glue behind a binary layer stays float.
	WhyNotMonotone // step Where rises and falls
	WhyNotFinite   // step Where makes Value of a sum of channel Channel
	WhyBorders     // padding moves thresholds by other than one integer
	WhyTwoIntegers // the weights have an offset: a level is a function of two sums
	WhySumsLeave   // no quantizer follows
	WhySumsJoined  // Where, an Op, adds its own to them
	WhySumsShared  // Count layers read them, Where, an Op, among them
	WhySumsStopped // Where, an Op, stands before the next quantizer
	WhyPoolFalls   // a max_pool stands before the step Where, in which channel Channel falls
	WhySumsWide    // the quantizer Where has levels of Bits, more than Most, and no formula that gives them of the sums

	// Why the glue between a node and a quantizer behind it does not fold; see Stay.
	WhyNoThresholds   // none equal it
	WhyCallerReads    // the caller reads the tensor between
	WhyManyRead       // Count nodes do, Where, an Op, among them
	WhyStandsBetween  // Where, an Op, does, and does not fold
	WhyWideThresholds // levels of Bits are more than Most, and not evenly spaced on the sums
	WhyNoConvolution  // the quantizer comes directly behind none

	// Why a quantizer is a stage of its own.
	WhyCallerFloats  // the caller brings real values
	WhyLoneQuantizer // no layer before it could take it in
	WhyNaNHighest    // a NaN has the highest level

	// Why other stages are there, or are float.
	WhyUnreadLevels  // no bitserial layer reads its levels of Bits
	WhyNotTakenIn    // no layer before it could take it in
	WhyOfInput       // it works on the real values that the caller brings: there is no layer before it
	WhySeveralReads  // it reads several tensors that are computed or brought
	WhyAverages      // it averages real values
	WhyFloatInput    // its input is not quantized; WeightBits and Weights where these are few
	WhyProbabilities // the model asks for probabilities
	WhyPositions     // the model asks for the greatest or least elements, or where they are
	WhyRealsFollow   // later layers work on real values
	WhyMovesFloats   // it moves a tensor that is not quantized
	WhyCopiesPart    // its producer could not write in place
	WhyCopiesOutput  // an output lies in another place
	WhyWeightOffset  // Where has weights with an offset, which this is for
	WhyRepacks       // its channels do not fill whole words
	WhyTwoTensors    // it multiplies two tensors that the network computes
	WhyTwoLevels     // the two tensors are levels of Bits and WeightBits

	// Why a stage that only moves elements is there.
	WhyMovedForCaller // the caller brings its input and takes its output
	WhyMovedForMany   // Count stages read the tensor that would be moved, Where, an Op, among them
	WhyMovedBefore    // Where, an Op, cannot read elements where they are, or not as fast
	WhyMovedAfter     // Where, an Op, cannot write elements where they are to be, or not as fast
)

var reasonCodes = enum.Of[Reason]("reason",
	"",
	"float_weights", "real_weights", "nearly_few", "weights_nan", "wide_weights", "input_scales", "accumulator",
	"input_real", "declared_only", "makes_reals", "mixed_levels", "pad_value", "level_scale",
	"mixed_scales", "wide_levels", "wide_mean", "channel_scales", "wide_quantizer", "scaled_levels",
	"uneven_levels",
	"nearly", "few_folded", "folded", "three_signs", "folded_sign", "folded_sum", "sign_zero",
	"not_monotone", "not_finite", "borders", "two_integers", "sums_leave", "sums_joined", "sums_shared",
	"sums_stopped", "pool_falls", "sums_wide",
	"no_thresholds", "caller_reads", "many_read", "stands_between", "wide_thresholds", "no_convolution",
	"caller_floats", "lone_quantizer", "nan_highest",
	"unread_levels", "not_taken_in", "of_input", "several_reads", "averages", "float_input",
	"probabilities", "positions", "reals_follow", "moves_floats", "copies_part", "copies_output",
	"weight_offset", "repacks", "two_tensors", "two_levels",
	"moved_for_caller", "moved_for_many", "moved_before", "moved_after")

// String is the reason's code in JSON and in .ripir text, "" for NoReason.
func (r Reason) String() string { return reasonCodes.Name(r) }

// ParseReason finds the reason of a code.
func ParseReason(s string) (Reason, error) { return reasonCodes.Parse(s) }

// Reasons lists all reasons, NoReason left out.
func Reasons() []Reason { return reasonCodes.All()[1:] }

// AsReason is v's reason as stages carry it.
func (v Verdict) AsReason() ir.Reason {
	if v.Reason == NoReason {
		return ir.Reason{}
	}
	return ir.Reason{Code: v.Reason.String(), Where: v.Where, Args: v.Args}
}

// Stay is a node that stays float in a network that is meant to be binary.
type Stay struct {
	Node    *Node
	Lacks   Lack
	Verdict Verdict
	UpTo    string // the quantizer up to which the glue behind Node does not fold, where it lacks that
	// Values is the number of elements that Node makes. MACs are those of a float convolution or
	// dense layer, else 0. AllMACs are the network's.
	Values, MACs, AllMACs int64
}

// Lack is the condition that keeps a node from being binary.
type Lack uint8

// Lacks.
const (
	LackLevels     Lack = iota // an input of few bits
	LackWeights                // weights of few bits
	LackThresholds             // constants that can become thresholds
	LackFolding                // glue that folds up to a quantizer
	LackRoom                   // sums that 32 bits hold
)
