package recognize

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
)

// A file may spell a quantizer out in elementwise ops: sign; clip, mul, round and div as in DoReFa;
// or (sign(x) - y) + y, the remainder of a straight-through estimator. A function of one tensor is
// a threshold if it has few values, which are levels and come in order.

// steppedBits is the largest number of bits for which regions become thresholds: 2^bits-1 of them.
const steppedBits = 4

// maxStack bounds the quantizers in a row that one quantizer may replace. A tensor lies in the
// regions of all quantizers behind it, so long rows would be searched again and again.
const maxStack = 6

// stepQuantizer is a region as a quantizer of its start tensor.
type stepQuantizer struct {
	from string
	// polarity has 1 or -1 for each channel, or one for all: the quantizer applies to
	// polarity*from. nil: 1.
	polarity   *graph.Tensor
	value      *graph.Value  // type of the levels
	thresholds *graph.Tensor // nil if quantize replaces them
	// uneven has the real values of unevenly spaced levels; value then only counts the levels. nil:
	// value has the real values.
	uneven   []float32
	quantize *graph.QuantizeAttrs
	jumps    int  // jumps of the region
	isNear   bool // the region differs from the quantizer by roundings
	verdict  graph.Verdict
}

// findQuantizer returns the quantizer that the elementwise ops before f32 tensor t form. It returns
// nil if they form none, or one up to roundings that the options refuse. The shortest region wins,
// unless a longer one includes another quantizer. A NaN gets the lowest level.
func (r *rewriter) findQuantizer(t string) *stepQuantizer {
	if q := r.nearQuantizer(t); q != nil && (!q.isNear || !r.options.ExactFloats) {
		return q
	}
	return nil
}

// nearQuantizer is findQuantizer, but allows quantizers up to roundings.
func (r *rewriter) nearQuantizer(t string) *stepQuantizer {
	if q, ok := r.quantizers[t]; ok {
		return q
	}
	q := r.searchQuantizer(t)
	r.quantizers[t] = q
	return q
}

func (r *rewriter) searchQuantizer(t string) *stepQuantizer {
	least, most := 1, 8
	if n := r.Producer(t); n != nil && n.Op == "dequantize" { // a quantizer already: only of use with another before it
		least, most = 2, r.g.Value(n.Inputs[0]).Bits
	}
	var best *stepQuantizer
	var shared []*region
	depth := 0
	for w := (walker{r: r, to: t, frontier: []string{t}}); depth < maxStack && w.next(); {
		if w.jumps < least { // cannot be a quantizer
			continue
		}
		g := w.region()
		if g.jumps < least || best != nil && g.jumps == best.jumps && best.polarity == nil && best.from != t {
			continue
		}
		if q := r.withSignZero(g, calculus{forms: g.sharesRegisters, exact: true}); q != nil && q.value.Bits <= most &&
			(best == nil || q.from != t && (q.jumps > best.jumps || q.polarity == nil)) {
			best, most = q, q.value.Bits
			depth++
		} else if g.sharesRegisters {
			shared = append(shared, g)
		}
	}
	for _, g := range shared {
		if best != nil {
			break
		}
		if best = r.withSignZero(g, calculus{forms: true}); best != nil {
			if best.isNear = true; best.value.Bits > most {
				best = nil
			}
		}
	}
	return best
}

// withSignZero is quantizerOf, and tries Options.SignZero for sign(0) if that saves bits.
func (r *rewriter) withSignZero(g *region, c calculus) *stepQuantizer {
	q := r.quantizerOf(g, c)
	if c.signZero = float32(r.options.SignZero); c.signZero == 0 || g.sign == nil || q != nil && q.value.Bits == 1 {
		return q
	}
	if one := r.quantizerOf(g, c); one != nil && (q == nil || one.value.Bits < q.value.Bits) {
		one.verdict = remark(graph.WhySignZero, g.sign)
		one.verdict.Args.Value = fmt.Sprintf("%+d", r.options.SignZero)
		return one
	}
	return q
}

