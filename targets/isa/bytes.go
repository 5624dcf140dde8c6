package isa

import (
	"fmt"
	"slices"

	"ripc/ir"
)

// byteLanes are the instructions of a sum of popcounts in byte lanes, on 64-bit and 32-bit Arm: what schedule.SetEncoding
// and schedule.Rfactor make of words, with the 4 bytes of a word as 2 by 2. A tile counts words of activations against 4
// filters in each vector, in lanes of 8 bits, of which 31 words fit; two additions of neighbours widen them to a sum of 32
// bits for each filter.
func byteLanes(arch string) []Instr {
	prefix, add := map[string]string{"aarch64": "neon", "arm": "armv7"}[arch], map[string]string{"aarch64": "uadalp", "arm": "vpadal"}[arch]
	var is []Instr
	instr := func(m Meaning, t ir.Type, lanes, words int, f *ir.Func) *Instr {
		is = append(is, Instr{Func: f, Meaning: m, Arch: arch, Needs: []string{"neon"}, Lanes: lanes, Words: words, Type: t})
		return &is[len(is)-1]
	}
	for _, words := range []int{1, 2} {
		for _, filters := range []int{8, 16, 32} {
			name := fmt.Sprintf("%s_xor_cnt_add_%dx%d", prefix, words, filters)
			instr(XorCountTile, ir.U8, filters, words, xorPopcountTile(name, words, filters, false))
			if arch == "arm" { // elsewhere LLVM sees to it
				instr(XorCountTile, ir.U8, filters, words, xorPopcountTile(name+"_wide", words, filters, false)).Wide = true
			} else { // on 32-bit Arm, a load that spreads a word costs no more
				instr(XorCountTile, ir.U8, filters, words, xorPopcountTile(name+"_spread", words, filters, true)).Copies = true
			}
		}
	}
	const taps = 3
	inRow := map[string]int{"aarch64": 16, "arm": 8}[arch] // filters: half of the registers hold the sums of four positions
	for _, words := range []int{2, 3, 4, 5, 6, 8} {
		for positions := 1; positions <= 4; positions++ {
			name := fmt.Sprintf("%s_xor_cnt_row_%dx%dx%dx%d", prefix, positions, taps, words, inRow)
			i := instr(XorCountRow, ir.U8, inRow, words, xorPopcountRow(name, positions, taps, words, inRow))
			i.Positions, i.Taps, i.Copies = positions, taps, true
		}
	}
	instr(PackCompare, ir.U32, 32, 0, packLE(prefix+"_pack_le_x32"))
	instr(Clear, ir.U8, 4, 0, clearVector(prefix+"_clear_u8", ir.U8, 4, 2, 2))
	instr(Clear, ir.U16, 4, 0, clearVector(prefix+"_clear_u16", ir.U16, 4, 2))
	instr(WidenAdd, ir.U16, 4, 0, addNeighbours(prefix+"_"+add+"_u16", ir.U16, ir.U8, 4, 2))
	instr(WidenAdd, ir.I32, 4, 0, addNeighbours(prefix+"_"+add+"_i32", ir.I32, ir.U16, 4))
	if arch == "aarch64" { // on 32-bit Arm, neighbours of 16 bytes are not added in one operation
		instr(Clear, ir.U8, 8, 0, clearVector(prefix+"_clear_u8_x8", ir.U8, 8, 2))
		instr(WidenAdd, ir.U16, 8, 0, addNeighbours(prefix+"_"+add+"_u16_bytes", ir.U16, ir.U8, 8))
		instr(AddPairs, ir.U8, 8, 0, addNeighbours(prefix+"_addp_u8_halves", ir.U8, ir.U8, 8, 2))
		instr(AddPairs, ir.U16, 8, 0, addNeighbours(prefix+"_addp_u16", ir.U16, ir.U16, 8))
		for _, filters := range []int{16, 32} {
			instr(WidenAddMemory, ir.U16, filters, 0, addNeighbours(fmt.Sprintf("%s_%s_u16_bytes_x%d", prefix, add, filters), ir.U16, ir.U8, filters))
		}
		for _, filters := range []int{16, 8} {
			instr(AddPairs, ir.U8, filters, 0, addNeighbours(fmt.Sprintf("%s_addp_u8_x%d", prefix, filters), ir.U8, ir.U8, filters))
		}
	}
	for _, filters := range []int{8, 16, 32} {
		instr(WidenAddMemory, ir.U16, filters, 0, addToMemory(fmt.Sprintf("%s_%s_u16_x%d", prefix, add, filters), 0, filters))
	}
	if arch == "arm" { // whose loads move one address along for all positions of a row of taps
		for positions := 2; positions <= 4; positions++ {
			instr(WidenAddMemory, ir.U16, inRow, 0, addToMemory(fmt.Sprintf("%s_%s_u16_%dx%d", prefix, add, positions, inRow), positions, inRow)).Positions = positions
		}
	}
	return is
}

