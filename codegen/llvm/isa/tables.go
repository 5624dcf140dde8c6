package isa

import (
	"fmt"
	"slices"
	"strings"

	"ripc/targets/isa"
)

// tables is the function of isa.Tables on x86, with 64 or 16 entries.
func tables(i isa.Instr) Function {
	t := tableText{name: i.Func.Name, planes: len(i.Func.Params) - 1, words: i.Func.Params[1].Shape[0], groups: i.Lanes, width: 64}
	switch {
	case i.Words == 64 && t.planes <= knownPlanes:
		return t.known()
	case i.Words == 64:
		return t.sixes()
	}
	if !slices.Contains(i.Needs, "avx512bw") {
		t.width = 32
	}
	return t.fours()
}

// tableText writes what makes the tables of the groups of a chunk of channels.
type tableText struct {
	strings.Builder
	name                  string
	planes, words, groups int
	width                 int // bytes of a register
}

func (t *tableText) line(format string, args ...any) { fmt.Fprintf(t, "  "+format+"\n", args...) }

// bytes is a constant of a register of bytes.
func (t *tableText) bytes(of func(lane int) int) string {
	return "<" + list(t.width, func(l int) string { return fmt.Sprint("i8 ", int8(of(l))) }) + ">"
}

func (t *tableText) head() {
	params := "ptr %t"
	for n := range t.planes {
		params += fmt.Sprintf(", ptr %%x%d", n)
	}
	fmt.Fprintf(t, "define internal void @%s(%s) alwaysinline {\n", t.name, params)
}

// channels puts a chunk of each plane into all lanes of lane bits, as bytes %bN.
func (t *tableText) channels(lane int) {
	for n := range t.planes {
		v := fmt.Sprintf("%%v%d", n)
		t.line("%s = load i%d, ptr %%x%d, align 4", v, 32*t.words, n)
		if lane > 32*t.words {
			t.line("%%z%d = zext i32 %s to i64", n, v)
			v = fmt.Sprintf("%%z%d", n)
		}
		k := t.width * 8 / lane
		t.line("%%i%d = insertelement <%d x i%d> poison, i%d %s, i32 0", n, k, lane, lane, v)
		t.line("%%s%[1]d = shufflevector <%[2]d x i%[3]d> %%i%[1]d, <%[2]d x i%[3]d> poison, <%[2]d x i32> zeroinitializer", n, k, lane)
		t.line("%%b%[1]d = bitcast <%[2]d x i%[3]d> %%s%[1]d to <%[4]d x i8>", n, k, lane, t.width)
	}
}

// count adds what a plane counts to twice what those above it count, and gives the name of the sum.
func (t *tableText) count(above, plane, name string) string {
	if above == "" {
		return plane
	}
	t.line("%%d%[1]s = add <%[2]d x i8> %[3]s, %[3]s", name, t.width, above)
	t.line("%%c%[1]s = add <%[2]d x i8> %%d%[1]s, %[3]s", name, t.width, plane)
	return "%c" + name
}

