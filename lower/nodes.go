package lower

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

// node lowers one node to a stage, or to none where it only renames.
func (l *lowering) node(n *graph.Node) error {
	rule, ok := rules()[n.Op]
	if !ok {
		return l.g.Errorf(n, "", "cannot be lowered")
	}
	var x *layout.Tensor
	src := ""
	if len(n.Inputs) > 0 {
		t, buf := l.read(n, n.Inputs[0])
		x, src = &t, buf
	}
	switch e := l.dequantized[n.Name]; {
	case l.done[n.Name]:
	case e != nil:
		l.floats(e, n)
	case l.unpacked(n):
		l.floats(n, nil)
	case l.byteOutputs[n.Name] != nil:
		l.bytes(n)
	default:
		rule(l, n, x, src)
	}
	l.packLoose()
	return nil
}

// rule lowers n. Its first input is x in buffer src.
type rule func(l *lowering, n *graph.Node, x *layout.Tensor, src string)

// rules has those of all ops that are left after fusedglue.
var rules = sync.OnceValue(func() map[string]rule {
	all := map[string]rule{
		"constant":         (*lowering).constantNode,
		"bconv2d":          with((*lowering).conv),
		"window_sum":       with((*lowering).conv),
		"fconv2d":          with((*lowering).conv),
		"eltwise":          with((*lowering).eltwise),
		"shift_levels":     with((*lowering).shiftLevels),
		"level_thresholds": with((*lowering).levelThresholds),
		"int_add":          pairwise(ops.IntAdd),
		"int_mul":          pairwise(ops.IntMul),
		"int_map":          with((*lowering).intMap),
		"int_avg_pool":     with((*lowering).intPool),
		"int_softmax":      with((*lowering).intSoftmax),
		"quantize":         with((*lowering).quantize),
		"threshold":        with((*lowering).threshold),
		"max_pool":         with((*lowering).pool),
		"avg_pool":         with((*lowering).pool),
		"reshape":          (*lowering).reshape,
		"flatten":          (*lowering).reshape,
		"transpose":        with((*lowering).transpose),

		"pad":            moving(ops.Pad),
		"slice":          moving(ops.CopySlice),
		"depth_to_space": moving(ops.DepthToSpace),
		"space_to_depth": moving(ops.SpaceToDepth),
		"resize":         moving(ops.Resize),
		"gather": with(func(l *lowering, n *graph.Node, a *graph.GatherAttrs, x *layout.Tensor, src string) {
			f, tables := ops.Gather(a, *x)
			l.fromTables(n, f, tables, whyMoved(x), src, l.result(n).buf)
		}),
		"interpolate": with(func(l *lowering, n *graph.Node, a *graph.InterpolateAttrs, x *layout.Tensor, src string) {
			f, tables := ops.Interpolate(a, *x)
			l.fromTables(n, f, tables, graph.WhyAverages, src, l.result(n).buf)
		}),
		"matmul": func(l *lowering, n *graph.Node, x *layout.Tensor, _ string) { l.matmul(n, x) },

		"concat":  func(l *lowering, n *graph.Node, _ *layout.Tensor, _ string) { l.concat(n) },
		"bitpack": (*lowering).sameBuffer, // both ends are the caller's
		"unpack":  (*lowering).sameBuffer,
		"dequantize": func(l *lowering, n *graph.Node, x *layout.Tensor, src string) {
			f := ops.Reals(x.Shape)
			if !x.Whole {
				f = ops.Dequantize(x.LevelType, x.Shape)
			}
			l.stage(n, f, 0, graph.WhyRealsFollow, src, l.result(n).buf)
		},
		"global_avg_pool": ofFloats(ops.GlobalAvgPool, graph.WhyAverages),
		"log_softmax":     ofFloats(ops.LogSoftmax, graph.WhyProbabilities),
		"softmax":         ofFloats(ops.Softmax, graph.WhyProbabilities),
		"argmax":          with((*lowering).arg), "argmin": with((*lowering).arg),
	}
	for _, positions := range []bool{false, true} {
		name := "top_k"
		if positions {
			name = "top_k_indices"
		}
		all[name] = with(func(l *lowering, n *graph.Node, a *graph.TopKAttrs, x *layout.Tensor, src string) {
			l.stage(n, ops.TopK(positions, a, x.Shape), 0, graph.WhyPositions, src, l.result(n).buf)
		})
	}
	for _, f := range scalar.Functions() {
		all[f.String()] = (*lowering).function
	}
	return all
})

