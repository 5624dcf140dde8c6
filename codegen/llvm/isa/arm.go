package isa

// armTexts are the instructions of 32-bit Arm that are written out.
func armTexts() map[string]Function {
	return map[string]Function{
		// veor, vcnt on bytes, vpaddl to 16 bits, vpadal into the accumulator. LLVM adds the halves up separately unless asked
		// for vpadal by name.
		"armv7_xor_vcnt_vpadal_x4": {[]Declaration{
			{"<16 x i8>", "llvm.ctpop.v16i8", "<16 x i8>"},
			{"<8 x i16>", "llvm.arm.neon.vpaddlu.v8i16.v16i8", "<16 x i8>"},
			{"<4 x i32>", "llvm.arm.neon.vpadalu.v4i32.v8i16", "<4 x i32>, <8 x i16>"},
		}, `define internal void @armv7_xor_vcnt_vpadal_x4(ptr %acc, ptr %x, ptr %w) alwaysinline {
  %x0 = load i32, ptr %x, align 4
  %x1 = insertelement <4 x i32> poison, i32 %x0, i32 0
  %xs = shufflevector <4 x i32> %x1, <4 x i32> poison, <4 x i32> zeroinitializer
  %ws = load <4 x i32>, ptr %w, align 4
  %differ = xor <4 x i32> %ws, %xs
  %bytes = bitcast <4 x i32> %differ to <16 x i8>
  %counts = call <16 x i8> @llvm.ctpop.v16i8(<16 x i8> %bytes)
  %halves = call <8 x i16> @llvm.arm.neon.vpaddlu.v8i16.v16i8(<16 x i8> %counts)
  %old = load <4 x i32>, ptr %acc, align 4
  %new = call <4 x i32> @llvm.arm.neon.vpadalu.v4i32.v8i16(<4 x i32> %old, <8 x i16> %halves)
  store <4 x i32> %new, ptr %acc, align 4
  ret void
}
`},
	}
}
