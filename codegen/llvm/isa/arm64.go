package isa

import "fmt"

// arm64Texts are the instructions of 64-bit Arm that are written out.
func arm64Texts() map[string]Function {
	return map[string]Function{
		// eor, cnt on bytes, uaddlp to 16 bits, uadalp into the accumulator.
		"neon_xor_cnt_uadalp_x4": {[]Declaration{
			{"<16 x i8>", "llvm.ctpop.v16i8", "<16 x i8>"},
			{"<8 x i16>", "llvm.aarch64.neon.uaddlp.v8i16.v16i8", "<16 x i8>"},
			{"<4 x i32>", "llvm.aarch64.neon.uaddlp.v4i32.v8i16", "<8 x i16>"},
		}, `define internal void @neon_xor_cnt_uadalp_x4(ptr %acc, ptr %x, ptr %w) alwaysinline {
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
`},
		// eor, cnt, add on 16 bytes: with narrow_accumulate, for 31 bytes at a time.
		"neon_xor_cnt_add_x16": {[]Declaration{
			{"<16 x i8>", "llvm.ctpop.v16i8", "<16 x i8>"},
		}, `define internal void @neon_xor_cnt_add_x16(ptr %acc, ptr %x, ptr %w) alwaysinline {
  %x0 = load i8, ptr %x, align 1
  %x1 = insertelement <16 x i8> poison, i8 %x0, i32 0
  %xs = shufflevector <16 x i8> %x1, <16 x i8> poison, <16 x i32> zeroinitializer
  %ws = load <16 x i8>, ptr %w, align 1
  %differ = xor <16 x i8> %ws, %xs
  %counts = call <16 x i8> @llvm.ctpop.v16i8(<16 x i8> %differ)
  %old = load <16 x i8>, ptr %acc, align 1
  %new = add <16 x i8> %old, %counts
  store <16 x i8> %new, ptr %acc, align 1
  ret void
}
`},
		"neon_sdot_x4": dotBytes("neon_sdot_x4", "sdot"),
		"neon_udot_x4": dotBytes("neon_udot_x4", "udot"),
	}
}

// dotBytes is udot or sdot, by element where LLVM finds that: 16 products of bytes.
func dotBytes(name, op string) Function {
	intrinsic := "llvm.aarch64.neon." + op + ".v4i32.v16i8"
	return Function{[]Declaration{{"<4 x i32>", intrinsic, "<4 x i32>, <16 x i8>, <16 x i8>"}}, fmt.Sprintf(`define internal void @%s(ptr %%acc, ptr %%x, ptr %%w) alwaysinline {
  %%x0 = load i32, ptr %%x, align 1
  %%x1 = insertelement <4 x i32> poison, i32 %%x0, i32 0
  %%x2 = shufflevector <4 x i32> %%x1, <4 x i32> poison, <4 x i32> zeroinitializer
  %%xs = bitcast <4 x i32> %%x2 to <16 x i8>
  %%ws = load <16 x i8>, ptr %%w, align 1
  %%old = load <4 x i32>, ptr %%acc, align 4
  %%new = call <4 x i32> @%s(<4 x i32> %%old, <16 x i8> %%ws, <16 x i8> %%xs)
  store <4 x i32> %%new, ptr %%acc, align 4
  ret void
}
`, name, intrinsic)}
}
