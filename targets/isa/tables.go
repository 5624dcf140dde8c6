package isa

import (
	"fmt"
	"math"
	"strings"

	"ripc/ir"
)

// MaxPlanes is the number of planes up to which there are instructions that make tables.
const MaxPlanes = 4

// x86Tables are the instructions that make tables and look counts up in them: of 6 channels by vpermb, of 4 by vpshufb.
func x86Tables() []Instr {
	avx2, avx512 := []string{"avx2"}, []string{"avx512f", "avx512bw"}
	vbmi := with(avx512, "avx512vbmi")
	var is []Instr
	look := func(needs []string, entries int, lanes ...int) {
		for _, n := range lanes {
			name := fmt.Sprintf("%s_lookup%d_x%d", strings.TrimSuffix(needs[0], "f"), entries, n)
			is = append(is, Instr{Func: lookUp(name, []int{n}, entries, false), Meaning: LookUp, Arch: "x86_64", Needs: needs, Lanes: n, Words: entries, Type: ir.U8})
			const register = 64
			if n < register || needs[0] == "avx2" { // which takes 3 % longer with them
				continue
			}
			shape := []int{register / 2, 2}
			if n > register {
				shape = append([]int{n / register}, shape...)
			}
			is = append(is, Instr{Func: lookUp(name+"_apart", shape, entries, false), Meaning: LookUp, Arch: "x86_64", Needs: needs, Lanes: n, Words: entries, Type: ir.U8, Apart: register})
		}
	}
	look(vbmi, 64, 32, 64, 128)
	look(avx512, 16, 64, 128)
	look(avx2, 16, 16, 32, 64)
	for n := 1; n <= MaxPlanes; n++ {
		made := func(name string, needs []string, groups, bits, words int) {
			f := makeTables(fmt.Sprintf("%s_a%d", name, n), n, groups, bits, words, false)
			is = append(is, Instr{Func: f, Meaning: Tables, Arch: "x86_64", Needs: needs, Lanes: groups, Words: 1 << bits, Type: ir.U8})
		}
		for _, c := range []struct{ groups, words int }{{11, 2}, {8, 2}, {6, 1}, {4, 1}, {3, 1}} { // a single chunk has those that its channels need (cost.GroupsOf)
			made(fmt.Sprintf("avx512_tables64_x%d", c.groups), with(with(vbmi, "avx512bitalg"), "bmi2"), c.groups, 6, c.words)
		}
		for _, g := range []int{8, 4} {
			made(fmt.Sprintf("avx512_tables16_x%d", g), avx512, g, 4, 1)
			made(fmt.Sprintf("avx2_tables16_x%d", g), avx2, g, 4, 1)
		}
	}
	return is
}

