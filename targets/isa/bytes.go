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
	instr(PackCompare, ir.U32, 32, 0, packLE(prefix+"_pack_le_x32"))
	for _, t := range []ir.Type{ir.U8, ir.U16} {
		instr(Clear, t, 4, 0, clearVector(prefix+"_clear_"+t.String(), t))
	}
	for _, to := range []ir.Type{ir.U16, ir.I32} {
		instr(WidenAdd, to, 4, 0, addNeighbours(prefix+"_"+add+"_"+to.String(), to))
	}
	for _, filters := range []int{8, 16, 32} {
		instr(WidenAddMemory, ir.U16, filters, 0, addToMemory(fmt.Sprintf("%s_%s_u16_x%d", prefix, add, filters), filters))
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

// addNeighbours adds neighbours: acc[l, i] += r[l, i, j] from bytes to 16 bits, acc[l] += r[l, i] from 16 to 32.
func addNeighbours(name string, to ir.Type) *ir.Func {
	l, i, j := ir.V("l"), ir.V("i"), ir.V("j")
	acc, r := out("acc", to, 4), in("r", ir.U16, 4)
	r.Shape = []int{4, 2}
	loops := []ir.Loop{{Var: "l", Extent: 4}, {Var: "i", Extent: 2}}
	idx, from := []ir.Expr{l}, []ir.Expr{l, i}
	if to == ir.U16 {
		acc.Shape, r.Shape, r.Type = []int{4, 2}, []int{4, 2, 2}, ir.U8
		loops = append(loops, ir.Loop{Var: "j", Extent: 2})
		idx, from = from, []ir.Expr{l, i, j}
	}
	return &ir.Func{
		Name: name, Params: []ir.Param{acc, r},
		Body: ir.Nest(loops, &ir.Store{Buf: "acc", Idx: idx, Op: ir.AddTo, Val: ir.CastTo(to, ir.At(r.Buffer, from...))}),
	}
}

// clearVector sets the lanes of 4 words to 0: 2 by 2 bytes or 2 times 16 bits each.
func clearVector(name string, t ir.Type) *ir.Func {
	acc := out("acc", t, 4)
	acc.Shape = []int{4, 2, 2}[:1+32/t.Bits()/2]
	var loops []ir.Loop
	var idx []ir.Expr
	for d, n := range acc.Shape {
		v := []string{"l", "i", "j"}[d]
		loops, idx = append(loops, ir.Loop{Var: v, Extent: n}), append(idx, ir.V(v))
	}
	return &ir.Func{
		Name: name, Params: []ir.Param{acc},
		Body: ir.Nest(loops, &ir.Store{Buf: "acc", Idx: idx, Val: ir.Const(t, 0)}),
	}
}

// addToMemory is addNeighbours from bytes to 16 bits for many filters.
func addToMemory(name string, filters int) *ir.Func {
	l, i, j := ir.V("l"), ir.V("i"), ir.V("j")
	acc, r := out("acc", ir.U16, filters), in("r", ir.U8, filters)
	acc.Shape, r.Shape = []int{filters, 2}, []int{filters, 2, 2}
	loops := []ir.Loop{{Var: "l", Extent: filters}, {Var: "i", Extent: 2}, {Var: "j", Extent: 2}}
	return &ir.Func{
		Name: name, Params: []ir.Param{acc, r},
		Body: ir.Nest(loops, &ir.Store{Buf: "acc", Idx: []ir.Expr{l, i}, Op: ir.AddTo, Val: ir.CastTo(ir.U16, ir.At(r.Buffer, l, i, j))}),
	}
}
