package onnx

import (
	"cmp"
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	pb "ripc/importer/onnx/internal/onnxpb"
	"ripc/ir"
)

// quantParams say what integers of 8 bits stand for: scale * (integer - zero).
type quantParams struct {
	dt    dtype
	scale float32
	zero  int
}

// plain reports whether the integers stand for themselves.
func (q *quantParams) plain() bool { return q.scale == 1 && q.zero == 0 }

func (q *quantParams) equal(o *quantParams) bool {
	if q == nil || o == nil {
		return q == o
	}
	return *q == *o
}

// attrs is the quantizer: round(x/scale) + zero, kept in 8 bits.
func (q *quantParams) attrs() *graph.QuantizeAttrs {
	a := &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: float64(q.scale), Zero: q.zero}, Rounding: scalar.HalfEven}
	if q.dt == dtInt8 {
		a.Zero, a.Signed = q.zero+128, true
	}
	return a
}

// readLinear reads scale and zero point of QuantizeLinear or DequantizeLinear as arrays of one element or one for each
// position of an axis.
func (n *node) readLinear(def dtype) (scale, zero *array, dt dtype, err error) {
	if v, err := n.intAttr("block_size", 0); err != nil || v != 0 {
		return nil, nil, 0, cmp.Or(err, n.fail("", "block_size %d is not supported", v))
	}
	if v, err := n.intAttr("output_dtype", 0); err != nil || v != 0 {
		return nil, nil, 0, cmp.Or(err, n.fail("give a zero point of the type wanted", "output_dtype is not supported"))
	}
	if scale, err = n.konst(1, "scale"); err != nil {
		return nil, nil, 0, err
	}
	if zero, err = n.konst(2, "zero point"); err != nil {
		return nil, nil, 0, err
	}
	dt = def
	if zero != nil {
		dt = zero.dt
		if zero.len() != scale.len() || dt.float() {
			return nil, nil, 0, n.fail("", "scale of shape %v and zero point %s%v", scale.shape, dt, zero.shape)
		}
	}
	for k := range scale.len() {
		if s := float32(scale.at(k)); !(s > 0) || math.IsInf(float64(s), 0) {
			return nil, nil, 0, n.fail("", "scale %g: want positive numbers", s)
		}
	}
	if scale.len() == 0 {
		return nil, nil, 0, n.fail("", "the scale is empty")
	}
	return scale, zero, dt, nil
}

// linear reads parameters that are the same for all elements, of 8 bits.
func (n *node) linear(def dtype) (*quantParams, error) {
	scale, zero, dt, err := n.readLinear(def)
	if err != nil {
		return nil, err
	}
	if scale.len() != 1 {
		return nil, n.fail("quantize activations per tensor", "scales per channel are only supported on constants")
	}
	if !dt.eightBits() {
		return nil, n.fail("use uint8 or int8", "%s is only supported on constants", dt)
	}
	q := &quantParams{dt: dt, scale: float32(scale.at(0))}
	if zero != nil {
		q.zero = int(zero.whole(0))
	}
	return q, nil
}

func lowerQuantizeLinear(n *node) ([]*tensor, error) {
	q, err := n.linear(dtUint8)
	if err != nil {
		return nil, err
	}
	zero := n.input(2)
	fourBits := zero != nil && zero.konst.fourBits
	if !fourBits && !n.clippedNext() {
		y, err := n.quantized(n.in[0], q)
		if y == nil && err == nil {
			y, err = n.mapped(n.in[0], q)
		}
		if y != nil || err != nil {
			return []*tensor{y}, err
		}
	}
	y, err := n.b.elementwise(n.in[0], "quantize", q.attrs(), nil)
	if err != nil {
		return nil, err
	}
	if y, err = n.b.elementwise(y, "dequantize", &graph.NoAttrs{}, nil); err != nil {
		return nil, err
	}
	y.integers = q
	if fourBits {
		lo, hi := kept(q.dt, fourBits)
		return one(n.clippedIntegers(y, lo, hi))
	}
	return []*tensor{y}, nil
}