// sixes makes tables of 64 entries, of any number of planes: first those of 3 channels each, of 8 entries, eight in a register, by vpmultishiftqb and
// vpopcntb; then of each two the sums of all pairs of entries, by two vpermb.
func (t *tableText) sixes() Function {
	t.head()
	t.channels(64)
	const reg = "<64 x i8>"
	bits := 32 * t.words
	for r := range (2*t.groups + 7) / 8 {
		half := func(lane int) int { return 8*r + lane/8 }
		mask := t.bytes(func(l int) int { return 1<<max(0, min(3, bits-3*half(l))) - 1 })
		sum := ""
		for n := t.planes - 1; n >= 0; n-- {
			id := fmt.Sprintf("%d.%d", r, n)
			t.line("%%f%[1]s = call %[2]s @llvm.x86.avx512.pmultishift.qb.512(%[2]s %[3]s, %[2]s %%b%[4]d)", id, reg, t.bytes(func(l int) int { return 3 * half(l) % 64 }), n)
			t.line("%%m%[1]s = and %[2]s %%f%[1]s, %[3]s", id, reg, mask)
			t.line("%%e%[1]s = xor %[2]s %%m%[1]s, %[3]s", id, reg, t.bytes(func(l int) int { return l % 8 }))
			t.line("%%p%[1]s = call %[2]s @llvm.ctpop.v64i8(%[2]s %%e%[1]s)", id, reg)
			sum = t.count(sum, "%p"+id, id)
		}
		for q := range min(4, t.groups-4*r) {
			g := 4*r + q
			t.line("%%lo%[1]d = call %[2]s @llvm.x86.avx512.permvar.qi.512(%[2]s %[3]s, %[2]s %[4]s)", g, reg, sum, t.bytes(func(l int) int { return l%8 + 16*q }))
			t.line("%%hi%[1]d = call %[2]s @llvm.x86.avx512.permvar.qi.512(%[2]s %[3]s, %[2]s %[4]s)", g, reg, sum, t.bytes(func(l int) int { return l/8 + 16*q + 8 }))
			t.line("%%y%[1]d = add %[2]s %%lo%[1]d, %%hi%[1]d", g, reg)
			t.line("%%at%d = getelementptr inbounds i8, ptr %%t, i64 %d", g, 64*g)
			t.line("store %[1]s %%y%[2]d, ptr %%at%[2]d, align 1", reg, g)
		}
	}
	return Function{[]Declaration{
		{reg, "llvm.x86.avx512.pmultishift.qb.512", reg + ", " + reg},
		{reg, "llvm.x86.avx512.permvar.qi.512", reg + ", " + reg},
		{reg, "llvm.ctpop.v64i8", reg},
	}, t.String() + "  ret void\n}\n"}
}

// knownPlanes is the number of planes up to which all that 3 channels may hold is so little that their tables, of 8 bytes each, are a constant:
// 512 bytes of 2 planes, 4 KiB of 3.
const knownPlanes = 3

// known makes tables of 64 entries of two of 3 channels each, which are not computed but read: pdep brings the bits that say which together in fields of 8
// bits, or of 16. So a table takes a shuffle and an addition beside what reads it, and hardly longer than to store it, where sixes takes five
// operations of vectors.
func (t *tableText) known() Function {
	const reg = "<64 x i8>"
	field := 8
	if 3*t.planes > field {
		field = 16
	}
	fmt.Fprintf(t, "@%s.halves = private unnamed_addr constant [%d x i64] [%s], align 64\n", t.name, 1<<(3*t.planes), list(1<<(3*t.planes), t.half))
	t.head()
	for n := range t.planes {
		t.line("%%v%d = load i%d, ptr %%x%[1]d, align 4", n, 32*t.words)
		t.line("%%z%d = zext i%d %%v%[1]d to i128", n, 32*t.words)
	}
	read := func(name, from string) {
		t.line("%%i%s = and i64 %s, %d", name, from, 1<<field-1)
		t.line("%%p%[1]s = getelementptr inbounds i64, ptr @%[2]s.halves, i64 %%i%[1]s", name, t.name)
		t.line("%%h%[1]s = load i64, ptr %%p%[1]s, align 8", name)
		t.line("%%e%[1]s = insertelement <8 x i64> poison, i64 %%h%[1]s, i32 0", name)
		t.line("%%s%[1]s = shufflevector <8 x i64> %%e%[1]s, <8 x i64> poison, <8 x i32> zeroinitializer", name)
		t.line("%%b%[1]s = bitcast <8 x i64> %%s%[1]s to %[2]s", name, reg)
	}
	each := 64 / (2 * field) // groups whose fields a word holds
	for g := range t.groups {
		next := fmt.Sprintf("%%next%d", g)
		if g%each == 0 {
			next = t.fields(g, field, 6*g)
		} else {
			t.line("%s = lshr i64 %%f%d, %d", next, g-1, 2*field)
		}
		// Opaque, so that LLVM shifts by two fields and takes bytes, and does not shift and mask each field by itself.
		t.line("%%f%d = call i64 asm \"\", \"=r,0\"(i64 %s)", g, next)
		t.line("%%g%d = lshr i64 %%f%[1]d, %d", g, field)
		lo, hi := fmt.Sprintf("%d.lo", g), fmt.Sprintf("%d.hi", g)
		read(lo, fmt.Sprintf("%%f%d", g))
		read(hi, fmt.Sprintf("%%g%d", g))
		t.line("%%r%d = call %[2]s @llvm.x86.avx512.pshuf.b.512(%[2]s %%b%[3]s, %[2]s %[4]s)", g, reg, hi, t.bytes(func(l int) int { return l / 8 }))
		t.line("%%y%[1]d = add %[2]s %%b%[3]s, %%r%[1]d", g, reg, lo)
		t.line("%%at%d = getelementptr inbounds i8, ptr %%t, i64 %d", g, 64*g)
		t.line("store %[1]s %%y%[2]d, ptr %%at%[2]d, align 1", reg, g)
	}
	return Function{[]Declaration{
		{"i64", "llvm.x86.bmi.pdep.64", "i64, i64"},
		{reg, "llvm.x86.avx512.pshuf.b.512", reg + ", " + reg},
	}, t.String() + "  ret void\n}\n"}
}

