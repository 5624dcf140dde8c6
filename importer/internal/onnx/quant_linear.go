package onnx

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/internal/stop"
)

// quantParams are the parameters of 8-bit integers: the real number is scale * (integer - zero).
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
	a := &graph.QuantizeAttrs{LevelType: unipolar(8, q.scale, q.zero), Rounding: scalar.HalfEven}
	if q.dt == dtInt8 {
		a.Zero, a.Signed = q.zero+128, true
	}
	return a
}

// readLinear reads scale and zero point of QuantizeLinear or DequantizeLinear as arrays of one
// element or one for each position of an axis.
func (n *node) readLinear(def dtype) (scale, zero *array, dt dtype) {
	if v := n.intAttr("block_size", 0); v != 0 {
		panic(n.fail("", "block_size %d is not supported", v))
	}
	if v := n.intAttr("output_dtype", 0); v != 0 {
		panic(n.fail("give a zero point of the type wanted", "output_dtype is not supported"))
	}
	scale = n.konst(1, "scale")
	zero = n.konst(2, "zero point")
	dt = def
	if zero != nil {
		dt = zero.dt
		n.failIf(zero.len() != scale.len() || dt.float(),
			"", "scale of shape %v and zero point %s%v", scale.shape, dt, zero.shape)
	}
	n.checkScales(scale)
	n.failIf(scale.len() == 0, "", "the scale is empty")
	return scale, zero, dt
}

// linear reads parameters that are the same for all elements, of 8 bits.
func (n *node) linear(def dtype) *quantParams {
	scale, zero, dt := n.readLinear(def)
	n.failIf(scale.len() != 1, "quantize activations per tensor", "scales per channel are only supported on constants")
	n.failIf(!dt.eightBits(), "use uint8 or int8", "%s is only supported on constants", dt)
	q := &quantParams{dt: dt, scale: float32(scale.number(0))}
	if zero != nil {
		q.zero = int(zero.integer(0))
	}
	return q
}

func lowerQuantizeLinear(n *node) *tensor {
	q := n.linear(dtUint8)
	zero := n.input(2)
	fourBits := zero != nil && zero.konst.fourBits
	if !fourBits && !n.clippedNext() {
		y := n.quantizeIntegers(n.in[0], q)
		if y == nil {
			y = n.mapLevels(n.in[0], q)
		}
		if y != nil {
			return y
		}
	}
	y := n.b.pipe(n.b.elementwise(n.in[0], "quantize", q.attrs(), nil), "dequantize")
	y.integers = q
	if fourBits {
		lo, hi := levelRange(q.dt, fourBits)
		return n.clipIntegers(y, lo, hi)
	}
	return y
}

func lowerDequantizeLinear(n *node) *tensor {
	t := n.in[0]
	n.failIf(t.integers == nil, "", "its input holds no quantized integers")
	q := n.linear(t.integers.dt)
	n.checkParams(q, t.integers)
	return t.derive(t.value)
}

// checkParams wants the parameters q that an op names for its input to be those that the input was
// quantized with.
func (n *node) checkParams(q, input *quantParams) {
	n.failIf(!q.equal(input), "use the parameters of the quantizer",
		"scale %g and zero point %d (%s) are not those that its input was quantized with, %g and %d (%s)",
		q.scale, q.zero, q.dt, input.scale, input.zero, input.dt)
}

// checkScales wants all scales to be positive.
func (n *node) checkScales(scale *array) {
	for k := range scale.len() {
		if s := float32(scale.number(k)); !(s > 0) || math.IsInf(float64(s), 0) {
			panic(n.fail("", "scale %g: want positive numbers", s))
		}
	}
}

// axisOf gives for each element of shape its position along the attribute axis; nil where one scale
// serves all.
func (n *node) axisOf(shape []int, scale *array) func(k int) int {
	if scale.len() == 1 {
		return func(int) int { return 0 }
	}
	axis := n.axis(n.intAttr("axis", 1), len(shape))
	n.failIf(!slices.Equal(scale.shape, shape[axis:axis+1]),
		"", "a scale of shape %v along axis %d of %v", scale.shape, axis, shape)
	inner := graph.Elems(shape[axis+1:])
	return func(k int) int { return k / inner % shape[axis] }
}

