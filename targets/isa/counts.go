package isa

import (
	"fmt"
	"slices"
	"strings"

	"ripc/ir"
	"ripc/targets"
)

// xorCounts are of XorCount. No strategy asks for them: they are for schedules that are written by
// hand.
func xorCounts() []Instr {
	f := family{
		"${cpu}_xor_popcnt_acc_x${lanes}", "out %acc: i32[$lanes], %x: u32[1], %w: u32[$lanes]", "l:$lanes",
		"%acc[%l] += cast<i32>(popcount(%x[0] ^ %w[%l]))",
	}
	i := Instr{Meaning: XorCount, Words: 1, Type: ir.I32}
	wide, narrow := i, i
	wide.Lanes, narrow.Lanes = 16, 8
	return []Instr{avx512().with("avx512vpopcntdq").instr(f, wide, nil), avx2().instr(f, narrow, nil)}
}

// xorCountPairs are of XorCountPair: x is (a1, a1 ^ a2), and w holds w1 and, in its second row, w1
// ^ w2. With u = a1 ^ w1 and v = a2 ^ w2, c[l] += popcount(s[l] & u | (s[l] | u) & v) and s[l] =
// s[l] ^ u ^ v.
func xorCountPairs() []Instr {
	const u, v = "(%x[0] ^ %w[0, %l])", "(%x[0] ^ %x[1] ^ (%w[0, %l] ^ %w[1, %l]))"
	f := family{
		"${cpu}_pair_popcnt_acc_x${lanes}", "out %c: i32[$lanes], out %s: u32[$lanes], %x: u32[$words], %w: " +
			"u32[$words, $lanes]", "l:$lanes",
		"%c[%l] += cast<i32>(popcount(%s[%l] & " + u + " | (%s[%l] | " + u + ") & " + v + ")) %s[%l] = %s[%l] ^ " + u +
			" ^ " + v,
	}
	i := Instr{Meaning: XorCountPair, Words: 2, Type: ir.I32}
	vector, thread := i, i
	vector.Lanes, thread.Lanes = 16, 1
	return []Instr{avx512().with("avx512vpopcntdq").instr(f, vector, nil), nv().instr(f, thread, nil)}
}

// MatrixTiles lists the tiles of products of matrices, the largest first: rows and columns of at
// most the 16 rows of a matrix.
func MatrixTiles() [][2]int { return [][2]int{{4, 4}, {2, 7}, {1, 7}} }

// xorCountMatrices are of XorCountMatrix.
func xorCountMatrices() (all []Instr) {
	f := family{
		"${cpu}_matrix_xor_cnt${twice}_${rows}x${positions}x${taps}x${words}x${lanes}_s${stride}",
		"out %acc: i32[$rows, $positions, $lanes], %x: u32[$high, $wide, $words], %w: u32[$taps, $taps, $lanes, " +
			"$words]",
		"p:$rows q:$positions l:$lanes",
		"%acc[%p, %q, %l] = $start for %i in 0:$taps { for %j in 0:$taps { for %c in 0:$words { %acc[%p, %q, %l] += " +
			"cast<i32>(popcount(%x[%p * $stride + %i, %q * $stride + %j, %c] ^ %w[%i, %j, %l, %c])) } } }",
	}
	for _, taps := range []int{1, 3, 5} {
		i := Instr{Meaning: XorCountMatrix, Taps: taps}
		all = append(all, matrices(f, i, targets.BitMatrices, 1, 2, 4, 8, 16)...)
		i.Doubles = true
		all = append(all, matrices(f, i, targets.BitMatrices, 1, 2, 4, 8, 16)...)
	}
	return all
}

// dotMatrices are of DotMatrix.
func dotMatrices() []Instr {
	f := family{
		"${cpu}_matrix_dot_${rows}x${positions}x${taps}x${words}x${lanes}_s${stride}",
		"out %acc: i32[$rows, $positions, $lanes], %x: u8[$high, $wide, $bytes], %w: i8[$taps, $taps, $lanes, " +
			"$words, 4]",
		"p:$rows q:$positions l:$lanes",
		"%acc[%p, %q, %l] = 0i32 for %i in 0:$taps { for %j in 0:$taps { for %c in 0:$words { for %k in 0:4 { " +
			"%acc[%p, %q, %l] += cast<i32>(%x[%p * $stride + %i, %q * $stride + %j, %c * 4 + %k]) * " +
			"cast<i32>(%w[%i, %j, %l, %c, %k]) } } } }",
	}
	all := matrices(f, Instr{Meaning: DotMatrix, Taps: 1}, targets.ByteMatrices, 4, 8, 16, 32, 64)
	return append(all, matrices(f, Instr{Meaning: DotMatrix, Taps: 3}, targets.ByteMatrices, 4, 8, 16, 32)...)
}

