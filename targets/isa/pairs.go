package isa

import (
	"fmt"

	"ripc/ir"
)

// pairs are products of bytes on NEON without products of four: neighbours among 16-bit products are added to sums of 32 bits, of which
// a filter has two then. Two 16-bit products do not fit in 16 bits (-128 * -128), so they are never added before.
func pairs(arch string) []Instr {
	prefix, multiply, add := map[string]string{"aarch64": "neon", "arm": "armv7"}[arch], map[string]string{"aarch64": "smull", "arm": "vmull"}[arch], map[string]string{"aarch64": "addp", "arm": "vpadd"}[arch]
	neon := []string{"neon"}
	return []Instr{
		{Func: dotPairs(fmt.Sprintf("%s_%s_pairs_x4", prefix, multiply), 4), Meaning: DotPairs, Arch: arch, Needs: neon, Lanes: 4, Words: 1, Type: ir.I32},
		{Func: addPairs(fmt.Sprintf("%s_%s_i32_x4", prefix, add), 4), Meaning: AddPairs, Arch: arch, Needs: neon, Lanes: 4, Type: ir.I32},
	}
}

func dotPairs(name string, lanes int) *ir.Func {
	acc, x, w := out("acc", ir.I32, lanes), in("x", ir.I8, 4), in("w", ir.I8, lanes)
	acc.Shape, w.Shape = []int{lanes, 2}, []int{lanes, 4}
	l, j := ir.V("l"), ir.V("j")
	k := ir.Bin(ir.Add, ir.Bin(ir.Mul, j, ir.Int(2)), ir.V("i"))
	product := ir.Bin(ir.Mul, ir.CastTo(ir.I32, ir.At(x.Buffer, k)), ir.CastTo(ir.I32, ir.At(w.Buffer, l, k)))
	return &ir.Func{
		Name: name, Params: []ir.Param{acc, x, w},
		Body: ir.Nest([]ir.Loop{{Var: "l", Extent: lanes}, {Var: "j", Extent: 2}, {Var: "i", Extent: 2}}, &ir.Store{Buf: "acc", Idx: []ir.Expr{l, j}, Op: ir.AddTo, Val: product}),
	}
}

func addPairs(name string, lanes int) *ir.Func {
	acc, r := out("acc", ir.I32, lanes), in("r", ir.I32, lanes)
	r.Shape = []int{lanes, 2}
	l, j := ir.V("l"), ir.V("j")
	return &ir.Func{
		Name: name, Params: []ir.Param{acc, r},
		Body: ir.Nest([]ir.Loop{{Var: "l", Extent: lanes}, {Var: "j", Extent: 2}}, &ir.Store{Buf: "acc", Idx: []ir.Expr{l}, Op: ir.AddTo, Val: ir.At(r.Buffer, l, j)}),
	}
}
