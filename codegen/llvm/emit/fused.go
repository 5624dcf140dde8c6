package emit

import (
	_ "embed"
	"fmt"
	"strings"

	llir "github.com/llir/llvm/ir"

	"ripc/codegen/llvm/isa"
)

// fma emits a*b + c, rounded once; all three are wide or none is. Without such an instruction LLVM
// would call fmaf of a library.
func (e *emitter) fma(a, b, c val) val {
	out := val{t: a.t, wide: a.wide, flushed: true}
	switch {
	case e.facts.MixesZeros && a.wide && e.lanes == 1: // LLVM makes scalars of such vectors
		return e.fromLanes(a.t, func(k int) val { return e.fma(e.lane(a, k), e.lane(b, k), e.lane(c, k)) })
	case e.facts.Fuses:
		out.v = e.overloaded("llvm.fma", a.v.Type(), a.v, b.v, c.v)
		if e.facts.MixesZeros && !a.wide {
			out.v = e.hide(out.v)
		}
		return out
	}
	lanes := 0
	if a.wide {
		lanes = e.lanes
	}
	e.require(helper{kind: fmaHelper, lanes: lanes}, func() isa.Function {
		return isa.Function{Text: fusedText(lanes)}
	})
	t := a.v.Type()
	f := llir.NewFunc(fusedName(lanes), t, llir.NewParam("", t), llir.NewParam("", t), llir.NewParam("", t))
	out.v = e.b().NewCall(f, a.v, b.v, c.v)
	return out
}

func fusedName(lanes int) string {
	if lanes == 0 {
		return "ripc_fma"
	}
	return fmt.Sprintf("ripc_fma_x%d", lanes)
}

// fma is the text of the function behind emitter.fma, with placeholders in capitals.
//
//go:embed fma.ll
var fma string

// fusedText is the function behind fma, on scalars if lanes is 0. In double the product p is exact,
// and the sum s is rounded to 53 bits. Rounding s again to 24 is wrong only if s lies half way
// between two floats and the true sum does not. So an inexact s is first rounded to odd (Boldo and
// Melquiond 2008). If its last bit is 0, it moves by one unit in the direction of e, the error of
// the sum by TwoSum. An odd s is never half way.
//
// Comparisons with an infinite or NaN e are false, and e = 0 changes nothing either. fpext and
// fptrunc flush subnormal floats, as every float operation does, and no double here is subnormal.
func fusedText(lanes int) string {
	mask, bit := "i64", "i1"
	f, d := "float", "double"
	splat := func(t, k string) string { return k }
	if lanes > 0 {
		vector := func(t string) string { return fmt.Sprintf("<%d x %s>", lanes, t) }
		f, d, mask, bit = vector(f), vector(d), vector(mask), vector(bit)
		splat = func(t, k string) string { return "splat (" + t + " " + k + ")" }
	}
	r := strings.NewReplacer("FLOAT", f, "DOUBLE", d, "INT", mask, "BOOL", bit, "NAME", fusedName(lanes),
		"ZERO", splat("double", "0.0"), "ONE", splat("i64", "1"), "LAST", splat("i64", "63"))
	return r.Replace(fma)
}
