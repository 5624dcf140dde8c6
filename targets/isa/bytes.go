package isa

import (
	"fmt"
	"slices"
	"strings"

	"ripc/ir"
)

// byteLanes are the instructions of a sum of popcounts in byte lanes: what schedule.SetEncoding and schedule.Rfactor make
// of words, with the 4 bytes of a word as 2 by 2. A tile counts words of activations against 4 filters in each vector, in
// lanes of 8 bits, of which 31 words fit; two additions of neighbours widen them to a sum of 32 bits for each filter.
func byteLanes(arch, prefix string, a additions) []instr {
	var is []instr
	for _, words := range []int{1, 2} {
		for _, filters := range []int{8, 16, 32} {
			name := fmt.Sprintf("%s_xor_cnt_add_%dx%d", prefix, words, filters)
			one := a
			one.load2 = ""
			is = append(is, instr{arch, []string{"neon"}, xorPopcountBytesTile(name, words, filters, false, one)})
			if a.load2 != "" {
				is = append(is, instr{arch, []string{"neon"}, xorPopcountBytesTile(name+"_wide", words, filters, false, a)})
			}
			if arch == "aarch64" { // on 32-bit Arm, a load that spreads a word costs no more
				is = append(is, instr{arch, []string{"neon"}, xorPopcountBytesTile(name+"_spread", words, filters, true, a)})
			}
		}
	}
	name := prefix + "_pack_le_x32"
	is = append(is, instr{arch, []string{"neon"}, packLE(name, packLEText(name, a.packed, a.pairwise))})
	for _, t := range []ir.Type{ir.U8, ir.U16} {
		is = append(is, instr{arch, []string{"neon"}, clearVector(prefix+"_clear_"+t.String(), t)})
	}
	for _, to := range []ir.Type{ir.U16, ir.I32} {
		is = append(is, instr{arch, []string{"neon"}, addNeighbours(prefix+"_"+a.mnemonic+"_"+to.String(), to, a)})
	}
	for _, filters := range []int{8, 16, 32} {
		name := fmt.Sprintf("%s_%s_u16_x%d", prefix, a.mnemonic, filters)
		is = append(is, instr{arch, []string{"neon"}, addToMemory(name, filters, a)})
	}
	return is
}

// additions are the ways of an architecture to add. add is the assembly of an addition of 16 bytes.
type additions struct {
	mnemonic, add string
	pairwise      string // an intrinsic that adds neighbours of two vectors
	packed        int    // of that many bytes
	load2         string // an intrinsic that loads two vectors at once, where LLVM does not see to it
	// widening adds neighbours of a vector to one of numbers twice as wide.
	declare string
	widen   func(from, to string) string
	// inMemory does the same for sums that are in memory: operands, results, constraints and text of the assembly.
	inMemory func(vectors int) assembly
}

func arm64Additions() additions {
	return additions{
		mnemonic: "uadalp",
		pairwise: "llvm.aarch64.neon.addp.v16i8",
		packed:   16,
		inMemory: arm64InMemory,
		add:      "add $0.16b, $0.16b, $2.16b",
		declare: `declare <8 x i16> @llvm.aarch64.neon.uaddlp.v8i16.v16i8(<16 x i8>)
declare <4 x i32> @llvm.aarch64.neon.uaddlp.v4i32.v8i16(<8 x i16>)
`,
		widen: func(from, to string) string {
			return fmt.Sprintf(`  %%pairs = call <%[2]s> @llvm.aarch64.neon.uaddlp.v%[3]s.v%[4]s(<%[1]s> %%from)
  %%new = add <%[2]s> %%old, %%pairs
`, from, to, strings.ReplaceAll(to, " x ", ""), strings.ReplaceAll(from, " x ", ""))
		},
	}
}

func armAdditions() additions {
	return additions{
		mnemonic: "vpadal",
		pairwise: "llvm.arm.neon.vpadd.v8i8",
		packed:   8,
		load2:    "llvm.arm.neon.vld1x2.v16i8.p0",
		inMemory: armInMemory,
		add:      "vadd.i8 ${0:q}, ${0:q}, ${2:q}",
		declare: `declare <8 x i16> @llvm.arm.neon.vpadalu.v8i16.v16i8(<8 x i16>, <16 x i8>)
declare <4 x i32> @llvm.arm.neon.vpadalu.v4i32.v8i16(<4 x i32>, <8 x i16>)
`,
		widen: func(from, to string) string {
			return fmt.Sprintf("  %%new = call <%[2]s> @llvm.arm.neon.vpadalu.v%[3]s.v%[4]s(<%[2]s> %%old, <%[1]s> %%from)\n",
				from, to, strings.ReplaceAll(to, " x ", ""), strings.ReplaceAll(from, " x ", ""))
		},
	}
}

// xorPopcountBytesTile is acc[l, i, j] += popcount(x[c, 2i+j] ^ w[c, l, 2i+j]): words c against filters l. The last addition
// is hidden from LLVM in assembly: it would make trees of the sums of many words, and keep their leaves in more registers
// than there are. The one before is not, so that nothing is left of adding to zero. With spread, filter l reads copy l % 4
// of each word (see schedule.Replicate). Where LLVM loads one vector at a time, a.load2 loads two.
func xorPopcountBytesTile(name string, words, filters int, spread bool, a additions) *ir.Func {
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
		Name: name, Params: []ir.Param{acc, x, w}, Emit: tileText(name, words, filters, spread, a),
		Body: ir.Nest(loops, &ir.Store{Buf: "acc", Idx: []ir.Expr{l, i, j}, Op: ir.AddTo, Val: pop}),
	}
}

