package graph

import "math"

// Part says that a node is one part of a layer of the model, which stands for it by the sum of
// several nodes. The zero value is a whole layer.
type Part struct {
	Of string // the layer's name in the model
	// Repeats says that another part stands for the layer in counts, and in the float twin.
	Repeats bool
	// Groups is the number of groups of input channels. Each part reads one group by a slice; 0
	// where parts read all channels.
	Groups int
}

// Count is the share of the layer's weights or products that reports count for this part. The part
// has n itself. It counts for all parts, or for none.
func (p Part) Count(n int64) int64 {
	groups := int64(max(1, p.Groups))
	switch {
	case p.Repeats:
		return 0
	case n > math.MaxInt64/groups:
		return math.MaxInt64
	}
	return n * groups
}

// String is the part as text, "" for the zero value.
func (p Part) String() string {
	switch {
	case p.Of == "":
		return ""
	case p.Repeats:
		return "repeats " + p.Of
	}
	return "part of " + p.Of
}

// CheckPart fails with *ir.Error if n's Part is inconsistent, because float twins rely on it.
// producer makes n's input, nil for an input of the network.
func (g *Graph) CheckPart(n, producer *Node) error {
	p := n.Part
	switch {
	case p == Part{}:
		return nil
	case p.Of == "" || !Products(n.Op):
		return g.Errorf(n, "parts are convolutions and dense layers, and name the layer", "is a part of %q", p.Of)
	case p.Groups == 0:
		return nil
	}
	if p.Groups < 2 || producer == nil || producer.Op != "slice" ||
		g.Value(producer.Output).Channels()*p.Groups != g.Value(producer.Inputs[0]).Channels() {
		return g.Errorf(n, "each of these parts reads a slice of all input channels",
			"is one of %d parts by groups of input channels", p.Groups)
	}
	return nil
}
