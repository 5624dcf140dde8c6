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

// A quantizer may be spelled out in ops on single elements: sign, or clip, mul, round and div as
// DoReFa has them, or (sign(x) - y) + y, which is what is left of a straight-through estimator. Any
// such function of one tensor that has a few values is a threshold, if the values are levels and
// come in order.

// steppedBits is the number of bits up to which regions become thresholds, of which there are
// 2^bits-1.
const steppedBits = 4

// maxStack bounds how many quantizers, one behind the other, are taken for one at once. The same
// tensor is in the regions of all of them, so that long rows of them would be looked at again and
// again.
const maxStack = 6

// stepped is a region as a quantizer of the tensor that it starts from.
type stepped struct {
	from string
	// turn has 1 or -1 for each channel, or one for all: the levels are those of from times it.
	// nil: 1.
	turn       *graph.Tensor
	value      *graph.Value  // type of the levels
	thresholds *graph.Tensor // nil if quantize says what they do
	// uneven are the real values of levels that are not in even steps, which value has not then: it
	// counts them. nil: value has them.
	uneven   []float32
	quantize *graph.QuantizeAttrs
	jumps    int  // of the region
	nearly   bool // the region differs from the quantizer by roundings
	verdict  graph.Verdict
}

// stepped finds the quantizer that the ops on single elements before f32 tensor t are; nil if they
// are none, or one up to roundings where the options refuse that. It is that of the shortest
// region, unless another quantizer stands before it, which a longer region takes in. A NaN gets the
// lowest level.
func (r *rewriter) stepped(t string) *stepped {
	if q := r.chain(t); q != nil && (!q.nearly || !r.options.ExactFloats) {
		return q
	}
	return nil
}

// chain is stepped, with quantizers but for roundings.
func (r *rewriter) chain(t string) *stepped {
	if q, ok := r.chains[t]; ok {
		return q
	}
	q := r.findStepped(t)
	r.chains[t] = q
	return q
}

func (r *rewriter) findStepped(t string) *stepped {
	least, most := 1, 8
	if n := r.Producer(t); n != nil && n.Op == "dequantize" { // a quantizer already: of use with another before it
		least, most = 2, r.g.Value(n.Inputs[0]).Bits
	}
	var best *stepped
	var shared []*region
	depth := 0
	for w := (walker{r: r, to: t, frontier: []string{t}}); depth < maxStack && w.next(); {
		if w.jumps < least { // without looking closer
			continue
		}
		g := w.region()
		if g.jumps < least || best != nil && g.jumps == best.jumps && best.turn == nil && best.from != t {
			continue
		}
		if q := r.signed(g, calculus{forms: g.shared, exact: true}); q != nil && q.value.Bits <= most && (best == nil || q.from != t && (q.jumps > best.jumps || q.turn == nil)) {
			best, most = q, q.value.Bits
			depth++
		} else if g.shared {
			shared = append(shared, g)
		}
	}
	for _, g := range shared {
		if best != nil {
			break
		}
		if best = r.signed(g, calculus{forms: true}); best != nil {
			if best.nearly = true; best.value.Bits > most {
				best = nil
			}
		}
	}
	return best
}

