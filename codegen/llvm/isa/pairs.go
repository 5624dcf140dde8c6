package isa

import (
	"fmt"
	"strings"

	"ripc/targets/isa"
)

// dotPairs multiplies bytes to 16 bits, adds those of several steps there, and adds neighbours to 8 sums of 32 bits: smull, smlal, sadalp for
// each half of a vector of weights.
func dotPairs(i isa.Instr) Function {
	// The intrinsic that adds neighbours of 16 bits, on 32-bit Arm to a sum of 32 bits.
	widen, params, add := "llvm.aarch64.neon.saddlp.v4i32.v8i16", "<8 x i16>", `  %%new%[1]d.wide = call <4 x i32> @%[2]s(<8 x i16> %[3]s)
  %%new%[1]d = add <4 x i32> %%old%[1]d, %%new%[1]d.wide
`
	if i.Arch == "arm" {
		widen, params, add = "llvm.arm.neon.vpadals.v4i32.v8i16", "<4 x i32>, <8 x i16>", `  %%new%[1]d = call <4 x i32> @%[2]s(<4 x i32> %%old%[1]d, <8 x i16> %[3]s)
`
	}
	var b strings.Builder
	fmt.Fprintf(&b, "define internal void @%s(ptr %%acc, ptr %%x, ptr %%w) alwaysinline {\n", i.Func.Name)
	for s := range i.Words {
		fmt.Fprintf(&b, `  %%xp%[1]d = getelementptr i8, ptr %%x, i64 %[2]d
  %%xa%[1]d = load i32, ptr %%xp%[1]d, align 1
  %%xb%[1]d = insertelement <2 x i32> poison, i32 %%xa%[1]d, i32 0
  %%xc%[1]d = shufflevector <2 x i32> %%xb%[1]d, <2 x i32> poison, <2 x i32> zeroinitializer
  %%xs%[1]d = bitcast <2 x i32> %%xc%[1]d to <8 x i8>
  %%x%[1]d = sext <8 x i8> %%xs%[1]d to <8 x i16>
`, s, 4*s)
	}
	for half := range 2 {
		sum := ""
		for s := range i.Words {
			at := fmt.Sprintf("%d.%d", half, s)
			fmt.Fprintf(&b, `  %%wp%[1]s = getelementptr i8, ptr %%w, i64 %[2]d
  %%wb%[1]s = load <8 x i8>, ptr %%wp%[1]s, align 1
  %%w%[1]s = sext <8 x i8> %%wb%[1]s to <8 x i16>
  %%products%[1]s = mul <8 x i16> %%x%[3]d, %%w%[1]s
`, at, 16*s+8*half, s)
			if s == 0 {
				sum = "%products" + at
				continue
			}
			fmt.Fprintf(&b, "  %%sum%[1]s = add <8 x i16> %[2]s, %%products%[1]s\n", at, sum)
			sum = "%sum" + at
		}
		fmt.Fprintf(&b, `  %%ap%[1]d = getelementptr i8, ptr %%acc, i64 %[2]d
  %%old%[1]d = load <4 x i32>, ptr %%ap%[1]d, align 4
`, half, 16*half)
		fmt.Fprintf(&b, add, half, widen, sum)
		fmt.Fprintf(&b, "  store <4 x i32> %%new%[1]d, ptr %%ap%[1]d, align 4\n", half)
	}
	b.WriteString("  ret void\n}\n")
	return Function{[]Declaration{{"<4 x i32>", widen, params}}, b.String()}
}

// multiplyAdd adds two products of bytes to 16 bits, those of several steps there, and neighbours to 32 bits: vpmaddubsw, vpaddw, vpmaddwd
// with ones, vpaddd.
func multiplyAdd(i isa.Instr) Function {
	pairs, quads := "llvm.x86.avx2.pmadd.ub.sw", "llvm.x86.avx2.pmadd.wd"
	if i.Lanes == 16 {
		pairs, quads = "llvm.x86.avx512.pmaddubs.w.512", "llvm.x86.avx512.pmaddw.d.512"
	}
	lanes, halves, bytes := fmt.Sprintf("<%d x i32>", i.Lanes), fmt.Sprintf("<%d x i16>", 2*i.Lanes), fmt.Sprintf("<%d x i8>", 4*i.Lanes)
	var b strings.Builder
	fmt.Fprintf(&b, "define internal void @%s(ptr %%acc, ptr %%x, ptr %%w) alwaysinline {\n", i.Func.Name)
	sum := ""
	for s := range i.Words {
		fmt.Fprintf(&b, `  %%xp%[1]d = getelementptr i8, ptr %%x, i64 %[2]d
  %%xa%[1]d = load i32, ptr %%xp%[1]d, align 1
  %%xb%[1]d = insertelement %[3]s poison, i32 %%xa%[1]d, i32 0
  %%xc%[1]d = shufflevector %[3]s %%xb%[1]d, %[3]s poison, <%[4]d x i32> zeroinitializer
  %%x%[1]d = bitcast %[3]s %%xc%[1]d to %[5]s
  %%wp%[1]d = getelementptr i8, ptr %%w, i64 %[6]d
  %%w%[1]d = load %[5]s, ptr %%wp%[1]d, align 1
  %%products%[1]d = call %[7]s @%[8]s(%[5]s %%x%[1]d, %[5]s %%w%[1]d)
`, s, 4*s, lanes, i.Lanes, bytes, 4*i.Lanes*s, halves, pairs)
		if s == 0 {
			sum = "%products0"
			continue
		}
		fmt.Fprintf(&b, "  %%sum%[1]d = add %[2]s %[3]s, %%products%[1]d\n", s, halves, sum)
		sum = fmt.Sprintf("%%sum%d", s)
	}
	fmt.Fprintf(&b, `  %%wide = call %[1]s @%[2]s(%[3]s %[4]s, %[3]s splat (i16 1))
  %%old = load %[1]s, ptr %%acc, align 4
  %%new = add %[1]s %%old, %%wide
  store %[1]s %%new, ptr %%acc, align 4
  ret void
}
`, lanes, quads, halves, sum)
	return Function{[]Declaration{{halves, pairs, bytes + ", " + bytes}, {lanes, quads, halves + ", " + halves}}, b.String()}
}

