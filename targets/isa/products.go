package isa

import (
	"fmt"
	"math"
	"slices"

	"ripc/ir"
)

// limits are the largest absolute numbers of levels and weights with products of the given number
// of steps of four that fit 16 bits. 0 stands for all bytes.
type limits struct{ steps, levels, weights int }

// products is an instruction of meaning DotBytes or DotPairs: four products a lane and step.
func (c cpu) products(name string, m Meaning, n limits, lanes, ops int, levels, weights ir.Type) Instr {
	var steps, outer, s, x string
	if n.steps > 1 {
		steps, outer, s, x = "s:$words ", "$words, ", "%s, ", "%s * 4 + "
	}
	f := family{
		"${cpu}_" + name, "out %acc: i32[$lanes], %x: $levels[$bytes]", steps + "l:$lanes k:4",
		"%acc[%l] += cast<i32>(%x[" + x + "%k]) * cast<i32>(%w[" + s + "%l, %k])",
	}
	if m == DotPairs {
		f.params, f.loops = "out %acc: i32[$lanes, 2], %x: $levels[$bytes]", steps+"l:$lanes j:2 i:2"
		f.body = "%acc[%l, %j] += cast<i32>(%x[" + x + "(%j * 2 + %i)]) * cast<i32>(%w[" + s + "%l, %j * 2 + %i])"
	}
	if n.levels > 0 {
		f.name, f.params = f.name+fmt.Sprint("_a", n.levels), f.params+fmt.Sprint(" from 0 to ", n.levels)
	}
	f.params += ", %w: $weights[" + outer + "$lanes, 4]"
	if n.weights > 0 {
		f.name, f.params = f.name+fmt.Sprint("_w", n.weights), f.params+fmt.Sprintf(" from -%d to %[1]d", n.weights)
	}
	return c.instr(f, Instr{Meaning: m, Lanes: lanes, Words: n.steps, Ops: ops, Type: ir.I32},
		values{"levels": levels, "weights": weights, "bytes": 4 * n.steps})
}

// quads are instructions that multiply and add four bytes in one operation. On Arm one load of the
// levels of several steps serves them: the operation selects the step. WebAssembly's is the same on
// all machines for levels of 7 bits alone.
func quads(arch string) []Instr {
	one := limits{steps: 1}
	switch arch {
	case "x86_64":
		return []Instr{avx512().with("avx512vnni").products("dpbusd_x${lanes}", DotBytes, one, 16, 1, ir.U8, ir.I8)}
	case "wasm32":
		return []Instr{wasm().with("relaxed-simd").products("relaxed_dot_x${lanes}", DotBytes,
			limits{steps: 1, levels: math.MaxInt8}, 4, 1, ir.U8, ir.I8)}
	}
	dot := a64().with("dotprod")
	var is []Instr
	for _, x := range []struct {
		name string
		ir.Type
	}{{"sdot_", ir.I8}, {"udot_", ir.U8}} {
		for _, n := range []int{4, 2, 3} {
			is = append(is, dot.products(x.name+"${words}x${lanes}", DotBytes, limits{steps: n}, 4, n, x.Type, x.Type))
		}
		is = append(is, dot.products(x.name+"x${lanes}", DotBytes, one, 4, 1, x.Type, x.Type))
	}
	return is
}

// multiplyAdds are products of bytes on x86-64 without vpdpbusd. vpmaddubsw adds two of them to 16
// bits and saturates, so numbers are limited. Sums of several steps are added there, and vpmaddwd
// with ones adds neighbours to 32 bits. For all bytes vpmaddwd adds two products of widened bytes,
// and a filter has two sums.
func multiplyAdds() []Instr {
	var is []Instr
	for _, x := range []struct {
		cpu
		lanes int
	}{{avx512(), 16}, {avx2(), 8}} {
		c, half := x.cpu, x.lanes/2
		for _, n := range []limits{{1, 0, 63}, {2, 0, 31}, {3, 0, 15}, {4, 0, 15}, {1, 127, 0}, {2, 63, 0}, {3, 31, 0},
			{4, 31, 0}} {
			is = append(is, c.products("maddubs_${words}x${lanes}", DotBytes, n, x.lanes, 2*n.steps+1, ir.U8, ir.I8))
		}
		is = append(is, c.products("maddwd_pairs_x${lanes}", DotPairs, limits{steps: 1}, half, 3, ir.U8, ir.I8),
			c.neighbours(fmt.Sprint("phaddd_x", half), AddPairs, ir.I32, ir.I32, 0, half))
	}
	return is
}

// wordProducts are products of bytes that are widened to words of 16 bits first. The operation adds
// neighbours among products of words.
func wordProducts(c cpu) []Instr {
	const lanes = 4
	return []Instr{c.products("dot_pairs_x${lanes}", DotPairs, limits{steps: 1}, lanes, 6, ir.U8, ir.I8),
		c.neighbours(fmt.Sprint("add_i32_x", lanes), AddPairs, ir.I32, ir.I32, 0, lanes)}
}

// productPairs are products of bytes on NEON without products of four: neighbours among 16-bit
// products are added to two sums of 32 bits. Before, products of several steps are added in 16 bits
// where limited numbers fit: two of -128 * -128 do not.
func productPairs(c cpu) []Instr {
	multiply, accumulate, add := "smull", "smlal", "addp"
	if c.arch == "arm" {
		multiply, accumulate, add = "vmull", "vmlal", "vpadd"
	}
	const lanes = 4
	is := []Instr{
		c.products(multiply+"_pairs_x${lanes}", DotPairs, limits{steps: 1}, lanes, 4, ir.I8, ir.I8),
		c.neighbours(fmt.Sprintf("%s_i32_x%d", add, lanes), AddPairs, ir.I32, ir.I32, 0, lanes),
	}
	for _, n := range []limits{{2, 0, 127}, {3, 0, 63}, {4, 0, 63}, {2, 127, 0}, {3, 63, 0}, {4, 63, 0}} {
		is = append(is, c.products(accumulate+"_pairs_${words}x${lanes}", DotPairs, n, lanes, 2*n.steps+2, ir.I8,
			ir.I8))
	}
	return is
}

// halfProducts are products of bytes by Arm's DSP extension, with two numbers of 16 bits in a
// register. uxtb16 and sxtb16 widen bytes, and smlad adds two products to a sum. More lanes share
// the widened levels.
func halfProducts() []Instr {
	var is []Instr
	for _, lanes := range []int{4, 2, 1} {
		is = append(is, thumb().products("smlad_x${lanes}", DotBytes, limits{steps: 1}, lanes, 4*lanes+2, ir.U8, ir.I8))
	}
	return is
}

// IsHalfProducts reports whether f is one of the products by Arm's DSP extension.
func IsHalfProducts(f *ir.Func) bool {
	return slices.ContainsFunc(ofThumb(), func(i Instr) bool { return i.Func == f })
}
