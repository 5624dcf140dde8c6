package isa

import (
	"fmt"

	"ripc/ir"
)

// narrow says which products of bytes are added in 16 bits before sums of 32 bits get them: those of so many steps of four, of levels
// and weights that are not more than these numbers from 0; 0 is whatever bytes there are.
type narrow struct{ steps, levels, weights int }

// suffix is what names of such instructions end in: steps, lanes, and the limit.
func (n narrow) suffix(lanes int) string {
	s := fmt.Sprintf("%dx%d", n.steps, lanes)
	if n.levels > 0 {
		s += fmt.Sprintf("_a%d", n.levels)
	}
	if n.weights > 0 {
		s += fmt.Sprintf("_w%d", n.weights)
	}
	return s
}

// within is f, whose parameters x and w are levels and weights, of such numbers alone.
func (n narrow) within(f *ir.Func) *ir.Func {
	if n.levels > 0 {
		f.Params[1].Range = ir.Range{From: 0, To: int64(n.levels)}
	}
	if n.weights > 0 {
		f.Params[2].Range = ir.Range{From: -int64(n.weights), To: int64(n.weights)}
	}
	return f
}

// products are products of bytes on x86-64 without vpdpbusd: vpmaddubsw adds two to 16 bits and saturates, so numbers have to be such that
// nothing does; the sums of several steps are added there, and vpmaddwd with ones adds neighbours to 32 bits. Whatever numbers there are,
// vpmaddwd adds two products of bytes that were widened to sums of 32 bits, of which a filter has two then.
func products() []Instr {
	var is []Instr
	for _, on := range []struct {
		prefix string
		lanes  int
		needs  []string
	}{{"avx512", 16, []string{"avx512f", "avx512bw"}}, {"avx2", 8, []string{"avx2"}}} {
		for _, n := range []narrow{{1, 0, 63}, {2, 0, 31}, {3, 0, 15}, {4, 0, 15}, {1, 127, 0}, {2, 63, 0}, {3, 31, 0}, {4, 31, 0}} {
			f := n.within(dots(on.prefix+"_maddubs_"+n.suffix(on.lanes), on.lanes, n.steps, ir.U8, ir.I8))
			is = append(is, Instr{Func: f, Meaning: DotBytes, Arch: "x86_64", Needs: on.needs, Lanes: on.lanes, Words: n.steps, Ops: 2*n.steps + 1, Type: ir.I32})
		}
		half := on.lanes / 2
		is = append(is,
			Instr{Func: dotPairs(fmt.Sprintf("%s_maddwd_pairs_x%d", on.prefix, half), half, 1, ir.U8), Meaning: DotPairs, Arch: "x86_64", Needs: on.needs, Lanes: half, Words: 1, Ops: 3, Type: ir.I32},
			Instr{Func: addNeighbours(fmt.Sprintf("%s_phaddd_x%d", on.prefix, half), ir.I32, ir.I32, half), Meaning: AddPairs, Arch: "x86_64", Needs: on.needs, Lanes: half, Type: ir.I32})
	}
	return is
}

// productPairs are products of bytes on NEON without products of four: neighbours among 16-bit products are added to sums of 32 bits, of
// which a filter has two then. Before, products of several steps are added in 16 bits where numbers are such that these fit: two of
// -128 * -128 do not.
func productPairs(arch string) []Instr {
	prefix, multiply, accumulate, add := "neon", "smull", "smlal", "addp"
	if arch == "arm" {
		prefix, multiply, accumulate, add = "armv7", "vmull", "vmlal", "vpadd"
	}
	const lanes = 4
	neon := []string{"neon"}
	is := []Instr{
		{Func: dotPairs(fmt.Sprintf("%s_%s_pairs_x%d", prefix, multiply, lanes), lanes, 1, ir.I8), Meaning: DotPairs, Arch: arch, Needs: neon, Lanes: lanes, Words: 1, Ops: 4, Type: ir.I32},
		{Func: addNeighbours(fmt.Sprintf("%s_%s_i32_x%d", prefix, add, lanes), ir.I32, ir.I32, lanes), Meaning: AddPairs, Arch: arch, Needs: neon, Lanes: lanes, Type: ir.I32},
	}
	for _, n := range []narrow{{2, 0, 127}, {3, 0, 63}, {4, 0, 63}, {2, 127, 0}, {3, 63, 0}, {4, 63, 0}} {
		f := n.within(dotPairs(fmt.Sprintf("%s_%s_pairs_%s", prefix, accumulate, n.suffix(lanes)), lanes, n.steps, ir.I8))
		is = append(is, Instr{Func: f, Meaning: DotPairs, Arch: arch, Needs: neon, Lanes: lanes, Words: n.steps, Ops: 2*n.steps + 2, Type: ir.I32})
	}
	return is
}

// steps are the loop over steps, none of one, and the index of byte k of four, in x and, with a filter, in w.
func steps(n int, filter, k ir.Expr) (loops []ir.Loop, x, w []ir.Expr) {
	if n == 1 {
		return nil, []ir.Expr{k}, []ir.Expr{filter, k}
	}
	s := ir.V("s")
	return []ir.Loop{{Var: "s", Extent: n}}, []ir.Expr{ir.Bin(ir.Add, ir.Bin(ir.Mul, s, ir.Int(4)), k)}, []ir.Expr{s, filter, k}
}

// product is the product of a byte of x and one of w.
func product(x, w ir.Buffer, xi, wi []ir.Expr) ir.Expr {
	return ir.Bin(ir.Mul, ir.CastTo(ir.I32, ir.At(x, xi...)), ir.CastTo(ir.I32, ir.At(w, wi...)))
}

// dots is acc[l] += sum over k < 4 of x[k] * w[l, k], of several words of each: four products a lane and word, x being the same for all lanes.
func dots(name string, lanes, words int, levels, weights ir.Type) *ir.Func {
	acc, x, w := out("acc", ir.I32, lanes), in("x", levels, 4*words), in("w", weights, lanes)
	loops, xi, wi := steps(words, ir.V("l"), ir.V("k"))
	if w.Shape = []int{lanes, 4}; words > 1 {
		w.Shape = []int{words, lanes, 4}
	}
	loops = append(loops, ir.Loop{Var: "l", Extent: lanes}, ir.Loop{Var: "k", Extent: 4})
	return &ir.Func{
		Name: name, Params: []ir.Param{acc, x, w},
		Body: ir.Nest(loops, &ir.Store{Buf: "acc", Idx: []ir.Expr{ir.V("l")}, Op: ir.AddTo, Val: product(x.Buffer, w.Buffer, xi, wi)}),
	}
}

// dotPairs is dots by signed bytes, of which each half of a word has a sum.
func dotPairs(name string, lanes, words int, levels ir.Type) *ir.Func {
	f := dots(name, lanes, words, levels, ir.I8)
	f.Params[0].Shape = []int{lanes, 2}
	l, j := ir.V("l"), ir.V("j")
	loops, xi, wi := steps(words, l, ir.Bin(ir.Add, ir.Bin(ir.Mul, j, ir.Int(2)), ir.V("i")))
	loops = append(loops, ir.Loop{Var: "l", Extent: lanes}, ir.Loop{Var: "j", Extent: 2}, ir.Loop{Var: "i", Extent: 2})
	val := product(f.Params[1].Buffer, f.Params[2].Buffer, xi, wi)
	return f.WithBody(ir.Nest(loops, &ir.Store{Buf: "acc", Idx: []ir.Expr{l, j}, Op: ir.AddTo, Val: val}))
}
