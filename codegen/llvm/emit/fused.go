package emit

import (
	_ "embed"
	"fmt"
	"math"
	"strings"

	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/value"

	"ripc/codegen"
	"ripc/codegen/llvm/isa"
	"ripc/ir"
)

// fma emits a*b + c, rounded once; all three are wide or none is. Without such an instruction LLVM
// would call fmaf of a library.
func (e *emitter) fma(a, b, c val) val {
	out := val{t: a.t, wide: a.wide, grain: min(codegen.GrainOf(ir.Mul, a.grain, b.grain), c.grain)}
	switch {
	case e.facts.MixesZeros && a.wide && e.lanes == 1: // LLVM makes scalars of such vectors
		return e.fromLanes(a.t, func(k int) val { return e.fma(e.lane(a, k), e.lane(b, k), e.lane(c, k)) })
	case e.facts.Fuses:
		fused := func(a, c val) val {
			if by := e.facts.FusedBy; by != "" {
				out.v = e.callInFours("ripc_madd", by, a, b, c)
			} else {
				out.v = e.overloaded("llvm.fma", a.v.Type(), a.v, b.v, c.v)
			}
			return out
		}
		fused(a, c)
		if e.facts.MixesZeros && !a.wide {
			out.v = e.hide(out.v)
		}
		return e.rounded(out, func() val { return fused(e.scale(a), e.scale(c)) })
	}
	fused := fusedSum{flushes: !e.facts.Flushes && out.grain < codegen.NormalGrain, notes: e.notesTies(a.wide),
		called: e.seldom}
	if a.wide {
		fused.lanes, fused.uniform = e.lanes, fused.notes && isSplat(a.v)
	}
	t := a.v.Type()
	f := llir.NewFunc(fused.name(), t, llir.NewParam("", t), llir.NewParam("", t), llir.NewParam("", t))
	args, text := []value.Value{a.v, b.v, c.v}, fma
	if fused.notes {
		f.Params, f.Sig.Params = append(f.Params, llir.NewParam("", opaquePtr{})), append(f.Sig.Params, opaquePtr{})
		args, text = append(args, e.ties), fmaNoting
	} else {
		exact := fused.exact()
		e.require(helper{kind: fmaHelper, lanes: exact.lanes, name: exact.name() + exactSuffix},
			func() isa.Function { return isa.Function{Text: exact.text(fmaExact)} })
	}
	e.require(helper{kind: fmaHelper, lanes: fused.lanes, name: fused.name()},
		func() isa.Function { return isa.Function{Text: fused.text(text)} })
	out.v, out.flushed = e.b().NewCall(f, args...), true
	return out
}

// callInFours calls an intrinsic on four floats, by a function of the given name.
func (e *emitter) callInFours(name, intrinsic string, a, b, c val) value.Value {
	lanes, t := 1, "float"
	if a.wide {
		lanes, t, name = e.lanes, fmt.Sprintf("<%d x float>", e.lanes), fmt.Sprintf("%s_x%d", name, e.lanes)
	}
	e.require(helper{kind: fmaHelper, name: name}, func() isa.Function {
		var text strings.Builder
		p := linesOf(&text)
		p("define internal %[1]s @%[2]s(%[1]s %%a, %[1]s %%b, %[1]s %%c) alwaysinline nounwind {", t, name)
		whole := "%r"
		if a.wide {
			whole = inFours(p, four+" @"+intrinsic, lanes)
		} else {
			for _, x := range []string{"a", "b", "c"} {
				p("  %%%[1]s0 = insertelement %[2]s poison, float %%%[1]s, i32 0", x, four)
			}
			p("  %%s0 = call %[1]s @%[2]s(%[1]s %%a0, %[1]s %%b0, %[1]s %%c0)", four, intrinsic)
			p("  %%r = extractelement %s %%s0, i32 0", four)
		}
		p("  ret %s %s\n}", t, whole)
		return isa.Function{Text: text.String(),
			Calls: []isa.Declaration{{Result: four, Name: intrinsic, Params: four + ", " + four + ", " + four}}}
	})
	of := a.v.Type()
	return e.b().NewCall(llir.NewFunc(name, of, llir.NewParam("", of), llir.NewParam("", of), llir.NewParam("", of)),
		a.v, b.v, c.v)
}

// four is the type of vectors that functions take in parts.
const four = "<4 x float>"

