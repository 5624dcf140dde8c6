package network

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"ripc/core"
	"ripc/dataflow"
	"ripc/graph"
	"ripc/ir"
	"ripc/ir/irtext"
)

// layer is a Func of tensor IR that the core computes, with the places of its parameters.
type layer struct {
	name      string
	f         *ir.Func // unscheduled: the definition
	instrs    map[string]*ir.Func
	tensors   map[string]*tensor  // by parameter
	constants map[string]constant // by parameter
	tiles     []tile
	sums      string // the instruction of its reduction
	rows      bool   // has weights
	steps     int    // of compute
}

// constant is a parameter that is known: rows of weights or vectors of thresholds.
type constant struct {
	data []uint32
	at   int // first word outside
}

// RefusalError says that the core cannot compute a layer.
type RefusalError struct{ Layer, Why string }

func (e *RefusalError) Error() string { return fmt.Sprintf("layer %s: %s", e.Layer, e.Why) }

// BadInput reports that the input is at fault.
func (*RefusalError) BadInput() bool { return true }

// parse makes a Func of a text in which $name stands for a value. A line "i:4 j:8 | statement" has
// the loops i and j around the statement.
func parse(text string, v values) *ir.Func {
	lines := strings.Split(os.Expand(text, func(name string) string { return fmt.Sprint(v[name]) }), "\n")
	for i, line := range lines {
		if loops, statement, ok := strings.Cut(line, " | "); ok {
			list := strings.Fields(loops)
			lines[i] = ""
			for _, l := range list {
				lines[i] += fmt.Sprintf("for %%%s { ", strings.Replace(l, ":", " in 0:", 1))
			}
			lines[i] += statement + strings.Repeat(" }", len(list))
		}
	}
	f, err := irtext.ParseFunc("core", []byte(strings.Join(lines, "\n")))
	if err != nil {
		panic("BUG: " + err.Error() + " in\n" + strings.Join(lines, "\n"))
	}
	return f
}

// The core's instructions with their meanings, for tensorize. An input is a word of levels, of top
// at most in planes, or vectors of r levels that fill words.
const isa = `
@load_input(out %to: u8[$word], %x: u8[$word]) {
$loops | %to[$l] = %x[$l]
@load_weight(out %to: $type[$r, $word], %x: $type[$r, $word]) {
r:$r $loops | %to[%r, $l] = %x[%r, $l]
@load_table(out %to: i32[$r], %x: i32[$r]) {
l:$r | %to[%l] = %x[%l]
@planes(out %acc: i32[$r], %x: u8[$word], %w: u8[$r, $word]) {
r:$r $loops | %acc[%r] += select(%w[%r, $l] == 1u8, cast<i32>(%x[$l]), ${top}i32 - cast<i32>(%x[$l]))
@bytes(out %acc: i32[$r], %x: u8[$word], %w: i8[$r, $word]) {
r:$r $loops | %acc[%r] += cast<i32>(%x[$l]) * cast<i32>(%w[%r, $l])
@take(out %acc: i32[$r], %x: u8[$r]) {
r:$r | %acc[%r] = cast<i32>(%x[%r])
@take_add(out %acc: i32[$r], %x: u8[$r]) {
r:$r | %acc[%r] += cast<i32>(%x[%r])
@level(out %to: i32[$r], %acc: i32[$r], %t: i32[$r]) {
r:$r | %to[%r] += cast<i32>(%acc[%r] >= %t[%r])
@largest(out %to: i32[$r], %acc: i32[$r]) {
r:$r | %to[%r] max= %acc[%r]
@zero(out %to: i32[$r]) {
r:$r | %to[%r] = 0i32
@store(out %y: $out[$r], %acc: i32[$r]) {
r:$r | %y[%r] = $cast(%acc[%r])
`

// values are those of the names in a text.
type values map[string]any

// instructions are the core's by name. v has the shape of an input.
func instructions(v values) map[string]*ir.Func {
	all := map[string]*ir.Func{}
	for _, text := range strings.Split(isa, "@")[1:] {
		f := parse("func @"+text+"}", v)
		all[f.Name] = f
	}
	return all
}

