package isa

import "ripc/ir"

func arm() []Instr {
	return []Instr{
		{Func: xorPopcount("armv7_xor_vcnt_vpadal_x4", 4), Meaning: XorCount, Arch: "arm", Needs: []string{"neon"}, Lanes: 4, Words: 1, Type: ir.I32},
	}
}