func (l *lowering) arg(n *graph.Node, a *graph.ArgAttrs, x *layout.Tensor, src string) {
	l.stage(n, ops.Arg(n.Op == "argmin", a, x.Shape), 0, graph.WhyPositions, src, l.result(n).buf)
}

// with is a rule that looks at the attributes.
func with[A any](f func(l *lowering, n *graph.Node, a *A, x *layout.Tensor, src string)) rule {
	return func(l *lowering, n *graph.Node, x *layout.Tensor, src string) { f(l, n, n.Attrs.(*A), x, src) }
}

// ofFloats is the rule of ops on floats with a Func that follows from their shape.
func ofFloats(of func(shape []int) *ir.Func, why graph.Reason) rule {
	return func(l *lowering, n *graph.Node, x *layout.Tensor, src string) {
		l.stage(n, of(x.Shape), 0, why, src, l.result(n).buf)
	}
}

func (l *lowering) constantNode(n *graph.Node, _ *layout.Tensor, _ string) {
	t := n.Weights["value"]
	l.at[n.Output] = place{buf: l.constant(n.Name, ir.F32, ops.Spatial(t.Shape), t.Data.Floats())}
}

// sameBuffer is for ops that change nothing in memory.
func (l *lowering) sameBuffer(n *graph.Node, _ *layout.Tensor, src string) {
	l.at[n.Output] = place{buf: src}
}

func (l *lowering) eltwise(n *graph.Node, a *graph.Elementwise, x *layout.Tensor, src string) {
	steps := slices.Concat(x.UnitSteps(), a.Steps)
	args := append([]string{src}, l.operands(n.Name, steps, asTheyAre)...)
	dst := l.result(n)
	l.stage(n, ops.Eltwise(steps, x.Element(), x.Shape, dst.slice), 0, l.notTakenIn(n), append(args, dst.buf)...)
}

func (l *lowering) quantize(n *graph.Node, a *graph.QuantizeAttrs, _ *layout.Tensor, _ string) {
	steps, x, args := l.stepsBefore(n)
	form, dst := l.store(n)
	l.stage(n, ops.Quantize(a, steps, x.Element(), x.Shape, form, dst.slice), 0, l.floatUntil(&x.Value),
		append(args, dst.buf)...)
}

func (l *lowering) threshold(n *graph.Node, a *graph.ThresholdAttrs, _ *layout.Tensor, _ string) {
	steps, x, args := l.stepsBefore(n)
	t := n.Weights["thresholds"]
	rows := l.constant(n.Name+".t", ir.F32, t.Shape, t.Data.Floats())
	form, dst := l.store(n)
	l.stage(n, ops.Threshold(a, t.Shape[0], t.Shape[1], steps, x.Element(), x.Shape, form, dst.slice), 0,
		l.floatUntil(&x.Value), append(args, rows, dst.buf)...)
}

// levelThresholds lowers a quantizer of levels.
func (l *lowering) levelThresholds(n *graph.Node, a *graph.LevelThresholds, x *layout.Tensor, src string) {
	shape := []int{len(a.Thresholds), len(a.Thresholds[0])}
	rows := l.constant(n.Name+".t", ir.I32, shape, slices.Concat(a.Thresholds...))
	form, dst := l.store(n)
	l.stage(n, ops.LevelThresholds(shape[0], shape[1], &x.Value, l.g.Value(n.Output).LevelType, form), 0,
		graph.NoReason, src, rows, dst.buf)
}

// pairwise is the rule of ops that compute levels from two tensors of levels.
func pairwise[A any](of func(a *A, x, y layout.Tensor, to layout.Form) *ir.Func) rule {
	return with(func(l *lowering, n *graph.Node, a *A, x *layout.Tensor, src string) {
		y, buf := l.read(n, n.Inputs[1])
		form, dst := l.store(n)
		l.stage(n, of(a, *x, y, form), 0, graph.NoReason, src, buf, dst.buf)
	})
}

// intMap lowers a map from levels to levels.
func (l *lowering) intMap(n *graph.Node, a *graph.IntMapAttrs, x *layout.Tensor, src string) {
	form, dst := l.store(n)
	f, consts := ops.IntMap(a, *x, form, dst.slice)
	l.fromTables(n, f, consts, graph.NoReason, src, dst.buf)
}