// arm64Tables are the instructions that make tables of 4 channels, a register each, or of 5, two registers, and look counts up in them: tbl.
func arm64Tables() []Instr {
	neon := []string{"neon"}
	var is []Instr
	for _, c := range []struct {
		entries int
		lanes   []int
	}{{16, []int{8, 16, 32, 64}}, {32, []int{16, 32, 64}}} {
		for _, n := range c.lanes {
			f := lookUp(fmt.Sprintf("neon_lookup%d_x%d", c.entries, n), []int{n}, c.entries, true)
			is = append(is, Instr{Func: f, Meaning: LookUp, Arch: "aarch64", Needs: neon, Lanes: n, Words: c.entries, Type: ir.U8, Bounded: true})
		}
	}
	const entries = 16
	for _, n := range []int{32, 64} {
		f := lookUpHalves(fmt.Sprintf("neon_lookup%d_halves_x%d", entries, n), n, entries)
		is = append(is, Instr{Func: f, Meaning: LookUp, Arch: "aarch64", Needs: neon, Lanes: n, Words: entries, Type: ir.U8, Bounded: true, Halves: true})
	}
	for _, n := range []int{32, 64} {
		for positions := 1; positions <= 4; positions++ {
			for _, groups := range []int{8, 12, 16} {
				i := Instr{Meaning: LookUpRow, Arch: "aarch64", Needs: neon, Lanes: n, Words: entries, Positions: positions, Groups: groups, Type: ir.U8, Bounded: true}
				i.Func = lookUpRow(fmt.Sprintf("neon_lookup%d_row_%dx%dx%d", entries, positions, groups, n), i, ir.Range{})
				is = append(is, i)
			}
		}
	}
	for _, n := range []int{32, 64} {
		const sums = 128 // of 16 bits, which half of the registers hold
		// Bytes with signs have what one of two groups finds the other way round.
		wide := wideRows{name: fmt.Sprintf("neon_lookup%d", entries), arch: "aarch64", filters: n, sums: sums, entries: entries, most: func(int) int64 { return math.MaxInt8 }}
		is = append(is, wide.list()...)
	}
	for positions := 1; positions <= 8; positions++ {
		for _, groups := range []int{8, 16} { // the tables of a word are made together
			const n = 32
			f := lookUpHalvesRow(fmt.Sprintf("neon_lookup%d_halves_row_%dx%dx%d", entries, positions, groups, n), positions, groups, n, entries)
			is = append(is, Instr{Func: f, Meaning: LookUpRow, Arch: "aarch64", Needs: neon, Lanes: n, Words: entries, Positions: positions, Groups: groups, Type: ir.U16, Bounded: true, Halves: true})
		}
	}
	for n := 1; n <= MaxPlanes; n++ {
		made := func(groups, bits, words int) {
			f := makeTables(fmt.Sprintf("neon_tables%d_x%d_a%d", 1<<bits, groups, n), n, groups, bits, words, false)
			is = append(is, Instr{Func: f, Meaning: Tables, Arch: "aarch64", Needs: neon, Lanes: groups, Words: 1 << bits, Type: ir.U8})
			if n > 2 || bits > 4 { // half an entry does not hold the counts of more planes
				return
			}
			f = makeTables(fmt.Sprintf("neon_tables%d_halves_x%d_a%d", 1<<bits, groups, n), n, groups, bits, words, true)
			is = append(is, Instr{Func: f, Meaning: Tables, Arch: "aarch64", Needs: neon, Lanes: groups, Words: 1 << bits, Type: ir.U8, Halves: true})
		}
		for _, g := range []int{8, 4} {
			made(g, 4, 1)
		}
		for _, c := range []struct{ groups, words int }{{13, 2}, {12, 2}, {8, 2}, {7, 1}, {4, 1}} { // a single chunk has those that its channels need (cost.GroupsOf)
			made(c.groups, 5, c.words)
		}
	}
	return is
}

// armTables are the instructions that make tables of 4 channels, two registers of 8 bytes each, and look counts up in them: vtbl.
func armTables() []Instr {
	const entries, bits = 16, 4
	neon := []string{"neon"}
	var is []Instr
	for _, n := range []int{8, 16, 32} {
		f := lookUp(fmt.Sprintf("armv7_lookup%d_x%d", entries, n), []int{n}, entries, true)
		is = append(is, Instr{Func: f, Meaning: LookUp, Arch: "arm", Needs: neon, Lanes: n, Words: entries, Type: ir.U8, Bounded: true})
	}
	const filters, sums, farthest = 32, 128, 1020 // how far loads reach
	wide := wideRows{name: fmt.Sprintf("armv7_lookup%d", entries), arch: "arm", filters: filters, sums: sums, entries: entries, most: func(groups int) int64 { return math.MaxUint8 / int64(groups) }}
	for _, i := range wide.list() {
		if i.Words*((i.Positions-1)*i.Stride*i.Groups+i.Groups) <= farthest+8 {
			is = append(is, i)
		}
	}
	for n := 1; n <= MaxPlanes; n++ {
		for _, g := range []int{8, 4} {
			f := makeTables(fmt.Sprintf("armv7_tables%d_x%d_a%d", entries, g, n), n, g, bits, 1, false)
			is = append(is, Instr{Func: f, Meaning: Tables, Arch: "arm", Needs: neon, Lanes: g, Words: entries, Type: ir.U8})
		}
	}
	return is
}

// lookUp is acc[l] += t[w[l]] on bytes, for lanes l that have a loop for each dimension of shape in w, of a table whose number of entries is
// a power of two. Higher bits of w do not count, or, if bounded, what is no entry gives 0.
func lookUp(name string, shape []int, entries int, bounded bool) *ir.Func {
	n := 1
	for _, d := range shape {
		n *= d
	}
	acc, t, w := out("acc", ir.U8, n), in("t", ir.U8, entries), in("w", ir.U8, n)
	w.Shape = shape
	var lanes []ir.Loop
	var idx []ir.Expr
	var at ir.Expr
	for d, name := range []string{"l", "k", "j"}[:len(shape)] {
		lanes, idx = append(lanes, ir.Loop{Var: name, Extent: shape[d]}), append(idx, ir.V(name))
		n /= shape[d]
		step := idx[d]
		if n > 1 {
			step = ir.Bin(ir.Mul, step, ir.Int(n))
		}
		if at == nil {
			at = step
		} else {
			at = ir.Bin(ir.Add, at, step)
		}
	}
	entry := ir.At(w.Buffer, idx...)
	var found ir.Expr = ir.At(t.Buffer, ir.CastTo(ir.I64, ir.Bin(ir.And, entry, ir.Const(ir.U8, int64(entries-1)))))
	if bounded {
		found = &ir.Select{Cond: ir.Bin(ir.Lt, entry, ir.Const(ir.U8, int64(entries))), A: found, B: ir.Const(ir.U8, 0)}
	}
	return &ir.Func{Name: name, Params: []ir.Param{acc, t, w}, Body: ir.Nest(lanes, &ir.Store{Buf: "acc", Idx: []ir.Expr{at}, Op: ir.AddTo, Val: found})}
}

