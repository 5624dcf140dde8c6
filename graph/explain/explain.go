// Package explain puts the verdicts on layers into words. Verdicts are data everywhere else: no
// code reads the words, and only output for people makes them.
package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/internal/human"
	"ripc/ir"
	"ripc/lower/layout"
)

// sentences has a row for each reason. %(name) is replaced by the entry of words with that name.
func sentences() map[graph.Reason]string {
	leave := "integer sums leave: "
	unquantized := "%(but)its input is not quantized: "
	return map[graph.Reason]string{
		graph.WhyFloatWeights: "its weights are not binary",
		graph.WhyRealWeights:  "its input has %(bits) bits, but it has real weights",
		graph.WhyNearlyFew:    "its input has %(bits) bits, but its weights are %(weights) but for rounding",
		graph.WhyWeightsNaN:   "its input has %(bits) bits, but it has weights that are not numbers",
		graph.WhyWideWeights: "its input has %(bits) bits, but it has weights of %(weight_bits) bits, where at " +
			"most %(most) bits become bitserial",
		graph.WhyInputScales: "its input has %(bits) bits, but it has %(weights) weights with a scale for each " +
			"input channel",
		graph.WhyAccumulator: "sums of %(count) products of %(bits)-bit activations and %(weights) weights could " +
			"pass 32 bits, with the glue's additions",

		graph.WhyInputReal: unquantized + "the caller brings real numbers",
		graph.WhyDeclaredOnly: unquantized + "the caller brings real numbers, and the file says that they are " +
			"%(levels)",
		graph.WhyMakesReals:  unquantized + "%(where) makes real numbers",
		graph.WhyMixedLevels: unquantized + "%(where) joins levels of different types",
		graph.WhyPadValue: unquantized + "%(where) adds %(value), which is none of the %(bits)-bit %(levels) " +
			"levels",
		graph.WhyLevelScale:  unquantized + "the levels of %(where) have scale %(value)",
		graph.WhyMixedScales: unquantized + "%(where) is of levels of different scales",
		graph.WhyWideLevels:  unquantized + "%(where) makes levels of %(bits) bits",
		graph.WhyWideMean: unquantized + "%(where) makes means of %(count) levels of %(bits) bits, too many to " +
			"be levels of %(most) bits",
		graph.WhyChannelScales: unquantized + "%(where) has a scale for each channel",
		graph.WhyWideQuantizer: unquantized + "%(where) has more than %(most) bits",
		graph.WhyScaledLevels: "%(but)its input is quantized, but %(where) then scales or shifts each channel by a " +
			"number of its own",
		graph.WhyUnevenLevels: "%(but)its input is quantized, but %(where) makes %(count) values of it that are " +
			"not in even steps",

		graph.WhyNearly: unquantized + "%(where) is a %(bits)-bit quantizer but for rounding",
		graph.WhyFolded: "%(where) is taken for the %(bits)-bit quantizer from which it differs by rounding",
		graph.WhyFewFolded: "the weights of %(where) are taken for the %(weights) ones from which they differ by " +
			"rounding",
		graph.WhyFoldedSum: "%(where) is taken for %(value), from which it differs by rounding: the term that is " +
			"added is subtracted",
		graph.WhyThreeSigns: "%(where) has three values, 0 included: 2 bits, and twice the work in its readers",
		graph.WhyFoldedSign: "%(where) is taken for the sign from which it differs by rounding; that has three " +
			"values, 0 included: 2 bits, and twice the work in its readers",
		graph.WhySignZero: "%(where) makes %(value) of 0, as asked",

		graph.WhyNotMonotone: "%(where) rises and falls where the sums rise, so no thresholds equal its glue",
		graph.WhyNotFinite:   "%(where) makes %(value) of a sum of channel %(channel), so no thresholds equal its glue",
		graph.WhyBorders: "its input has an offset that padding has not, so no thresholds equal its glue at the " +
			"borders",
		graph.WhyTwoIntegers: "its weights have an offset, so that its levels are made of two sums, in f32",
		graph.WhySumsLeave:   leave + "no quantizer follows",
		graph.WhySumsJoined:  leave + "%(where) joins them with its own",
		graph.WhySumsShared:  leave + "%(count) layers read them, %(where) among them",
		graph.WhySumsStopped: leave + "%(where) stands before the next quantizer",
		graph.WhyPoolFalls: leave + "channel %(channel) falls in %(where), behind a max_pool, which takes the " +
			"largest before that; factors from 0 up, or the pool behind %(where), would let both fold",
		graph.WhySumsWide: leave + "%(where) makes levels of %(bits) bits by thresholds that are not evenly " +
			"spaced on the sums, where at most %(most) bits become thresholds",

		graph.WhyNoThresholds:  "no thresholds equal its glue",
		graph.WhyCallerReads:   "the caller reads the tensor between",
		graph.WhyManyRead:      "%(count) layers read the tensor between, %(where) among them",
		graph.WhyStandsBetween: "%(where) stands between",
		graph.WhyWideThresholds: "levels of %(bits) bits, where at most %(most) become thresholds, unless these are " +
			"evenly spaced on the sums",
		graph.WhyNoConvolution: "it comes directly behind no convolution",

		graph.WhyCallerFloats:  "float until here: the caller brings real values",
		graph.WhyLoneQuantizer: "float until here: no layer before it could take the quantizer in",
		graph.WhyNaNHighest: "float until here: a NaN has the highest level, which comparisons with positive " +
			"thresholds do not give it",

		graph.WhyUnreadLevels:  "its %(bits)-bit levels are read by float layers only, so they stay f32",
		graph.WhyNotTakenIn:    "no layer before it could take it in",
		graph.WhyOfInput:       "it works on tensors that the caller brings, and no layer comes before it",
		graph.WhySeveralReads:  "it reads several tensors, and no layer before it could take it in",
		graph.WhyAverages:      "averages real values",
		graph.WhyFloatInput:    "%(but)its input is not quantized",
		graph.WhyProbabilities: "the model asks for probabilities",
		graph.WhyPositions:     "the model asks for the greatest or least elements, or where they are",
		graph.WhyRealsFollow:   "float from here on: later layers work on real values",
		graph.WhyMovesFloats:   "moves a tensor that is not quantized",
		graph.WhyCopiesPart:    "copies a tensor that its producer could not write in place",
		graph.WhyCopiesOutput:  "copies a tensor that is in another place",
		graph.WhyWeightOffset:  "sums of the input, which the offset of the weights of %(where) is multiplied by",
		graph.WhyTwoTensors:    "it multiplies two tensors that the network computes",
		graph.WhyTwoLevels: "it multiplies %(bits)-bit levels by %(weight_bits)-bit levels, and the " +
			"network computes both; products in bits have constant weights",
		graph.WhyRepacks: "repacks bits: its channels do not fill whole words",

		graph.WhyMovedForCaller: "moves a tensor that the caller brings to where the caller takes it",
		graph.WhyMovedForMany:   "moves elements, once for the %(count) layers that read them, %(where) among them",
		graph.WhyMovedBefore:    "moves elements for %(where), which cannot read them where they are, or not as fast",
		graph.WhyMovedAfter: "moves elements for %(where), which cannot write them where they are to be, or not " +
			"as fast",
	}
}

