package isa

import "ripc/ir"

func x86() []Instr {
	avx512 := []string{"avx512f", "avx512bw"}
	count := with(avx512, "avx512vpopcntdq")
	is := []Instr{
		{Func: xorPopcount("avx512_xor_popcnt_acc_x16", 16), Meaning: XorCount, Arch: "x86_64", Needs: count, Lanes: 16, Words: 1, Type: ir.I32},
		{Func: pairPopcount("avx512_pair_popcnt_acc_x16", 16), Meaning: XorCountPair, Arch: "x86_64", Needs: count, Lanes: 16, Words: 2, Type: ir.I32},
		{Func: xorPopcount("avx2_xor_popcnt_acc_x8", 8), Meaning: XorCount, Arch: "x86_64", Needs: []string{"avx2"}, Lanes: 8, Words: 1, Type: ir.I32},
		{Func: dots("avx512_dpbusd_x16", 16, 1, ir.U8, ir.I8), Meaning: DotBytes, Arch: "x86_64", Needs: with(avx512, "avx512vnni"), Lanes: 16, Words: 1, Ops: 1, Type: ir.I32},
		{Func: packLE("avx512_pack_le_x32"), Meaning: PackCompare, Arch: "x86_64", Needs: avx512, Lanes: 32, Type: ir.U32},
	}
	for k, name := range []string{"avx512_pack_lt_u8_x64", "avx512_pack_lt_u8_x64_a2", "avx512_pack_lt_u8_x64_a3"} {
		planes := k + 1
		is = append(is, Instr{Func: packLess(name, ir.U8, 2, planes), Meaning: PackLess, Arch: "x86_64", Needs: avx512, Lanes: 64, Words: 2, Planes: planes, Type: ir.U32})
	}
	return is
}

// with is a list of features with one more.
func with(features []string, more string) []string {
	return append(features[:len(features):len(features)], more)
}
