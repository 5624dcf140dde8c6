package isa

func x86() []instr {
	avx512 := []string{"avx512f", "avx512bw"}
	return []instr{
		// vpxord with a broadcast operand, vpopcntd, vpaddd.
		{"x86_64", append(avx512, "avx512vpopcntdq"), xorPopcount("avx512_xor_popcnt_acc_x16", 16, `declare <16 x i32> @llvm.ctpop.v16i32(<16 x i32>)
define internal void @avx512_xor_popcnt_acc_x16(ptr %acc, ptr %x, ptr %w) alwaysinline {
  %x0 = load i32, ptr %x, align 4
  %x1 = insertelement <16 x i32> poison, i32 %x0, i32 0
  %xs = shufflevector <16 x i32> %x1, <16 x i32> poison, <16 x i32> zeroinitializer
  %ws = load <16 x i32>, ptr %w, align 4
  %differ = xor <16 x i32> %ws, %xs
  %count = call <16 x i32> @llvm.ctpop.v16i32(<16 x i32> %differ)
  %old = load <16 x i32>, ptr %acc, align 4
  %new = add <16 x i32> %old, %count
  store <16 x i32> %new, ptr %acc, align 4
  ret void
}
`)},
		// Two vpcmpled into mask registers, kunpckwd, kmovd: 32 comparisons become a word.
		{"x86_64", avx512, packLE("avx512_pack_le_x32", `define internal void @avx512_pack_le_x32(ptr %y, ptr %acc, ptr %t) alwaysinline {
  %as = load <32 x i32>, ptr %acc, align 4
  %ts = load <32 x i32>, ptr %t, align 4
  %le = icmp sle <32 x i32> %as, %ts
  %bits = bitcast <32 x i1> %le to i32
  %old = load i32, ptr %y, align 4
  %new = or i32 %old, %bits
  store i32 %new, ptr %y, align 4
  ret void
}
`)},
	}
}