// The Func of products and thresholds. Its sums leave if it has no thresholds.
const (
	convText = `func @conv(%x: u8[$hx, $wx, $ch, $g], %wt: $type[$b, $kh, $kw, $ch, $r, $g], $table
out %y: $out[$hy, $wy, $by, $r]) {
alloc %acc: i32[$h, $w, $b, $r]
zh:$h zw:$w zo:$b zr:$r | %acc[%zh, %zw, %zo, %zr] = 0i32
h:$h w:$w o:$b kh:$kh kw:$kw c:$ch r:$r l:$g | %acc[%h, %w, %o, %r] += $product
`
	levelsText = `alloc %lev: i32[$h, $w, $b, $r]
uh:$h uw:$w uo:$b ur:$r | %lev[%uh, %uw, %uo, %ur] = 0i32
vh:$h vw:$w vo:$b vj:$n vr:$r | %lev[%vh, %vw, %vo, %vr] += cast<i32>(%acc[%vh, %vw, %vo, %vr] >= $limit)
`
)

// conv is the layer of m: products of x, thresholds, and y.
func conv(c core.Config, st *dataflow.Stage, m *dataflow.MVU, x, y *tensor) (*layer, error) {
	refuse := func(why string) (*layer, error) { return nil, &RefusalError{st.Name, why} }
	k := m.Conv
	kh, kw, in := k.KH, k.KW, k.In
	switch {
	case m.In == x.Shape:
	case m.In.H*m.In.W == 1 && m.In.C == x.Elems(): // a vector that is a picture
		kh, kw, in = x.H, x.W, x.C
	default:
		return refuse("its input has another shape")
	}
	dh, dw := k.Dilation()
	group := c.Lanes
	if x.bytes {
		group = c.Lanes / 8
	}
	ch, blocks := x.lanes/group, (m.Out.C+c.Rows-1)/c.Rows
	switch {
	case x.bytes && !c.Bytes:
		return refuse("it needs products of bytes, which this core does not have")
	case m.WBits > 8:
		return refuse(fmt.Sprintf("its weights have %d bits", m.WBits))
	}
	for o := range m.Hi {
		if most := int64(1) << (c.AccBits - 1); m.Hi[o] >= most || m.Lo[o] < -most || m.Hi[o]-m.Lo[o] >= most {
			return refuse(fmt.Sprintf("its sums need accumulators of more than %d bits", c.AccBits))
		}
	}
	top := 1<<m.XBits - 1
	at := fmt.Sprintf("%%x[%%h * %d + %%kh * %d + %d, %%w * %d + %%kw * %d + %d, %%c, %%l]", k.SH, dh,
		x.top-k.Pad.Top, k.SW, dw, x.left-k.Pad.Left)
	const weight = "%wt[%o, %kh, %kw, %c, %r, %l]"
	l := &layer{name: st.Name, rows: true, tensors: map[string]*tensor{"x": x, "y": y}, sums: "planes",
		constants: map[string]constant{"wt": weights(c, m, x, blocks, kh*kw, in, ch, group)}}
	v := values{"hx": x.height(), "wx": x.width(), "ch": ch, "g": group, "type": "u8", "b": blocks, "kh": kh,
		"kw": kw, "r": c.Rows, "table": "", "out": "i32", "hy": y.height(), "wy": y.width(), "by": y.lanes / c.Rows,
		"h": m.Out.H, "w": m.Out.W, "n": len(m.Thresholds), "top": top, "row": y.top, "column": y.left,
		"product":  fmt.Sprintf("select(%s == 1u8, cast<i32>(%s), %di32 - cast<i32>(%[2]s))", weight, at, top),
		"channels": fmt.Sprint("yo:", blocks), "vector": "%yo", "index": "%yo", "cast": "", "from": "acc",
		"word": group, "loops": fmt.Sprint("l:", group), "l": "%l"}
	if x.bytes {
		l.sums, v["type"], v["product"] = "bytes", "i8", "cast<i32>("+at+") * cast<i32>("+weight+")"
	}
	text := convText
	if m.YBits > 0 {
		text += levelsText
		v["from"], v["out"], v["cast"], v["limit"] = "lev", "u8", "cast<u8>", "%t[0, %vo, %vj, %vr]"
		v["table"] = fmt.Sprintf("%%t: i32[%d, %d, %d, %d],", len(m.Border), blocks, len(m.Thresholds), c.Rows)
		if len(m.Border) > 1 {
			v["limit"] = fmt.Sprintf("%%t[(%s) * %d + (%s), %%vo, %%vj, %%vr]", classText("vh", m.Rows), m.Cols.Count(),
				classText("vw", m.Cols))
		}
		l.constants["t"] = thresholds(c, m, x.bytes, blocks)
	}
	l.f, l.instrs = parse(text+putText, v), instructions(v)
	l.tiles = []tile{{"yh", m.Out.H}, {"yw", m.Out.W}, {"yo", blocks}, {"c", ch}}
	planes := m.XBits
	if x.bytes {
		planes = 1
	}
	l.steps = m.Out.H * m.Out.W * blocks * (kh*kw*ch*planes + len(m.Thresholds))
	return l, nil
}