func tileText(name string, words, filters int, spread bool, a additions) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("declare <16 x i8> @llvm.ctpop.v16i8(<16 x i8>)")
	if a.load2 != "" {
		p("declare { <16 x i8>, <16 x i8> } @%s(ptr)", a.load2)
	}
	p("define internal void @%s(ptr %%acc, ptr %%x, ptr %%w) alwaysinline {", name)
	if !spread {
		p("  %%words = load <%d x i32>, ptr %%x, align 1", words)
	}
	for c := range words {
		if spread {
			p("  %%from%d = getelementptr inbounds i8, ptr %%x, i32 %d", c, 16*c)
			p("  %%x%[1]d = load <16 x i8>, ptr %%from%[1]d, align 1", c)
			continue
		}
		p("  %%all%[1]d = shufflevector <%[2]d x i32> %%words, <%[2]d x i32> poison, <4 x i32> <i32 %[1]d, i32 %[1]d, i32 %[1]d, i32 %[1]d>", c, words)
		p("  %%x%[1]d = bitcast <4 x i32> %%all%[1]d to <16 x i8>", c)
	}
	for f := range filters / 4 {
		p("  %%at%d = getelementptr inbounds i8, ptr %%acc, i32 %d", f, 16*f)
		p("  %%sum%[1]d.0 = load <16 x i8>, ptr %%at%[1]d, align 1", f)
	}
	for c := range words {
		for f := range filters / 4 {
			id := fmt.Sprintf("%d.%d", f, c)
			switch at := 4*filters*c + 16*f; {
			case a.load2 == "":
				p("  %%row%s = getelementptr inbounds i8, ptr %%w, i32 %d", id, at)
				p("  %%w%[1]s = load <16 x i8>, ptr %%row%[1]s, align 1", id)
			case f%2 == 0:
				p("  %%row%s = getelementptr inbounds i8, ptr %%w, i32 %d", id, at)
				p("  %%two%[1]s = call { <16 x i8>, <16 x i8> } @%[2]s(ptr %%row%[1]s)", id, a.load2)
				p("  %%w%[1]s = extractvalue { <16 x i8>, <16 x i8> } %%two%[1]s, 0", id)
			default:
				p("  %%w%s = extractvalue { <16 x i8>, <16 x i8> } %%two%d.%d, 1", id, f-1, c)
			}
			p("  %%differ%[1]s = xor <16 x i8> %%w%[1]s, %%x%[2]d", id, c)
			p("  %%count%[1]s = call <16 x i8> @llvm.ctpop.v16i8(<16 x i8> %%differ%[1]s)", id)
			if c < words-1 {
				p("  %%sum%[1]d.%[2]d = add <16 x i8> %%sum%[3]s, %%count%[3]s", f, c+1, id)
			} else {
				p("  %%sum%[1]d.%[2]d = call <16 x i8> asm sideeffect \"%[4]s\", \"=w,0,w\"(<16 x i8> %%sum%[3]s, <16 x i8> %%count%[3]s) nounwind memory(none)", f, c+1, id, a.add)
			}
		}
	}
	for f := range filters / 4 {
		p("  store <16 x i8> %%sum%[1]d.%[2]d, ptr %%at%[1]d, align 1", f, words)
	}
	p("  ret void")
	p("}")
	return b.String()
}

// addNeighbours adds neighbours: acc[l, i] += r[l, i, j] from bytes to 16 bits, acc[l] += r[l, i] from 16 to 32.
func addNeighbours(name string, to ir.Type, a additions) *ir.Func {
	l, i, j := ir.V("l"), ir.V("i"), ir.V("j")
	acc, r := out("acc", to, 4), in("r", ir.U16, 4)
	r.Shape = []int{4, 2}
	loops := []ir.Loop{{Var: "l", Extent: 4}, {Var: "i", Extent: 2}}
	idx, from := []ir.Expr{l}, []ir.Expr{l, i}
	vectors := []string{"8 x i16", "4 x i32"}
	if to == ir.U16 {
		acc.Shape, r.Shape, r.Type = []int{4, 2}, []int{4, 2, 2}, ir.U8
		loops = append(loops, ir.Loop{Var: "j", Extent: 2})
		idx, from = from, []ir.Expr{l, i, j}
		vectors = []string{"16 x i8", "8 x i16"}
	}
	text := fmt.Sprintf(`%sdefine internal void @%s(ptr %%acc, ptr %%r) alwaysinline {
  %%from = load <%s>, ptr %%r, align 1
  %%old = load <%s>, ptr %%acc, align 1
%s  store <%s> %%new, ptr %%acc, align 1
  ret void
}
`, a.declare, name, vectors[0], vectors[1], a.widen(vectors[0], vectors[1]), vectors[1])
	return &ir.Func{
		Name: name, Params: []ir.Param{acc, r}, Emit: text,
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
	text := fmt.Sprintf(`define internal void @%s(ptr %%acc) alwaysinline {
  store <16 x i8> zeroinitializer, ptr %%acc, align 1
  ret void
}
`, name)
	return &ir.Func{
		Name: name, Params: []ir.Param{acc}, Emit: text,
		Body: ir.Nest(loops, &ir.Store{Buf: "acc", Idx: idx, Val: ir.Const(t, 0)}),
	}
}
