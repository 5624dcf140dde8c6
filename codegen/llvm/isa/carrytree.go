package isa

import (
	"fmt"
	"math/bits"
	"strings"

	"ripc/targets/isa"
)

// carryTree counts the words of a window against a vector of filters by carry-save adders (Harley and Seal, see Warren, Hacker's Delight, 5-1): three words of the
// same weight become one, and one of twice the weight, each in one vpternlogd, and only what is left in the end is counted, by vpshufb. Words are kept as pairs
// (schedule.Pair), which saves the second difference of each, as in avx512_pair_popcnt_acc_x16.
func carryTree(i isa.Instr) Function {
	t := &treeText{i: i}
	t.line("define internal void @%s(ptr %%acc, ptr %%x, ptr %%w) alwaysinline {", i.Func.Name)
	t.line("  %%there = call ptr asm sideeffect \"\", \"=r,0,~{memory}\"(ptr %%x)") // else LLVM spreads all words at once, for several blocks of filters, and keeps them on the stack
	var ws []treeWord
	for r := range i.Rows {
		for s := range i.Taps {
			for c := 0; c < i.Words; c += 2 {
				ws = append(ws, treeWord{r, s, c})
			}
		}
	}
	sums := make([]treeSum, i.Positions)
	for len(ws) > 0 {
		n := min(treePairs, len(ws))
		for p := range sums {
			for _, w := range ws[:n] {
				t.pair(&sums[p], p, w)
			}
			t.fix(sums[p])
		}
		ws = ws[n:]
	}
	for p := range sums {
		t.count(&sums[p], p)
	}
	t.line("  ret void\n}")
	v, b, h := "<16 x i32>", "<64 x i8>", "<32 x i16>"
	return Function{[]Declaration{
		{v, "llvm.x86.avx512.pternlog.d.512", v + ", " + v + ", " + v + ", i32 immarg"},
		{b, "llvm.x86.avx512.pshuf.b.512", b + ", " + b},
		{h, "llvm.x86.avx512.pmaddubs.w.512", b + ", " + b},
		{v, "llvm.x86.avx512.pmaddw.d.512", h + ", " + h},
	}, t.String()}
}

// treePairs is how many pairs of words one position adds up before the next one does: their weights stay in registers meanwhile.
const treePairs = 4

// treeWord is the first word of a pair: row and tap of the window, and word of the pixel.
type treeWord struct{ row, tap, word int }

// treeSum are the vectors of a position that are not yet added up, by the power of two that their bits count.
type treeSum [][]string

// treeText writes the function.
type treeText struct {
	strings.Builder
	i isa.Instr
	n int // values so far
}

func (t *treeText) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// value writes a value and gives its name.
func (t *treeText) value(format string, args ...any) string {
	t.n++
	name := fmt.Sprintf("%%v%d", t.n)
	t.line("  %s = %s", name, fmt.Sprintf(format, args...))
	return name
}

// three is a function of three bits, by its truth table.
func (t *treeText) three(a, b, c string, table int) string {
	return t.value("call <16 x i32> @llvm.x86.avx512.pternlog.d.512(<16 x i32> %s, <16 x i32> %s, <16 x i32> %s, i32 %d)", a, b, c, table)
}

// Truth tables of vpternlogd.
const (
	parity   = 0x96
	majority = 0xE8
	kept     = 0xB2 // majority of a, u and v, by a, a^u^v and u: where a is the parity, u and v are equal
)

// pair adds two words at position p.
func (t *treeText) pair(s *treeSum, p int, w treeWord) {
	x := ((w.row*(t.i.Positions+t.i.Taps-1)+p+w.tap)*t.i.Words + w.word) * 4
	at := ((w.row*t.i.Taps+w.tap)*t.i.Words + w.word) * 4 * t.i.Lanes
	spread := func(at int) string {
		one := t.value("load i32, ptr %s, align 4", t.value("getelementptr i8, ptr %%there, i64 %d", at))
		in := t.value("insertelement <16 x i32> poison, i32 %s, i32 0", one)
		return t.value("shufflevector <16 x i32> %s, <16 x i32> poison, <16 x i32> zeroinitializer", in)
	}
	load := func(at int) string {
		return t.value("load <16 x i32>, ptr %s, align 4", t.value("getelementptr i8, ptr %%w, i64 %d", at))
	}
	u := t.value("xor <16 x i32> %s, %s", load(at), spread(x))
	other, spreadOther := load(at+4*t.i.Lanes), spread(x+4)
	if len(*s) == 0 {
		d := t.value("xor <16 x i32> %s, %s", other, spreadOther)
		*s = treeSum{{d}}
		t.add(s, 1, t.value("and <16 x i32> %s, %s", u, t.value("xor <16 x i32> %s, splat (i32 -1)", d)))
		return
	}
	old := (*s)[0][0]
	(*s)[0][0] = t.three(old, other, spreadOther, parity)
	t.add(s, 1, t.three(old, (*s)[0][0], u, kept))
}