// fields is the name of a word of fields of so many bits: each has 3 channels, from the first on, and the planes of a channel side by side.
func (t *tableText) fields(g, field, first int) string {
	all := ""
	for n := range t.planes {
		var mask uint64
		for at := 0; at < 64; at += field {
			for c := range 3 {
				mask |= 1 << (at + c*t.planes + n)
			}
		}
		id := fmt.Sprintf("%d.%d", g, n)
		t.line("%%after%s = lshr i128 %%z%d, %d", id, n, first)
		t.line("%%from%[1]s = trunc i128 %%after%[1]s to i64", id)
		t.line("%%in%[1]s = call i64 @llvm.x86.bmi.pdep.64(i64 %%from%[1]s, i64 %[2]d)", id, int64(mask))
		if all == "" {
			all = "%in" + id
			continue
		}
		t.line("%%all%[1]s = or i64 %[2]s, %%in%[1]s", id, all)
		all = "%all" + id
	}
	return all
}

// half is what 3 channels count, of which held are the bits, all planes of a channel side by side: a byte for each of 8 entries.
func (t *tableText) half(held int) string {
	var counts uint64
	for e := range 8 {
		count := 0
		for c := range 3 {
			for n := range t.planes {
				count += (held>>(c*t.planes+n)&1 ^ e>>c&1) << n
			}
		}
		counts |= uint64(count) << (8 * e)
	}
	return fmt.Sprint("i64 ", int64(counts))
}

