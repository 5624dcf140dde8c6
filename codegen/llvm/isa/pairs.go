package isa

import "fmt"

// dotPairs multiplies 16 bytes and adds neighbours to 8 sums of 32 bits: smull, sadalp for each half. widen is the intrinsic that adds
// neighbours of 16 bits, to a sum of 32 bits where it takes one.
func dotPairs(name, widen string, takesSum bool) Function {
	add := `  %%new%[1]d.wide = call <4 x i32> @%[2]s(<8 x i16> %%products%[1]d)
  %%new%[1]d = add <4 x i32> %%old%[1]d, %%new%[1]d.wide
`
	params := "<8 x i16>"
	if takesSum {
		add, params = `  %%new%[1]d = call <4 x i32> @%[2]s(<4 x i32> %%old%[1]d, <8 x i16> %%products%[1]d)
`, "<4 x i32>, <8 x i16>"
	}
	text := fmt.Sprintf(`define internal void @%s(ptr %%acc, ptr %%x, ptr %%w) alwaysinline {
  %%x0 = load i32, ptr %%x, align 1
  %%x1 = insertelement <2 x i32> poison, i32 %%x0, i32 0
  %%x2 = shufflevector <2 x i32> %%x1, <2 x i32> poison, <2 x i32> zeroinitializer
  %%xs = bitcast <2 x i32> %%x2 to <8 x i8>
  %%xw = sext <8 x i8> %%xs to <8 x i16>
`, name)
	for half := range 2 {
		text += fmt.Sprintf(`  %%wp%[1]d = getelementptr i8, ptr %%w, i64 %[2]d
  %%ap%[1]d = getelementptr i8, ptr %%acc, i64 %[3]d
  %%w%[1]d = load <8 x i8>, ptr %%wp%[1]d, align 1
  %%ww%[1]d = sext <8 x i8> %%w%[1]d to <8 x i16>
  %%products%[1]d = mul <8 x i16> %%xw, %%ww%[1]d
  %%old%[1]d = load <4 x i32>, ptr %%ap%[1]d, align 4
`, half, 8*half, 16*half)
		text += fmt.Sprintf(add, half, widen)
		text += fmt.Sprintf("  store <4 x i32> %%new%[1]d, ptr %%ap%[1]d, align 4\n", half)
	}
	return Function{[]Declaration{{"<4 x i32>", widen, params}}, text + "  ret void\n}\n"}
}

// addPairs adds neighbours among 8 sums to 4.
func addPairs(name string) Function {
	return Function{nil, fmt.Sprintf(`define internal void @%s(ptr %%acc, ptr %%r) alwaysinline {
  %%high = getelementptr i8, ptr %%r, i64 16
  %%r0 = load <4 x i32>, ptr %%r, align 4
  %%r1 = load <4 x i32>, ptr %%high, align 4
  %%even = shufflevector <4 x i32> %%r0, <4 x i32> %%r1, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %%odd = shufflevector <4 x i32> %%r0, <4 x i32> %%r1, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %%both = add <4 x i32> %%even, %%odd
  %%old = load <4 x i32>, ptr %%acc, align 4
  %%new = add <4 x i32> %%old, %%both
  store <4 x i32> %%new, ptr %%acc, align 4
  ret void
}
`, name)}
}