// intPool lowers means of levels.
func (l *lowering) intPool(n *graph.Node, a *graph.IntPoolAttrs, x *layout.Tensor, src string) {
	form, dst := l.store(n)
	l.stage(n, ops.IntPool(a, *x, form, dst.slice), 0, graph.NoReason, src, dst.buf)
}

// intSoftmax lowers softmax of levels.
func (l *lowering) intSoftmax(n *graph.Node, a *graph.IntSoftmaxAttrs, x *layout.Tensor, src string) {
	form, dst := l.store(n)
	f, consts := ops.IntSoftmax(a, *x, form)
	l.fromTables(n, f, consts, graph.NoReason, src, dst.buf)
}

// shiftLevels lowers add-then-shift of levels, or of sums in f32.
func (l *lowering) shiftLevels(n *graph.Node, a *graph.ShiftLevels, x *layout.Tensor, src string) {
	form, dst := layout.Planes, l.result(n)
	if !ops.Mapped(&x.Value) {
		form, dst = l.store(n)
	}
	f, consts := ops.ShiftLevels(a.Shift, &x.Value, l.g.Value(n.Output).LevelType, form)
	l.fromTables(n, f, consts, graph.NoReason, src, dst.buf)
}

// fromTables adds the stage of f, which has parameters src, constants and dst.
func (l *lowering) fromTables(n *graph.Node, f *ir.Func, consts []ops.Const, why graph.Reason, src, dst string) {
	args := []string{src}
	for i, c := range consts {
		p := f.Params[1+i]
		args = append(args, l.weights(n.Name+"."+c.Param, p.Type, p.Shape, c.Data))
	}
	l.stage(n, f, 0, why, append(args, dst)...)
}

func (l *lowering) pool(n *graph.Node, a *graph.PoolAttrs, x *layout.Tensor, src string) {
	dst := l.result(n)
	if n.Op == "avg_pool" {
		l.stage(n, ops.AvgPool(a, x.Shape, dst.slice), 0, graph.WhyAverages, src, dst.buf)
		return
	}
	why := graph.WhyFloatInput
	if x.Encoded() {
		why = graph.NoReason
	}
	vector := l.target.VectorBits / layout.WordBits
	if l.target.IsDevice() { // a thread has a window
		vector = 0
	}
	l.stage(n, ops.MaxPool(a, *x, vector, dst.slice), 0, why, src, dst.buf)
}

// floatUntil is why a quantizer of x is a stage of its own.
func (l *lowering) floatUntil(x *graph.Value) graph.Reason {
	if l.brought(x.Name) {
		return graph.WhyCallerFloats
	}
	return graph.WhyLoneQuantizer
}

// notTakenIn is why float steps are a stage of their own.
func (l *lowering) notTakenIn(n *graph.Node) graph.Reason {
	for _, in := range n.Inputs {
		if p := l.Producer(in); (p == nil || p.Op != "constant") && !l.brought(in) {
			return graph.WhyNotTakenIn
		}
	}
	return graph.WhyOfInput
}

// brought reports whether a tensor is one of the network's inputs, or only its elements in other
// places: no layer makes it.
func (l *lowering) brought(tensor string) bool {
	n := l.Producer(tensor)
	for n != nil {
		switch n.Op {
		case "reshape", "flatten", "transpose", "slice", "depth_to_space", "space_to_depth":
			n = l.Producer(n.Inputs[0])
		default:
			return false
		}
	}
	return true
}

