package dataflow

import (
	"fmt"
	"math/bits"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// Lookup makes the level that a table has for the levels of one or two tensors. It computes any
// function that is the same in all channels.
type Lookup struct {
	Shape
	InBits  []int
	OutBits int
	Table   []int64 // the first tensor's level is in the low bits of the index
}

// maxLookupBits bounds the bits of a table's index.
const maxLookupBits = 16

// Work implements Engine.
func (t *Lookup) Work() int { return 0 }

// Output implements Engine.
func (t *Lookup) Output() Shape { return t.Shape }

func (t *Lookup) lag() int { return 0 }

// Eval implements Engine.
func (t *Lookup) Eval(in [][]int64) []int64 {
	y := make([]int64, len(in[0]))
	for i := range y {
		at, shift := int64(0), 0
		for k, x := range in {
			at, shift = at|x[i]<<shift, shift+t.InBits[k]
		}
		y[i] = t.Table[at]
	}
	return y
}

func (t *Lookup) build(d *Design, s *Stage, in []*Stream) *Stream {
	x := in[0]
	if len(in) == 2 {
		in = d.meet(s, in, 0)
		x = d.stream(&Stream{Note: "pairs", Shape: t.Shape, Bits: in[0].Bits + in[1].Bits, Lanes: in[0].Lanes, Taps: 1})
		u := d.unit("pair", s.Name)
		u.Params = []Param{{"L", x.Lanes}, {"A", in[0].Bits}, {"B", in[1].Bits}}
		u.Cycles = x.Beats()
		d.connect(u, in, []*Stream{x})
	}
	y := d.stream(&Stream{Tensor: s.Output, Note: "table", Shape: t.Shape, Bits: t.OutBits, Lanes: x.Lanes, Taps: 1})
	u := d.unit("lookup", s.Name)
	u.Params = []Param{{"L", x.Lanes}, {"A", x.Bits}, {"O", t.OutBits}, {"FILE", u.Name}}
	u.Cycles = y.Beats()
	rom := ROM{Suffix: tableROM}
	for _, v := range t.Table {
		rom.Words = append(rom.Words, Word{t.OutBits, []int64{v}})
	}
	u.ROMs = []ROM{rom}
	u.prove = func() (int64, string) {
		for i, want := range t.Table {
			if got := rom.Field(i, 0, false); got != want {
				return int64(i), fmt.Sprintf("entry %d of the table is %d in memory, want %d", i, got, want)
			}
		}
		return int64(len(t.Table)), ""
	}
	d.connect(u, []*Stream{x}, []*Stream{y})
	return y
}

// cone is a function of levels: the nodes between one or two tensors of levels and another one.
type cone struct {
	*finder
	leaves []string
	nodes  []*graph.Node
}

// lookup is n as a table, if it ends a cone with few bits in. Thresholds that differ between
// channels are an engine behind a table of ranks: places among all values of the cone.
func (f *finder) lookup(n *graph.Node) (candidate, bool) {
	k := &cone{finder: f}
	y := f.g.Value(n.Output)
	if level := k.level(n); level != nil {
		t := k.table(y, y.Bits, level)
		return f.series(n.Name, append(k.nodes, n), k.leaves, nil, t), t != nil
	}
	k = &cone{finder: f}
	value, reached := k.rows(n)
	if value == nil || k.table(y, 1, func([]int) int { return 0 }) == nil {
		return candidate{}, false
	}
	var values []float32
	k.table(y, 1, func(in []int) int {
		values = append(values, value(in))
		return 0
	})
	slices.Sort(values)
	values = slices.Compact(values)
	ranks := &graph.Value{Shape: y.Shape}
	ranks.LevelType = scalar.LevelType{Enc: ir.Unipolar, Bits: max(1, bits.Len(uint(len(values)-1)))}
	if ranks.Bits > maxLevelBits || slices.ContainsFunc(values, func(v float32) bool { return v-v != 0 }) {
		return candidate{}, false
	}
	t := k.table(y, ranks.Bits, func(in []int) int {
		i, _ := slices.BinarySearch(values, value(in))
		return i
	})
	one := [2]int{1, 1}
	m, why := newMVU(ranks, sumOf(ranks, one, one), y.Bits, rule{level: func(o int, sum int64) int {
		return reached(o, values[min(int(sum), len(values)-1)])
	}})
	return f.series(n.Name, append(k.nodes, n), k.leaves, nil, t, m), why == ""
}

// table is a function of the leaves' levels as a table for tensor y, with levels of some bits; nil
// if it would be too large.
func (k *cone) table(y *graph.Value, outBits int, level func(in []int) int) *Lookup {
	shape, isPicture := shapeOf(y)
	t := &Lookup{Shape: shape, OutBits: outBits}
	total := 0
	for _, leaf := range k.leaves {
		x := k.g.Value(leaf)
		if !slices.Equal(x.Shape, y.Shape) {
			return nil
		}
		t.InBits = append(t.InBits, x.Bits)
		total += x.Bits
	}
	if !isPicture || len(k.leaves) == 0 || len(k.leaves) > 2 || outBits > maxLevelBits || total > maxLookupBits {
		return nil
	}
	for i := range 1 << total {
		var in []int
		for _, leaf := range k.leaves {
			x := k.g.Value(leaf)
			in = append(in, int(Ascending(x.LevelType, int64(i&x.Top()))))
			i >>= x.Bits
		}
		t.Table = append(t.Table, int64(level(in)))
	}
	return t
}

// rows is the function of the leaves' levels before a quantizer n with thresholds for each channel,
// and the number of them that a value reaches.
func (k *cone) rows(n *graph.Node) (value func(in []int) float32, reached func(o int, x float32) int) {
	switch a := n.Attrs.(type) {
	case *graph.ThresholdAttrs:
		t := n.Weights["thresholds"]
		return k.number(n.Inputs[0]), func(o int, x float32) int {
			return countReached(t.Shape[0], func(j int) bool { return x >= t.Data.At(j*t.Shape[1]+o) })
		}
	case *graph.LevelThresholds:
		i, x := k.leaf(n.Inputs[0]), k.g.Value(n.Inputs[0])
		return func(in []int) float32 { return float32(x.Integer(in[i])) }, func(o int, x float32) int {
			return countReached(len(a.Thresholds), func(j int) bool { return x >= float32(a.Thresholds[j][o]) })
		}
	}
	return nil, nil
}

// leaf is the number of a tensor of levels among those that k reads.
func (k *cone) leaf(tensor string) int {
	i := slices.Index(k.leaves, tensor)
	if i < 0 {
		i, k.leaves = len(k.leaves), append(k.leaves, tensor)
	}
	return i
}

// level is the function of the leaves' levels by which n makes levels, counted so that real values
// rise. It is nil where n is no such op.
func (k *cone) level(n *graph.Node) func(in []int) int {
	var types []scalar.LevelType
	for _, t := range n.Inputs {
		types = append(types, k.g.Value(t).LevelType)
	}
	switch a := n.Attrs.(type) {
	case *graph.IntMapAttrs:
		i := k.leaf(n.Inputs[0])
		return func(in []int) int { return a.Table[in[i]] }
	case *graph.IntAddAttrs:
		i, j := k.leaf(n.Inputs[0]), k.leaf(n.Inputs[1])
		return func(in []int) int { return sumLevel(a, types[0], types[1], in[i], in[j]) }
	case *graph.IntMulAttrs:
		i, j := k.leaf(n.Inputs[0]), k.leaf(n.Inputs[1])
		return func(in []int) int { return productLevel(a, types[0], types[1], in[i], in[j]) }
	case *graph.LevelThresholds:
		if len(a.Thresholds) == 0 || len(a.Thresholds[0]) != 1 {
			return nil
		}
		i := k.leaf(n.Inputs[0])
		return func(in []int) int {
			return countReached(len(a.Thresholds), func(j int) bool {
				return types[0].Integer(in[i]) >= int(a.Thresholds[j][0])
			})
		}
	case *graph.ThresholdAttrs:
		v, t := k.number(n.Inputs[0]), n.Weights["thresholds"]
		if v == nil || t.Shape[1] != 1 {
			return nil
		}
		return func(in []int) int {
			x := v(in)
			return countReached(t.Shape[0], func(j int) bool {
				return x >= t.Data.At(j) || a.NotLess && x != x
			})
		}
	case *graph.QuantizeAttrs:
		if v := k.number(n.Inputs[0]); v != nil {
			return func(in []int) int { return a.Eval(v(in)) }
		}
	}
	return nil
}

// countReached is the number of thresholds that are reached.
func countReached(count int, reached func(j int) bool) (n int) {
	for j := range count {
		if reached(j) {
			n++
		}
	}
	return n
}

// number is the real value of a tensor as a function of the leaves' levels; nil for other tensors.
func (k *cone) number(tensor string) func(in []int) float32 {
	if v := k.g.Value(tensor); v.Encoded() {
		i := k.leaf(tensor)
		return func(in []int) float32 { return v.Float(in[i]) }
	}
	n := k.index.Producer(tensor)
	if n == nil || k.index.ConsumerCount(tensor) != 1 || k.g.IsOutput(tensor) {
		return nil
	}
	var args []func(in []int) float32
	for _, t := range n.Inputs {
		v := k.number(t)
		if v == nil || !slices.Equal(k.g.Value(t).Shape, k.g.Value(tensor).Shape) {
			return nil
		}
		args = append(args, v)
	}
	k.nodes = append(k.nodes, n)
	if n.Op == "dequantize" {
		return args[0]
	}
	if a, ok := n.Attrs.(*graph.Elementwise); ok {
		for _, s := range a.Steps {
			if max(len(s.A), len(s.B)) > 1 {
				return nil
			}
		}
		return func(in []int) float32 { return scalar.EvalSteps(a.Steps, 0, args[0](in)) }
	}
	function, ok := graph.OpNamed(n.Op).Function()
	if number, truths := function.Arguments(); !ok || number != len(args) || truths > 0 || function.Truth() {
		return nil
	}
	return func(in []int) float32 {
		var x []float32
		for _, v := range args {
			x = append(x, v(in))
		}
		return function.Eval(x...)
	}
}

// sumLevel is the level that int_add makes of levels l and m of types x and y.
func sumLevel(a *graph.IntAddAttrs, x, y scalar.LevelType, l, m int) int {
	if a.Form == graph.FloatRequantization {
		fma := func(v, by, plus float32) float32 {
			return scalar.Step{Kind: scalar.Fma, A: []float32{by}, B: []float32{plus}}.Eval(0, v)
		}
		p, q := float32(l-graph.CallerZero(x)), float32(m-graph.CallerZero(y))
		sum := fma(p, float32(a.A), fma(q, float32(a.B), float32(a.C)))
		return clip(&a.IntPair, int64(scalar.HalfEven.Eval(sum)), graph.CallerZero(a.LevelType))
	}
	const leftShift = 20
	p := graph.FixedPointOf(a.A).Times(int64(x.Integer(l)) << leftShift)
	q := graph.FixedPointOf(a.B).Times(int64(y.Integer(m)) << leftShift)
	if a.Sub {
		q = -q
	}
	return clip(&a.IntPair, graph.FixedPointOf(a.C).Times(p+q), a.Zero)
}

// productLevel is the level that int_mul makes of levels l and m of types x and y.
func productLevel(a *graph.IntMulAttrs, x, y scalar.LevelType, l, m int) int {
	product := int64(x.Integer(l)) * int64(y.Integer(m))
	if a.Form == graph.FloatRequantization {
		t := graph.CallerZero(a.LevelType)
		v := scalar.EvalSteps([]scalar.Step{{Kind: scalar.Mul, A: []float32{float32(a.By)}},
			{Kind: scalar.Add, A: []float32{float32(a.Zero - t)}}}, 0, float32(product))
		return clip(&a.IntPair, int64(scalar.HalfEven.Eval(v)), t)
	}
	return clip(&a.IntPair, graph.FixedPointOf(a.By).Times(product), a.Zero)
}

// clip is v counted from the level zero, within the levels of p.
func clip(p *graph.IntPair, v int64, zero int) int {
	return int(max(int64(p.Low), min(v+int64(zero), int64(p.High))))
}