// lookUpHalves is acc[p, l] += (t[w[l]] >> 4 * p) & 15 on bytes, for halves p of an entry; what is no entry gives 0.
func lookUpHalves(name string, filters, entries int) *ir.Func {
	acc, t, w := out("acc", ir.U8, 0), in("t", ir.U8, entries), in("w", ir.U8, filters)
	acc.Shape = []int{2, filters}
	p, l := ir.V("p"), ir.V("l")
	found := half(bounded(entries, ir.At(w.Buffer, l), func(entry ir.Expr) ir.Expr { return ir.At(t.Buffer, entry) }), p)
	loops := []ir.Loop{{Var: "p", Extent: 2}, {Var: "l", Extent: filters}}
	return &ir.Func{Name: name, Params: []ir.Param{acc, t, w}, Body: ir.Nest(loops, &ir.Store{Buf: "acc", Idx: []ir.Expr{p, l}, Op: ir.AddTo, Val: found})}
}

// lookUpHalvesRow is acc[q, p, l] += (t[q, g, w[g, l]] >> 4 * p) & 15 in 16 bits, for all groups g, so few that a byte holds what they add, and halves p of an entry.
func lookUpHalvesRow(name string, positions, groups, filters, entries int) *ir.Func {
	acc, t, w := out("acc", ir.U16, 0), in("t", ir.U8, 0), in("w", ir.U8, 0)
	acc.Shape, t.Shape, w.Shape = []int{positions, 2, filters}, []int{positions, groups, entries}, []int{groups, filters}
	q, p, g, l := ir.V("q"), ir.V("p"), ir.V("g"), ir.V("l")
	found := half(bounded(entries, ir.At(w.Buffer, g, l), func(entry ir.Expr) ir.Expr { return ir.At(t.Buffer, q, g, entry) }), p)
	loops := []ir.Loop{{Var: "g", Extent: groups}, {Var: "q", Extent: positions}, {Var: "p", Extent: 2}, {Var: "l", Extent: filters}}
	return &ir.Func{Name: name, Params: []ir.Param{acc, t, w}, Body: ir.Nest(loops, &ir.Store{Buf: "acc", Idx: []ir.Expr{q, p, l}, Op: ir.AddTo, Val: ir.CastTo(ir.U16, found)})}
}

// bounded is what a table of so many entries has for entry, 0 where that is none.
func bounded(entries int, entry ir.Expr, of func(entry ir.Expr) ir.Expr) ir.Expr {
	return &ir.Select{
		Cond: ir.Bin(ir.Lt, entry, ir.Const(ir.U8, int64(entries))),
		A:    of(ir.CastTo(ir.I64, ir.Bin(ir.And, entry, ir.Const(ir.U8, int64(entries-1))))),
		B:    ir.Const(ir.U8, 0),
	}
}

// half is the half of an entry for positions of half p of a row.
func half(found, p ir.Expr) ir.Expr {
	return ir.Bin(ir.And, ir.Bin(ir.Shr, found, ir.Bin(ir.Mul, ir.CastTo(ir.U8, p), ir.Const(ir.U8, 4))), ir.Const(ir.U8, 15))
}

// wideRows are instructions that look up in sums of 16 bits, for so many filters and as many positions as there are sums for.
type wideRows struct {
	name, arch             string
	filters, sums, entries int
	most                   func(groups int) int64 // what an entry may count
}