// classText is the border class of a position, as graph.Classes.Of has it.
func classText(loop string, c graph.Classes) string {
	return fmt.Sprintf("min(%%%s, %d) + max(%%%[1]s - %[3]d, 0)", loop, c.First, c.Size-1-c.Last)
}

// flipping is f as products: 1 or -1 times the channel's own level, and a threshold for each level.
func flipping(f *dataflow.Flip) *dataflow.MVU {
	top, classes := int64(1)<<f.Bits-1, graph.Classes{Size: 1}
	m := &dataflow.MVU{Conv: &graph.FusedConv{KH: 1, KW: 1, SH: 1, SW: 1, In: f.C, Out: f.C}, In: f.Shape, Out: f.Shape,
		XBits: f.Bits, WBits: 2, YBits: f.Bits, Step: 1, K: make([]int64, f.C), Border: [][]int64{make([]int64, f.C)},
		Thresholds: make([][]int32, top), Rows: classes, Cols: classes}
	for j := range m.Thresholds {
		m.Thresholds[j] = make([]int32, f.C)
	}
	for c, flipped := range f.Channels {
		row, least := make([]int64, f.C), int64(0)
		if row[c] = 1; flipped {
			row[c], least = -1, -top
		}
		m.Weights, m.Lo, m.Hi = append(m.Weights, row), append(m.Lo, least), append(m.Hi, least+top)
		for j := range m.Thresholds {
			m.Thresholds[j][c] = int32(least + int64(j) + 1)
		}
	}
	return m
}

// weights are the rows of m's weights: [block][tap][word][row], bits or bytes.
func weights(c core.Config, m *dataflow.MVU, x *tensor, blocks, taps, in, ch, group int) constant {
	n := c.Lanes / 32
	data := make([]uint32, blocks*taps*ch*c.Rows*n)
	if !x.bytes { // lanes without a channel have level 0 and weight 1
		for i := range data {
			data[i] = ^uint32(0)
		}
	}
	per := m.Conv.GroupIn()
	if in != m.Conv.In {
		per = in
	}
	for o, row := range m.Weights {
		first := o / m.Conv.GroupOut() * per
		for i, w := range row {
			tap, channel := i/per, first+i%per
			at := ((o/c.Rows*taps+tap)*ch+channel/group)*c.Rows + o%c.Rows
			if k := channel % group; x.bytes {
				data[at*n+k/4] |= uint32(uint8(w)) << (k % 4 * 8)
			} else if w < 0 {
				data[at*n+k/32] &^= 1 << (k % 32)
			}
		}
	}
	return constant{data: data}
}

// negatives is the number of bits that agree less the products, for weights of 1 bit.
func negatives(m *dataflow.MVU, o int) int64 {
	n := int64(0)
	if m.WBits == 1 {
		for _, w := range m.Weights[o] {
			if w < 0 {
				n += 1<<m.XBits - 1
			}
		}
	}
	return n
}

