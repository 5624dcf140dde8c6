package graph

// maxInputGroups bounds the groups of input channels that have scales of their own, and leastGroup
// the channels of one.
const (
	maxInputGroups = 32
	leastGroup     = 8
)

// InputGroups splits the input channels of weights w ([..., I, O]) into the fewest groups that have
// few bits each, as blocks of quantized weights have. Each group has its own scales. groups is 0 if
// there is no such split. few are the bits of the first group.
func InputGroups(w *Tensor) (groups int, few *FewBits) {
	in := w.Shape[len(w.Shape)-2]
	first := w.filter(0)
next:
	for groups = 2; groups <= min(maxInputGroups, in/leastGroup); groups++ {
		if in%groups != 0 {
			continue
		}
		if multiplesOf(first.InputGroup(0, groups), MaxWeightBits, nearly) == nil { // as for most real weights
			continue
		}
		few = nil
		for g := range groups {
			part := multiplesOf(w.InputGroup(g, groups), MaxWeightBits, nearly)
			if part == nil {
				continue next
			}
			if few == nil {
				few = part
			}
		}
		return groups, few
	}
	return 0, nil
}

// InputGroup is group g of the input channels of weights w ([..., I, O]), of groups in all.
func (t *Tensor) InputGroup(g, groups int) *Tensor {
	n := len(t.Shape)
	in, outs := t.Shape[n-2], t.Shape[n-1]
	size := in / groups
	var part []float32
	for at := g * size * outs; at < t.Data.Len(); at += in * outs {
		row := make([]float32, size*outs)
		t.Data.Read(at, row)
		part = append(part, row...)
	}
	return &Tensor{Shape: append(append([]int{}, t.Shape[:n-2]...), size, outs), Data: NumbersOf(part)}
}

// IntendedBits is the type of the few bits that the weights w ([..., I, O]) of a layer are meant to
// have, of both signs. They have it as they are, up to rounding, as a sum of weights of 1 bit, or
// with scales for groups of input channels. ok is false for real weights.
func IntendedBits(w *Tensor) (bits int, enc string, ok bool) {
	few, _ := DecomposeFew(w)
	if few == nil {
		if near := RoundToFewBits(w); near != nil {
			few, _ = DecomposeFew(near)
		}
	}
	if few == nil {
		parts, _ := SplitWeights(w)
		minus := false
		for _, p := range parts {
			minus = minus || p.Minus
		}
		switch {
		case len(parts) == 2 && minus:
			return 2, TernaryWeights.String(), true
		case parts != nil:
			return len(parts), BipolarWeights.String(), true
		}
		_, few = InputGroups(w)
	}
	if few == nil || !few.Trained() || few.Attrs.Bits > FewBitsMost+1 { // zero points of groups may take one more
		return 0, "", false
	}
	bits, enc = few.Attrs.WeightType()
	return bits, enc, true
}