// quantizerOf returns g as a quantizer, or nil.
func (r *rewriter) quantizerOf(g *region, c calculus) *stepQuantizer {
	channels := g.channels
	if len(g.vectors) == 0 {
		channels = 1
	}
	within := realDomain()
	if !c.exact {
		within = finiteDomain()
	}
	rows, known := make([][]piece, channels), map[string][]piece{}
	for o := range rows {
		key := g.key(o)
		row, ok := known[key]
		if !ok {
			row = g.pieces(c, o, within)
			known[key] = row
		}
		of := o
		if channels == 1 {
			of = -1
		}
		if row == nil && g.sharesRegisters && c.exact { // over the possible numbers alone, roundings may not matter
			if d := r.domainOf(g.from, of); d.lo-d.lo == 0 && d.hi-d.hi == 0 {
				row = g.pieces(c, o, d)
			}
		}
		if row == nil {
			return nil
		}
		rows[o] = r.dropImpossible(g, row, of)
	}
	q := quantizerOfPieces(g, rows)
	if q != nil && q.uneven == nil {
		return q
	}
	if _, ok := r.uneven[g.to]; !ok && len(rows[0]) > 1 && len(rows[0]) <= 1<<steppedBits {
		r.uneven[g.to] = unevenness{values: len(rows[0]), byChannel: q == nil && len(g.vectors) > 0, quantizer: q}
	}
	return nil
}

// unevenness describes the few values of a region that are not levels.
type unevenness struct {
	values    int
	byChannel bool // each channel may have values of its own
	// quantizer counts the values if they are the same in all channels and come in order; else nil.
	quantizer *stepQuantizer
}

// ranks counts values from 0 on, as levels. It returns nil if there are too many.
func ranks(values []float32) (v *graph.Value, levels []int) {
	if len(values) < 3 || len(values) > 1<<steppedBits {
		return nil, nil
	}
	for i := range values {
		levels = append(levels, i)
	}
	return &graph.Value{LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: bits.Len(uint(len(values) - 1)), Scale: 1}},
		levels
}

// dropImpossible removes pieces of a single number that channel o of g's start tensor does not hold
// (any channel if o is -1). For example, odd sums are never 0, so that sign has two values.
func (r *rewriter) dropImpossible(g *region, row []piece, o int) []piece {
	single := func(p piece) bool { return p.lowest() == p.highest() }
	if !slices.ContainsFunc(row, single) {
		return row
	}
	d := r.domainOf(g.from, o)
	var out []piece
	start := row[0].first
	for i, p := range row {
		switch {
		case single(p) && d.contains != nil && !d.contains(p.lowest(), p.highest()) && i < len(row)-1:
			// the next piece begins here
			continue
		case len(out) > 0 && out[len(out)-1].value == p.value:
			out[len(out)-1].last = p.last
		default:
			p.first = start
			out = append(out, p)
		}
		start = p.last + 1
	}
	return out
}

// quantizerOfPieces returns the quantizer with these pieces in its channels.
func quantizerOfPieces(g *region, rows [][]piece) *stepQuantizer {
	var values []float32
	turn, turned := slices.Repeat([]float32{1}, len(rows)), false
	for o, row := range rows {
		if len(row) > 1 && row[0].value > row[1].value {
			row = negatePieces(row)
			rows[o], turn[o], turned = row, -1, true
		}
		for i, p := range row {
			if i > 0 && p.value <= row[i-1].value {
				return nil
			}
			if at, ok := slices.BinarySearch(values, p.value); !ok {
				values = slices.Insert(values, at, p.value)
			}
		}
		if len(values) > maxValues {
			return nil
		}
	}
	v, levels := lattice(values)
	var uneven []float32
	if v == nil {
		if v, levels = ranks(values); v == nil {
			return nil
		}
		uneven = values
	}
	top := slices.Max(levels)
	q := &stepQuantizer{from: g.from, value: v, uneven: uneven, jumps: g.jumps}
	thresholds, alike := make([]float32, top*len(rows)), true
	for o, row := range rows {
		at := 0
		for j := range top {
			for at < len(row) && levelOf(values, levels, row[at].value) <= j {
				at++
			}
			x := float32(math.Inf(1))
			switch {
			case at == 0:
				x = float32(math.Inf(-1))
			case at < len(row):
				x = row[at].lowest()
			}
			thresholds[j*len(rows)+o] = x
			alike = alike && x == thresholds[j*len(rows)]
		}
	}
	q.thresholds = &graph.Tensor{Shape: []int{top, len(rows)}, Data: graph.NumbersOf(thresholds)}
	if alike && len(rows) > 1 && (!turned || !differ(turn)) {
		first := make([]float32, top)
		for j := range first {
			first[j] = thresholds[j*len(rows)]
		}
		q.thresholds = &graph.Tensor{Shape: []int{top, 1}, Data: graph.NumbersOf(first)}
	}
	if turned && !differ(turn) {
		turn = turn[:1]
	}
	if turned {
		q.polarity = &graph.Tensor{Shape: []int{len(turn)}, Data: graph.NumbersOf(turn)}
	}
	if v.Bits > steppedBits {
		q.quantize = evenQuantize(v.LevelType, q)
		if q.quantize == nil && g.hasThresholds() { // the thresholds replace those of the file
			return q
		}
		if q.quantize == nil { // put it behind the ops, on their values
			q.from, q.polarity, q.quantize = g.to, nil, quantizeTo(v.LevelType, values, levels)
		}
		if q.quantize == nil {
			return nil
		}
		v.LevelType = q.quantize.LevelType
	}
	return q
}