// thresholds are those of the core's sums, [class][block][threshold][row].
func thresholds(c core.Config, m *dataflow.MVU, bytes bool, blocks int) constant {
	var data []uint32
	for k := range m.Border {
		for b := range blocks {
			for _, row := range m.Thresholds {
				for r := range c.Rows {
					o := b*c.Rows + r
					t := int64(1)<<(c.AccBits-1) - 1 // of rows without a channel: their sum is less
					if o < m.Out.C {
						d := int64(row[o]) - m.K[o] - m.Border[k][o]
						if d > 0 {
							d += m.Step - 1
						}
						t = min(max(d/m.Step, m.Lo[o]), m.Hi[o]+1)
						if bytes {
							t -= negatives(m, o)
						}
					}
					data = append(data, uint32(int32(t)))
				}
			}
		}
	}
	return constant{data: data}
}

// slotsOf is the number of vectors in a word of x, or in the words that hold one vector.
func slotsOf(c core.Config, x *tensor) int {
	if x.bytes {
		return max(c.Lanes/8, c.Rows) / c.Rows
	}
	return c.Lanes / c.Rows
}

// The Funcs of joins and pools: levels become numbers in vectors, and levels again.
const (
	joinText = `func @join($inputs out %y: u8[$hy, $wy, $by, $r]) {
alloc %v: i32[$h, $w, $c, $s, $r]
`
	takeText = `ah:$hv aw:$wv ac:$c as:$s ar:$r | %v[%ah, %aw, $a] = cast<i32>(%x0[%ah + $xh, %aw + $xw, $a])
`
	addText = `bh:$h bw:$w bc:$c bs:$s br:$r | %v[%bh, %bw, $b] += cast<i32>(%x1[%bh + $zh, %bw + $zw, $b])
`
	poolText = `func @pool($inputs out %y: u8[$hy, $wy, $by, $r]) {
alloc %v: i32[$hv, $wv, $c, $s, $r]
` + takeText + `alloc %m: i32[$h, $w, $c, $s, $r]
zh:$h zw:$w zc:$c zs:$s zr:$r | %m[%zh, %zw, %zc, %zs, %zr] = 0i32
h:$h w:$w c:$c s:$s kh:$kh kw:$kw r:$r | %m[%h, %w, %c, %s, %r] max= %v[%h * $sh + %kh, %w * $sw + %kw, %c, %s, %r]
`
	lookupText = `alloc %lev: i32[$h, $w, $c, $s, $r]
uh:$h uw:$w uc:$c us:$s ur:$r | %lev[%uh, %uw, %uc, %us, %ur] = 0i32
vh:$h vw:$w vc:$c vs:$s vj:$n vr:$r | %lev[%vh, %vw, $u] += cast<i32>(%v[%vh, %vw, $u] >= %t[0, $k, %vj, %vr])
`
	putText = `yh:$h yw:$w $channels yr:$r | %y[%yh + $row, %yw + $column, $vector, %yr] = $cast(%$from[%yh, %yw, $index, %yr])
}`
)

