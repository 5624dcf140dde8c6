package emit

import (
	"fmt"
	"strings"

	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/value"

	"ripc/codegen/llvm/isa"
	"ripc/ir"
)

// popcountAdd adds a vector of popcounts to what is at an address. 32-bit Arm counts bytes, and adds pairs of 16-bit
// numbers to 32-bit ones (vpadal), which LLVM does not find: it widens first, then adds. x86 without vpopcntd counts bytes
// too, and LLVM does not find the multiplications that add them up (see popcountAddX86).
func (e *emitter) popcountAdd(op ir.StoreOp, x val, at value.Value, align int) (val, bool) {
	bits := e.bits[x.v]
	if op != ir.AddTo || bits == nil || !e.countsBytes() || !x.wide || e.lanes%4 != 0 || x.t.Bits() != 32 {
		return val{}, false
	}
	e.sums[e.lanes] = true
	vt := e.typeOf(ir.I32, true)
	f := llir.NewFunc(fmt.Sprintf("ripc_popcount_add_x%d", e.lanes), vt, llir.NewParam("", vt), llir.NewParam("", vt))
	acc := e.read(x.t, true, at, align)
	return val{v: e.b().NewCall(f, acc.v, bits), t: x.t, wide: true}, true
}

// popcountAddArm is the function behind popcountAdd: vcnt.8, vpaddl.u8, vpadal.u16 on four lanes at a time.
func popcountAddArm(lanes int) isa.Function {
	var b strings.Builder
	calls := []isa.Declaration{
		{Result: "<16 x i8>", Name: "llvm.ctpop.v16i8", Params: "<16 x i8>"},
		{Result: "<8 x i16>", Name: "llvm.arm.neon.vpaddlu.v8i16.v16i8", Params: "<16 x i8>"},
		{Result: "<4 x i32>", Name: "llvm.arm.neon.vpadalu.v4i32.v8i16", Params: "<4 x i32>, <8 x i16>"},
	}
	fmt.Fprintf(&b, "define internal <%[1]d x i32> @ripc_popcount_add_x%[1]d(<%[1]d x i32> %%acc, <%[1]d x i32> %%x) alwaysinline nounwind {\n", lanes)
	sum := ""
	for at := 0; at < lanes; at += 4 {
		fmt.Fprintf(&b, `  %%x%[2]d = shufflevector <%[1]d x i32> %%x, <%[1]d x i32> poison, %[3]s
  %%a%[2]d = shufflevector <%[1]d x i32> %%acc, <%[1]d x i32> poison, %[3]s
  %%b%[2]d = bitcast <4 x i32> %%x%[2]d to <16 x i8>
  %%c%[2]d = call <16 x i8> @llvm.ctpop.v16i8(<16 x i8> %%b%[2]d)
  %%h%[2]d = call <8 x i16> @llvm.arm.neon.vpaddlu.v8i16.v16i8(<16 x i8> %%c%[2]d)
  %%s%[2]d = call <4 x i32> @llvm.arm.neon.vpadalu.v4i32.v8i16(<4 x i32> %%a%[2]d, <8 x i16> %%h%[2]d)
`, lanes, at, isa.ShuffleRun(at, 4, 4))
		if at == 0 {
			sum = "%s0"
			continue
		}
		// Both sides of a shuffle have the same length: the four new lanes are stretched first.
		fmt.Fprintf(&b, "  %%w%[1]d = shufflevector <4 x i32> %%s%[1]d, <4 x i32> poison, %[2]s\n", at, isa.ShuffleRun(0, 4, at))
		fmt.Fprintf(&b, "  %%t%[1]d = shufflevector <%[1]d x i32> %[2]s, <%[1]d x i32> %%w%[1]d, %[3]s\n", at, sum, isa.ShuffleRun(0, at+4, at+4))
		sum = fmt.Sprintf("%%t%d", at)
	}
	fmt.Fprintf(&b, "  ret <%d x i32> %s\n}\n", lanes, sum)
	return isa.Function{Calls: calls, Text: b.String()}
}
