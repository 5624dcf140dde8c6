package isa

// x86Texts are the instructions of x86-64 that are written out.
func x86Texts() map[string]Function {
	return map[string]Function{
		// vpxord with a broadcast operand, vpopcntd, vpaddd.
		"avx512_xor_popcnt_acc_x16": {[]Declaration{
			{"<16 x i32>", "llvm.ctpop.v16i32", "<16 x i32>"},
		}, `define internal void @avx512_xor_popcnt_acc_x16(ptr %acc, ptr %x, ptr %w) alwaysinline {
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
`},
		// The pair: x = a1 ^ w1; s' = s ^ p ^ q in one vpternlogd (0x96); carry = maj(s, u, v), as a function of s, s' and x
		// (0xB2); vpopcntd, vpaddd. Five operations for two words, where plain xor and popcount take six. LLVM does not find
		// the second vpternlogd by itself.
		"avx512_pair_popcnt_acc_x16": {[]Declaration{
			{"<16 x i32>", "llvm.ctpop.v16i32", "<16 x i32>"},
			{"<16 x i32>", "llvm.x86.avx512.pternlog.d.512", "<16 x i32>, <16 x i32>, <16 x i32>, i32 immarg"},
		}, `define internal void @avx512_pair_popcnt_acc_x16(ptr %c, ptr %s, ptr %x, ptr %w) alwaysinline {
  %a0 = load i32, ptr %x, align 4
  %a1 = insertelement <16 x i32> poison, i32 %a0, i32 0
  %a = shufflevector <16 x i32> %a1, <16 x i32> poison, <16 x i32> zeroinitializer
  %qp = getelementptr i8, ptr %x, i64 4
  %q0 = load i32, ptr %qp, align 4
  %q1 = insertelement <16 x i32> poison, i32 %q0, i32 0
  %q = shufflevector <16 x i32> %q1, <16 x i32> poison, <16 x i32> zeroinitializer
  %w1 = load <16 x i32>, ptr %w, align 4
  %pp = getelementptr i8, ptr %w, i64 64
  %p = load <16 x i32>, ptr %pp, align 4
  %u = xor <16 x i32> %w1, %a
  %s0 = load <16 x i32>, ptr %s, align 4
  %s1 = call <16 x i32> @llvm.x86.avx512.pternlog.d.512(<16 x i32> %s0, <16 x i32> %p, <16 x i32> %q, i32 150)
  %carry = call <16 x i32> @llvm.x86.avx512.pternlog.d.512(<16 x i32> %s0, <16 x i32> %s1, <16 x i32> %u, i32 178)
  %count = call <16 x i32> @llvm.ctpop.v16i32(<16 x i32> %carry)
  %old = load <16 x i32>, ptr %c, align 4
  %new = add <16 x i32> %old, %count
  store <16 x i32> %new, ptr %c, align 4
  store <16 x i32> %s1, ptr %s, align 4
  ret void
}
`},
		// Without vpopcntd: two vpshufb look up the bits of each nibble, vpmaddubsw and vpmaddwd add up the four bytes.
		"avx2_xor_popcnt_acc_x8": {[]Declaration{
			{"<32 x i8>", "llvm.x86.avx2.pshuf.b", "<32 x i8>, <32 x i8>"},
			{"<16 x i16>", "llvm.x86.avx2.pmadd.ub.sw", "<32 x i8>, <32 x i8>"},
			{"<8 x i32>", "llvm.x86.avx2.pmadd.wd", "<16 x i16>, <16 x i16>"},
		}, `define internal void @avx2_xor_popcnt_acc_x8(ptr %acc, ptr %x, ptr %w) alwaysinline {
  %x0 = load i32, ptr %x, align 4
  %x1 = insertelement <8 x i32> poison, i32 %x0, i32 0
  %xs = shufflevector <8 x i32> %x1, <8 x i32> poison, <8 x i32> zeroinitializer
  %ws = load <8 x i32>, ptr %w, align 4
  %differ = xor <8 x i32> %ws, %xs
  %bytes = bitcast <8 x i32> %differ to <32 x i8>
  %low = and <32 x i8> %bytes, splat (i8 15)
  %shift = lshr <8 x i32> %differ, splat (i32 4)
  %shifted = bitcast <8 x i32> %shift to <32 x i8>
  %high = and <32 x i8> %shifted, splat (i8 15)
  %lows = call <32 x i8> @llvm.x86.avx2.pshuf.b(<32 x i8> <i8 0, i8 1, i8 1, i8 2, i8 1, i8 2, i8 2, i8 3, i8 1, i8 2, i8 2, i8 3, i8 2, i8 3, i8 3, i8 4, i8 0, i8 1, i8 1, i8 2, i8 1, i8 2, i8 2, i8 3, i8 1, i8 2, i8 2, i8 3, i8 2, i8 3, i8 3, i8 4>, <32 x i8> %low)
  %highs = call <32 x i8> @llvm.x86.avx2.pshuf.b(<32 x i8> <i8 0, i8 1, i8 1, i8 2, i8 1, i8 2, i8 2, i8 3, i8 1, i8 2, i8 2, i8 3, i8 2, i8 3, i8 3, i8 4, i8 0, i8 1, i8 1, i8 2, i8 1, i8 2, i8 2, i8 3, i8 1, i8 2, i8 2, i8 3, i8 2, i8 3, i8 3, i8 4>, <32 x i8> %high)
  %counts = add <32 x i8> %lows, %highs
  %halves = call <16 x i16> @llvm.x86.avx2.pmadd.ub.sw(<32 x i8> %counts, <32 x i8> splat (i8 1))
  %words = call <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16> %halves, <16 x i16> splat (i16 1))
  %old = load <8 x i32>, ptr %acc, align 4
  %new = add <8 x i32> %old, %words
  store <8 x i32> %new, ptr %acc, align 4
  ret void
}
`},
		// vpdpbusd with a broadcast operand: 64 products of bytes.
		"avx512_dpbusd_x16": {[]Declaration{
			{"<16 x i32>", "llvm.x86.avx512.vpdpbusd.512", "<16 x i32>, <64 x i8>, <64 x i8>"},
		}, `define internal void @avx512_dpbusd_x16(ptr %acc, ptr %x, ptr %w) alwaysinline {
  %x0 = load i32, ptr %x, align 1
  %x1 = insertelement <16 x i32> poison, i32 %x0, i32 0
  %x2 = shufflevector <16 x i32> %x1, <16 x i32> poison, <16 x i32> zeroinitializer
  %xs = bitcast <16 x i32> %x2 to <64 x i8>
  %ws = load <64 x i8>, ptr %w, align 1
  %old = load <16 x i32>, ptr %acc, align 4
  %new = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %old, <64 x i8> %xs, <64 x i8> %ws)
  store <16 x i32> %new, ptr %acc, align 4
  ret void
}
`},
	}
}
