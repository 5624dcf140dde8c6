package emit

import (
	"fmt"

	"ripc/codegen/llvm/isa"
	"ripc/targets"
)

// bytesToWords has the instructions that add the four bytes of each 32-bit lane, for one vector
// length.
type bytesToWords struct {
	lanes    int
	feature  string
	bytes    string // vpmaddubsw: pairs of bytes to 16 bits, times 1
	halfword string // vpmaddwd: pairs of those to 32 bits, times 1
}

func x86Widths() []bytesToWords {
	return []bytesToWords{
		{16, "avx512bw", "llvm.x86.avx512.pmaddubs.w.512", "llvm.x86.avx512.pmaddw.d.512"},
		{8, "avx2", "llvm.x86.avx2.pmadd.ub.sw", "llvm.x86.avx2.pmadd.wd"},
		{4, "ssse3", "llvm.x86.ssse3.pmadd.ub.sw.128", "llvm.x86.sse2.pmadd.wd"},
	}
}

// popcountAddX86 is the function behind popcountAdd, one register at a time. It looks up the bits
// of each byte in a table (LLVM's expansion: two vpshufb), then sums them by vpmaddubsw, vpmaddwd
// and vpaddd. LLVM itself would unpack the bytes for vpsadbw: five operations instead of two.
func popcountAddX86(c countSum, t targets.Target) isa.Function {
	var w bytesToWords
	for _, x := range x86Widths() {
		if w.lanes == 0 && t.Has(x.feature) && c.lanes%x.lanes == 0 {
			w = x
		}
	}
	n := w.lanes
	bytes, halves, words := fmt.Sprintf("<%d x i8>", 4*n), fmt.Sprintf("<%d x i16>", 2*n), fmt.Sprintf("<%d x i32>", n)
	calls := []isa.Declaration{
		{Result: bytes, Name: fmt.Sprintf("llvm.ctpop.v%di8", 4*n), Params: bytes},
		{Result: halves, Name: w.bytes, Params: bytes + ", " + bytes},
		{Result: words, Name: w.halfword, Params: halves + ", " + halves},
	}
	return c.addFunction(n, "l", calls, func(p writer, at int) string {
		p(`  %%x%[2]d = shufflevector <%[1]d x i32> %%x, <%[1]d x i32> poison, %[3]s
  %%a%[2]d = shufflevector <%[1]d x i32> %%acc, <%[1]d x i32> poison, %[3]s
  %%b%[2]d = bitcast %[4]s %%x%[2]d to %[5]s
  %%c%[2]d = call %[5]s @%[9]s(%[5]s %%b%[2]d)
  %%h%[2]d = call %[6]s @%[7]s(%[5]s %%c%[2]d, %[5]s splat (i8 1))
  %%w%[2]d = call %[4]s @%[8]s(%[6]s %%h%[2]d, %[6]s splat (i16 1))
  %%s%[2]d = add %[4]s %%a%[2]d, %%w%[2]d`, c.lanes, at, isa.ShuffleRun(at, n, n), words, bytes, halves, w.bytes,
			w.halfword, calls[0].Name)
		return fmt.Sprintf("%%s%d", at)
	})
}