func (r wideRows) list() []Instr {
	var is []Instr
	for positions := 1; positions <= r.sums/r.filters; positions++ {
		for _, groups := range []int{4, 8, 16} {
			for _, taps := range []int{1, 3, 5} {
				for stride := 1; stride <= min(2, positions); stride++ { // of one position there is none
					i := Instr{Meaning: LookUpRow, Arch: r.arch, Needs: []string{"neon"}, Lanes: r.filters, Words: r.entries, Positions: positions, Taps: taps, Groups: groups, Stride: stride, Type: ir.U16, Bounded: true}
					i.Func = lookUpRow(fmt.Sprintf("%s_wide_row_%dx%dx%dx%d_s%d", r.name, positions, taps, groups, r.filters, stride), i, ir.Range{From: 0, To: r.most(groups)})
					is = append(is, i)
				}
			}
		}
	}
	return is
}

// lookUpRow is what i means: acc[p, l] += t[stride*p+k, g, w[k, g, l]] in its type, for all taps k, if there are several, and groups g, of tables of such numbers; what is no entry gives 0.
func lookUpRow(name string, i Instr, numbers ir.Range) *ir.Func {
	positions, stride, taps, groups, filters, entries := i.Positions, max(1, i.Stride), max(1, i.Taps), i.Groups, i.Lanes, i.Words
	acc, t, w := out("acc", i.Type, 0), in("t", ir.U8, 0), in("w", ir.U8, 0)
	acc.Shape, t.Shape, w.Shape = []int{positions, filters}, []int{stride*(positions-1) + taps, groups, entries}, []int{taps, groups, filters}
	t.Range = numbers
	p, k, g, l := ir.V("p"), ir.V("k"), ir.V("g"), ir.V("l")
	var pixel ir.Expr = p
	if stride > 1 {
		pixel = ir.Bin(ir.Mul, p, ir.Int(stride))
	}
	loops := []ir.Loop{{Var: "k", Extent: taps}, {Var: "g", Extent: groups}, {Var: "p", Extent: positions}, {Var: "l", Extent: filters}}
	idx := []ir.Expr{k, g, l}
	if taps > 1 {
		pixel = ir.Bin(ir.Add, pixel, k)
	} else {
		loops, idx, w.Shape = loops[1:], idx[1:], w.Shape[1:]
	}
	found := bounded(entries, ir.At(w.Buffer, idx...), func(entry ir.Expr) ir.Expr { return ir.At(t.Buffer, pixel, g, entry) })
	return &ir.Func{Name: name, Params: []ir.Param{acc, t, w}, Body: ir.Nest(loops, &ir.Store{Buf: "acc", Idx: []ir.Expr{p, l}, Op: ir.AddTo, Val: ir.CastTo(i.Type, found)})}
}

// makeTables is t[j, e] = sum over planes n of 2^n * popcount(group j of x_n ^ e), groups being neighbouring channels of one word or of
// two, the first one's channels lowest. Of halves it is also 16 times that of y_n.
func makeTables(name string, planes, groups, bits, words int, halves bool) *ir.Func {
	t := out("t", ir.U8, groups)
	t.Shape = append(t.Shape, 1<<bits)
	j, e := ir.V("j"), ir.V("e")
	f := &ir.Func{Name: name, Params: []ir.Param{t}}
	chunk := ir.U32
	if words == 2 {
		chunk = ir.U64
	}
	pixel := func(name string) ir.Expr {
		var count ir.Expr
		for n := range planes {
			x := in(fmt.Sprint(name, n), ir.U32, words)
			f.Params = append(f.Params, x)
			channels := ir.CastTo(chunk, ir.At(x.Buffer, ir.Int(0)))
			if words == 2 {
				channels = ir.Bin(ir.Or, channels, ir.Bin(ir.Shl, ir.CastTo(chunk, ir.At(x.Buffer, ir.Int(1))), ir.Const(chunk, 32)))
			}
			first := ir.Bin(ir.Mul, ir.CastTo(chunk, j), ir.Const(chunk, int64(bits)))
			group := ir.CastTo(ir.U8, ir.Bin(ir.And, ir.Bin(ir.Shr, channels, first), ir.Const(chunk, 1<<bits-1)))
			differ := ir.Un(ir.Popcount, ir.Bin(ir.Xor, group, ir.CastTo(ir.U8, e)))
			if n == 0 {
				count = differ
			} else {
				count = ir.Bin(ir.Add, count, ir.Bin(ir.Shl, differ, ir.Const(ir.U8, int64(n))))
			}
		}
		return count
	}
	count := pixel("x")
	if halves {
		count = ir.Bin(ir.Add, count, ir.Bin(ir.Shl, pixel("y"), ir.Const(ir.U8, 4)))
	}
	f.Body = ir.Nest([]ir.Loop{{Var: "j", Extent: groups}, {Var: "e", Extent: 1 << bits}}, &ir.Store{Buf: "t", Idx: []ir.Expr{j, e}, Val: count})
	return f
}