// conv lowers a fused convolution or dense layer.
func (l *lowering) conv(n *graph.Node, a *graph.FusedConv, x *layout.Tensor, src string) {
	made := n
	if m := l.means[n.Name]; m != nil {
		made = m
	}
	spatial := ops.Spatial
	if s := spatial(x.Shape); made == n && a.EachPosition() && s[1]*s[2] == 1 {
		spatial = ops.Row
	}
	shape := spatial(x.Shape)
	in := x.Value
	in.Shape = shape
	form, dst := l.store(made)
	args, others := []string{src}, []layout.Tensor(nil)
	for _, name := range a.JoinedTensors(n) {
		v, buf := l.read(n, name)
		v.Shape = spatial(ops.Leading(v.Shape, len(l.g.Value(n.Output).Shape)))
		args, others = append(args, buf), append(others, v)
	}
	by := l.choices[n.Name].Algorithm
	if l.sketch && (by.Counts() || by.LooksUp()) { // the words to count do not depend on weights
		sketch := *a
		sketch.Ints = graph.Numbers{}
		a = &sketch
	}
	c := layout.NewConv(a, in, l.target, by, others...)
	beside, levels := l.levelsBeside(n, a)
	c.Beside = beside
	c.From, c.To, c.Made, c.Mean = x.Form, form, l.multiples[made.Output], made != n
	f, consts := ops.Conv(c, dst.slice)
	for i, c := range consts {
		p := f.Params[1+len(others)+i]
		args = append(args, l.weights(n.Name+"."+c.Param, p.Type, p.Shape, c.Data))
	}
	if a.Window != nil {
		args = append(args, l.at[n.Inputs[1]].buf)
	}
	if c.Accumulation.WeightParts() != nil {
		args = append(args, l.windowBytes(n, c, src))
	}
	oh, ow := a.OutSize(shape[1], shape[2])
	macs := int64(shape[0]) * int64(oh) * int64(ow) * int64(a.Products()) * int64(a.Out)
	why := graph.NoReason
	switch {
	case n.Op == "fconv2d" && a.Few != nil:
		why = graph.WhyFloatInput
	case n.Op == "fconv2d":
		why = graph.WhyFloatWeights
	case n.Op == "window_sum":
		macs, why = 0, graph.WhyWeightOffset // the model asks for none
	case !a.Multiplies(n.Op):
		macs = 0
	case a.Epilogue.OutBits == 0 && !l.g.IsOutput(made.Output):
		why = graph.WhySumsLeave
	}
	l.stage(n, f, n.Part.Count(macs), why, append(append(args, dst.buf), levels...)...)
}

// windowStage is the name of the stage before a layer's that adds up the bytes of its windows.
func windowStage(layer string) string { return layer + ".window" }

// windowBytes adds the stage that adds up the bytes of c's windows, for the layer of n, and gives
// its buffer.
func (l *lowering) windowBytes(n *graph.Node, c *layout.Conv, src string) string {
	f := ops.WindowBytes(c)
	b := f.Params[1].Buffer
	b.Name = l.unused(windowStage(n.Output))
	l.arena(b)
	of := &graph.Node{Name: windowStage(n.Name), Op: "window_sum", Inputs: n.Inputs[:1:1],
		Verdict: graph.Verdict{Kind: graph.Bits, Reason: graph.WhyWeightOffset, Where: n.Name}}
	l.stage(of, f, 0, graph.NoReason, src, b.Name)
	return b.Name
}

// constant adds a const buffer with the little-endian elements of data (a slice of numbers),
// sharing equal ones.
func (l *lowering) constant(name string, t ir.Type, shape []int, data any) string {
	return l.weights(name, t, shape, func() any { return data })
}

// weights is constant of data that is made when it is needed: not of a sketch.
func (l *lowering) weights(name string, t ir.Type, shape []int, data func() any) string {
	if l.sketch {
		name = l.unused(clean(name))
		l.add(ir.ProgBuf{Buffer: ir.Buffer{Name: name, Type: t, Shape: shape}, Kind: ir.ConstBuf})
		return name
	}
	content := contentOf(name, data())
	key := fmt.Sprintf("%s%v%x", t, shape, sha256.Sum256(content))
	if old, ok := l.consts[key]; ok {
		return old
	}
	name = l.unused(clean(name))
	l.consts[key] = name
	l.add(ir.ProgBuf{Buffer: ir.Buffer{Name: name, Type: t, Shape: shape}, Kind: ir.ConstBuf, Data: content})
	return name
}

// contentOf is data, a slice of numbers, as little-endian bytes. They stay where they are: weights
// may be most of all memory.
func contentOf(name string, data any) []byte {
	switch v := data.(type) {
	case []float32:
		return f32.Bytes(v)
	case []uint32:
		return f32.Bytes(v)
	case []int32:
		return f32.Bytes(v)
	case []int16:
		return f32.Bytes(v)
	case []int8:
		return f32.Bytes(v)
	}
	out, err := binary.Append(nil, binary.LittleEndian, data)
	if err != nil {
		panic("BUG: constant " + name + ": " + err.Error())
	}
	return out
}