// foldLinear computes QuantizeLinear or DequantizeLinear on constants.
func foldLinear(quantize bool) foldFunc {
	return func(n *node, in []*array) []*array {
		x := in[0]
		def, to := x.dt, dtFloat
		if quantize {
			def = dtUint8
		} else if x.dt.float() {
			panic(n.fail("", "its input is %s, want integers", x.dt))
		}
		scale, zero, dt := n.readLinear(def)
		if zero != nil && !quantize {
			n.failIf(dt != x.dt, "", "zero point %q is %s, want %s as the input", n.Input[2], dt, x.dt)
		}
		at := n.axisOf(x.shape, scale)
		if quantize {
			to = dt
		}
		var from *made
		if !quantize {
			from = &made{linear{x, scale, zero}, 0}
			if scale.len() > 1 {
				axis := n.intAttr("axis", 1) // axisOf looked at it
				from.axis = n.axis(axis, len(x.shape))
			}
			if x.dt.eightBits() {
				return []*array{{dt: dtFloat, shape: x.shape, levels: from.levels(), from: from}}
			}
		}
		out := n.b.mem.newArray(to, x.shape)
		out.from = from
		for k := range out.len() {
			s, z := float32(scale.number(at(k))), 0.0
			if zero != nil {
				z = zero.number(at(k))
			}
			if !quantize {
				out.f[k] = float32(x.number(k)-z) * s
				continue
			}
			v := math.RoundToEven(float64(float32(x.number(k))/s)) + z
			lo, hi := levelRange(dt, zero != nil && zero.fourBits)
			out.set(k, min(max(v, lo), hi))
		}
		out.fourBits = quantize && zero != nil && zero.fourBits
		return []*array{out}
	}
}

// levelRange returns the range that a quantizer keeps to: that of its type, or of the type of 4
// bits that it stands for.
func levelRange(d dtype, fourBits bool) (lo, hi float64) {
	lo, hi = limits(d)
	if fourBits {
		return lo / 16, (hi+1)/16 - 1
	}
	return lo, hi
}

// limits is the range of an integer type.
func limits(d dtype) (lo, hi float64) {
	if d.unsigned() {
		return 0, math.Exp2(float64(8*d.size())) - 1
	}
	return -math.Exp2(float64(8*d.size() - 1)), math.Exp2(float64(8*d.size()-1)) - 1
}

// inputParams finds the parameters of an integer input: those of the first DequantizeLinear that it
// reaches, or scale 1 where it is converted. Faults of the nodes on the way are reported when these
// are read.
func (b *builder) inputParams(name string, dt dtype) *quantParams {
	reached := map[string]bool{name: true}
	for _, i := range b.order {
		p := b.model.Graph.Node[i]
		if !slices.ContainsFunc(p.Input, func(in string) bool { return reached[in] }) {
			continue
		}
		switch p.GetOpType() {
		case "Cast":
			return &quantParams{dt: dt, scale: 1}
		default:
			at, ok := paramsAt(p, reached)
			op := b.ops.find(p.GetDomain(), p.GetOpType())
			if op == nil { // which reading it says
				return &quantParams{dt: dt, scale: 1}
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
			n.readAttrs()
			if at[0] < 0 { // of integers without a scale
				return &quantParams{dt: dt, scale: 1, zero: int(n.scalarOf(at[1], "zero point", 0))}
			}
			n.failIf(n.input(at[0]) == nil, "", "its scale is no constant")
			q := n.params(at[0], at[1], dt)
			if q.dt != dt {
				panic(n.fail("give both the same type",
					"its zero point %q is %s, and input %q is %s", n.Input[at[1]], q.dt, name, dt))
			}
			return q
		}
		for _, o := range p.Output {
			reached[o] = true
		}
	}
	panic(b.errorf("use a float input, or DequantizeLinear or Cast behind it",
		"input %q is %s; nothing gives the meaning of its integers", name, dt))
}

// paramsAt says which inputs of p, an op that reads one of the tensors as integers, are their scale
// (-1 for none) and zero point; ok is false where p is no such op.
func paramsAt(p *pb.NodeProto, tensors map[string]bool) (at [2]int, ok bool) {
	for i, in := range p.Input {
		at, ok = [2]int{i + 1, i + 2}, i == 0
		switch p.GetOpType() {
		case "DequantizeLinear", "QLinearConv", "QLinearMatMul", "QGemm", "QLinearGlobalAveragePool",
			"QLinearAveragePool", "QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax":
		case "QLinearAdd", "QLinearMul":
			ok = i == 0 || i == 3
		case "QLinearConcat":
			ok = i >= 2 && i%3 == 2
		case "ConvInteger", "MatMulInteger":
			at[0] = -1
		default:
			ok = false
		}
		if ok && tensors[in] {
			return at, true
		}
	}
	return at, false
}

// constantNamed is the tensor that a Constant node makes, nil if none does.
func (b *builder) constantNamed(name string) *tensor {
	var made *array
	for _, p := range b.model.Graph.Node {
		if p.GetOpType() != "Constant" || len(p.Output) != 1 || p.Output[0] != name || len(p.Attribute) != 1 ||
			p.Attribute[0].GetType() != pb.AttributeProto_TENSOR || p.Attribute[0].T == nil {
			continue
		}
		if stop.Try(func() { made = b.constant(p.Attribute[0].T) }) == nil {
			return &tensor{shape: made.shape, konst: made}
		}
	}
	return nil
}