// signed is quantizerOf. Where it takes fewer bits if sign makes something else of 0, and that is
// asked for, it does.
func (r *rewriter) signed(g *region, c calculus) *stepped {
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

// quantizerOf is g as a quantizer; nil if it is none.
func (r *rewriter) quantizerOf(g *region, c calculus) *stepped {
	channels := g.channels
	if len(g.vectors) == 0 {
		channels = 1
	}
	within := real()
	if !c.exact {
		within = finite()
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
		if row == nil && g.shared && c.exact { // perhaps roundings do not matter to numbers as there are
			if d := r.domainOf(g.from, of); d.lo-d.lo == 0 && d.hi-d.hi == 0 {
				row = g.pieces(c, o, d)
			}
		}
		if row == nil {
			return nil
		}
		rows[o] = r.possible(g, row, of)
	}
	q := quantizerOfPieces(g, rows)
	if q != nil && q.uneven == nil {
		return q
	}
	if _, ok := r.uneven[g.to]; !ok && len(rows[0]) > 1 && len(rows[0]) <= 1<<steppedBits {
		r.uneven[g.to] = unevenness{values: len(rows[0]), channels: q == nil && len(g.vectors) > 0, quantizer: q}
	}
	return nil
}

// unevenness is what few values a region makes that are no levels.
type unevenness struct {
	values   int
	channels bool // each channel may have values of its own
	// quantizer counts the values, if they come in order and are those of all channels; nil: they
	// do not.
	quantizer *stepped
}

// ranks counts values from 0 on, as levels; nil if these are too many.
func ranks(values []float32) (v *graph.Value, levels []int) {
	if len(values) < 3 || len(values) > 1<<steppedBits {
		return nil, nil
	}
	for i := range values {
		levels = append(levels, i)
	}
	return &graph.Value{LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: bits.Len(uint(len(values) - 1)), Scale: 1}}, levels
}