func lowerDequantizeLinear(n *node) ([]*tensor, error) {
	t := n.in[0]
	if t.integers == nil {
		return nil, n.fail("", "its input holds no quantized integers")
	}
	q, err := n.linear(t.integers.dt)
	if err != nil {
		return nil, err
	}
	if !q.equal(t.integers) {
		return nil, n.fail("use the parameters of the quantizer", "scale %g and zero point %d (%s) are not those that its input was quantized with, %g and %d (%s)",
			q.scale, q.zero, q.dt, t.integers.scale, t.integers.zero, t.integers.dt)
	}
	d := t.derived(t.value)
	return []*tensor{d}, nil
}

// axisOf gives for each element of shape its position along the attribute axis; nil where one scale serves all.
func (n *node) axisOf(shape []int, scale *array) (func(k int) int, error) {
	if scale.len() == 1 {
		return func(int) int { return 0 }, nil
	}
	axis, err := n.intAttr("axis", 1)
	if err != nil {
		return nil, err
	}
	if axis, err = n.axis(axis, len(shape)); err != nil {
		return nil, err
	}
	if !slices.Equal(scale.shape, shape[axis:axis+1]) {
		return nil, n.fail("", "a scale of shape %v along axis %d of %v", scale.shape, axis, shape)
	}
	inner := graph.Elems(shape[axis+1:])
	return func(k int) int { return k / inner % shape[axis] }, nil
}

// foldLinear computes QuantizeLinear or DequantizeLinear on constants.
func foldLinear(quantize bool) foldFunc {
	return func(n *node, in []*array) ([]*array, error) {
		x := in[0]
		def, to := x.dt, dtFloat
		if quantize {
			def = dtUint8
		} else if x.dt.float() {
			return nil, n.fail("", "its input is %s, want integers", x.dt)
		}
		scale, zero, dt, err := n.readLinear(def)
		if err != nil {
			return nil, err
		}
		if zero != nil && !quantize && dt != x.dt {
			return nil, n.fail("", "zero point %q is %s, want %s as the input", n.Input[2], dt, x.dt)
		}
		at, err := n.axisOf(x.shape, scale)
		if err != nil {
			return nil, err
		}
		if quantize {
			to = dt
		}
		var from *made
		if !quantize {
			from = &made{linear{x, scale, zero}, 0}
			if scale.len() > 1 {
				axis, _ := n.intAttr("axis", 1) // axisOf looked at it
				from.axis, _ = n.axis(axis, len(x.shape))
			}
			if x.dt.eightBits() {
				return []*array{{dt: dtFloat, shape: x.shape, levels: from.levels(), from: from}}, nil
			}
		}
		out, err := n.b.mem.newArray(to, x.shape)
		if err != nil {
			return nil, err
		}
		out.from = from
		for k := range out.len() {
			s, z := float32(scale.at(at(k))), 0.0
			if zero != nil {
				z = zero.at(at(k))
			}
			if !quantize {
				out.f[k] = float32(x.at(k)-z) * s
				continue
			}
			v := math.RoundToEven(float64(float32(x.at(k))/s)) + z
			lo, hi := kept(dt, zero != nil && zero.fourBits)
			out.set(k, min(max(v, lo), hi))
		}
		out.fourBits = quantize && zero != nil && zero.fourBits
		return []*array{out}, nil
	}
}

// kept is the range that a quantizer keeps to: that of its type, or of the type of 4 bits that it stands for.
func kept(d dtype, fourBits bool) (lo, hi float64) {
	lo, hi = limits(d)
	if fourBits {
		return lo / 16, (hi+1)/16 - 1
	}
	return lo, hi
}

// limits is the range of an integer type.
func limits(d dtype) (lo, hi float64) {
	switch d {
	case dtUint8, dtUint16, dtUint32, dtUint64:
		return 0, math.Exp2(float64(8*d.size())) - 1
	}
	return -math.Exp2(float64(8*d.size() - 1)), math.Exp2(float64(8*d.size()-1)) - 1
}

