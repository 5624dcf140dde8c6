package isa

import "fmt"

// machine is a row of the table of mnemonics: how an architecture adds.
type machine struct {
	Core
	// add is assembly that adds 16 bytes. LLVM does not reassociate it with other additions.
	add string
	// saturate is an intrinsic in place of add, where LLVM has to know how long an addition takes,
	// as for cores that work in order. It saturates, which sums that cannot wrap do not notice
	// (arith.VerifyWidths proves that of all). Its type is its suffix.
	saturate string
	find     string // an intrinsic that looks up bytes in a register, and 0 for an index past it
	load2    string // an intrinsic that loads two registers, where LLVM loads one at a time
	// pairs is an intrinsic that adds neighbours, accumulate one that adds them to a sum. Types of
	// the sum and of the neighbours take the place of %[1]s and %[2]s.
	pairs, accumulate string
}

// machineOf is the row of an architecture, for a core.
func machineOf(arch string, core Core) machine {
	switch arch {
	case "aarch64":
		m := machine{
			Core:  core,
			add:   "add $0.16b, $0.16b, $2.16b",
			pairs: "llvm.aarch64.neon.uaddlp.%[1]s.%[2]s",
			find:  "llvm.aarch64.neon.tbl1.v16i8",
		}
		if core.InOrder {
			m.saturate = "llvm.aarch64.neon.uqadd."
		}
		return m
	case "arm":
		return machine{
			Core:       core,
			add:        "vadd.i8 ${0:q}, ${0:q}, ${2:q}",
			load2:      "llvm.arm.neon.vld1x2.v16i8.p0",
			pairs:      "llvm.arm.neon.vpaddlu.%[1]s.%[2]s",
			accumulate: "llvm.arm.neon.vpadalu.%[1]s.%[2]s",
		}
	case "wasm32":
		return machine{Core: core, saturate: "llvm.uadd.sat.", find: "llvm.wasm.swizzle",
			pairs: "llvm.wasm.extadd.pairwise.unsigned.%[1]s"}
	}
	return machine{Core: core}
}

// opaque writes an addition of 16 bytes that LLVM does not take apart. It would make trees of the
// sums of many words, and keep their leaves in more registers than there are.
func (c *code) opaque(sum, count value) value {
	if c.saturate != "" {
		return c.call(sum.kind, c.saturate+suffix(sum.kind), sum, count)
	}
	a := assembly{text: c.add, constraints: "=w,0,w", volatile: true, pure: true}
	return c.asm(a, []string{register}, sum, count)[0]
}

// opaqueUnlessKnown is opaque, or a plain addition to a sum that LLVM knows.
func (c *code) opaqueUnlessKnown(sum, count value) value {
	return c.ifKnown([]value{sum}, func() []value {
		return []value{c.op("add", sum, count)}
	}, func() []value { return []value{c.opaque(sum, count)} })[0]
}

// widen adds neighbours of from to sums of twice the width.
func (c *code) widen(sum, from value) value {
	by := func(intrinsic string) string { return fmt.Sprintf(intrinsic, suffix(sum.kind), suffix(from.kind)) }
	plain := func() []value { return []value{c.op("add", sum, c.call(sum.kind, by(c.pairs), from))} }
	if c.accumulate == "" {
		return plain()[0]
	}
	return c.ifKnown([]value{sum}, plain, func() []value {
		return []value{c.call(sum.kind, by(c.accumulate), sum, from)}
	})[0]
}
