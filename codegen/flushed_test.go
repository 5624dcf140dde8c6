package codegen_test

import (
	"encoding/binary"
	"math"
	"testing"

	"ripc/codegen"
	"ripc/ir"
)

// floatFunc is y[i] = value, where value may load x[i].
func floatFunc(name string, value func(x ir.Expr) ir.Expr) *ir.Func {
	b := func(n string) ir.Buffer { return ir.Buffer{Name: n, Type: ir.F32, Shape: []int{2}} }
	i := &ir.Var{Name: "i"}
	return &ir.Func{Name: name, Params: []ir.Param{{Buffer: b("x")}, {Buffer: b("y"), Out: true}},
		Body: &ir.For{Var: "i", Extent: 2, Body: &ir.Store{Buf: "y", Idx: []ir.Expr{i}, Val: value(&ir.Load{Buf: "x", T: ir.F32, Idx: []ir.Expr{i}})}}}
}

// TestFloats: what arithmetic leaves is flushed, and constants that have no subnormal; inputs, and what is copied of them, are not.
// A Func that two stages share knows what holds for both.
func TestFloats(t *testing.T) {
	double := func(x ir.Expr) ir.Expr { return ir.Bin(ir.Add, x, x) }
	same := func(x ir.Expr) ir.Expr { return x }
	buffer := func(name string, kind ir.BufKind, data ...float32) ir.ProgBuf {
		b := ir.ProgBuf{Buffer: ir.Buffer{Name: name, Type: ir.F32, Shape: []int{2}}, Kind: kind}
		for _, x := range data {
			b.Data = binary.LittleEndian.AppendUint32(b.Data, math.Float32bits(x))
		}
		return b
	}
	p := &ir.Program{Name: "p", Funcs: []*ir.Func{
		floatFunc("copied", same), floatFunc("doubled", double), floatFunc("again", double), floatFunc("normal", same),
		floatFunc("subnormal", same), floatFunc("shared", double), floatFunc("last", same), floatFunc("outside", same),
	}, Buffers: []ir.ProgBuf{
		buffer("in", ir.InputBuf), buffer("raw", ir.ArenaBuf), buffer("none", ir.ArenaBuf), buffer("sum", ir.ArenaBuf), buffer("sums", ir.ArenaBuf), buffer("out", ir.OutputBuf),
		buffer("k", ir.ConstBuf, 1, float32(math.Copysign(0, -1))), buffer("small", ir.ConstBuf, 1, math.SmallestNonzeroFloat32),
	}}
	for _, s := range [][3]string{
		{"copied", "in", "raw"}, {"doubled", "raw", "sum"}, {"outside", "none", "out"}, {"again", "sum", "sums"}, {"normal", "k", "out"}, {"subnormal", "small", "out"},
		{"shared", "sum", "sums"}, {"shared", "in", "sums"}, {"last", "sums", "out"},
	} {
		p.Stages = append(p.Stages, ir.Stage{Name: s[0], Func: s[0], Args: s[1:]})
	}
	floats := codegen.NewFloats(p)
	for name, want := range map[string]bool{"copied": false, "doubled": false, "again": true, "normal": true, "subnormal": false, "shared": false, "last": true, "outside": false} {
		if got := floats.Flushed(p.FuncByName(name))["x"]; got != want {
			t.Errorf("x of %s is flushed: %v, want %v", name, got, want)
		}
	}
	if nothing := (*codegen.Floats)(nil).Flushed(p.FuncByName("again")); len(nothing) != 0 {
		t.Errorf("without a Program %v are flushed", nothing)
	}
}