// inputParams finds what the integers of a graph input stand for: the parameters of the first DequantizeLinear that they
// reach, or themselves where they are converted. What an op means by them that is not supported is of no interest: reading it fails.
func (b *builder) inputParams(name string, dt dtype) (*quantParams, error) {
	reached := map[string]bool{name: true}
	for _, i := range b.order {
		p := b.model.Graph.Node[i]
		if !slices.ContainsFunc(p.Input, func(in string) bool { return reached[in] }) {
			continue
		}
		switch p.GetOpType() {
		case "Cast":
			return &quantParams{dt: dt, scale: 1}, nil
		default:
			at, ok := paramsAt(p, reached)
			op := b.ops.find(p.GetDomain(), p.GetOpType())
			if op == nil { // which reading it says
				return &quantParams{dt: dt, scale: 1}, nil
			}
			if !ok {
				break
			}
			n := &node{NodeProto: p, b: b, op: op}
			n.name(i)
			for _, in := range p.Input {
				t := b.tensors[in]
				if t == nil && in != "" && !reached[in] {
					t = b.constantNamed(in)
				}
				n.in = append(n.in, t)
			}
			if err := n.readAttrs(); err != nil {
				return nil, err
			}
			if at[0] < 0 { // of integers without a scale
				zero, err := n.scalarOf(at[1], "zero point", 0)
				return &quantParams{dt: dt, scale: 1, zero: int(zero)}, err
			}
			if n.input(at[0]) == nil {
				return nil, n.fail("", "its scale is no constant")
			}
			q, err := n.params(at[0], at[1], dt)
			if err == nil && q.dt != dt {
				return nil, n.fail("give both the same type", "its zero point %q is %s, and input %q is %s", n.Input[at[1]], q.dt, name, dt)
			}
			return q, err
		}
		for _, o := range p.Output {
			reached[o] = true
		}
	}
	return nil, b.errorf("use a float input, or DequantizeLinear or Cast behind it", "input %q is %s; nothing says what its integers stand for", name, dt)
}

// paramsAt says which inputs of p, an op that reads one of the tensors as integers, are their scale (-1 for none) and zero point; ok is
// false where p is no such op.
func paramsAt(p *pb.NodeProto, tensors map[string]bool) (at [2]int, ok bool) {
	rows := map[string]map[int][2]int{ // by the place of the tensor
		"DequantizeLinear": {0: {1, 2}}, "QLinearConv": {0: {1, 2}}, "QLinearMatMul": {0: {1, 2}}, "QGemm": {0: {1, 2}}, "QLinearGlobalAveragePool": {0: {1, 2}},
		"QLinearAveragePool": {0: {1, 2}}, "QLinearLeakyRelu": {0: {1, 2}}, "QLinearSigmoid": {0: {1, 2}}, "QLinearSoftmax": {0: {1, 2}},
		"QLinearAdd": {0: {1, 2}, 3: {4, 5}}, "QLinearMul": {0: {1, 2}, 3: {4, 5}}, "ConvInteger": {0: {-1, 2}}, "MatMulInteger": {0: {-1, 2}},
	}
	for i, in := range p.Input {
		if p.GetOpType() == "QLinearConcat" && i >= 2 && i%3 == 2 {
			at, ok = [2]int{i + 1, i + 2}, true
		} else {
			at, ok = rows[p.GetOpType()][i]
		}
		if ok && tensors[in] {
			return at, true
		}
	}
	return at, false
}

// constantNamed is the tensor that a Constant node makes, nil if none does.
func (b *builder) constantNamed(name string) *tensor {
	for _, p := range b.model.Graph.Node {
		if p.GetOpType() != "Constant" || len(p.Output) != 1 || p.Output[0] != name || len(p.Attribute) != 1 || p.Attribute[0].GetType() != pb.AttributeProto_TENSOR || p.Attribute[0].T == nil {
			continue
		}
		if a, err := b.constant(p.Attribute[0].T); err == nil {
			return &tensor{shape: a.shape, konst: a}
		}
	}
	return nil
}
