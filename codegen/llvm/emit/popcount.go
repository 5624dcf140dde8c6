package emit

import (
	"fmt"
	"strings"

	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/value"

	"ripc/codegen/llvm/isa"
	"ripc/ir"
	"ripc/targets"
)

// popcountAdd adds a vector of popcounts to the sums at an address, by instructions that LLVM does
// not select by itself. 32-bit Arm counts bytes, and adds pairs of 16-bit numbers to 32-bit sums
// (vpadal); LLVM widens first, then adds. x86 without vpopcntd counts bytes too, and adds them by
// multiplications (popcountAddX86). For narrower sums 64-bit Arm adds neighbouring bytes, where
// LLVM widens them to 32 bits and truncates.
func (e *emitter) popcountAdd(op ir.StoreOp, x val, at value.Value, align int) (val, bool) {
	bits := e.bits[x.v]
	if op != ir.AddTo || bits == nil || !x.wide || !e.countsBytes(x.t) {
		return val{}, false
	}
	sums := countSum{e.lanes, x.t.Bits()}
	h := helper{kind: countHelper, lanes: e.lanes, bits: sums.bits}
	e.require(h, func() isa.Function { return sums.function(e.target) })
	vt := e.typeOf(x.t, true)
	f := llir.NewFunc(sums.name(), vt, llir.NewParam("", vt), llir.NewParam("", e.typeOf(ir.I32, true)))
	acc := e.read(x.t, true, at, align)
	return val{v: e.b().NewCall(f, acc.v, bits), t: x.t, wide: true}, true
}

// countsBytes reports whether popcountAdd beats LLVM for sums of type sum over counts of 32-bit
// lanes.
func (e *emitter) countsBytes(sum ir.Type) bool {
	switch t := e.target; t.Arch {
	case "arm":
		return sum.Bits() == 32 && e.lanes%4 == 0
	case "x86_64":
		return sum.Bits() == 32 && e.lanes%4 == 0 && t.Has("ssse3") && !t.Has("avx512vpopcntdq")
	case "aarch64":
		return sum.Bits() < 32 && e.lanes%(t.VectorBits/sum.Bits()) == 0
	}
	return false
}

// countSum is a vector of sums of popcounts: its lanes, and the bits of each.
type countSum struct{ lanes, bits int }

// name returns the name of the function that adds counts to c.
func (c countSum) name() string {
	if c.bits < 32 {
		return fmt.Sprintf("ripc_popcount_add_u%d_x%d", c.bits, c.lanes)
	}
	return fmt.Sprintf("ripc_popcount_add_x%d", c.lanes)
}

// function returns the function behind popcountAdd.
func (c countSum) function(t targets.Target) isa.Function {
	switch t.Arch {
	case "arm":
		return popcountAddArm(c)
	case "aarch64":
		return popcountAddArm64(c)
	}
	return popcountAddX86(c, t)
}

// writer prints lines of LLVM IR.
type writer func(format string, args ...any)

// joinRegisters writes code that joins the values of all registers of one lanes each, and returns
// the name of the whole. value writes the code for the register at a lane, and returns its name.
// Both sides of a shuffle have the same length: new lanes are stretched first, by the mask stretch.
// The names of stretched values begin with stretched.
func (p writer) joinRegisters(lanes, one int, elem, stretched string, stretch func(at int) string,
	value func(at int) string) (whole string) {
	for at := 0; at < lanes; at += one {
		v := value(at)
		if at == 0 {
			whole = v
			continue
		}
		p("  %%%[1]s%[2]d = shufflevector <%[3]d x %[4]s> %[5]s, <%[3]d x %[4]s> poison, %[6]s", stretched, at, one,
			elem, v, stretch(at))
		p("  %%t%[1]d = shufflevector <%[1]d x %[2]s> %[3]s, <%[1]d x %[2]s> %%%[4]s%[1]d, %[5]s", at, elem, whole,
			stretched, isa.ShuffleRun(0, at+one, at+one))
		whole = fmt.Sprintf("%%t%d", at)
	}
	return whole
}

// addFunction is a function that adds to the sums acc of c something of the words x, for registers
// of one lanes each. sum writes the code for the register at a lane, and returns its name.
func (c countSum) addFunction(one int, stretched string, calls []isa.Declaration,
	sum func(p writer, at int) string) isa.Function {
	var b strings.Builder
	p := writer(func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) })
	elem := fmt.Sprintf("i%d", c.bits)
	sums := fmt.Sprintf("<%d x %s>", c.lanes, elem)
	p("define internal %[1]s @%[2]s(%[1]s %%acc, <%[3]d x i32> %%x) alwaysinline nounwind {", sums, c.name(), c.lanes)
	whole := p.joinRegisters(c.lanes, one, elem, stretched, func(at int) string { return isa.ShuffleRun(0, one, at) },
		func(at int) string { return sum(p, at) })
	p("  ret %s %s\n}", sums, whole)
	return isa.Function{Calls: calls, Text: b.String()}
}