// matrices are members of f like i for MatrixTiles and strides, by words of a tap.
func matrices(f family, i Instr, feature string, words ...int) (all []Instr) {
	i.Lanes, i.Type = 32, ir.I32
	start := "0i32"
	if i.Doubles {
		start = "%acc[%p, %q, %l] + %acc[%p, %q, %l]"
	}
	for _, tile := range MatrixTiles() {
		for _, words := range words {
			for stride := 1; stride <= 2; stride++ {
				i.Rows, i.Positions, i.Words, i.Stride = tile[0], tile[1], words, stride
				m := nv().with(feature).instr(f, i, values{"high": (tile[0]-1)*stride + i.Taps,
					"wide": (tile[1]-1)*stride + i.Taps, "bytes": 4 * words, "start": start,
					"twice": textIf(i.Doubles, "_twice")})
				m.Func.Threads = warp
				all = append(all, m)
			}
		}
	}
	return all
}

// warp is the number of threads that run in step on NVIDIA's GPUs.
const warp = 32

// xorCountTiles are of XorCountTile, with the 4 bytes of a word as 2 by 2. A register holds 4
// filters.
func xorCountTiles(c cpu) []Instr {
	f := family{
		"${cpu}_xor_cnt_add_${words}x${lanes}", "out %acc: u8[$lanes, 2, 2], %x: u8[$words, 4], %w: u8[$words, " +
			"$lanes, 4]",
		"c:$words l:$lanes i:2 j:2", "%acc[%l, %i, %j] += popcount(%x[%c, %i * 2 + %j] ^ %w[%c, %l, %i * 2 + %j])",
	}
	wide, copies := f, family{
		f.name + "_spread", "out %acc: u8[$lanes, 2, 2], %x: u32[$words, 4], %w: u8[$words, $lanes, 4]",
		"c:$words o:$registers l:4 i:2 j:2",
		"%acc[%o * 4 + %l, %i, %j] += popcount(cast<u8>(%x[%c, %l] >> cast<u32>((%i * 2 + %j) * 8)) ^ %w[%c, %o * 4 " +
			"+ %l, %i * 2 + %j])",
	}
	wide.name += "_wide"
	var is []Instr
	for _, words := range []int{1, 2} {
		for _, filters := range []int{8, 16, 32} {
			i := Instr{Meaning: XorCountTile, Lanes: filters, Words: words, Type: ir.U8}
			is = append(is, c.instr(f, i, nil))
			if c.arch == "arm" { // elsewhere LLVM loads pairs of registers
				i.Wide = true
				is = append(is, c.instr(wide, i, nil))
			} else { // on 32-bit Arm a load that spreads a word costs no more
				i.Copies = true
				is = append(is, c.instr(copies, i, values{"registers": filters / 4}))
			}
		}
	}
	return is
}

// rowFilters is the number of filters of a row: its sums at four positions take half of the
// registers.
func rowFilters(c cpu) int { return map[string]int{"aarch64": 16, "arm": 8}[c.arch] }

// xorCountRows are of XorCountRow. Neighbouring positions share all but one of their pixels.
func xorCountRows(c cpu) []Instr {
	f := family{
		"${cpu}_xor_cnt_row_${positions}x${taps}x${words}x${lanes}",
		"out %acc: u8[$positions, $lanes, 2, 2], %x: u32[$pixels, $words, 4], %w: u8[$taps, $words, $lanes, 4]",
		"t:$taps c:$words p:$positions o:$registers l:4 i:2 j:2",
		"%acc[%p, %o * 4 + %l, %i, %j] += popcount(cast<u8>(%x[%p + %t, %c, %l] >> cast<u32>((%i * 2 + %j) * 8)) ^ " +
			"%w[%t, %c, %o * 4 + %l, %i * 2 + %j])",
	}
	var is []Instr
	for _, words := range []int{2, 3, 4, 5, 6, 8} {
		for positions := 1; positions <= 4; positions++ {
			i := Instr{Meaning: XorCountRow, Lanes: rowFilters(c), Words: words, Positions: positions, Taps: 3,
				Copies: true, Type: ir.U8}
			is = append(is, c.instr(f, i, values{"pixels": positions + i.Taps - 1, "registers": i.Lanes / 4}))
		}
	}
	return is
}

// The instructions of XorCountWindow count windows of windowSide rows and columns with an even
// number of words a pixel, up to windowWords. They do so at LeastWindowPositions to windowPositions
// neighbouring positions, for WindowFilters filters.
const (
	LeastWindowPositions = 2
	WindowFilters        = 16
	windowSide           = 3
	windowWords          = 16
	windowPositions      = 4
)

