package isa

import (
	"fmt"

	"ripc/ir"
)

// packCompare is the function of isa.PackCompare. On 64-bit Arm comparisons become bytes of one bit
// each, and neighbours are added until a byte holds 8 bits.
func packCompare(c *code) {
	var word value
	if c.Arch == "arm" {
		word = packCompareA32(c)
	} else {
		const lanes = 16
		compared := func(k int) value {
			kind := vector(lanes, 32)
			sums, most := c.load(kind, "acc", 4*lanes*k, 4), c.load(kind, "t", 4*lanes*k, 4)
			return c.cast("sext", c.set(vector(lanes, 1), "icmp sle %s, %s", sums, most.name), vector(lanes, 8))
		}
		bits := value{register, "<" + EachBit(lanes) + ">"}
		sums := []value{c.op("and", compared(0), bits), c.op("and", compared(1), bits)}
		add := func(a, b value) value { return c.call(register, "llvm.aarch64.neon.addp.v16i8", a, b) }
		sum := add(sums[0], sums[1])
		for range 2 {
			sum = add(sum, sum)
		}
		word = c.cast("bitcast", sum, vector(4, 32))
	}
	word = c.set("i32", "extractelement %s, i32 0", word)
	c.store(c.op("or", c.load("i32", "y", 0, 4), word), "y", 0, 4)
}

// packCompareA32 is packCompare for 32-bit Arm. Registers are narrower, and comparisons of four
// lanes are shifted into those before them (vsli). A lane then has the bits of every fourth sum,
// four times over. A mask leaves its own. LLVM would load the thresholds of several positions at
// once, and spill.
func packCompareA32(c *code) value {
	const kind = "<4 x i32>"
	op, isSwapped := "vcge.s32", true // acc <= t is t >= acc
	if c.Func.Params[1].Type == ir.F32 {
		op, isSwapped = "vcge.f32", false
	}
	var l listing
	for _, results := range []int{4, 8} { // registers of the upper half's comparisons, and of the lower's
		l.line("vldmdb $1!, {d16-d23}")
		l.line("vldmdb $2!, {d24-d31}")
		for k := range 4 {
			a, b := 8+k, 12+k
			if isSwapped {
				a, b = b, a
			}
			l.line("%s q%d, q%d, q%d", op, results+k, a, b)
		}
	}
	for _, k := range []int{7, 6, 5, 4, 11, 10, 9} {
		next := k - 1
		if k == 4 {
			next = 11
		}
		l.line("vsli.32 q%d, q%d, #4", next, k)
	}
	l.line("vorr ${0:q}, q8, q8")
	code := assembly{text: l.text(), constraints: "=&w,=&r,=&r,1,2",
		clobbers: append(registerNames("q", 4, 12), "memory"), volatile: true}
	bits := c.asm(code, []string{kind, "ptr", "ptr"}, c.pointer("acc", 128), c.pointer("t", 128))[0]
	bits = c.op("and", bits, constant(bits.kind, 4, func(l int) int { return int(int32(uint32(0x11111111) << l)) }))
	half := func(from int) value { return c.shuffle(vector(2, 32), bits, "poison", ShuffleRun(from, 2, 2)) }
	add := func(a, b value) value { return c.call(a.kind, "llvm.arm.neon.vpadd.v2i32", a, b) }
	two := add(half(0), half(2))
	return add(two, two)
}

// packLess is the function of isa.PackLess: a whole register of bytes with AVX-512. Its mask is two
// words, which LLVM would compare one by one. With several planes, the mask of one blends the
// thresholds of those below.
func packLess(c *code) {
	const kind = "<64 x i8>"
	sums := c.load(kind, "acc", 0, 1)
	limits := make([]value, 1<<c.Planes-1)
	for j := range limits {
		limits[j] = c.load(kind, c.Func.Params[c.Planes+1+j].Name, 0, 1)
	}
	less := make([]value, c.Planes)
	// limit returns the threshold that decides bit k of a level; masks hold its higher bits, up to
	// top.
	var limit func(level, k, top int) value
	limit = func(level, k, top int) value {
		if top == k {
			return limits[level-1]
		}
		set := limit(level|1<<top, k, top-1)
		return c.set(kind, "select %s, %s, %s", less[top], set, limit(level, k, top-1))
	}
	for k := c.Planes - 1; k >= 0; k-- {
		less[k] = c.set(vector(64, 1), "icmp ult %s, %s", sums, limit(1<<k, k, c.Planes-1).name)
		c.store(c.cast("bitcast", less[k], "i64"), c.Func.Params[k].Name, 0, 4)
	}
}

// EachBit lists bytes of one bit each for the given number of lanes, from bit 0 to bit 7 and again.
func EachBit(lanes int) string {
	return list(lanes, func(l int) string { return fmt.Sprintf("i8 %d", int8(uint8(1)<<(l%8))) })
}

// BitsTogether writes, by p, the packing of vectors with a bit of EachBit, or none, in each byte.
// The intrinsic pairwise adds neighbours three times, until a byte holds 8 bits. It returns the
// vector that begins with them.
func BitsTogether(p func(format string, args ...any), lanes int, pairwise string, sums []string) string {
	for n := range 3 {
		var next []string
		for i := 0; i < len(sums); i += 2 {
			r := fmt.Sprintf("%%p%d.%d", n, i)
			p("  %[1]s = call <%[2]d x i8> @%[3]s(<%[2]d x i8> %[4]s, <%[2]d x i8> %[5]s)", r, lanes, pairwise, sums[i],
				sums[min(i+1, len(sums)-1)])
			next = append(next, r)
		}
		sums = next
	}
	return sums[0]
}