// Reason says why something stays float, or is a stage of its own; "" where there is no reason. A
// code that this ripc does not have, as a description that another one wrote may, stands for
// itself.
func Reason(r ir.Reason) string {
	if r.Code == "" {
		return ""
	}
	code, err := graph.ParseReason(r.Code)
	if err != nil {
		return "for a reason that this ripc does not know: " + r.Code
	}
	return strings.NewReplacer(words(r)...).Replace(sentences()[code])
}

// Verdict is Reason for a node that is not lowered yet.
func Verdict(v graph.Verdict) string { return Reason(v.AsReason()) }

// words are the values that sentences may name, as old and new for a Replacer.
func words(r ir.Reason) []string {
	a, where, but := r.Args, fmt.Sprintf("%q", r.Where), ""
	if a.Op != "" {
		where = a.Op + " " + where
	}
	weights := Weights(a.WeightBits, a.Weights)
	if a.WeightBits > 0 {
		but = "it has " + weights + " weights, but "
	}
	out := []string{"%(but)", but, "%(where)", where, "%(weights)", weights, "%(value)", a.Value, "%(levels)", a.Levels}
	for name, n := range map[string]int64{"bits": int64(a.Bits), "weight_bits": int64(a.WeightBits), "count": a.Count,
		"most": a.Most, "channel": int64(a.Channel)} {
		// a Replacer takes the first that fits
		for _, noun := range []string{"bit", "layer", "level", "product", "value"} {
			out = append(out, "%("+name+") "+noun+"s", human.Count(n, noun))
		}
		out = append(out, "%("+name+")", fmt.Sprint(n))
	}
	return out
}

// Weights names the weights of a layer, e.g. "1-bit" or "ternary".
func Weights(bits int, enc string) string {
	if enc == "ternary" {
		return enc
	}
	return fmt.Sprintf("%d-bit", bits)
}

// Integer reports whether a layer sums products of levels by weights of 8 bits, as int8 networks
// do. Layers with weights of fewer bits are called binary.
func Integer(l ir.Layer) bool { return l.Kind == graph.Binary.String() && l.WeightBits >= 8 }

