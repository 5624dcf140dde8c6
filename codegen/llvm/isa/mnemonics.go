package isa

// machine is a row of the table of mnemonics: how an architecture adds.
type machine struct {
	Core
	// add is assembly that adds 16 bytes. LLVM does not reassociate it with other additions.
	add string
	// saturate is an intrinsic in place of add for cores that work in order, for which LLVM has to
	// know how long an addition takes. It saturates, which sums that cannot wrap do not notice
	// (arith.VerifyWidths proves that of all).
	saturate string
	load2    string // an intrinsic that loads two registers, where LLVM loads one at a time
	// pairs is an intrinsic that adds neighbours, accumulate one that adds them to a sum. Types are
	// their suffixes.
	pairs, accumulate string
}

// machineOf is the row of an architecture, for a core.
func machineOf(arch string, core Core) machine {
	switch arch {
	case "aarch64":
		m := machine{
			Core:  core,
			add:   "add $0.16b, $0.16b, $2.16b",
			pairs: "llvm.aarch64.neon.uaddlp.",
		}
		if core.InOrder {
			m.saturate = "llvm.aarch64.neon.uqadd.v16i8"
		}
		return m
	case "arm":
		return machine{
			Core:       core,
			add:        "vadd.i8 ${0:q}, ${0:q}, ${2:q}",
			load2:      "llvm.arm.neon.vld1x2.v16i8.p0",
			pairs:      "llvm.arm.neon.vpaddlu.",
			accumulate: "llvm.arm.neon.vpadalu.",
		}
	}
	return machine{Core: core}
}

// opaque writes an addition of 16 bytes that LLVM does not take apart. It would make trees of the
// sums of many words, and keep their leaves in more registers than there are.
func (c *code) opaque(sum, count value) value {
	if c.saturate != "" {
		return c.call(register, c.saturate, sum, count)
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
	types := suffix(sum.kind) + "." + suffix(from.kind)
	plain := func() []value { return []value{c.op("add", sum, c.call(sum.kind, c.pairs+types, from))} }
	if c.accumulate == "" {
		return plain()[0]
	}
	return c.ifKnown([]value{sum}, plain, func() []value {
		return []value{c.call(sum.kind, c.accumulate+types, sum, from)}
	})[0]
}
