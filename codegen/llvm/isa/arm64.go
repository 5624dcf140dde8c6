package isa

import "fmt"

// arm64Texts are the instructions of 64-bit Arm that are written out.
func arm64Texts() map[string]Function {
	return map[string]Function{
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