// reshape is only a view where the channels stay or fill whole words, or the tensor is no planes of
// bits.
func (l *lowering) reshape(n *graph.Node, x *layout.Tensor, src string) {
	to := l.g.Value(n.Output).Shape
	after := to[len(to)-1]
	if c := x.Channels(); x.Form != layout.Planes || c == after || c%ops.WordBits == 0 && after%ops.WordBits == 0 {
		l.at[n.Output] = place{buf: src}
		return
	}
	f := ops.ReshapeBits(x.Bits, x.Shape, to, x.Enc)
	if n.Op == "flatten" && len(x.Shape) == 4 {
		f = ops.FlattenBits(x.Bits, x.Shape, x.Enc)
	}
	l.stage(n, f, 0, graph.WhyRepacks, src, l.result(n).buf)
}

// planConcats lets the producers of a concatenation write their slices of it directly: those that
// are layers that can, and are used by nothing else; of bits, where each does and fills whole
// words.
func (l *lowering) planConcats() {
	for _, n := range l.g.Nodes {
		if n.Op != "concat" {
			continue
		}
		y := l.g.Value(n.Output)
		if l.g.IsOutput(y.Name) && !l.direct(y) {
			continue
		}
		unit, total := 1, y.Channels()
		if l.resultForm(n) == layout.Planes {
			unit = ops.WordBits
		}
		// Copies of bits clear the words of all.
		if !n.DistinctInputs() || unit > 1 && slices.ContainsFunc(n.Inputs, func(in string) bool {
			return !l.slices(in)
		}) {
			continue
		}
		off := 0
		for _, in := range n.Inputs {
			if l.slices(in) && !l.copiesApart(in, n) {
				l.at[in] = place{buf: l.result(n).buf, slice: ops.Slice{Offset: off / unit, Total: total / unit}}
			}
			off += l.g.Value(in).Channels()
		}
	}
}

// copiesApart reports whether concatenation n copies a tensor rather than letting its producer
// write it in place. That is so in chains of concatenations, where n also copies the one before it:
// memory for all of n is then taken only when the producer's operands are free. It takes a
// difference of a quarter of the memory.
func (l *lowering) copiesApart(name string, n *graph.Node) bool {
	chained := int64(0)
	for _, in := range n.Inputs {
		if p := l.Producer(in); p != nil && p.Op == "concat" {
			chained += l.size(in)
		}
	}
	if chained == 0 {
		return false
	}
	read, part, whole := int64(0), l.size(name), l.size(n.Output)
	for _, in := range l.Producer(name).Inputs {
		if l.ConsumerCount(in) == 1 && !slices.Contains(n.Inputs, in) {
			read += l.size(in)
		}
	}
	return 4*(read+chained+whole) > 5*(chained+part+max(read, whole))
}

// size is the number of bits of a tensor.
func (l *lowering) size(name string) int64 {
	v := l.g.Value(name)
	if v.Encoded() {
		return int64(v.Elems()) * int64(v.Bits)
	}
	return int64(v.Elems()) * int64(v.DType().Bits())
}

func (l *lowering) slices(name string) bool {
	p, v := l.Producer(name), l.g.Value(name)
	if p == nil || l.g.IsOutput(name) || l.ConsumerCount(name) != 1 ||
		(l.resultForm(p) == layout.Planes && v.Channels()%ops.WordBits != 0) {
		return false
	}
	switch p.Op {
	case "bconv2d", "fconv2d":
		return true
	case "eltwise":
		return l.dequantized[p.Name] == nil && !l.done[p.Name]
	case "max_pool", "avg_pool":
		return !l.done[p.Name]
	case "int_map", "int_avg_pool":
		return l.resultForm(p).Bytewise()
	case "quantize", "threshold":
		return l.resultForm(p) == layout.Planes
	}
	return false
}

// concat copies those inputs that were not written in place.
func (l *lowering) concat(n *graph.Node) {
	dst := l.result(n)
	total := l.g.Value(n.Output).Channels()
	off := 0
	for _, in := range n.Inputs {
		if at := l.at[in]; at.slice.Total > 0 && at.buf == dst.buf {
			off += l.g.Value(in).Channels()
			continue
		}
		v, buf := l.read(n, in)
		s := ops.Slice{Offset: off, Total: total}
		why := graph.WhyCopiesPart
		if v.Encoded() {
			why = graph.NoReason
		}
		l.stage(n, ops.Concat(v, s), 0, why, buf, dst.buf)
		off += v.Channels()
	}
}