// inFours writes calls of a function of three vectors of four, for the n lanes of %a, %b and %c. It
// returns the name of the result. The last call repeats the last lane.
func inFours(p func(string, ...any), function string, n int) string {
	t, whole := fmt.Sprintf("<%d x float>", n), "poison"
	for at := 0; at < n; at += 4 {
		for _, x := range []string{"a", "b", "c"} {
			p("  %%%[1]s%[2]d = shufflevector %[3]s %%%[1]s, %[3]s poison, %[4]s", x, at, t,
				isa.Shuffle(4, func(i int) int { return min(at+i, n-1) }))
		}
		p("  %%s%[1]d = call %[2]s(%[3]s %%a%[1]d, %[3]s %%b%[1]d, %[3]s %%c%[1]d)", at, function, four)
		p("  %%w%[1]d = shufflevector %[2]s %%s%[1]d, %[2]s poison, %[3]s", at, four, isa.ShuffleRun(0, min(4, n), n))
		p("  %%t%[1]d = shufflevector %[2]s %[3]s, %[2]s %%w%[1]d, %[4]s", at, t, whole,
			isa.Shuffle(n, func(i int) int {
				if i >= at {
					return n + min(i-at, 3)
				}
				return i
			}))
		whole = fmt.Sprintf("%%t%d", at)
	}
	return whole
}

// fusedSum identifies a function behind emitter.fma without a fused instruction.
type fusedSum struct {
	lanes   int  // 0: scalars
	flushes bool // subnormal results, since no instruction does
	notes   bool // ties, and leaves them to its caller
	uniform bool // the first factor is the same in all lanes
	called  bool // not inlined, where time does not matter
}

func (s fusedSum) name() string {
	name := "ripc_fma"
	if s.flushes {
		name = "ripc_fma_flushed"
	}
	if s.notes {
		name += "_noting"
	}
	if s.uniform {
		name += "_uniform"
	}
	if s.called {
		name += "_called"
	}
	if s.lanes == 0 {
		return name
	}
	return fmt.Sprintf("%s_x%d", name, s.lanes)
}

// tieLanes writes %is, whether each of the n doubles of %s is a tie: its lower 29 bits are 2^28.
func tieLanes(p func(string, ...any), n int) {
	p("  %%halves = bitcast <%d x double> %%s to <%d x i32>", n, 2*n)
	p("  %%low = shufflevector <%[1]d x i32> %%halves, <%[1]d x i32> poison, %[2]s", 2*n,
		isa.Shuffle(n, func(i int) int { return 2 * i }))
	p("  %%top = shl <%d x i32> %%low, splat (i32 3)", n)
	p("  %%is = icmp eq <%d x i32> %%top, splat (i32 -2147483648)", n)
}

// anyLane returns text that sets result to whether one of n bools is true.
func anyLane(result, bools string, n int) string {
	var b strings.Builder
	p := linesOf(&b)
	words, n := foldLanes(p, bools, n)
	p("%s", anyNegative(result, words, n))
	return b.String()
}

// foldLanes writes words that are negative where a lane is true, of n bools: it combines halves
// while these have an even number of lanes, and more than four. LLVM 22 has no code of WebAssembly
// for a mask of 32 words, and is slow at it elsewhere.
func foldLanes(p func(string, ...any), bools string, n int) (string, int) {
	lanes := bools + ".words"
	p("  %s = sext <%[2]d x i1> %[3]s to <%[2]d x i32>", lanes, n, bools)
	for ; n%4 == 0 && n > notedLanes; n /= 2 {
		to := fmt.Sprintf("%s.%d", lanes, n/2)
		for side := range 2 {
			p("  %s.%d = shufflevector <%[3]d x i32> %[4]s, <%[3]d x i32> poison, %[5]s", to, side, n, lanes,
				isa.ShuffleRun(side*n/2, n/2, n/2))
		}
		p("  %[1]s = or <%[2]d x i32> %[1]s.0, %[1]s.1", to, n/2)
		lanes = to
	}
	return lanes, n
}

// anyNegative is text that sets result to whether one of n words is negative.
func anyNegative(result, words string, n int) string {
	return fmt.Sprintf(`  %%%[1]s.set = icmp slt <%[3]d x i32> %[2]s, zeroinitializer
  %%%[1]s.mask = bitcast <%[3]d x i1> %%%[1]s.set to i%[3]d
  %%%[1]s = icmp ne i%[3]d %%%[1]s.mask, 0`, result, words, n)
}