// xorCountWindows are of XorCountWindow. Every second word is kept as its difference from the word
// before, as steps.Pair writes it.
func xorCountWindows() []Instr {
	word := func(at string) string {
		return "select(%c$parity == 1, " + strings.ReplaceAll(at, "#", "%c - 1") + " ^ " +
			strings.ReplaceAll(at, "#", "%c") + ", " + strings.ReplaceAll(at, "#", "%c") + ")"
	}
	f := family{
		"${cpu}_xor_cnt_window_${positions}x${rows}x${taps}x${words}x${lanes}",
		"out %acc: i32[$positions, $lanes], %x: u32[$rows, $pixels, $words], %w: u32[$rows, $taps, $words, $lanes]",
		"r:$rows t:$taps c:$words p:$positions l:$lanes",
		"%acc[%p, %l] += cast<i32>(popcount(" + word("%x[%r, %p + %t, #]") + " ^ " + word("%w[%r, %t, #, %l]") + "))",
	}
	var is []Instr
	for words := 2; words <= windowWords; words += 2 {
		for positions := LeastWindowPositions; positions <= windowPositions; positions++ {
			i := Instr{
				Meaning: XorCountWindow, Lanes: WindowFilters, Words: words, Positions: positions,
				Rows: windowSide, Taps: windowSide, Type: ir.I32,
			}
			is = append(is, avx512().instr(f, i, values{"pixels": positions + i.Taps - 1,
				"parity": textIf(words > 2, " % 2")}))
		}
	}
	return is
}

// clears are of Clear.
func clears(c cpu) []Instr {
	f := family{"${cpu}_clear_$type$suffix", "out %acc: $type[$shape]", "$loops", "%acc[$at] = 0$type"}
	clear := func(t ir.Type, suffix string, shape ...int) Instr {
		loops, at := lanesOf(shape)
		return c.instr(f, Instr{Meaning: Clear, Type: t, Lanes: shape[0]},
			values{"type": t, "suffix": suffix, "shape": dims(shape), "loops": loops, "at": at})
	}
	is := []Instr{clear(ir.U8, "", 4, 2, 2), clear(ir.U16, "", 4, 2)}
	if c.arch == "aarch64" { // on 32-bit Arm no operation adds neighbours of 16 bytes
		is = append(is, clear(ir.U8, "_x8", 8, 2))
	}
	return is
}

// neighbours is an instruction of meaning m that adds pairs of neighbours to the elements of shape,
// which it has at each of positions, if there are any.
func (c cpu) neighbours(name string, m Meaning, to, from ir.Type, positions int, shape ...int) Instr {
	i := Instr{Meaning: m, Type: to, Lanes: shape[0], Positions: positions}
	loops, at := lanesOf(append(shape, 2))
	before, p, loop := "", "", ""
	if positions > 0 {
		before, p, loop = fmt.Sprintf("%d, ", positions), "%p, ", fmt.Sprintf("p:%d ", positions)
	}
	val := "%r[" + p + at + "]"
	if to != from {
		val = fmt.Sprintf("cast<%s>(%s)", to, val)
	}
	return c.instr(family{
		"${cpu}_" + name, "out %acc: $to[$before$shape], %r: $from[$before$shape, 2]", "$loop$loops",
		"%acc[$at] += $val",
	}, i, values{"to": to, "from": from, "before": before, "shape": dims(shape), "loop": loop, "loops": loops, "at": p +
		at[:strings.LastIndex(at, ",")], "val": val})
}

// sumsOfNeighbours are of WidenAdd, AddPairs and WidenAddMemory.
func sumsOfNeighbours(c cpu) []Instr {
	widen := map[string]string{"aarch64": "uadalp", "arm": "vpadal", "wasm32": "extadd"}[c.arch]
	is := []Instr{
		c.neighbours(widen+"_u16", WidenAdd, ir.U16, ir.U8, 0, 4, 2),
		c.neighbours(widen+"_i32", WidenAdd, ir.I32, ir.U16, 0, 4),
	}
	memory := func(name string, positions int, shape ...int) {
		is = append(is, c.neighbours(fmt.Sprintf("%s_u16%s", widen, name), WidenAddMemory, ir.U16, ir.U8, positions,
			shape...))
	}
	if c.arch == "aarch64" { // on 32-bit Arm no operation adds neighbours of 16 bytes
		is = append(is,
			c.neighbours(widen+"_u16_bytes", WidenAdd, ir.U16, ir.U8, 0, 8),
			c.neighbours("addp_u8_halves", AddPairs, ir.U8, ir.U8, 0, 8, 2),
			c.neighbours("addp_u16", AddPairs, ir.U16, ir.U16, 0, 8),
			c.neighbours("addp_u8_x16", AddPairs, ir.U8, ir.U8, 0, 16),
			c.neighbours("addp_u8_x8", AddPairs, ir.U8, ir.U8, 0, 8))
		memory("_bytes_x16", 0, 16)
		memory("_bytes_x32", 0, 32)
	}
	for _, filters := range []int{8, 16, 32} {
		memory(fmt.Sprintf("_x%d", filters), 0, filters, 2)
	}
	if c.arch == "arm" { // loads for all positions of a row of taps go beside additions
		for positions := 2; positions <= 4; positions++ {
			memory(fmt.Sprintf("_%dx%d", positions, rowFilters(c)), positions, rowFilters(c), 2)
		}
	}
	return is
}