// possible leaves out pieces of a single number that the tensor which g starts from does not hold
// in channel o, or in any if o is -1: the 0 that sign makes of 0, where sums are odd.
func (r *rewriter) possible(g *region, row []piece, o int) []piece {
	single := func(p piece) bool { return p.from() == p.to() }
	if !slices.ContainsFunc(row, single) {
		return row
	}
	d := r.domainOf(g.from, o)
	var out []piece
	start := row[0].first
	for i, p := range row {
		switch {
		case single(p) && d.taken != nil && !d.taken(p.from(), p.to()) && i < len(row)-1: // the next one begins here
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

// quantizerOfPieces is the quantizer that has these pieces in its channels.
func quantizerOfPieces(g *region, rows [][]piece) *stepped {
	var values []float32
	turn, turned := slices.Repeat([]float32{1}, len(rows)), false
	for o, row := range rows {
		if len(row) > 1 && row[0].value > row[1].value {
			row = falling(row)
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
	q := &stepped{from: g.from, value: v, uneven: uneven, jumps: g.jumps}
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
				x = row[at].from()
			}
			thresholds[j*len(rows)+o] = x
			alike = alike && x == thresholds[j*len(rows)]
		}
	}
	q.thresholds = &graph.Tensor{Shape: []int{top, len(rows)}, Data: graph.NumbersOf(thresholds)}
	if alike && len(rows) > 1 && (!turned || !mixed(turn)) {
		first := make([]float32, top)
		for j := range first {
			first[j] = thresholds[j*len(rows)]
		}
		q.thresholds = &graph.Tensor{Shape: []int{top, 1}, Data: graph.NumbersOf(first)}
	}
	if turned && !mixed(turn) {
		turn = turn[:1]
	}
	if turned {
		q.turn = &graph.Tensor{Shape: []int{len(turn)}, Data: graph.NumbersOf(turn)}
	}
	if v.Bits > steppedBits {
		q.quantize = even(v.LevelType, q)
		if q.quantize == nil && g.tabled() { // the thresholds take the place of the file's own
			return q
		}
		if q.quantize == nil { // behind the ops, for what they make
			q.from, q.turn, q.quantize = g.to, nil, quantizeTo(v.LevelType, values, levels)
		}
		if q.quantize == nil {
			return nil
		}
		v.LevelType = q.quantize.LevelType
	}
	return q
}

// tabled reports whether one of g's ops has thresholds of its own, too many to make them up.
func (g *region) tabled() bool {
	return slices.ContainsFunc(g.ops, func(o operation) bool {
		a, ok := o.node.Attrs.(*graph.ThresholdAttrs)
		return ok && a.Bits > steppedBits
	})
}

// quantizeTo is the quantize that gives each of values its level; nil if there is none.
func quantizeTo(t scalar.LevelType, values []float32, levels []int) *graph.QuantizeAttrs {
	a := &graph.QuantizeAttrs{LevelType: t}
	for i, v := range values {
		if a.Eval(v) != levels[i] {
			return nil
		}
	}
	return a
}

// falling are the pieces of x as those of -x.
func falling(row []piece) []piece {
	out := slices.Clone(row)
	slices.Reverse(out)
	for i, p := range out {
		out[i].first, out[i].last = f32.Order(f32.Neg(f32.FromOrder(p.last))), f32.Order(f32.Neg(f32.FromOrder(p.first)))
	}
	return out
}

// levelOf is the level of a value.
func levelOf(values []float32, levels []int, v float32) int {
	i, _ := slices.BinarySearch(values, v)
	return levels[i]
}

// lattice is the type of levels that values, ascending, are the real values of, and the level of
// each: to the bit or the next f32, since a quotient and the product with a reciprocal may be
// rounded differently. The levels may have others between them; the first is 0.
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

// typeOf is the type whose levels have these real values; nil if there is none.
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

// even is the quantize that does what q's thresholds do, of evenly spaced ones; nil if there is
// none.
func even(t scalar.LevelType, q *stepped) *graph.QuantizeAttrs {
	if q.thresholds.Shape[1] != 1 || q.turn != nil {
		return nil
	}
	top, scale := q.thresholds.Shape[0], f32.Order(float32(t.Scale))
	unit := 1 / float64(t.Top())
	for _, s := range []float64{unit, t.Scale, float64(f32.FromOrder(scale + 1)), float64(f32.FromOrder(scale - 1))} {
		for _, mode := range scalar.Roundings() {
			a := &graph.QuantizeAttrs{LevelType: t, Rounding: mode}
			if a.Scale, a.Unit = s, s == unit; a.Unit && (float32(t.Scale) != float32(unit) || t.Zero != 0 || t.Offset != 0 || top < t.Top()) {
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

// signs reports whether q is sign, whose 0 is the value of 0 alone.
func (q *stepped) signs() bool {
	if q.thresholds.Shape[0] != 2 {
		return false
	}
	columns := q.thresholds.Shape[1]
	for o := range columns {
		if q.thresholds.Data.At(o) != 0 || q.thresholds.Data.At(columns+o) != least {
			return false
		}
	}
	return true
}

// threshold puts quantizer q in place of the region that ends in n, and gives its levels.
func (r *rewriter) threshold(n *graph.Node, q *stepped) (string, error) {
	from, ends := q.from, n
	if q.turn != nil {
		turn := &graph.Node{Name: n.Name + ".turn", Op: "mul", Attrs: &graph.BinaryOpAttrs{}, Inputs: []string{from}, Weights: map[string]*graph.Tensor{"b": q.turn}}
		from = r.TensorName(n.Output + ".turned")
		if err := r.insert(n, turn, from); err != nil {
			return "", err
		}
		n = turn
	}
	l := r.TensorName(n.Output + ".levels")
	t := &graph.Node{Name: n.Name + ".threshold", Inputs: []string{from}}
	if q.quantize != nil {
		t.Op, t.Attrs = "quantize", q.quantize
	} else {
		t.Op, t.Attrs, t.Weights = "threshold", &graph.ThresholdAttrs{LevelType: q.value.LevelType}, map[string]*graph.Tensor{"thresholds": q.thresholds}
	}
	t.Verdict = q.verdict
	switch {
	case q.nearly && q.signs():
		t.Verdict = remark(graph.WhyFoldedSign, ends)
	case q.nearly:
		t.Verdict = remark(graph.WhyFolded, ends)
		t.Verdict.Args.Bits = q.value.Bits
	case q.signs():
		t.Verdict = remark(graph.WhyThreeSigns, ends)
	}
	if q.nearly {
		r.g.Roundings = append(r.g.Roundings, t.Verdict)
	}
	return l, r.insert(n, t, l)
}