// hasThresholds reports whether one of g's ops has its own thresholds, too many to rebuild.
func (g *region) hasThresholds() bool {
	return slices.ContainsFunc(g.ops, func(o operation) bool {
		a, ok := o.node.Attrs.(*graph.ThresholdAttrs)
		return ok && a.Bits > steppedBits
	})
}

// quantizeTo returns the quantize that maps each of values to its level, or nil.
func quantizeTo(t scalar.LevelType, values []float32, levels []int) *graph.QuantizeAttrs {
	a := &graph.QuantizeAttrs{LevelType: t}
	for i, v := range values {
		if a.Eval(v) != levels[i] {
			return nil
		}
	}
	return a
}

// negatePieces returns the pieces of x as pieces of -x.
func negatePieces(row []piece) []piece {
	out := slices.Clone(row)
	slices.Reverse(out)
	for i, p := range out {
		out[i].first, out[i].last = f32.Order(f32.Neg(f32.FromOrder(p.last))),
			f32.Order(f32.Neg(f32.FromOrder(p.first)))
	}
	return out
}

// levelOf returns the level of value v.
func levelOf(values []float32, levels []int, v float32) int {
	i, _ := slices.BinarySearch(values, v)
	return levels[i]
}

// lattice returns the type of levels with the real values given in ascending order, and the level
// of each. Values may be one f32 off, since a quotient and the product with a reciprocal round
// differently. The type may have further levels between them; the first is 0.
func lattice(values []float32) (v *graph.Value, levels []int) {
	if len(values) < 2 {
		return nil, nil
	}
	gap := math.Inf(1)
	for i := range values[1:] {
		gap = min(gap, float64(values[i+1])-float64(values[i]))
	}
	for parts := 1.0; parts <= 3; parts++ {
		levels = levels[:0]
		for _, x := range values {
			l := math.RoundToEven((float64(x) - float64(values[0])) / gap * parts)
			if !(l < maxValues) {
				return nil, nil
			}
			levels = append(levels, int(l))
		}
		if v := typeOf(values, levels); v != nil {
			return v, levels
		}
	}
	return nil, nil
}