// fours makes tables of 16 entries, as many as a register holds at a time: vpshufb and vpsrlvd bring a group's channels to all
// bytes of its table, vpshufb counts.
func (t *tableText) fours() Function {
	t.head()
	t.channels(32)
	reg, words := fmt.Sprintf("<%d x i8>", t.width), fmt.Sprintf("<%d x i32>", t.width/4)
	shuffle := map[int]string{32: "llvm.x86.avx2.pshuf.b", 64: "llvm.x86.avx512.pshuf.b.512"}[t.width]
	each := t.width / 16
	right := list(t.width/4, func(l int) string { return fmt.Sprint("i32 ", l/4%2*4) })
	for r := range t.groups / each {
		sum := ""
		for n := t.planes - 1; n >= 0; n-- {
			id := fmt.Sprintf("%d.%d", r, n)
			t.line("%%f%[1]s = call %[2]s @%[3]s(%[2]s %%b%[4]d, %[2]s %[5]s)", id, reg, shuffle, n, t.bytes(func(l int) int { return (r*each + l/16) / 2 }))
			t.line("%%w%[1]s = bitcast %[2]s %%f%[1]s to %[3]s", id, reg, words)
			t.line("%%r%[1]s = lshr %[2]s %%w%[1]s, <%[3]s>", id, words, right)
			t.line("%%g%[1]s = bitcast %[2]s %%r%[1]s to %[3]s", id, words, reg)
			t.line("%%m%[1]s = and %[2]s %%g%[1]s, splat (i8 15)", id, reg)
			t.line("%%e%[1]s = xor %[2]s %%m%[1]s, %[3]s", id, reg, t.bytes(func(l int) int { return l % 16 }))
			t.line("%%p%[1]s = call %[2]s @%[3]s(%[2]s %[4]s, %[2]s %%e%[1]s)", id, reg, shuffle, t.bytes(func(l int) int { return l&1 + l>>1&1 + l>>2&1 + l>>3&1 }))
			sum = t.count(sum, "%p"+id, id)
		}
		t.line("%%at%d = getelementptr inbounds i8, ptr %%t, i64 %d", r, t.width*r)
		t.line("store %s %s, ptr %%at%d, align 1", reg, sum, r)
	}
	return Function{[]Declaration{{reg, shuffle, reg + ", " + reg}}, t.String() + "  ret void\n}\n"}
}

// lookUp is the function of isa.LookUp on x86: vpermb, which takes no more of an index than 6 bits, or vpshufb of a table that is in
// each 128 bits of a register; of indices of 128 and more that would give 0, hence vpand. Several registers of filters read one table. The
// addition is opaque: of those that LLVM knows it makes trees of the sums of a whole loop body, which do not fit the registers.
func lookUp(i isa.Instr) Function {
	width := min(64, i.Lanes)
	if !slices.Contains(i.Needs, "avx512bw") {
		width = min(32, i.Lanes)
	}
	if i.Words == 64 && i.Lanes == 2*width {
		return lookUpPair(i)
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format+"\n", args...) }
	fmt.Fprintf(&b, "define internal void @%s(ptr %%acc, ptr %%t, ptr %%w) alwaysinline {\n", i.Func.Name)
	reg, find := fmt.Sprintf("<%d x i8>", width), "llvm.x86.avx512.permvar.qi.512"
	full := "<64 x i8>" // what the instruction takes
	if i.Words == 16 {
		full, find = reg, map[int]string{16: "llvm.x86.ssse3.pshuf.b.128", 32: "llvm.x86.avx2.pshuf.b", 64: "llvm.x86.avx512.pshuf.b.512"}[width]
		n := width / 8
		line("%%one = load <2 x i64>, ptr %%t, align 1")
		line("%%all = shufflevector <2 x i64> %%one, <2 x i64> poison, %s", Shuffle(n, func(k int) int { return k % 2 }))
		line("%%ts = bitcast <%d x i64> %%all to %s", n, full)
	} else {
		line("%%ts = load %s, ptr %%t, align 1", full)
	}
	for k := range i.Lanes / width {
		line("%%from%d = getelementptr inbounds i8, ptr %%w, i64 %d", k, k*width)
		line("%%to%d = getelementptr inbounds i8, ptr %%acc, i64 %d", k, k*width)
		line("%%w%[1]d = load %[2]s, ptr %%from%[1]d, align 1", k, reg)
		at, found := fmt.Sprintf("%%w%d", k), fmt.Sprintf("%%found%d", k)
		switch {
		case i.Words == 16:
			line("%%low%d = and %s %s, splat (i8 15)", k, reg, at)
			at = fmt.Sprintf("%%low%d", k)
		case width < 64:
			line("%%wide%[1]d = shufflevector %[2]s %[3]s, %[2]s poison, %[4]s", k, reg, at, ShuffleRun(0, width, 64))
			at = fmt.Sprintf("%%wide%d", k)
		}
		line("%[1]s = call %[2]s @%[3]s(%[2]s %%ts, %[2]s %[4]s)", found, full, find, at)
		if full != reg {
			line("%%part%[1]d = shufflevector %[2]s %[3]s, %[2]s poison, %[4]s", k, full, found, ShuffleRun(0, width, width))
			found = fmt.Sprintf("%%part%d", k)
		}
		line("%%old%[1]d = load %[2]s, ptr %%to%[1]d, align 1", k, reg)
		line("%%new%[1]d = call %[2]s asm \"vpaddusb $2, $1, $0\", \"=v,v,v\"(%[2]s %%old%[1]d, %[2]s %[3]s)", k, reg, found)
		line("store %[2]s %%new%[1]d, ptr %%to%[1]d, align 1", k, reg)
	}
	return Function{[]Declaration{{full, find, full + ", " + full}}, b.String() + "  ret void\n}\n"}
}