// Became names the kind of a layer: "binary NxM" or "integer NxM" (N bits of activations, M of
// weights), "float", or "float 32xM" if memory holds M bits of each f32 weight. Glue is "bits" if
// it reads or writes levels, and "float glue" otherwise. A stage without a kind is "unknown".
func Became(l ir.Layer) string {
	kind, err := graph.ParseKind(l.Kind)
	switch {
	case err != nil || kind == graph.Undecided:
		return "unknown"
	case Integer(l):
		return fmt.Sprintf("integer %dx%d", l.ActivationBits, l.WeightBits)
	case kind == graph.Binary, kind == graph.Float && l.WeightBits > 0 && l.WeightBits < l.ActivationBits:
		return fmt.Sprintf("%s %dx%d", kind, l.ActivationBits, l.WeightBits)
	case kind == graph.Glue:
		return "float glue"
	}
	return kind.String()
}

// Glue describes the glue behind a layer's sums, e.g. "mul fma relu" or "thresholds(2 bits), after
// max_pool 2x2". A form that this ripc does not know stands for itself.
func Glue(g ir.Glue) string {
	var parts []string
	form, err := graph.ParseGlueForm(g.Form)
	switch {
	case err != nil:
		parts = append(parts, g.Form)
	case form == graph.GlueThresholds:
		parts = append(parts, fmt.Sprintf("thresholds(%s)", bits(g.Bits)))
	case form == graph.GlueShift:
		parts = append(parts, fmt.Sprintf("add, shift, clip(%s)", bits(g.Bits)))
	case form == graph.GlueScale:
		parts = append(parts, fmt.Sprintf("fixed point(%s)", bits(g.Bits)))
	default:
		steps := g.Steps
		switch {
		case g.PerChannel:
			steps = append(steps[:len(steps):len(steps)], fmt.Sprintf("levels(%s, per channel)", bits(g.Bits)))
		case g.Bits > 0:
			steps = append(steps[:len(steps):len(steps)], fmt.Sprintf("levels(%s)", bits(g.Bits)))
		}
		if len(steps) > 0 {
			parts = append(parts, strings.Join(steps, " "))
		}
	}
	if g.Beside > 0 {
		if len(parts) == 0 {
			parts = append(parts, "floats")
		}
		parts = append(parts, fmt.Sprintf("and levels(%s)", bits(g.Beside)))
	}
	if g.MaxH > 0 {
		parts = append(parts, fmt.Sprintf("after max_pool %dx%d", g.MaxH, g.MaxW))
	}
	if g.Mean > 0 {
		parts = append(parts, fmt.Sprintf("mean of %d positions", g.Mean))
	}
	return strings.Join(parts, ", ")
}

// Algorithm says how the sums of a layer are computed, and why so, e.g. "float: about 5.2 M cycles
// (measured), by popcount 9.8 M (predicted)". One that this ripc does not have stands for itself.
func Algorithm(a ir.Algorithm) string {
	by, err := layout.ParseAlgorithm(a.Name)
	if err != nil {
		return a.Name
	}
	why, err := layout.ParseWhy(a.Why)
	text := by.String()
	if err == nil && why == layout.Asked {
		text += ", as asked"
	}
	switch {
	case len(a.Costs) > 1:
		text += fmt.Sprintf(": about %s %s%s", short(a.Costs[a.Name]), a.Unit, origin(a, a.Name))
		others := slices.SortedFunc(maps.Keys(a.Costs), func(x, y string) int {
			return cmp.Or(cmp.Compare(a.Costs[x], a.Costs[y]), cmp.Compare(x, y))
		})
		for _, name := range slices.DeleteFunc(others, func(name string) bool { return name == a.Name }) {
			text += fmt.Sprintf(", by %s %s%s", name, short(a.Costs[name]), origin(a, name))
		}
		switch len(a.Measured) {
		case 0:
			text += ", all predicted"
		case len(a.Costs):
			text += ", all measured"
		}
		text += differenceText(a.Terms)
	case err == nil && why == layout.Only && by == layout.Popcount:
		text += ": no other gives its sums exactly"
	}
	return text
}

// origin says where the cost of an algorithm comes from, unless all costs come from there.
func origin(a ir.Algorithm, name string) string {
	switch {
	case len(a.Measured) == 0, len(a.Measured) == len(a.Costs):
		return ""
	case slices.Contains(a.Measured, name):
		return " (measured)"
	}
	return " (predicted)"
}

// differenceText names the costs that the next best algorithm adds, the largest difference first.
func differenceText(differences map[string]int64) string {
	var parts []string
	size := func(name string) int64 { return max(differences[name], -differences[name]) }
	for _, name := range slices.SortedFunc(maps.Keys(differences), func(x, y string) int {
		return cmp.Or(cmp.Compare(size(y), size(x)), cmp.Compare(x, y))
	}) {
		if n := differences[name]; n < 0 {
			parts = append(parts, short(-n)+" less of "+name)
		} else {
			parts = append(parts, short(n)+" more of "+name)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; the next best takes " + strings.Join(parts, ", ")
}

// short is a number with about three figures.
func short(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.4g M", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.3g k", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

func bits(n int) string { return human.Count(n, "bit") }