// xorPopcountTile is acc[l, i, j] += popcount(x[c, 2i+j] ^ w[c, l, 2i+j]): words c against filters l. With spread, filter l
// reads copy l % 4 of each word (see schedule.Replicate).
func xorPopcountTile(name string, words, filters int, spread bool) *ir.Func {
	acc, x, w := out("acc", ir.U8, filters), in("x", ir.U8, words), in("w", ir.U8, words)
	acc.Shape, x.Shape, w.Shape = []int{filters, 2, 2}, []int{words, 4}, []int{words, filters, 4}
	c, l, i, j := ir.V("c"), ir.V("l"), ir.V("i"), ir.V("j")
	k := ir.Bin(ir.Add, ir.Bin(ir.Mul, i, ir.Int(2)), j)
	pop := ir.Un(ir.Popcount, ir.Bin(ir.Xor, ir.At(x.Buffer, c, k), ir.At(w.Buffer, c, l, k)))
	loops := []ir.Loop{{Var: "c", Extent: words}, {Var: "l", Extent: filters}, {Var: "i", Extent: 2}, {Var: "j", Extent: 2}}
	if spread {
		x.Shape, x.Type = []int{words, 4}, ir.U32
		l = ir.Bin(ir.Add, ir.Bin(ir.Mul, ir.V("o"), ir.Int(4)), ir.V("l"))
		part := ir.CastTo(ir.U8, ir.Bin(ir.Shr, ir.At(x.Buffer, c, ir.V("l")), ir.CastTo(ir.U32, ir.Bin(ir.Mul, k, ir.Int(8)))))
		pop = ir.Un(ir.Popcount, ir.Bin(ir.Xor, part, ir.At(w.Buffer, c, l, k)))
		loops = slices.Insert(loops, 1, ir.Loop{Var: "o", Extent: filters / 4})
		loops[2].Extent = 4
	}
	return &ir.Func{
		Name: name, Params: []ir.Param{acc, x, w},
		Body: ir.Nest(loops, &ir.Store{Buf: "acc", Idx: []ir.Expr{l, i, j}, Op: ir.AddTo, Val: pop}),
	}
}

