package isa

func arm64() []instr {
	return []instr{
		// eor, cnt on bytes, uaddlp to 16 bits, uadalp into the accumulator.
		{"aarch64", []string{"neon"}, xorPopcount("neon_xor_cnt_uadalp_x4", 4, `declare <16 x i8> @llvm.ctpop.v16i8(<16 x i8>)
declare <8 x i16> @llvm.aarch64.neon.uaddlp.v8i16.v16i8(<16 x i8>)
declare <4 x i32> @llvm.aarch64.neon.uaddlp.v4i32.v8i16(<8 x i16>)
define internal void @neon_xor_cnt_uadalp_x4(ptr %acc, ptr %x, ptr %w) alwaysinline {
  %x0 = load i32, ptr %x, align 4
  %x1 = insertelement <4 x i32> poison, i32 %x0, i32 0
  %xs = shufflevector <4 x i32> %x1, <4 x i32> poison, <4 x i32> zeroinitializer
  %ws = load <4 x i32>, ptr %w, align 4
  %differ = xor <4 x i32> %ws, %xs
  %bytes = bitcast <4 x i32> %differ to <16 x i8>
  %counts = call <16 x i8> @llvm.ctpop.v16i8(<16 x i8> %bytes)
  %halves = call <8 x i16> @llvm.aarch64.neon.uaddlp.v8i16.v16i8(<16 x i8> %counts)
  %words = call <4 x i32> @llvm.aarch64.neon.uaddlp.v4i32.v8i16(<8 x i16> %halves)
  %old = load <4 x i32>, ptr %acc, align 4
  %new = add <4 x i32> %old, %words
  store <4 x i32> %new, ptr %acc, align 4
  ret void
}
`)},
	}
}
