package isa

import (
	"fmt"
	"strings"

	"ripc/ir"
)

// additions are the ways of an architecture to add.
type additions struct {
	// opaque is an addition of 16 bytes that LLVM does not reassociate with others, and calls what it calls for that: assembly, or
	// an intrinsic.
	opaque func(sum, count string) string
	calls  []Declaration
	load2  string // an intrinsic that loads two vectors at once, where LLVM does not see to it
	// widening adds neighbours of a vector to one of numbers twice as wide.
	declare []Declaration
	widen   func(from, to string) string
	// inMemory does the same for sums that are in memory: operands, results, constraints and text of the assembly.
	inMemory func(vectors int) assembly
}

// inAssembly is an addition of 16 bytes as LLVM cannot look into it, nor know how long it takes.
func inAssembly(text string) func(sum, count string) string {
	return func(sum, count string) string {
		return fmt.Sprintf("call <16 x i8> asm sideeffect %q, \"=w,0,w\"(<16 x i8> %s, <16 x i8> %s) nounwind memory(none)", text, sum, count)
	}
}

// arm64Additions are those of 64-bit Arm. For a core that works in order, LLVM has to know how long the opaque addition takes: it is
// the intrinsic of one that saturates, which sums that cannot wrap do not notice (arith.VerifyWidths proves that of all). Cores that find an
// order by themselves want the fewest registers, which assembly that stays where it is sees to.
func arm64Additions(inOrder bool) additions {
	a := additions{
		inMemory: arm64InMemory,
		opaque:   inAssembly("add $0.16b, $0.16b, $2.16b"),
		declare: []Declaration{
			{"<8 x i16>", "llvm.aarch64.neon.uaddlp.v8i16.v16i8", "<16 x i8>"},
			{"<4 x i32>", "llvm.aarch64.neon.uaddlp.v4i32.v8i16", "<8 x i16>"},
		},
		widen: func(from, to string) string {
			return fmt.Sprintf(`  %%pairs = call <%[2]s> @llvm.aarch64.neon.uaddlp.v%[3]s.v%[4]s(<%[1]s> %%from)
  %%new = add <%[2]s> %%old, %%pairs
`, from, to, strings.ReplaceAll(to, " x ", ""), strings.ReplaceAll(from, " x ", ""))
		},
	}
	if inOrder {
		const add = "llvm.aarch64.neon.uqadd.v16i8"
		a.calls = []Declaration{{"<16 x i8>", add, "<16 x i8>, <16 x i8>"}}
		a.opaque = func(sum, count string) string {
			return fmt.Sprintf("call <16 x i8> @%s(<16 x i8> %s, <16 x i8> %s)", add, sum, count)
		}
	}
	return a
}

func armAdditions() additions {
	return additions{
		load2:    "llvm.arm.neon.vld1x2.v16i8.p0",
		inMemory: armInMemory,
		opaque:   inAssembly("vadd.i8 ${0:q}, ${0:q}, ${2:q}"),
		declare: []Declaration{
			{"<8 x i16>", "llvm.arm.neon.vpadalu.v8i16.v16i8", "<8 x i16>, <16 x i8>"},
			{"<4 x i32>", "llvm.arm.neon.vpadalu.v4i32.v8i16", "<4 x i32>, <8 x i16>"},
			{"<8 x i16>", "llvm.arm.neon.vpaddlu.v8i16.v16i8", "<16 x i8>"},
			{"<4 x i32>", "llvm.arm.neon.vpaddlu.v4i32.v8i16", "<8 x i16>"},
			{"i1", "llvm.is.constant.v8i16", "<8 x i16>"},
			{"i1", "llvm.is.constant.v4i32", "<4 x i32>"},
		},
		widen: func(from, to string) string { // to a sum that LLVM knows, which is zero most often, nothing has to be set first
			return fmt.Sprintf(`  %%known = call i1 @llvm.is.constant.v%[3]s(<%[2]s> %%old)
  br i1 %%known, label %%first, label %%later
first:
  %%pairs = call <%[2]s> @llvm.arm.neon.vpaddlu.v%[3]s.v%[4]s(<%[1]s> %%from)
  %%set = add <%[2]s> %%old, %%pairs
  br label %%done
later:
  %%added = call <%[2]s> @llvm.arm.neon.vpadalu.v%[3]s.v%[4]s(<%[2]s> %%old, <%[1]s> %%from)
  br label %%done
done:
  %%new = phi <%[2]s> [ %%set, %%first ], [ %%added, %%later ]
`, from, to, strings.ReplaceAll(to, " x ", ""), strings.ReplaceAll(from, " x ", ""))
		},
	}
}