// typeOf returns the type with these real values of levels, or nil.
func typeOf(values []float32, levels []int) *graph.Value {
	n := len(values) - 1
	top := levels[n]
	v := &graph.Value{LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 1}}
	for top >= 1<<v.Bits {
		v.Bits++
	}
	span := float64(values[n]) - float64(values[0])
	zero := math.RoundToEven(-float64(values[0]) * float64(top) / span)
	switch {
	case values[0] == -values[n] && top == 1<<v.Bits-1:
		v.Enc, v.Scale = ir.Bipolar, float64(f32.Div(values[n], float32(top)))
	case zero < 0 || zero >= float64(int(1)<<v.Bits) || math.Abs(zero+float64(values[0])*float64(top)/span) > 1e-5:
		v.Scale, v.Offset = float64(float32(span/float64(top))), float64(values[0])
	default:
		v.Zero = int(zero)
		far := n
		if v.Zero > top-v.Zero {
			far = 0
		}
		v.Scale = float64(f32.Div(values[far], float32(levels[far]-v.Zero)))
	}
	if !(v.Scale >= graph.MinScale && v.Scale <= graph.MaxScale) {
		return nil
	}
	largest := math.Max(math.Abs(float64(values[0])), math.Abs(float64(values[n])))
	for i, l := range levels {
		near := math.Abs(float64(values[i]))
		if v.Offset != 0 {
			near = largest
		}
		if d := math.Abs(float64(v.Float(l)) - float64(values[i])); d > near*0x1p-22 {
			return nil
		}
	}
	return v
}

// evenQuantize returns the quantize that equals q's thresholds if they are evenly spaced, or nil.
func evenQuantize(t scalar.LevelType, q *stepQuantizer) *graph.QuantizeAttrs {
	if q.thresholds.Shape[1] != 1 || q.polarity != nil {
		return nil
	}
	top, scale := q.thresholds.Shape[0], f32.Order(float32(t.Scale))
	unit := 1 / float64(t.Top())
	for _, s := range []float64{unit, t.Scale, float64(f32.FromOrder(scale + 1)), float64(f32.FromOrder(scale - 1))} {
		for _, mode := range scalar.Roundings() {
			a := &graph.QuantizeAttrs{LevelType: t, Rounding: mode}
			if a.Scale, a.Unit = s, s == unit; a.Unit &&
				(float32(t.Scale) != float32(unit) || t.Zero != 0 || t.Offset != 0 || top < t.Top()) {
				break
			}
			if t.Enc == ir.Unipolar && top < t.Top() {
				a.Range = &scalar.Range{Min: -t.Zero, Max: top - t.Zero}
			}
			fits := func(j int) bool {
				x := q.thresholds.Data.At(j)
				return a.Eval(x) == j+1 && a.Eval(f32.FromOrder(f32.Order(x)-1)) == j
			}
			j := 0
			for j < top && fits(j) {
				j++
			}
			if j == top {
				return a
			}
		}
	}
	return nil
}

// isSign reports whether q is sign, with 0 mapped to a level of its own.
func (q *stepQuantizer) isSign() bool {
	if q.thresholds.Shape[0] != 2 {
		return false
	}
	columns := q.thresholds.Shape[1]
	for o := range columns {
		if q.thresholds.Data.At(o) != 0 || q.thresholds.Data.At(columns+o) != minNormal {
			return false
		}
	}
	return true
}

// threshold puts quantizer q in place of the region that ends in n, and returns its levels.
func (r *rewriter) threshold(n *graph.Node, q *stepQuantizer) string {
	from, ends := q.from, n
	if q.polarity != nil {
		turn := withConstant(n.Name+".turn", "mul", from, q.polarity)
		from = r.TensorName(n.Output + ".turned")
		r.insert(n, turn, from)
		n = turn
	}
	l := r.TensorName(n.Output + ".levels")
	t := &graph.Node{Name: n.Name + ".threshold", Inputs: []string{from}}
	if q.quantize != nil {
		t.Op, t.Attrs = "quantize", q.quantize
	} else {
		t.Op, t.Attrs, t.Weights = "threshold", &graph.ThresholdAttrs{LevelType: q.value.LevelType},
			map[string]*graph.Tensor{"thresholds": q.thresholds}
	}
	t.Verdict = q.verdict
	switch {
	case q.isNear && q.isSign():
		t.Verdict = remark(graph.WhyFoldedSign, ends)
	case q.isNear:
		t.Verdict = remark(graph.WhyFolded, ends)
		t.Verdict.Args.Bits = q.value.Bits
	case q.isSign():
		t.Verdict = remark(graph.WhyThreeSigns, ends)
	}
	if q.isNear {
		r.g.Roundings = append(r.g.Roundings, t.Verdict)
	}
	r.insert(n, t, l)
	return l
}