// fma is the text of the function behind emitter.fma, with placeholders in capitals. It seldom
// calls the function of fmaExact. That of fmaNoting notes ties instead (see emitter.redo).
var (
	//go:embed fma.ll
	fma string
	//go:embed fma_exact.ll
	fmaExact string
	//go:embed fma_noting.ll
	fmaNoting string
)

// exactSuffix ends the names of functions of fmaExact.
const exactSuffix = "_exact"

// exact is the function that s calls: of four lanes at most, since it is much code.
func (s fusedSum) exact() fusedSum {
	s.lanes, s.called = min(s.lanes, 4), false
	return s
}

// text fills in fma or fmaExact. In double the product p is exact, and the sum s is rounded to 53
// bits. Rounding s again to 24 is wrong only if s lies half way between two floats and the true sum
// does not. Half way, the lower 29 bits of s are 2^28. If a lane has such an s, fmaExact
// computes all lanes: it rounds an inexact s to odd first (Boldo and Melquiond 2008). If the last
// bit of s is 0, s moves by one unit in the direction of e, the error of the sum by TwoSum. An odd
// s is never half way. Levels times weights are often half way, but then all sums are exact.
// fmaExact saves all registers, so that the usual way has them.
//
// Comparisons with an infinite or NaN e are false, and e = 0 changes nothing either. fpext and
// fptrunc flush subnormal floats, as every float operation does, and no double here is subnormal.
// Where no instruction flushes, s becomes 0 below the limit of f32.Fma.
func (s fusedSum) text(of string) string {
	mask, bit := "i64", "i1"
	f, d := "float", "double"
	splat := func(t, k string) string { return k }
	ties := `  %bits = bitcast double %s to i64
  %low = trunc i64 %bits to i29
  %tie = icmp eq i29 %low, 268435456`
	some := "  %some = or i1 %inexact, false"
	if n := s.lanes; n > 0 {
		vector := func(t string) string { return fmt.Sprintf("<%d x %s>", n, t) }
		f, d, mask, bit = vector(f), vector(d), vector(mask), vector(bit)
		splat = func(t, k string) string { return "splat (" + t + " " + k + ")" }
		var text strings.Builder
		tieLanes(linesOf(&text), n)
		if s.notes {
			s.noteTies(linesOf(&text))
		} else {
			text.WriteString(anyLane("tie", "%is", n))
		}
		ties = text.String()
		some = anyLane("some", "%inexact", n)
	}
	round := "  %r = fptrunc DOUBLE %s to FLOAT\n"
	if s.flushes {
		round = `  %below = fcmp olt DOUBLE %s, LIMIT
  %above = fcmp ogt DOUBLE %s, -LIMIT
  %small = and BOOL %below, %above
  %zero = fmul DOUBLE %s, ZERO
  %flushed = select BOOL %small, DOUBLE %zero, DOUBLE %s
  %r = fptrunc DOUBLE %flushed to FLOAT
`
	}
	var calls strings.Builder
	result, exact := "%t", "preserve_allcc FLOAT @"+s.exact().name()+exactSuffix
	if s.lanes > 4 {
		result = inFours(linesOf(&calls), strings.Replace(exact, "FLOAT", four, 1), s.lanes)
	} else {
		fmt.Fprintf(&calls, "  %%t = call %s(FLOAT %%a, FLOAT %%b, FLOAT %%c)\n", exact)
	}
	limit := func(sign float64) string {
		return splat("double", fmt.Sprintf("0x%X", math.Float64bits(sign*0x1.ffffffp-127)))
	}
	if s.called {
		of = strings.Replace(of, "alwaysinline nounwind", "cold noinline #0", 1)
	}
	r := strings.NewReplacer("FLOAT", f, "DOUBLE", d, "INT", mask, "BOOL", bit, "NAME", s.name(),
		"ZERO", splat("double", "0.0"), "ONE", splat("i64", "1"), "LAST", splat("i64", "63"),
		"-LIMIT", limit(-1), "LIMIT", limit(1))
	return r.Replace(strings.NewReplacer("TIES", ties, "SOME", some, "ROUND", round, "EXACT", calls.String(),
		"RESULT", result).Replace(of))
}