// lookUpPair is lookUp of two registers of filters by vpermb: two look-ups, then two additions, of a table that is loaded once. In this order a Zen 4 begins both in two cycles,
// in LLVM's, where additions stand between, in 2.5, and 2.4 where each look-up reads its table from memory, as more than one load of 64 bytes in 1.15 cycles is too much
// for it. So all five operations are one piece of assembly. Of a sum that LLVM knows to be a constant, zero, no addition is left.
func lookUpPair(i isa.Instr) Function {
	const reg = "<64 x i8>"
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format+"\n", args...) }
	fmt.Fprintf(&b, "define internal void @%s(ptr %%acc, ptr %%t, ptr %%w) alwaysinline {\n", i.Func.Name)
	for k := range 2 {
		line("%%from%d = getelementptr inbounds i8, ptr %%w, i64 %d", k, 64*k)
		line("%%to%d = getelementptr inbounds i8, ptr %%acc, i64 %d", k, 64*k)
		line("%%w%[1]d = load %[2]s, ptr %%from%[1]d, align 1", k, reg)
		line("%%old%[1]d = load %[2]s, ptr %%to%[1]d, align 1", k, reg)
	}
	line("%%known = call i1 @llvm.is.constant.v64i8(%s %%old0)", reg)
	line("br i1 %%known, label %%first, label %%later")
	b.WriteString("first:\n")
	line("%%set = call { %[1]s, %[1]s } asm \"vmovdqu64 $2, $1\\0Avpermb $1, $3, $0\\0Avpermb $1, $4, $1\", \"=&v,=&v,*m,v,v\"(ptr elementtype(%[1]s) %%t, %[1]s %%w0, %[1]s %%w1)", reg)
	for k := range 2 {
		line("%%found%[1]d = extractvalue { %[2]s, %[2]s } %%set, %[1]d", k, reg)
		line("%%sum%[1]d = add %[2]s %%old%[1]d, %%found%[1]d", k, reg)
	}
	line("br label %%done")
	b.WriteString("later:\n")
	line("%%all = call { %[1]s, %[1]s, %[1]s, %[1]s } asm \"vmovdqu64 $4, $2\\0Avpermb $2, $5, $3\\0Avpermb $2, $6, $2\\0Avpaddusb $3, $0, $0\\0Avpaddusb $2, $1, $1\", "+
		"\"=&v,=&v,=&v,=&v,*m,v,v,0,1\"(ptr elementtype(%[1]s) %%t, %[1]s %%w0, %[1]s %%w1, %[1]s %%old0, %[1]s %%old1)", reg)
	for k := range 2 {
		line("%%added%[1]d = extractvalue { %[2]s, %[2]s, %[2]s, %[2]s } %%all, %[1]d", k, reg)
	}
	line("br label %%done")
	b.WriteString("done:\n")
	for k := range 2 {
		line("%%new%[1]d = phi %[2]s [ %%sum%[1]d, %%first ], [ %%added%[1]d, %%later ]", k, reg)
	}
	for k := range 2 {
		line("store %[2]s %%new%[1]d, ptr %%to%[1]d, align 1", k, reg)
	}
	return Function{[]Declaration{{"i1", "llvm.is.constant.v64i8", reg}}, b.String() + "  ret void\n}\n"}
}