// multiplyAddPairs widens bytes, and adds two products of them to sums of 32 bits: vpmovsxbw, vpmaddwd, vpaddd.
func multiplyAddPairs(i isa.Instr) Function {
	quads := "llvm.x86.avx2.pmadd.wd"
	if i.Lanes == 8 {
		quads = "llvm.x86.avx512.pmaddw.d.512"
	}
	n := 4 * i.Lanes // bytes
	return Function{[]Declaration{{fmt.Sprintf("<%d x i32>", n/2), quads, fmt.Sprintf("<%[1]d x i16>, <%[1]d x i16>", n)}}, fmt.Sprintf(`define internal void @%[1]s(ptr %%acc, ptr %%x, ptr %%w) alwaysinline {
  %%x0 = load i32, ptr %%x, align 1
  %%x1 = insertelement <%[2]d x i32> poison, i32 %%x0, i32 0
  %%x2 = shufflevector <%[2]d x i32> %%x1, <%[2]d x i32> poison, <%[2]d x i32> zeroinitializer
  %%x3 = bitcast <%[2]d x i32> %%x2 to <%[3]d x i8>
  %%xs = zext <%[3]d x i8> %%x3 to <%[3]d x i16>
  %%w0 = load <%[3]d x i8>, ptr %%w, align 1
  %%ws = sext <%[3]d x i8> %%w0 to <%[3]d x i16>
  %%products = call <%[4]d x i32> @%[5]s(<%[3]d x i16> %%xs, <%[3]d x i16> %%ws)
  %%old = load <%[4]d x i32>, ptr %%acc, align 4
  %%new = add <%[4]d x i32> %%old, %%products
  store <%[4]d x i32> %%new, ptr %%acc, align 4
  ret void
}
`, i.Func.Name, i.Lanes, n, n/2, quads)}
}

// addPairs adds neighbours among twice as many sums, of so many bits, as lanes: by an intrinsic where a register holds these, since LLVM would
// load even and odd sums from memory apart, which takes longer.
func addPairs(i isa.Instr) Function {
	name, bits, lanes := i.Func.Name, i.Type.Bits(), sumsOf(i)
	if i.Arch == "aarch64" && bits*lanes == 128 {
		vector, add := fmt.Sprintf("<%d x i%d>", lanes, bits), fmt.Sprintf("llvm.aarch64.neon.addp.v%di%d", lanes, bits)
		return Function{[]Declaration{{vector, add, vector + ", " + vector}}, fmt.Sprintf(`define internal void @%[1]s(ptr %%acc, ptr %%r) alwaysinline {
  %%high = getelementptr i8, ptr %%r, i64 16
  %%r0 = load %[2]s, ptr %%r, align %[4]d
  %%r1 = load %[2]s, ptr %%high, align %[4]d
  %%both = call %[2]s @%[3]s(%[2]s %%r0, %[2]s %%r1)
  %%old = load %[2]s, ptr %%acc, align %[4]d
  %%new = add %[2]s %%old, %%both
  store %[2]s %%new, ptr %%acc, align %[4]d
  ret void
}
`, name, vector, add, bits/8)}
	}
	even, odd := make([]string, lanes), make([]string, lanes)
	for l := range lanes {
		even[l], odd[l] = fmt.Sprintf("i32 %d", 2*l), fmt.Sprintf("i32 %d", 2*l+1)
	}
	return Function{nil, fmt.Sprintf(`define internal void @%[1]s(ptr %%acc, ptr %%r) alwaysinline {
  %%high = getelementptr i8, ptr %%r, i64 %[3]d
  %%r0 = load <%[2]d x i%[6]d>, ptr %%r, align %[7]d
  %%r1 = load <%[2]d x i%[6]d>, ptr %%high, align %[7]d
  %%even = shufflevector <%[2]d x i%[6]d> %%r0, <%[2]d x i%[6]d> %%r1, <%[2]d x i32> <%[4]s>
  %%odd = shufflevector <%[2]d x i%[6]d> %%r0, <%[2]d x i%[6]d> %%r1, <%[2]d x i32> <%[5]s>
  %%both = add <%[2]d x i%[6]d> %%even, %%odd
  %%old = load <%[2]d x i%[6]d>, ptr %%acc, align %[7]d
  %%new = add <%[2]d x i%[6]d> %%old, %%both
  store <%[2]d x i%[6]d> %%new, ptr %%acc, align %[7]d
  ret void
}
`, name, lanes, bits/8*lanes, strings.Join(even, ", "), strings.Join(odd, ", "), bits, bits/8)}
}