// taking is a layer without weights, with values for its text. Its output is in y's channels from
// vector first on.
func taking(c core.Config, name string, xs []*tensor, y *tensor, out dataflow.Shape, first int) (*layer, values) {
	s := slotsOf(c, xs[0])
	words := xs[0].lanes / c.Rows / s
	l := &layer{name: name, tensors: map[string]*tensor{"y": y}, sums: "largest",
		tiles: []tile{{"yh", out.H}, {"yw", out.W}, {"yc", words}}}
	v := values{"inputs": "", "hy": y.height(), "wy": y.width(), "by": y.lanes / c.Rows, "r": c.Rows, "h": out.H,
		"w": out.W, "c": words, "s": s, "xh": xs[0].top, "xw": xs[0].left, "hv": out.H, "wv": out.W,
		"a": "%ac, %as, %ar", "b": "%bc, %bs, %br", "from": "v", "row": y.top, "column": y.left, "top": 1, "type": "u8",
		"channels": fmt.Sprintf("yc:%d ys:%d", words, s), "vector": fmt.Sprintf("%%yc * %d + %%ys + %d", s, first),
		"index": "%yc, %ys", "cast": "cast<u8>", "out": "u8", "word": c.Rows, "loops": fmt.Sprint("l:", c.Rows),
		"l": "%l"}
	if s > 1 {
		v["word"], v["l"] = fmt.Sprintf("%d, %d", s, c.Rows), "%s, %l"
		v["loops"] = fmt.Sprintf("s:%d l:%d", s, c.Rows)
	}
	for i, x := range xs {
		l.tensors[fmt.Sprint("x", i)] = x
		v["inputs"] = fmt.Sprintf("%v%%x%d: u8[%d, %d, %d, %d, %d], ", v["inputs"], i, x.height(), x.width(), words, s,
			c.Rows)
	}
	l.instrs = instructions(v)
	return l, v
}

// join is the sum of one or two tensors.
func join(c core.Config, name string, xs []*tensor, y *tensor, first int) *layer {
	l, v := taking(c, name, xs, y, xs[0].Shape, first)
	text := joinText + takeText
	if len(xs) > 1 {
		v["zh"], v["zw"] = xs[1].top, xs[1].left
		text += addText
	}
	l.f = parse(text+putText, v)
	l.steps = len(xs) * xs[0].H * xs[0].W * xs[0].lanes / c.Rows * xs[0].view(c, 1, 1, xs[0].lanes).parts
	return l
}

// pool is the largest level of each window.
func pool(c core.Config, name string, m *dataflow.Pool, x, y *tensor) *layer {
	l, v := taking(c, name, []*tensor{x}, y, m.Out, 0)
	maps.Copy(v, values{"hv": (m.Out.H-1)*m.Strides[0] + m.Kernel[0],
		"wv": (m.Out.W-1)*m.Strides[1] + m.Kernel[1], "xh": x.top - m.Pad.Top, "xw": x.left - m.Pad.Left,
		"kh": m.Kernel[0], "kw": m.Kernel[1], "sh": m.Strides[0], "sw": m.Strides[1],
		"from": "m"})
	l.f = parse(poolText+putText, v)
	vectors := x.lanes / c.Rows
	l.steps = vectors * (v["hv"].(int)*v["wv"].(int)*x.view(c, 1, 1, x.lanes).parts +
		m.Out.H*m.Out.W*m.Kernel[0]*m.Kernel[1])
	return l
}

// lookup is a table that rises with the levels of x, as thresholds.
func lookup(c core.Config, name string, m *dataflow.Lookup, x, y *tensor) (*layer, error) {
	if len(m.InBits) != 1 || !slices.IsSorted(m.Table) {
		return nil, &RefusalError{name, "its table does not rise with the levels of one tensor"}
	}
	l, v := taking(c, name, []*tensor{x}, y, x.Shape, 0)
	count, vectors := int(max(1, m.Table[len(m.Table)-1])), x.lanes/c.Rows
	v["n"], v["u"], v["k"], v["from"] = count, "%vc, %vs, %vr", fmt.Sprintf("%%vc * %v + %%vs", v["s"]), "lev"
	v["inputs"] = fmt.Sprintf("%v%%t: i32[1, %d, %d, %d], ", v["inputs"], vectors, count, c.Rows)
	var data []uint32
	for b := range vectors {
		for j := range count {
			least, _ := slices.BinarySearch(m.Table, int64(j+1))
			for r := range c.Rows {
				if b*c.Rows+r >= x.C { // stays 0
					least = len(m.Table)
				}
				data = append(data, uint32(least))
			}
		}
	}
	l.constants = map[string]constant{"t": {data: data}}
	l.f = parse(joinText+takeText+lookupText+putText, v)
	l.steps = x.H * x.W * vectors * (x.view(c, 1, 1, x.lanes).parts + count)
	return l, nil
}
