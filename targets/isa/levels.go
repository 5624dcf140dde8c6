package isa

import (
	"fmt"

	"ripc/ir"
)

// x86Levels are the instructions that look up the packed levels of windows of few bits, for as many neighbouring positions as have a register of words: by a shuffle of words of one
// register (vpermd) or two (vpermi2d), which hold the whole table, or of two entries by a selection. Positions read neighbouring words, or every second one.
func x86Levels() []Instr {
	const register = 16 // words
	var is []Instr
	for _, stride := range []int{1, 2} {
		for words := 1; words <= register/2; words *= 2 {
			for entries := 2; entries*words <= 2*register; entries *= 2 {
				is = append(is, levels("avx512", "x86_64", []string{"avx512f"}, entries, register/words, words, stride))
			}
		}
	}
	return is
}

// armLevels are those of windows of one bit, by a selection: tbl and vtbl look up bytes.
func armLevels(arch string) []Instr {
	prefix := map[string]string{"aarch64": "neon", "arm": "armv7"}[arch]
	var is []Instr
	for _, stride := range []int{1, 2} {
		for words := 1; words <= 4; words *= 2 {
			is = append(is, levels(prefix, arch, []string{"neon"}, 2, 4, words, stride))
		}
	}
	return is
}

func levels(prefix, arch string, needs []string, entries, positions, words, stride int) Instr {
	f := lookUpLevels(fmt.Sprintf("%s_levels%d_%dx%d_s%d", prefix, entries, positions, words, stride), positions, words, entries, stride)
	return Instr{Func: f, Meaning: LookUpLevels, Arch: arch, Needs: needs, Lanes: words, Words: entries, Positions: positions, Stride: stride, Type: ir.U32}
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
