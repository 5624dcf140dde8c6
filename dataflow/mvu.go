package dataflow

import (
	"fmt"
	"math/bits"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

// MVU multiplies vectors of levels by a matrix of weights, and makes levels of the sums: a
// convolution or a dense layer. The sum of row o at a position of border class k is
//
//	S = Step*A + K[o] + Border[k][o]
//
// Hardware counts A alone. It is the sum of products of weights and levels. For weights of 1 bit it
// is the number of bits that agree, plane p of the levels counting 2^p. Encodings differ in K
// alone, which thresholds absorb.
//
// The accumulator starts at minus the middle threshold, so its sign is the first bit of the level.
// Each further bit is one comparison with an offset that the bits before it choose.
type MVU struct {
	Conv         *graph.FusedConv
	In, Out      Shape // Out before a pool
	XBits, WBits int   // WBits 1: weights are +1 and -1; else two's complement
	YBits        int   // of the levels; 0: sums leave
	Step         int64
	Pad          int64 // level that positions outside the picture count as
	// Weights are [Out][KH*KW*GroupIn]. Rows of channels that fall with their sum are negated.
	Weights    [][]int64
	K          []int64
	Border     [][]int64 // [class][Out]
	Thresholds [][]int32 // [2^YBits-1][Out]
	Lo, Hi     []int64   // range of A
	Rows, Cols graph.Classes
	shift      int  // 1: the accumulator counts twice A, as borders differ by odd numbers
	whole      bool // the accumulator is S, of sums that stay in hardware
	ints       []int64
	rule       rule
}

// maxLevelBits bounds the levels that thresholds make: a memory's file has one digit for a bit.
const maxLevelBits = 8

// newMVU is the engine of c over x for levels of some bits (0: sums) by a rule, or a reason why
// there is none.
func newMVU(x *graph.Value, c *graph.FusedConv, levelBits int, r rule) (*MVU, string) {
	in, _ := shapeOf(x)
	e := &c.Epilogue
	atBorders := func(s scalar.Step) bool { return max(len(s.A), len(s.B)) > c.Out }
	switch {
	case c.Window != nil:
		return nil, "weights with an offset need the sums of windows"
	case levelBits == 0 && len(e.Joins) > 0:
		return nil, meetsFloats
	case levelBits == 0 && slices.ContainsFunc(e.Steps, atBorders):
		return nil, "its float steps differ at the borders of pictures"
	case levelBits > maxLevelBits:
		return nil, fmt.Sprintf("it makes levels of %d bits", levelBits)
	case c.X.Bits() != x.Bits:
		return nil, fmt.Sprintf("its input's integers do not fill %d bits", x.Bits)
	}
	m := &MVU{Conv: c, In: in, XBits: x.Bits, YBits: levelBits, Step: int64(c.X.Step), Thresholds: e.Thresholds,
		rule: r}
	oh, ow := c.OutSize(in.H, in.W)
	m.Out = Shape{oh, ow, c.Out}
	for _, w := range c.Ints.All() {
		m.ints = append(m.ints, int64(w))
	}
	m.readWeights()
	m.readBorders()
	if e.Thresholds == nil && levelBits > 0 {
		m.Thresholds = m.searchThresholds()
	}
	return m, ""
}

// falls reports whether the level of row o falls as its sum grows.
func (m *MVU) falls(o int) bool { return m.rule.falling != nil && m.rule.falling[o] }

// sign is -1 for rows that fall.
func (m *MVU) sign(o int) int64 {
	if m.falls(o) {
		return -1
	}
	return 1
}

// readWeights sets Weights, WBits, K, Lo and Hi.
func (m *MVU) readWeights() {
	c, n := m.Conv, m.Vector()
	oneBit, low, high := true, int64(0), int64(0)
	for o := range c.Out {
		row := make([]int64, n)
		for i := range row {
			w := m.sign(o) * m.ints[i*c.Out+o]
			row[i] = w
			oneBit = oneBit && w*w == 1
			low, high = min(low, w), max(high, w)
		}
		m.Weights = append(m.Weights, row)
	}
	m.WBits = 1
	if !oneBit {
		m.WBits = 1 + bits.Len64(uint64(max(high, -low-1)))
	}
	top := int64(1)<<m.XBits - 1
	for o, row := range m.Weights {
		k, lo, hi, sum, plus := int64(0), int64(0), int64(0), int64(0), int64(0)
		for _, w := range row {
			sum += w
			if w > 0 {
				plus++
			}
			lo, hi = lo+min(0, w)*top, hi+max(0, w)*top
		}
		k = int64(c.X.Min) * sum
		if m.WBits == 1 { // the sum of w*level is A + top*(plus-n)
			k += m.Step * top * (plus - int64(n))
			lo, hi = 0, top*int64(n)
		}
		if c.Add != nil && c.Epilogue.Thresholds == nil {
			k += m.sign(o) * int64(c.Add[o])
		}
		m.K, m.Lo, m.Hi = append(m.K, k), append(m.Lo, lo), append(m.Hi, hi)
	}
}

// readBorders sets Pad, Rows, Cols and Border: the part that sums at the border lack, since windows
// have levels only.
func (m *MVU) readBorders() {
	c := m.Conv
	if c.Pad.Any() && c.X.Has(c.PadValue) {
		m.Pad = int64((c.PadValue - c.X.Min) / c.X.Step)
	}
	off := int64(c.PadValue - (c.X.Min + c.X.Step*int(m.Pad)))
	m.Rows, m.Cols = graph.Classes{Size: m.Out.H}, graph.Classes{Size: m.Out.W}
	taps := [][]bool{nil}
	if c.Pad.Any() && off != 0 || c.Epilogue.Border != nil {
		m.Rows, m.Cols = c.Borders(m.In.H, m.In.W)
		taps = c.OutsideTaps(m.In.H, m.In.W)
	}
	for k, outside := range taps {
		border := make([]int64, c.Out)
		for o := range border {
			for t, out := range outside {
				for i := 0; out && i < c.GroupIn(); i++ {
					border[o] += m.ints[(t*c.GroupIn()+i)*c.Out+o] * off
				}
			}
			if c.Epilogue.Border != nil {
				border[o] += int64(c.Epilogue.Border[k*c.Out+o])
			}
			border[o] *= m.sign(o)
			if m.Step == 2 && border[o]%2 != 0 && m.YBits != 1 {
				m.shift = 1
			}
		}
		m.Border = append(m.Border, border)
	}
}

// Vector is the number of products of one output.
func (m *MVU) Vector() int { return m.Conv.Products() }

// Windowed reports whether an output depends on more than the input at its own position.
func (m *MVU) Windowed() bool {
	c := m.Conv
	return c.KH*c.KW > 1 || c.Pad.Any() || c.SH > 1 || c.SW > 1
}

// Work implements Engine.
func (m *MVU) Work() int { return m.Out.Elems() * m.Vector() }

// Output implements Engine.
func (m *MVU) Output() Shape { return m.Out }

func (m *MVU) lag() int {
	c := m.Conv
	dh, dw := c.Dilation()
	late := max(0, (c.KH-1)*dh-c.Pad.Top)*m.In.W + max(0, (c.KW-1)*dw-c.Pad.Left) + windowStart
	if m.Windowed() { // the window is an engine, too
		late += windowStart
	}
	return late
}

// unit is the change of S for 1 in the accumulator.
func (m *MVU) unit() int64 { return m.Step >> m.shift }

// threshold is threshold j of row o in class k in the accumulator's units. It is rounded up, and
// clamped to one beyond the sums that any class reaches.
func (m *MVU) threshold(j, o, k int) int64 {
	u, scale := m.unit(), m.Step/m.unit()
	ceil := func(k int) int64 {
		d := int64(m.Thresholds[j][o]) - m.K[o] - m.Border[k][o]
		if d > 0 {
			d += u - 1
		}
		return d / u
	}
	if len(m.Thresholds) == 1 {
		return min(max(ceil(k), scale*m.Lo[o]), scale*m.Hi[o]+1)
	}
	// Several thresholds keep their distances in all classes.
	most := int64(0)
	for _, b := range m.Border {
		most = max(most, max(b[o]-m.Border[0][o], m.Border[0][o]-b[o])/u+1)
	}
	return min(max(ceil(0), scale*m.Lo[o]-most), scale*m.Hi[o]+1+most) - (m.Border[k][o]-m.Border[0][o])/u
}

// start is the accumulator's first value for row o in class k.
func (m *MVU) start(o, k int) int64 {
	switch {
	case m.YBits > 0:
		return -m.threshold(len(m.Thresholds)/2, o, k)
	case m.whole:
		return m.K[o] + m.Border[k][o]
	case len(m.Border) > 1:
		return m.Border[k][o] / m.unit()
	}
	return 0
}

// offset is the distance of threshold j of row o from the middle one.
func (m *MVU) offset(j, o int) int64 {
	return m.threshold(j, o, 0) - m.threshold(len(m.Thresholds)/2, o, 0)
}

// Fold is the size of an MVU's engine: PE rows and SIMD elements of a vector a cycle. Block says
// that its weights lie in block RAM, else in logic.
type Fold struct {
	PE    int  `json:"pe"`
	SIMD  int  `json:"simd"`
	Block bool `json:"block_ram"`
}

// String is the fold as --fold takes it.
func (f Fold) String() string { return fmt.Sprintf("%dx%d", f.PE, f.SIMD) }

// Steps is the number of cycles that a vector takes for PE rows.
func (m *MVU) Steps(f Fold) int { return m.Vector() / f.SIMD }

// Blocks is the number of blocks of PE rows.
func (m *MVU) Blocks(f Fold) int { return m.Conv.Out / f.PE }

// Reuse is the number of cycles for the outputs of one position: the reuse factor.
func (m *MVU) Reuse(f Fold) int { return m.Steps(f) * m.Blocks(f) }

// Replays is the number of times that the engine goes through one vector.
func (m *MVU) Replays(f Fold) int {
	if m.Conv.Depthwise() {
		return 1
	}
	return m.Conv.GroupOut() / f.PE
}

// Lanes is the number of elements in a beat of the engine's window or, without one, of its input.
func (m *MVU) Lanes(f Fold) int {
	switch {
	case m.Conv.Depthwise():
		return f.PE
	case m.Windowed():
		return min(f.SIMD, m.Conv.GroupIn())
	}
	return f.SIMD
}

// Cycles is the number of cycles for one picture.
func (m *MVU) Cycles(f Fold) int {
	n := m.Out.H * m.Out.W * m.Steps(f) * m.Blocks(f)
	if m.Windowed() {
		n = max(n, m.WindowCycles(f))
	}
	return n
}

// WindowCycles is the number of cycles that the window of one picture takes.
func (m *MVU) WindowCycles(f Fold) int {
	c := m.Conv
	return max(m.Out.H*m.Out.W*c.KH*c.KW*c.In/m.Lanes(f), m.In.Elems()/m.Lanes(f))
}

// maxSIMD bounds the elements of a vector that an engine takes in a cycle.
const maxSIMD = 128

// Folds lists the legal folds, by rising SIMD, then PE.
func (m *MVU) Folds() []Fold {
	c := m.Conv
	var all []Fold
	for _, simd := range divisors(m.Vector()) {
		if simd > maxSIMD || c.Depthwise() && simd > 1 ||
			m.Windowed() && c.GroupIn()%simd != 0 && simd%c.GroupIn() != 0 {
			continue
		}
		rows := c.GroupOut()
		if c.Depthwise() {
			rows = c.Out
		}
		for _, pe := range divisors(rows) {
			all = append(all, Fold{PE: pe, SIMD: simd})
		}
	}
	return all
}

// divisors of n, ascending.
func divisors(n int) []int {
	var d []int
	for i := 1; i <= n; i++ {
		if n%i == 0 {
			d = append(d, i)
		}
	}
	return d
}

// SumBits is the signed width of the sum that one cycle adds to an accumulator.
func (m *MVU) SumBits(f Fold) int {
	return bits.Len64(uint64(int64(f.SIMD)*(int64(1)<<m.XBits-1))<<(m.WBits-1)) + 1
}

// AccBits is the signed width of the accumulator.
func (m *MVU) AccBits(f Fold) int {
	lo, hi, scale := int64(0), int64(0), m.Step/m.unit()
	for o := range m.Conv.Out {
		for k := range m.Border {
			s := m.start(o, k)
			lo, hi = min(lo, s+scale*m.Lo[o]), max(hi, s+scale*m.Hi[o])
		}
		for j := range m.Thresholds {
			lo, hi = min(lo, m.offset(j, o)), max(hi, m.offset(j, o))
		}
	}
	return max(1+bits.Len64(uint64(max(hi, -lo-1))), m.SumBits(f)+m.shift)
}

// Eval implements Engine, by integers, sums and thresholds as graph.FusedConv has them.
func (m *MVU) Eval(in [][]int64) []int64 {
	c, x := m.Conv, in[0]
	dh, dw := c.Dilation()
	y := make([]int64, 0, m.Out.Elems())
	sums := make([]int64, c.Out)
	for p := range m.Out.H * m.Out.W {
		clear(sums)
		for t := range c.KH * c.KW {
			iy, ix := p/m.Out.W*c.SH+t/c.KW*dh-c.Pad.Top, p%m.Out.W*c.SW+t%c.KW*dw-c.Pad.Left
			inside := iy >= 0 && iy < m.In.H && ix >= 0 && ix < m.In.W
			for ch := range c.In {
				v := int64(c.PadValue)
				if inside {
					v = int64(c.X.Min) + m.Step*x[(iy*m.In.W+ix)*c.In+ch]
				}
				first := ch / c.GroupIn() * c.GroupOut() // output channel of the group
				row := m.ints[(t*c.GroupIn()+ch%c.GroupIn())*c.Out+first:]
				to := sums[first : first+c.GroupOut()]
				for o := range to {
					to[o] += v * row[o]
				}
			}
		}
		class := m.Rows.Of(p/m.Out.W)*m.Cols.Count() + m.Cols.Of(p%m.Out.W)
		for o, s := range sums {
			y = append(y, m.level(o, class, s))
		}
	}
	return y
}

// level is the level, or the sum, that the sum of products s of row o becomes.
func (m *MVU) level(o, class int, s int64) int64 {
	c, e := m.Conv, &m.Conv.Epilogue
	if c.Add != nil && e.Thresholds == nil {
		s += int64(c.Add[o])
	}
	if e.Border != nil {
		s += int64(e.Border[class*c.Out+o])
	}
	if m.YBits == 0 {
		return s
	}
	return int64(m.rule.level(o, s))
}

// Raw is the accumulators that leave for sums.
func (m *MVU) Raw(sums []int64) []int64 {
	raw := make([]int64, len(sums))
	for i, s := range sums {
		raw[i] = (s - m.K[i%m.Conv.Out]) / m.unit()
	}
	return raw
}

// Sums is the inverse of Raw.
func (m *MVU) Sums(raw []int64) []int64 {
	sums := make([]int64, len(raw))
	for i, a := range raw {
		sums[i] = a*m.unit() + m.K[i%m.Conv.Out]
	}
	return sums
}

// window is the window before the engine, for layers that are Windowed.
func (m *MVU) window(f Fold) *Window {
	c := m.Conv
	w := &Window{In: m.In, Out: m.Out, Kernel: [2]int{c.KH, c.KW}, Strides: [2]int{c.SH, c.SW}, Pad: c.Pad,
		Level: m.Pad, Group: c.GroupIn()}
	w.Dilation[0], w.Dilation[1] = c.Dilation()
	if c.Depthwise() {
		w.Group = f.PE
	}
	return w
}

// WindowMemory is the depth and width of the window's memory, for layers that are Windowed.
func (m *MVU) WindowMemory(f Fold) (depth, width int) { return m.window(f).memory(m.XBits, m.Lanes(f)) }

func (m *MVU) build(d *Design, s *Stage, in []*Stream) *Stream {
	c, f := m.Conv, d.Foldings[s.Name]
	x := in[0]
	if m.Windowed() {
		x = d.fifo(x, 2)
		w := m.window(f)
		x = w.build(d, s, x, m.Lanes(f))
	}
	lanes := f.SIMD
	if c.Depthwise() {
		lanes = f.PE
	}
	x = d.lanes(x, lanes)
	switch {
	case m.Replays(f) > 1 && !m.Windowed(): // the next vector waits while this one is read again
		x = d.fifo(x, max(2, m.Steps(f)))
	default: // so that no path of ready crosses two engines
		x = d.fifo(x, 2)
	}
	u := d.unit("mvu", s.Name)
	u.mvu, u.fold, u.Cycles = m, f, m.Out.H*m.Out.W*m.Steps(f)*m.Blocks(f)
	acc := m.AccBits(f)
	y := d.stream(&Stream{Tensor: s.Output, Shape: m.Out, Bits: m.YBits, Lanes: f.PE, Taps: 1})
	if m.YBits == 0 {
		y.Bits, y.Signed, y.Note = acc, true, "sums"
	}
	each := 0
	if c.Depthwise() {
		each = 1
	}
	u.Params = []Param{{"SF", m.Steps(f)}, {"NB", m.Blocks(f)}, {"NF", m.Replays(f)}, {"SIMD", f.SIMD}, {"PE", f.PE},
		{"XB", m.XBits}, {"WB", m.WBits}, {"OB", m.YBits}, {"AW", acc}, {"CW", m.SumBits(f)}, {"OW", y.Width()},
		{"EACH", each}, {"WBLK", boolInt(f.Block)}, {"SH", m.shift}, {"CR", m.Rows.Count()}, {"CC", m.Cols.Count()},
		{"OX", m.Out.W}, {"OY", m.Out.H}, {"RF", m.Rows.First}, {"RL", m.Rows.Last}, {"CF", m.Cols.First},
		{"CL", m.Cols.Last}, {"FILE", u.Name}}
	u.prove = func() (int64, string) { return m.prove(u) }
	d.connect(u, []*Stream{x}, []*Stream{y})
	return y
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// The suffixes of an MVU's memories. Those of the searches have their number, from 1, behind.
const (
	weightROM = "_w.hex"
	startROM  = "_s.hex"
	searchROM = "_d"
	tableROM  = "_t.hex" // of a unit with one memory
)

// roms are the memories: weights by block and step, starts by class and block, and for each further
// bit of a level the offsets by block.
func (m *MVU) roms(f Fold, acc int) []ROM {
	weights, starts := ROM{Suffix: weightROM}, ROM{Suffix: startROM}
	searches := make([]ROM, max(0, m.YBits-1))
	for n := range m.Blocks(f) {
		for t := range m.Steps(f) {
			w := Word{Width: m.WBits}
			for p := range f.PE {
				for _, v := range m.Weights[n*f.PE+p][t*f.SIMD : (t+1)*f.SIMD] {
					if m.WBits == 1 {
						v = (v + 1) / 2
					}
					w.Fields = append(w.Fields, v)
				}
			}
			weights.Words = append(weights.Words, w)
		}
		for b := range searches {
			w := Word{Width: acc}
			for p := range f.PE {
				for known := range 2 << b {
					w.Fields = append(w.Fields, m.offset(m.compared(known, b+1), n*f.PE+p))
				}
			}
			searches[b].Suffix = fmt.Sprint(searchROM, b+1)
			searches[b].Words = append(searches[b].Words, w)
		}
	}
	for k := range m.Border {
		for n := range m.Blocks(f) {
			w := Word{Width: acc}
			for p := range f.PE {
				w.Fields = append(w.Fields, m.start(n*f.PE+p, k))
			}
			starts.Words = append(starts.Words, w)
		}
	}
	return append([]ROM{weights, starts}, searches...)
}

// compared is the threshold that bit b of a level, from the top, is compared with, where the bits
// above it are known.
func (m *MVU) compared(known, b int) int { return known<<(m.YBits-b) + 1<<(m.YBits-1-b) - 1 }
