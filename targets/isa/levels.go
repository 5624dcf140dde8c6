package isa

import (
	"fmt"

	"ripc/ir"
)

// x86Levels are the instructions that look up the packed levels of windows of few bits, for as many neighbouring positions as have a register of words: by a shuffle of words of one
// register (vpermd) or two (vpermi2d), which hold the whole table. Positions read neighbouring words, or every second one.
func x86Levels() []Instr {
	const register = 16 // words
	var is []Instr
	for _, stride := range []int{1, 2} {
		for words := 1; words <= register/2; words *= 2 {
			for entries := 2; entries*words <= 2*register; entries *= 2 {
				f := lookUpLevels(fmt.Sprintf("avx512_levels%d_%dx%d_s%d", entries, register/words, words, stride), register/words, words, entries, stride)
				is = append(is, Instr{Func: f, Meaning: LookUpLevels, Arch: "x86_64", Needs: []string{"avx512f"}, Lanes: words, Words: entries, Positions: register / words, Stride: stride, Type: ir.U32})
			}
		}
	}
	return is
}

// lookUpLevels is y[p, q] = t[x[stride * p, 0], 0, q], of whose table's entries there is a power of two; higher bits of x do not count.
func lookUpLevels(name string, positions, words, entries, stride int) *ir.Func {
	y, x, t := out("y", ir.U32, positions), in("x", ir.U32, stride*(positions-1)+1), in("t", ir.U32, entries)
	y.Shape, x.Shape, t.Shape = append(y.Shape, words), append(x.Shape, 1), append(t.Shape, 1, words)
	p, q := ir.V("p"), ir.V("q")
	at := p
	if stride > 1 {
		at = ir.Bin(ir.Mul, p, ir.Int(stride))
	}
	entry := ir.CastTo(ir.I64, ir.Bin(ir.And, ir.At(x.Buffer, at, ir.Int(0)), ir.Const(ir.U32, int64(entries-1))))
	return &ir.Func{
		Name: name, Params: []ir.Param{y, x, t},
		Body: ir.Nest([]ir.Loop{{Var: "p", Extent: positions}, {Var: "q", Extent: words}}, &ir.Store{Buf: "y", Idx: []ir.Expr{p, q}, Val: ir.At(t.Buffer, entry, ir.Int(0), q)}),
	}
}
