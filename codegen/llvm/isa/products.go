package isa

import "fmt"

// dotBytes is the function of isa.DotBytes: products of four bytes in one operation, or
// multiplyAdd.
func dotBytes(c *code) {
	switch {
	case c.Arch == "aarch64" && c.Words > 1:
		dotByElement(c)
		return
	case c.Ops > 1:
		multiplyAdd(c)
		return
	}
	sums, bytes := vector(c.Lanes, 32), vector(4*c.Lanes, 8)
	x := c.cast("bitcast", c.spreadWord("x", 0, 1, c.Lanes), bytes)
	w, old := c.load(bytes, "w", 0, 1), c.load(sums, "acc", 0, 4)
	switch {
	case c.Arch == "x86_64":
		old = c.call(sums, "llvm.x86.avx512.vpdpbusd.512", old, x, w)
	case c.Arch == "wasm32":
		old = c.call(sums, "llvm.wasm.relaxed.dot.i8x16.i7x16.add.signed", w, x, old)
	default:
		old = c.dot(old, w, x)
	}
	c.store(old, "acc", 0, 4)
}

// dot is sdot or udot: it adds the products of four bytes to each lane of sums.
func (c *code) dot(sums, w, x value) value {
	name := "llvm.aarch64.neon.udot.v4i32.v16i8"
	if c.Func.Params[1].Type.Signed() {
		name = "llvm.aarch64.neon.sdot.v4i32.v16i8"
	}
	return c.call(sums.kind, name, sums, w, x)
}

// dotByElement is dotBytes of several steps: sdot or udot by element.
func dotByElement(c *code) {
	bytes := vector(4*c.Lanes, 8)
	x, sums := c.load(vector(c.Words, 32), "x", 0, 1), c.load(vector(c.Lanes, 32), "acc", 0, 4)
	for s := range c.Words {
		step := c.shuffle(sums.kind, x, "poison", fmt.Sprintf("<%d x i32> splat (i32 %d)", c.Lanes, s))
		sums = c.dot(sums, c.load(bytes, "w", 4*c.Lanes*s, 1), c.cast("bitcast", step, bytes))
	}
	c.store(sums, "acc", 0, 4)
}

// total adds up the values of several steps.
func (c *code) total(steps int, of func(step int) value) value {
	sum := of(0)
	for s := 1; s < steps; s++ {
		sum = c.op("add", sum, of(s))
	}
	return sum
}

// multiplyAdd adds two products of bytes to 16 bits, those of several steps there, and neighbours
// to 32 bits: vpmaddubsw, vpaddw, vpmaddwd with ones, vpaddd.
func multiplyAdd(c *code) {
	bytes, pairs := vector(4*c.Lanes, 8), "llvm.x86.avx2.pmadd.ub.sw"
	if c.Lanes == 16 {
		pairs = "llvm.x86.avx512.pmaddubs.w.512"
	}
	sum := c.total(c.Words, func(s int) value {
		x := c.cast("bitcast", c.spreadWord("x", 4*s, 1, c.Lanes), bytes)
		return c.call(vector(2*c.Lanes, 16), pairs, x, c.load(bytes, "w", 4*c.Lanes*s, 1))
	})
	c.addTo("acc", 0, 4, c.multiplyWords(sum, splat(sum.kind, 1)))
}

// multiplyWords multiplies words of 16 bits and adds neighbours: vpmaddwd.
func (c *code) multiplyWords(a, b value) value {
	if a.kind == vector(32, 16) {
		return c.call(vector(16, 32), "llvm.x86.avx512.pmaddw.d.512", a, b)
	}
	return c.call(vector(8, 32), "llvm.x86.avx2.pmadd.wd", a, b)
}

// dotPairs is the function of isa.DotPairs. On x86-64 and WebAssembly bytes are widened, and
// vpmaddwd or dot adds two products to 32 bits. On Arm bytes are multiplied to 16 bits, those of
// several steps are added there, and neighbours to sums of 32 bits: smull, smlal and sadalp for
// each half of a register of weights.
func dotPairs(c *code) {
	if c.Arch == "x86_64" {
		wide := vector(4*c.Lanes, 16)
		x := c.cast("zext", c.cast("bitcast", c.spreadWord("x", 0, 1, c.Lanes), vector(4*c.Lanes, 8)), wide)
		c.addTo("acc", 0, 4, c.multiplyWords(x, c.cast("sext", c.load(vector(4*c.Lanes, 8), "w", 0, 1), wide)))
		return
	}
	wide, sums := vector(8, 16), vector(4, 32)
	if c.Arch == "wasm32" {
		x := c.cast("zext", c.cast("bitcast", c.spreadWord("x", 0, 1, 2), vector(8, 8)), wide)
		for half := range 2 {
			w := c.cast("sext", c.load(vector(8, 8), "w", 8*half, 1), wide)
			c.addTo("acc", 16*half, 4, c.call(sums, "llvm.wasm.dot", x, w))
		}
		return
	}
	xs := make([]value, c.Words)
	for s := range xs {
		xs[s] = c.cast("sext", c.cast("bitcast", c.spreadWord("x", 4*s, 1, 2), vector(8, 8)), wide)
	}
	for half := range 2 {
		sum := c.total(c.Words, func(s int) value {
			return c.op("mul", xs[s], c.cast("sext", c.load(vector(8, 8), "w", 16*s+8*half, 1), wide))
		})
		if c.Arch == "aarch64" {
			c.addTo("acc", 16*half, 4, c.call(sums, "llvm.aarch64.neon.saddlp.v4i32.v8i16", sum))
			continue
		}
		old := c.load(sums, "acc", 16*half, 4)
		c.store(c.call(sums, "llvm.arm.neon.vpadals.v4i32.v8i16", old, sum), "acc", 16*half, 4)
	}
}
