package recognize

import (
	"math"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/lists"
	"ripc/ir"
)

// Unevenly spaced levels, as in LQ-Nets and HWGQ, are sums of planes: v0 + a*p + b*q, each plane
// being 0 or 1. A layer of such levels is a sum of layers of the planes.

// maxPlanes bounds the planes: each costs a layer.
const maxPlanes = 4

// planes are levels of 1 bit that add up to uneven ones.
type planes struct {
	scales []float64
	sums   []int // bit j of sums[i] is plane j where the rank of the level is i
	exact  bool  // the sums are the values to the bit
}

// planesOf decomposes values, in ascending order, into planes. It returns nil if that takes too
// many. inOrder asks for planes that rise with the level, so that a maximum of levels is the
// maximum of each plane.
func planesOf(values []float32, inOrder bool) *planes {
	above := lists.Map(values, func(v float32) float64 { return float64(v) - float64(values[0]) })
	largest := math.Max(math.Abs(float64(values[0])), math.Abs(float64(values[len(values)-1])))
	p := &planes{exact: true}
	if p.scales, p.sums = graph.Thermometer(above); !inOrder {
		p.scales, p.sums = graph.BinaryBasis(above, 0x1p-23*largest)
	}
	if len(p.scales) > maxPlanes {
		return nil
	}
	for i, sum := range p.sums {
		v := float64(values[0])
		for j, a := range p.scales {
			if sum>>j&1 == 1 {
				v += float64(float32(a))
			}
		}
		p.exact = p.exact && v == float64(values[i])
	}
	return p
}

// levelParts splits a layer of uneven levels into parts that read one plane each.
func (r *rewriter) levelParts(n *graph.Node) []part {
	t := n.Inputs[0]
	if r.planes[t] == nil {
		moves, from, pooled := r.findMoves(t)
		r.nearQuantizer(from)
		q := r.uneven[from].quantizer
		if q == nil {
			return nil
		}
		p := planesOf(q.uneven, pooled)
		if p == nil || !p.exact && r.options.ExactFloats {
			return nil
		}
		made := r.makePlanes(r.Producer(from), q, p)
		r.planes[t] = r.repeatMoves(made, moves)
	}
	return lists.Map(r.planes[t], func(plane string) part { return part{plane, graph.WeightPart{W: n.Weights["w"]}} })
}

// findMoves returns the ops before tensor t that move or choose elements, the first one first, and
// the tensor that they read. pooled reports whether one of them takes a maximum.
func (r *rewriter) findMoves(t string) (moves []*graph.Node, from string, pooled bool) {
	for from = t; len(moves) < maxMoves; from = moves[0].Inputs[0] {
		p := r.Producer(from)
		if p == nil {
			break
		}
		_, pool := p.Attrs.(*graph.PoolAttrs)
		switch p.Attrs.(type) {
		case *graph.SliceAttrs, *graph.ReshapeAttrs, *graph.TransposeAttrs, *graph.BlockAttrs, *graph.ResizeAttrs:
		default:
			if p.Op != "flatten" && p.Op != "max_pool" {
				return moves, from, pooled
			}
		}
		pooled = pooled || pool
		moves = append([]*graph.Node{p}, moves...)
	}
	return moves, from, pooled
}

// repeatMoves applies copies of moves to each tensor.
func (r *rewriter) repeatMoves(tensors []string, moves []*graph.Node) []string {
	for _, m := range moves {
		next := make([]string, len(tensors))
		for i, t := range tensors {
			own := *m
			own.Name, own.Inputs, next[i] = m.Name+".plane", []string{t}, r.TensorName(m.Output+".plane")
			r.insert(m, &own, next[i])
		}
		tensors = next
	}
	return tensors
}

// makePlanes puts the planes p of quantizer q behind node n, which makes the levels, and returns
// their f32 tensors. The first tensor includes the smallest value as an offset.
func (r *rewriter) makePlanes(n *graph.Node, q *stepQuantizer, p *planes) []string {
	if !p.exact {
		v := remark(graph.WhyFolded, n)
		v.Args.Bits = q.value.Bits
		r.g.Roundings = append(r.g.Roundings, v)
	}
	behind := r.inserter(n)
	from := q.from
	if q.polarity != nil {
		from = behind(withConstant("", "mul", from, q.polarity), ".turn")
	}
	above := make([]string, len(p.sums)) // 1 where the rank is at least i
	columns := q.thresholds.Shape[1]
	for i := 1; i < len(p.sums); i++ {
		step := &graph.Tensor{Shape: []int{1, columns},
			Data: graph.NumbersOf(q.thresholds.Data.Floats()[(i-1)*columns : i*columns])}
		a := &graph.ThresholdAttrs{LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 1, Scale: 1}}
		above[i] = behind(&graph.Node{Op: "threshold", Attrs: a, Inputs: []string{from},
			Weights: map[string]*graph.Tensor{"thresholds": step}}, ".step")
	}
	var out []string
	for j, scale := range p.scales {
		plane := ""
		for i := 1; i < len(p.sums); i++ {
			switch {
			case (p.sums[i]^p.sums[i-1])>>j&1 == 0:
			case plane == "":
				plane = above[i]
			default:
				plane = behind(&graph.Node{Op: "logical_xor", Attrs: &graph.NoAttrs{},
					Inputs: []string{plane, above[i]}}, ".xor")
			}
		}
		plane = behind(&graph.Node{Op: "dequantize", Attrs: &graph.NoAttrs{}, Inputs: []string{plane}},
			".plane")
		plane = behind(withConstant("", "mul", plane, scalarTensor(float32(scale))), ".scaled")
		if least := q.uneven[0]; j == 0 && least != 0 {
			plane = behind(withConstant("", "add", plane, scalarTensor(least)), ".least")
		}
		out = append(out, plane)
	}
	return out
}
