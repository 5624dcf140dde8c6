package explain

import (
	"cmp"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/ir"
	"ripc/runtime/describe"
)

// Advice is one change of a model that would make layers bitserial, which stay float without it, or
// halve the work of bitserial ones.
type Advice struct {
	Reason ir.Reason // why the first of them has its kind
	Layers []string
	MACs   int64 // of all of them
}

// changes has a change of the model for each reason why a layer stays float, one table for each
// half of a binary layer: weights for levels that are there, and levels for weights of few bits. A
// layer without either half gets no advice.
func changes() (weights, levels map[graph.Reason]string) {
	weights = map[graph.Reason]string{
		graph.WhyRealWeights: "train it with binary weights, or weights of few bits: its input has %(bits) bits",
		graph.WhyNearlyFew: "take its weights for the %(weights) ones that they are but for rounding: its input " +
			"has %(bits) bits",
		graph.WhyWideWeights: "train it with weights of at most %(most) bits: its input has %(bits) bits",
	}
	levels = map[graph.Reason]string{
		graph.WhyInputScales: "give its %(weights) weights a scale for each output channel, not for each input channel",

		graph.WhyInputReal:     "quantize the network's input, or let the caller bring levels",
		graph.WhyNearly:        "take %(where) for the quantizer that it is but for rounding",
		graph.WhyDeclaredOnly:  "take the network's input for the %(levels) values that the file says it has",
		graph.WhyMakesReals:    "quantize the result of %(where)",
		graph.WhyMixedLevels:   "give all inputs of %(where) one type of levels",
		graph.WhyPadValue:      "let %(where) pad with one of the %(bits)-bit levels, not with %(value)",
		graph.WhyLevelScale:    "give the levels of %(where) a positive scale",
		graph.WhyMixedScales:   "give the levels that %(where) reads one scale",
		graph.WhyWideLevels:    "quantize the result of %(where) to fewer bits",
		graph.WhyWideMean:      "quantize the result of %(where)",
		graph.WhyChannelScales: "give %(where) one scale for all channels",
		graph.WhyWideQuantizer: "give %(where) at most %(most) bits",
		graph.WhyScaledLevels:  "give %(where) one number for all channels, or move it behind the layer",
		graph.WhyUnevenLevels:  "quantize in even steps, or to sums of few planes, before %(where)",
	}
	return weights, levels
}

// Changeable reports whether a change of the model, or an option, would turn more of a layer to
// bits: its sums, or the glue behind them.
func Changeable(l ir.Layer) bool {
	code, err := graph.ParseReason(l.Reason.Code)
	if err != nil || l.Kind == graph.Glue.String() {
		return false
	}
	switch code {
	case graph.WhySumsStopped, graph.WhyPoolFalls, graph.WhySumsWide, graph.WhyNotMonotone, graph.WhyNotFinite,
		graph.WhyNearly, graph.WhyNearlyFew:
		return true
	}
	return len(Advise([]describe.Stage{{Layer: l}})) > 0
}

// Advise groups the layers that one change would make bitserial, or of half the work, those first
// that do most of the work.
func Advise(stages []describe.Stage) []Advice {
	list := signAdvice(stages)
	weights, levels := changes()
	for _, s := range stages {
		why := s.Layer.Reason
		code, err := graph.ParseReason(why.Code)
		switch {
		case err != nil || s.Layer.Kind != graph.Float.String():
			continue
		case why.Args.Bits > graph.FewBitsMost:
			continue // a picture's bytes: layers that read them are real by the model's own wish
		case weights[code] == "" && (levels[code] == "" || why.Args.WeightBits == 0):
			continue
		}
		same := func(a Advice) bool {
			return why.Where != "" && a.Reason.Code == why.Code && a.Reason.Where == why.Where
		}
		i := slices.IndexFunc(list, same)
		if i < 0 {
			list, i = append(list, Advice{Reason: why}), len(list)
		}
		list[i].Layers = append(list[i].Layers, s.Name)
		list[i].MACs += s.MACs
	}
	slices.SortStableFunc(list, func(a, b Advice) int { return cmp.Compare(b.MACs, a.MACs) })
	return list
}

// signAdvice is the advice on signs of three values. One choice for all of them halves the bits of
// their levels, and so the work of the bitserial layers that read them. Levels may go through
// stages on bits, such as a max_pool.
func signAdvice(stages []describe.Stage) []Advice {
	var a Advice
	two := map[string]bool{} // tensors of such levels
	for _, s := range stages {
		code, err := graph.ParseReason(s.Layer.Reason.Code)
		read := slices.ContainsFunc(s.Reads, func(t describe.Tensor) bool { return two[t.Name] })
		switch {
		case err == nil && (code == graph.WhyThreeSigns || code == graph.WhyFoldedSign):
			if a.Reason.Code == "" {
				a.Reason = s.Layer.Reason
			}
		case read && s.Layer.Kind == graph.Binary.String():
			a.Layers, a.MACs = append(a.Layers, s.Name), a.MACs+s.MACs
			continue
		case !read || s.Layer.Kind != graph.Bits.String():
			continue
		}
		for _, t := range s.Writes {
			two[t.Name] = true
		}
	}
	if len(a.Layers) == 0 {
		return nil
	}
	return []Advice{a}
}

// Change puts the change into words.
func (a Advice) Change() string {
	code, err := graph.ParseReason(a.Reason.Code)
	if err != nil {
		return a.Reason.Code
	}
	if code == graph.WhyThreeSigns || code == graph.WhyFoldedSign {
		return "let sign make +1 or -1 of 0, for levels of 1 bit and half the work of these layers"
	}
	weights, levels := changes()
	return strings.NewReplacer(words(a.Reason)...).Replace(cmp.Or(weights[code], levels[code]))
}
