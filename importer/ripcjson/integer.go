package ripcjson

import (
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// result reads the type of the levels that an integer op makes, and the least and the greatest of
// them.
func (b *builder) result(at string) (t scalar.LevelType, low, high int) {
	t = scalar.LevelType{Enc: ir.Unipolar, Bits: 8, Scale: b.doc.number(at+"/scale", 1),
		Zero: b.doc.integer(at+"/zero_point", 0), Signed: b.doc.text(at+"/dtype") == "i8"}
	t.Zero += graph.CallerZero(t)
	low, high = 0, t.Top()
	if r := b.doc.integers(at + "/range"); len(r) == 2 {
		low, high = r[0]+graph.CallerZero(t), r[1]+graph.CallerZero(t)
	}
	return t, low, high
}

func resultObject(t scalar.LevelType, low, high int) object {
	zero := graph.CallerZero(t)
	o := append(memberIf(t.Zero != zero, "zero_point", t.Zero-zero), dtypeObject(t.Signed)...)
	o.set("scale", t.Scale)
	return append(o, memberIf(low != 0 || high != t.Top(), "range", []int{low - zero, high - zero})...)
}

// integer reads the requantization of an integer layer.
func (b *builder) integer(n *rawNode, at string) *graph.IntegerAttrs {
	a := &graph.IntegerAttrs{Form: parsed(b, n, at+"/requantize", graph.NoRequantization, graph.ParseRequantization)}
	if a.Form == graph.NoRequantization {
		for _, key := range []string{"zero_point", "dtype", "scale", "range", "count", "coarse"} {
			if _, given := b.doc.values[at+"/"+key]; given {
				b.fault(n, "add requantize, or remove it", "attrs.%s is that of levels, but the sums stay f32", key)
			}
		}
		return a
	}
	a.LevelType, a.Low, a.High = b.result(at)
	a.Coarse = b.doc.flag(at + "/coarse")
	if a.Count = b.doc.integer(at+"/count", 0); (a.Count > 0) != (a.Form == graph.MeanRequantization) {
		b.fault(n, "a mean divides by count, and nothing else does", "count %d with requantize %s", a.Count, a.Form)
	}
	return a
}

func integerObject(a *graph.IntegerAttrs) object {
	if a == nil || a.Form == graph.NoRequantization {
		return nil
	}
	o := append(object{{"requantize", a.Form.String()}}, resultObject(a.LevelType, a.Low, a.High)...)
	return append(append(o, memberIf(a.Count > 0, "count", a.Count)...), memberIf(a.Coarse, "coarse", true)...)
}

// integers reads the weights of an integer layer.
func (w *weightReader) integers() bool {
	shape, known := w.kernelShape(w.n, w.x)
	fanIn := product(shape[:max(len(shape)-1, 0)])
	if !known || !w.set("w", shape, fanIn) || !w.agrees(w.n, w.node.Weights["w"]) {
		return false
	}
	shape = w.node.Weights["w"].Shape
	last, ok := shape[len(shape)-1:], true
	if w.wants(w.n, "bias") {
		ok = w.set("bias", last, 0)
	}
	if r := graph.IntegerOf(w.node).Form; r == graph.FloatRequantization || r == graph.FixedRequantization {
		ok = w.set("multiplier", last, product(shape[:len(shape)-1])) && ok
	}
	return ok
}

func readIntAdd(b *builder, n *rawNode, at string) *graph.IntAddAttrs {
	a := &graph.IntAddAttrs{IntPair: b.pair(n, at), Sub: b.doc.flag(at + "/sub")}
	a.A, a.B, a.C = b.doc.number(at+"/factors/0", 0), b.doc.number(at+"/factors/1", 0), b.doc.number(at+"/factors/2", 0)
	return a
}

func writeIntAdd(a *graph.IntAddAttrs) object {
	o := object{{"factors", []float64{a.A, a.B, a.C}}}
	return append(append(o, memberIf(a.Sub, "sub", true)...), pairObject(&a.IntPair)...)
}

func readIntMul(b *builder, n *rawNode, at string) *graph.IntMulAttrs {
	return &graph.IntMulAttrs{IntPair: b.pair(n, at), By: b.doc.number(at+"/factor", 0)}
}

func writeIntMul(a *graph.IntMulAttrs) object {
	return append(object{{"factor", a.By}}, pairObject(&a.IntPair)...)
}

func readIntMap(b *builder, n *rawNode, at string) *graph.IntMapAttrs {
	a := &graph.IntMapAttrs{Table: b.doc.integers(at + "/table")}
	a.LevelType, _, _ = b.result(at)
	for l := range a.Table {
		a.Table[l] += graph.CallerZero(a.LevelType)
	}
	return a
}

func writeIntMap(a *graph.IntMapAttrs) object {
	table := slices.Clone(a.Table)
	for l := range table {
		table[l] -= graph.CallerZero(a.LevelType)
	}
	return append(object{{"table", table}}, resultObject(a.LevelType, 0, a.Top())...)
}

func readIntPool(b *builder, n *rawNode, at string) *graph.IntPoolAttrs {
	a := &graph.IntPoolAttrs{PoolAttrs: *readPool(b, n, at)}
	a.LevelType, _, _ = b.result(at)
	return a
}

func writeIntPool(a *graph.IntPoolAttrs) object {
	return append(writePool(&a.PoolAttrs), resultObject(a.LevelType, 0, a.Top())...)
}

func readIntSoftmax(b *builder, _ *rawNode, at string) *graph.IntSoftmaxAttrs {
	a := &graph.IntSoftmaxAttrs{}
	a.LevelType, _, _ = b.result(at)
	return a
}

func writeIntSoftmax(a *graph.IntSoftmaxAttrs) object { return resultObject(a.LevelType, 0, a.Top()) }

// pair reads the common attributes of ops of two tensors of levels.
func (b *builder) pair(n *rawNode, at string) graph.IntPair {
	p := graph.IntPair{Form: parsed(b, n, at+"/requantize", graph.FloatRequantization, graph.ParseRequantization)}
	p.LevelType, p.Low, p.High = b.result(at)
	return p
}

func pairObject(p *graph.IntPair) object {
	return append(object{{"requantize", p.Form.String()}}, resultObject(p.LevelType, p.Low, p.High)...)
}
