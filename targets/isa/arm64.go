package isa

import "ripc/ir"

func arm64() []Instr {
	neon := []string{"neon"}
	return []Instr{
		{Func: xorPopcount("neon_xor_cnt_uadalp_x4", 4), Meaning: XorCount, Arch: "aarch64", Needs: neon, Lanes: 4, Words: 1, Type: ir.I32},
		// With narrow_accumulate, for 31 bytes at a time.
		{Func: xorPopcountBytes("neon_xor_cnt_add_x16", 16), Meaning: XorCount, Arch: "aarch64", Needs: neon, Lanes: 16, Words: 1, Type: ir.U8},
		{Func: dots("neon_sdot_x4", 4, 1, ir.I8, ir.I8), Meaning: DotBytes, Arch: "aarch64", Needs: with(neon, "dotprod"), Lanes: 4, Words: 1, Ops: 1, Type: ir.I32},
		{Func: dots("neon_udot_x4", 4, 1, ir.U8, ir.U8), Meaning: DotBytes, Arch: "aarch64", Needs: with(neon, "dotprod"), Lanes: 4, Words: 1, Ops: 1, Type: ir.I32},
	}
}