// lanesOf are loops over a shape, and its elements.
func lanesOf(shape []int) (loops, at string) {
	var ls, idx []string
	for d, n := range shape {
		v := []string{"l", "i", "j"}[d]
		ls, idx = append(ls, fmt.Sprintf("%s:%d", v, n)), append(idx, "%"+v)
	}
	return strings.Join(ls, " "), strings.Join(idx, ", ")
}

// dims is a shape as texts have it.
func dims(shape []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]")
}

// packCompares are of PackCompare: of counts and, on 32-bit Arm, of floats.
func packCompares(c cpu) []Instr {
	compare := func(name, op string, of ir.Type) Instr {
		return c.instr(family{
			"${cpu}_pack_" + name + "_x${lanes}", "out %y: u32[1], %acc: $type[$lanes], %t: $type[$lanes]", "l:$lanes",
			"%y[0] |= cast<u32>(%acc[%l] $op %t[%l]) << cast<u32>(%l)",
		}, Instr{Meaning: PackCompare, Lanes: 32, Type: ir.U32}, values{"type": of, "op": op})
	}
	is := []Instr{compare("le", "<=", ir.I32)}
	if c.arch == "arm" {
		is = append(is, compare("ge_f32", ">=", ir.F32))
	}
	return is
}

// packWord is of PackWord.
func packWord() Instr {
	i := nv().instr(family{
		"${cpu}_pack_le_x${lanes}", "out %y: u32[1], %acc: i32[$lanes], %t: i32[$lanes]", "q:1",
		"%y[%q] = 0u32 for %l in 0:$lanes { %y[%q] |= cast<u32>(%acc[%l] <= %t[%l]) << cast<u32>(%l) }",
	}, Instr{Meaning: PackWord, Lanes: warp, Type: ir.U32}, nil)
	i.Func.Threads = warp
	return i
}

// packLesses are of PackLess, for two words. Of several planes, the level of a sum is searched for
// (ir.Search).
func packLesses() []Instr {
	const words, lanes = 2, 32
	var is []Instr
	for planes := 1; planes <= 3; planes++ {
		names := func(n int, text string) []string { // without a number where there is one plane
			if planes == 1 {
				text = strings.ReplaceAll(text, "#", "")
			}
			return numberTexts(n, text)
		}
		load := func(buf string) ir.Expr {
			at := ir.Bin(ir.Add, ir.Bin(ir.Mul, ir.V("q"), ir.Int(lanes)), ir.V("l"))
			return ir.At(ir.Buffer{Name: buf, Type: ir.U8, Shape: []int{words * lanes}}, at)
		}
		limits := 1<<planes - 1
		bits := ir.Search(planes, func(j int) ir.Expr { return load(names(limits, "t#")[j]) },
			func(limit ir.Expr) ir.Expr { return ir.Bin(ir.Lt, load("acc"), limit) })
		set := names(planes, "%y#[%q] |= cast<u32>(")
		for k, bit := range bits {
			set[k] += ir.ExprString(bit) + ") << cast<u32>(%l) "
		}
		params := slices.Concat(names(planes, "out %y#: u32[$words]"), []string{"%acc: u8[$lanes]"},
			names(limits, "%t#: u8[$lanes]"))
		f := family{
			"${cpu}_pack_lt_u8_x${lanes}$suffix", strings.Join(params, ", "), "q:$words",
			strings.Join(names(planes, "%y#[%q] = 0u32 "), "") + "for %l in 0:32 {" + strings.Join(set, "") + "}",
		}
		i := Instr{Meaning: PackLess, Lanes: words * lanes, Words: words, Planes: planes, Type: ir.U32}
		is = append(is, avx512().instr(f, i, values{"suffix": textIf(planes > 1, fmt.Sprintf("_a%d", planes))}))
	}
	return is
}
