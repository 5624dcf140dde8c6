package codegen_test

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"ripc/codegen"
	"ripc/internal/f32"
	"ripc/ir"
)

// TestFewBits: inputs of as many bits as FewBits allows have sums that are exact in double, and it refuses other loops.
func TestFewBits(t *testing.T) {
	const depth, lanes = 27, 4
	b := func(n string, shape ...int) ir.Buffer { return ir.Buffer{Name: n, Type: ir.F32, Shape: shape} }
	x, other, w, y, acc := b("x", depth), b("other", depth), b("w", depth, lanes), b("y", lanes), b("acc", 2*depth)
	k, l, zero := ir.V("k"), ir.V("l"), ir.Expr(ir.Float(0))
	sum := func(a, b ir.Expr, at ...ir.Expr) ir.Stmt {
		return &ir.Store{Buf: "acc", Idx: at, Val: &ir.Fma{A: a, B: b, C: ir.At(acc, at...)}}
	}
	tile := func(first ir.Expr, sums ...ir.Stmt) *ir.Func {
		return &ir.Func{Name: "f", Params: []ir.Param{{Buffer: x}, {Buffer: other}, {Buffer: w}, {Buffer: y, Out: true}}, Body: &ir.Alloc{Buf: acc, Body: ir.Seq(
			&ir.For{Var: "z", Extent: 2 * depth, Body: &ir.Store{Buf: "acc", Idx: []ir.Expr{ir.V("z")}, Val: first}},
			&ir.For{Var: "k", Extent: depth, Body: &ir.For{Var: "l", Extent: lanes, Body: ir.Seq(sums...)}},
			&ir.For{Var: "e", Extent: lanes, Body: &ir.Store{Buf: "y", Idx: []ir.Expr{ir.V("e")}, Val: ir.At(acc, ir.V("e"))}})}}
	}
	few := func(f *ir.Func, kind ir.BufKind, weights []float32) int {
		var data []byte
		for _, v := range weights {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		p := &ir.Program{Name: "p", Funcs: []*ir.Func{f}, Stages: []ir.Stage{{Name: "s", Func: "f", Args: []string{"x", "other", "w", "y"}}},
			Buffers: []ir.ProgBuf{{Buffer: x, Kind: ir.InputBuf}, {Buffer: other, Kind: ir.InputBuf}, {Buffer: w, Kind: kind, Data: data}, {Buffer: y, Kind: ir.OutputBuf}}}
		in, n := codegen.NewFloats(p).FewBits(f)
		if n > 0 && in.Name != "x" {
			t.Errorf("the input is %s", in.Name)
		}
		return n
	}
	r := rand.New(rand.NewPCG(3, 4))
	weights := make([]float32, depth*lanes)
	for round := range 200 {
		for i := range weights {
			weights[i] = float32(math.Ldexp(float64(r.IntN(1<<24)-r.IntN(1<<24)), -25-r.IntN(2)))
			if round%3 == 0 {
				weights[i] = 1 - 0x1p-24
			}
		}
		n := few(tile(zero, sum(ir.At(x, k), ir.At(w, k, l), l)), ir.ConstBuf, weights)
		if n < 8 {
			t.Fatalf("%d bits", n)
		}
		for lane := range lanes {
			c := float32(0)
			for i := range depth {
				bits := math.Ldexp(1, n) - 1
				if round%2 == 0 {
					bits = float64(r.Int64N(1<<n)) * float64(1-2*r.IntN(2))
				}
				v, weight := float32(bits), weights[i*lanes+lane]
				p := float64(v) * float64(weight)
				exact := new(big.Float).SetPrec(300).Add(big.NewFloat(p), big.NewFloat(float64(c)))
				if got, accuracy := exact.Float64(); float64(v) != bits || accuracy != big.Exact {
					t.Fatalf("%d bits: %g * %g + %g is %g, %s", n, v, weight, c, got, accuracy)
				}
				c = f32.Fma(v, weight, c)
			}
		}
	}
	xp := b("xp", depth+1)
	padded := func(by ir.Expr) *ir.Func {
		f := tile(zero, sum(ir.At(xp, k), ir.At(w, k, l), l))
		f.Body = &ir.Alloc{Buf: xp, Body: ir.Seq(&ir.For{Var: "h", Extent: depth + 1, Body: &ir.Store{Buf: "xp", Idx: []ir.Expr{ir.V("h")},
			Val: &ir.Select{Cond: ir.Bin(ir.Lt, ir.V("h"), ir.Int(depth)), A: ir.At(x, ir.V("h")), B: by}}}, f.Body)}
		return f
	}
	plain := sum(ir.At(x, k), ir.At(w, k, l), l)
	when := func(cond ir.Expr) *ir.Func { return tile(zero, &ir.If{Cond: cond, Then: plain}) }
	want := few(tile(zero, plain), ir.ConstBuf, weights)
	for name, f := range map[string]*ir.Func{"a padded copy": padded(zero), "a condition": when(ir.Bin(ir.Lt, l, ir.Int(2)))} {
		if n := few(f, ir.ConstBuf, weights); n != want {
			t.Errorf("%s: %d bits, want %d", name, n, want)
		}
	}
	tiny := append([]float32{0x1p-60}, weights[1:]...)
	undefined := append([]float32{float32(math.NaN())}, weights[1:]...)
	for name, n := range map[string]int{
		"swapped factors":  few(tile(zero, sum(ir.At(w, k, l), ir.At(x, k), l)), ir.ConstBuf, weights),
		"unknown weights":  few(tile(zero, sum(ir.At(x, k), ir.At(w, k, l), l)), ir.InputBuf, nil),
		"a tiny weight":    few(tile(zero, sum(ir.At(x, k), ir.At(w, k, l), l)), ir.ConstBuf, tiny),
		"a weight is NaN":  few(tile(zero, plain), ir.ConstBuf, undefined),
		"padding of 1":     few(padded(ir.Float(1)), ir.ConstBuf, weights),
		"two inputs":       few(tile(zero, plain, sum(ir.At(other, k), ir.At(w, k, l), l)), ir.ConstBuf, weights),
		"in a condition":   few(when(ir.Bin(ir.Lt, &ir.Fma{A: ir.At(x, k), B: ir.At(w, k, l), C: zero}, zero)), ir.ConstBuf, weights),
		"sums from 1":      few(tile(ir.Float(1), sum(ir.At(x, k), ir.At(w, k, l), l)), ir.ConstBuf, weights),
		"elements meet":    few(tile(zero, sum(ir.At(x, k), ir.At(w, k, l), ir.Bin(ir.Add, k, l))), ir.ConstBuf, weights),
		"other factors":    few(tile(zero, sum(ir.At(x, k), ir.At(x, k), l)), ir.ConstBuf, weights),
		"other operations": few(tile(zero, sum(ir.At(x, k), ir.At(w, k, l), l), &ir.Store{Buf: "acc", Idx: []ir.Expr{l}, Val: ir.At(x, k)}), ir.ConstBuf, weights),
	} {
		if n > 0 != (name == "swapped factors") {
			t.Errorf("%s: %d bits", name, n)
		}
	}
}