// xorPopcountRow is acc[p, l, i, j] += popcount(x[p+t, c, l%4] ^ w[t, c, l, 2i+j]): xorPopcountTile with copies, for positions that read taps
// pixels each, of which the next one reads all but the first.
func xorPopcountRow(name string, positions, taps, words, filters int) *ir.Func {
	acc, x, w := out("acc", ir.U8, 0), in("x", ir.U32, 0), in("w", ir.U8, 0)
	acc.Shape, x.Shape, w.Shape = []int{positions, filters, 2, 2}, []int{positions + taps - 1, words, 4}, []int{taps, words, filters, 4}
	t, p, c, l, i, j := ir.V("t"), ir.V("p"), ir.V("c"), ir.V("l"), ir.V("i"), ir.V("j")
	f := ir.Bin(ir.Add, ir.Bin(ir.Mul, ir.V("o"), ir.Int(4)), l)
	k := ir.Bin(ir.Add, ir.Bin(ir.Mul, i, ir.Int(2)), j)
	loops := []ir.Loop{{Var: "t", Extent: taps}, {Var: "c", Extent: words}, {Var: "p", Extent: positions},
		{Var: "o", Extent: filters / 4}, {Var: "l", Extent: 4}, {Var: "i", Extent: 2}, {Var: "j", Extent: 2}}
	part := ir.CastTo(ir.U8, ir.Bin(ir.Shr, ir.At(x.Buffer, ir.Bin(ir.Add, p, t), c, l), ir.CastTo(ir.U32, ir.Bin(ir.Mul, k, ir.Int(8)))))
	pop := ir.Un(ir.Popcount, ir.Bin(ir.Xor, part, ir.At(w.Buffer, t, c, f, k)))
	return &ir.Func{
		Name: name, Params: []ir.Param{acc, x, w},
		Body: ir.Nest(loops, &ir.Store{Buf: "acc", Idx: []ir.Expr{p, f, i, j}, Op: ir.AddTo, Val: pop}),
	}
}

// addNeighbours adds neighbours, of so many sums of one type, to those of another: acc[l] += r[l, i], acc[l, i] += r[l, i, j].
func addNeighbours(name string, to, from ir.Type, shape ...int) *ir.Func {
	acc, r := out("acc", to, 0), in("r", from, 0)
	acc.Shape, r.Shape = shape, append(slices.Clone(shape), 2)
	loops, idx := lanesOf(r.Shape)
	val := ir.At(r.Buffer, idx...)
	return &ir.Func{
		Name: name, Params: []ir.Param{acc, r},
		Body: ir.Nest(loops, &ir.Store{Buf: "acc", Idx: idx[:len(shape)], Op: ir.AddTo, Val: ir.CastTo(to, val)}),
	}
}

// clearVector sets lanes to 0.
func clearVector(name string, t ir.Type, shape ...int) *ir.Func {
	acc := out("acc", t, 0)
	acc.Shape = shape
	loops, idx := lanesOf(shape)
	return &ir.Func{
		Name: name, Params: []ir.Param{acc},
		Body: ir.Nest(loops, &ir.Store{Buf: "acc", Idx: idx, Val: ir.Const(t, 0)}),
	}
}

// lanesOf are loops over a shape, and its elements.
func lanesOf(shape []int) (loops []ir.Loop, idx []ir.Expr) {
	for d, n := range shape {
		v := []string{"l", "i", "j"}[d]
		loops, idx = append(loops, ir.Loop{Var: v, Extent: n}), append(idx, ir.V(v))
	}
	return loops, idx
}

// addToMemory is addNeighbours from bytes to 16 bits for many filters, at several positions if there are any.
func addToMemory(name string, positions, filters int) *ir.Func {
	loops := []ir.Loop{{Var: "l", Extent: filters}, {Var: "i", Extent: 2}, {Var: "j", Extent: 2}}
	if positions > 0 {
		loops = slices.Insert(loops, 0, ir.Loop{Var: "p", Extent: positions})
	}
	var shape []int
	var idx []ir.Expr
	for _, l := range loops {
		shape, idx = append(shape, l.Extent), append(idx, ir.V(l.Var))
	}
	acc, r, n := out("acc", ir.U16, 0), in("r", ir.U8, 0), len(shape)-1
	acc.Shape, r.Shape = shape[:n], shape
	return &ir.Func{
		Name: name, Params: []ir.Param{acc, r},
		Body: ir.Nest(loops, &ir.Store{Buf: "acc", Idx: idx[:n], Op: ir.AddTo, Val: ir.CastTo(ir.U16, ir.At(r.Buffer, idx...))}),
	}
}