// popcountAddArm64 is the function behind popcountAdd for sums of 8 or 16 bits. It counts bytes
// (cnt) and adds neighbours (addp) until pairs fill a register. For 16-bit sums it then accumulates
// with uadalp; for 8-bit sums it adds all four bytes of a lane first.
func popcountAddArm64(c countSum) isa.Function {
	calls := []isa.Declaration{
		{Result: "<16 x i8>", Name: "llvm.ctpop.v16i8", Params: "<16 x i8>"},
		{Result: "<16 x i8>", Name: "llvm.aarch64.neon.addp.v16i8", Params: "<16 x i8>, <16 x i8>"},
	}
	if c.bits == 16 {
		calls = append(calls, isa.Declaration{Result: "<8 x i16>", Name: "llvm.aarch64.neon.uaddlp.v8i16.v16i8",
			Params: "<16 x i8>"})
	}
	one := 128 / c.bits
	return c.addFunction(one, "l", calls, func(p writer, at int) string {
		var counts []string
		for k := at; k < at+one; k += 4 {
			p("  %%x%[2]d = shufflevector <%[1]d x i32> %%x, <%[1]d x i32> poison, %[3]s", c.lanes, k,
				isa.ShuffleRun(k, 4, 4))
			p("  %%b%[1]d = bitcast <4 x i32> %%x%[1]d to <16 x i8>", k)
			p("  %%c%[1]d = call <16 x i8> @llvm.ctpop.v16i8(<16 x i8> %%b%[1]d)", k)
			counts = append(counts, fmt.Sprintf("%%c%d", k))
		}
		for n := 0; len(counts) > 1; n++ {
			var next []string
			for k := 0; k < len(counts); k += 2 {
				next = append(next, fmt.Sprintf("%%p%d.%d.%d", at, n, k))
				p("  %s = call <16 x i8> @llvm.aarch64.neon.addp.v16i8(<16 x i8> %s, <16 x i8> %s)", next[k/2],
					counts[k], counts[k+1])
			}
			counts = next
		}
		count := counts[0]
		if c.bits == 16 {
			p("  %%w%d = call <8 x i16> @llvm.aarch64.neon.uaddlp.v8i16.v16i8(<16 x i8> %s)", at, count)
			count = fmt.Sprintf("%%w%d", at)
		}
		p("  %%a%[1]d = shufflevector <%[2]d x i%[3]d> %%acc, <%[2]d x i%[3]d> poison, %[4]s", at, c.lanes, c.bits,
			isa.ShuffleRun(at, one, one))
		p("  %%s%[1]d = add <%[2]d x i%[3]d> %%a%[1]d, %[4]s", at, one, c.bits, count)
		return fmt.Sprintf("%%s%d", at)
	})
}

// popcountAddArm is the function behind popcountAdd: vcnt.8, vpaddl.u8, vpadal.u16 on four lanes at
// a time.
func popcountAddArm(c countSum) isa.Function {
	calls := []isa.Declaration{
		{Result: "<16 x i8>", Name: "llvm.ctpop.v16i8", Params: "<16 x i8>"},
		{Result: "<8 x i16>", Name: "llvm.arm.neon.vpaddlu.v8i16.v16i8", Params: "<16 x i8>"},
		{Result: "<4 x i32>", Name: "llvm.arm.neon.vpadalu.v4i32.v8i16", Params: "<4 x i32>, <8 x i16>"},
	}
	return c.addFunction(4, "w", calls, func(p writer, at int) string {
		p(`  %%x%[2]d = shufflevector <%[1]d x i32> %%x, <%[1]d x i32> poison, %[3]s
  %%a%[2]d = shufflevector <%[1]d x i32> %%acc, <%[1]d x i32> poison, %[3]s
  %%b%[2]d = bitcast <4 x i32> %%x%[2]d to <16 x i8>
  %%c%[2]d = call <16 x i8> @llvm.ctpop.v16i8(<16 x i8> %%b%[2]d)
  %%h%[2]d = call <8 x i16> @llvm.arm.neon.vpaddlu.v8i16.v16i8(<16 x i8> %%c%[2]d)
  %%s%[2]d = call <4 x i32> @llvm.arm.neon.vpadalu.v4i32.v8i16(<4 x i32> %%a%[2]d, <8 x i16> %%h%[2]d)`, c.lanes, at,
			isa.ShuffleRun(at, 4, 4))
		return fmt.Sprintf("%%s%d", at)
	})
}
