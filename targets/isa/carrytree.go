package isa

import (
	"fmt"

	"ripc/ir"
	"ripc/targets"
)

// carryTrees are the instructions that count the words of whole windows: those of targets.Target.CountsWindow.
func carryTrees() []Instr {
	const lanes, side = targets.WindowFilters, targets.WindowSide
	var is []Instr
	for words := 2; words <= targets.WindowWords; words += 2 {
		for positions := targets.LeastWindowPositions; positions <= targets.WindowPositions; positions++ {
			name := fmt.Sprintf("avx512_xor_cnt_window_%dx%dx%dx%dx%d", positions, side, side, words, lanes)
			is = append(is, Instr{
				Func: xorPopcountWindow(name, positions, side, side, words, lanes), Meaning: XorCountWindow, Arch: "x86_64", Needs: []string{"avx512f", "avx512bw"},
				Lanes: lanes, Words: words, Type: ir.I32, Positions: positions, Rows: side, Taps: side,
			})
		}
	}
	return is
}

// xorPopcountWindow is acc[p, l] += popcount(x[r, p+t, c] ^ w[r, t, c, l]) for the words of a window, of which every second one is kept as its difference from the one
// before, as schedule.Pair writes it.
func xorPopcountWindow(name string, positions, rows, taps, words, filters int) *ir.Func {
	acc, x, w := out("acc", ir.I32, 0), in("x", ir.U32, 0), in("w", ir.U32, 0)
	acc.Shape, x.Shape, w.Shape = []int{positions, filters}, []int{rows, positions + taps - 1, words}, []int{rows, taps, words, filters}
	p, r, t, c, l := ir.V("p"), ir.V("r"), ir.V("t"), ir.V("c"), ir.V("l")
	second := c
	if words > 2 {
		second = ir.Bin(ir.Mod, c, ir.Int(2))
	}
	before, odd := ir.Bin(ir.Sub, c, ir.Int(1)), ir.Bin(ir.Eq, second, ir.Int(1))
	word := func(at func(c ir.Expr) ir.Expr) ir.Expr {
		return &ir.Select{Cond: odd, A: ir.Bin(ir.Xor, at(before), at(c)), B: at(c)}
	}
	xs := word(func(c ir.Expr) ir.Expr { return ir.At(x.Buffer, r, ir.Bin(ir.Add, p, t), c) })
	ws := word(func(c ir.Expr) ir.Expr { return ir.At(w.Buffer, r, t, c, l) })
	pop := ir.CastTo(ir.I32, ir.Un(ir.Popcount, ir.Bin(ir.Xor, xs, ws)))
	loops := []ir.Loop{{Var: "r", Extent: rows}, {Var: "t", Extent: taps}, {Var: "c", Extent: words}, {Var: "p", Extent: positions}, {Var: "l", Extent: filters}}
	return &ir.Func{
		Name: name, Params: []ir.Param{acc, x, w},
		Body: ir.Nest(loops, &ir.Store{Buf: "acc", Idx: []ir.Expr{p, l}, Op: ir.AddTo, Val: pop}),
	}
}