// fix keeps LLVM from mixing what adds to s from here on with what has so far, by an empty piece of assembly that each vector goes through: it would begin many positions at once,
// for which there are no registers.
func (t *treeText) fix(s treeSum) {
	var vs []*string
	for _, at := range s {
		for k := range at {
			vs = append(vs, &at[k])
		}
	}
	const v = "<16 x i32>"
	var types, results, tied, operands []string
	for k := range vs {
		types, results = append(types, v), append(results, "=v")
		tied, operands = append(tied, fmt.Sprint(k)), append(operands, v+" "+*vs[k])
	}
	kind := v
	if len(vs) > 1 {
		kind = "{ " + strings.Join(types, ", ") + " }"
	}
	all := t.value("call %s asm sideeffect \"\", \"%s\"(%s)", kind, strings.Join(append(results, tied...), ","), strings.Join(operands, ", "))
	for k := range vs {
		if *vs[k] = all; len(vs) > 1 {
			*vs[k] = t.value("extractvalue %s %s, %d", kind, all, k)
		}
	}
}

// add adds a vector whose bits count 1<<level.
func (t *treeText) add(s *treeSum, level int, v string) {
	for len(*s) <= level {
		*s = append(*s, nil)
	}
	at := append((*s)[level], v)
	if len(at) == 3 {
		(*s)[level] = []string{t.three(at[0], at[1], at[2], parity)}
		t.add(s, level+1, t.three(at[0], at[1], at[2], majority))
		return
	}
	(*s)[level] = at
}

// halve adds two vectors of a level where that lets the next one add three: an adder of two and one of three cost less than to count one more.
func (t *treeText) halve(s *treeSum) {
	for level := range *s {
		if at := (*s)[level]; len(at) == 2 && level+1 < len(*s) && len((*s)[level+1]) == 2 {
			(*s)[level] = []string{t.value("xor <16 x i32> %s, %s", at[0], at[1])}
			t.add(s, level+1, t.value("and <16 x i32> %s, %s", at[0], at[1]))
		}
	}
}

// count adds to acc what the vectors of position p count: each nibble is looked up, times what it counts, as long as bytes hold the sums.
func (t *treeText) count(s *treeSum, p int) {
	t.halve(s)
	total := ""
	add := func(kind, a, b string) string {
		if a == "" {
			return b
		}
		return t.value("add %s %s, %s", kind, a, b)
	}
	bytes, base, most := "", 0, 0
	flush := func() {
		if bytes == "" {
			return
		}
		total = add("<32 x i16>", total, t.value("call <32 x i16> @llvm.x86.avx512.pmaddubs.w.512(<64 x i8> %s, <64 x i8> splat (i8 %d))", bytes, 1<<base))
		bytes, most = "", 0
	}
	for level, vs := range *s {
		for _, v := range vs {
			if bytes != "" && most+8<<(level-base) > 255 {
				flush()
			}
			if bytes == "" {
				base = level
			}
			most += 8 << (level - base)
			low := t.value("and <16 x i32> %s, splat (i32 252645135)", v)
			high := t.value("and <16 x i32> %s, splat (i32 252645135)", t.value("lshr <16 x i32> %s, splat (i32 4)", v))
			for _, nibbles := range []string{low, high} {
				bytes = add("<64 x i8>", bytes, t.value("call <64 x i8> @llvm.x86.avx512.pshuf.b.512(<64 x i8> %s, <64 x i8> %s)",
					nibbleCounts(1<<(level-base)), t.value("bitcast <16 x i32> %s to <64 x i8>", nibbles)))
			}
		}
	}
	flush()
	sum := t.value("call <16 x i32> @llvm.x86.avx512.pmaddw.d.512(<32 x i16> %s, <32 x i16> splat (i16 1))", total)
	acc := t.value("getelementptr i8, ptr %%acc, i64 %d", 4*t.i.Lanes*p)
	t.line("  store <16 x i32> %s, ptr %s, align 4", t.value("add <16 x i32> %s, %s", t.value("load <16 x i32>, ptr %s, align 4", acc), sum), acc)
}

// nibbleCounts is a table of the bits of each nibble, times what each of them counts.
func nibbleCounts(times int) string {
	return "<" + list(64, func(k int) string { return fmt.Sprintf("i8 %d", times*bits.OnesCount(uint(k%16))) }) + ">"
}