// isConstant is what tells whether LLVM knows a sum of 16 bytes.
func isConstant() Declaration { return Declaration{"i1", "llvm.is.constant.v16i8", "<16 x i8>"} }

// addOrKnown is an opaque addition, or a plain one to a sum that LLVM knows to be a constant, so that nothing is left of adding to zero: lines of text
// that name the result.
func (a additions) addOrKnown(id, old, count, result string) string {
	return fmt.Sprintf("  %%known%[1]s = call i1 @llvm.is.constant.v16i8(<16 x i8> %[2]s)\n  br i1 %%known%[1]s, label %%first%[1]s, label %%later%[1]s\nfirst%[1]s:\n", id, old) +
		fmt.Sprintf("  %%plain%[1]s = add <16 x i8> %[2]s, %[3]s\n  br label %%added%[1]s\nlater%[1]s:\n", id, old, count) +
		fmt.Sprintf("  %%opaque%[1]s = %[2]s\n  br label %%added%[1]s\nadded%[1]s:\n", id, a.opaque(old, count)) +
		fmt.Sprintf("  %[2]s = phi <16 x i8> [ %%plain%[1]s, %%first%[1]s ], [ %%opaque%[1]s, %%later%[1]s ]", id, result)
}

// tile is the function of isa.XorCountTile. The last addition is opaque to LLVM, which would make trees of the
// sums of many words, and keep their leaves in more registers than there are. The one before is not, so that nothing is left
// of adding to zero; a tile of one word has none before, and with a.load2, which loads two vectors where LLVM loads one at a time, it takes a
// plain addition to a sum that LLVM knows to be a constant.
func tile(name string, words, filters int, spread bool, a additions) Function {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	calls := []Declaration{{"<16 x i8>", "llvm.ctpop.v16i8", "<16 x i8>"}}
	calls = append(calls, a.calls...)
	if words == 1 && a.load2 != "" {
		calls = append(calls, isConstant())
	}
	if a.load2 != "" {
		calls = append(calls, Declaration{"{ <16 x i8>, <16 x i8> }", a.load2, "ptr"})
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
			switch {
			case c < words-1:
				p("  %%sum%[1]d.%[2]d = add <16 x i8> %%sum%[3]s, %%count%[3]s", f, c+1, id)
			case words == 1 && a.load2 != "":
				p("%s", a.addOrKnown(id, "%sum"+id, "%count"+id, fmt.Sprintf("%%sum%d.1", f)))
			default:
				p("  %%sum%d.%d = %s", f, c+1, a.opaque("%sum"+id, "%count"+id))
			}
		}
	}
	for f := range filters / 4 {
		p("  store <16 x i8> %%sum%[1]d.%[2]d, ptr %%at%[1]d, align 1", f, words)
	}
	p("  ret void")
	p("}")
	return Function{calls, b.String()}
}

// addNeighbours is the function of isa.WidenAdd: from bytes to 16 bits, or from 16 to 32.
func addNeighbours(name string, to ir.Type, a additions) Function {
	from, sums := "8 x i16", "4 x i32"
	if to == ir.U16 {
		from, sums = "16 x i8", "8 x i16"
	}
	return Function{a.declare, fmt.Sprintf(`define internal void @%[1]s(ptr %%acc, ptr %%r) alwaysinline {
  %%from = load <%[2]s>, ptr %%r, align 1
  %%old = load <%[3]s>, ptr %%acc, align 1
%[4]s  store <%[3]s> %%new, ptr %%acc, align 1
  ret void
}
`, name, from, sums, a.widen(from, sums))}
}

// clearVector is the function of isa.Clear.
func clearVector(name string) Function {
	return Function{nil, fmt.Sprintf(`define internal void @%s(ptr %%acc) alwaysinline {
  store <16 x i8> zeroinitializer, ptr %%acc, align 1
  ret void
}
`, name)}
}
