package strategy

import (
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/schedule"
	"ripc/targets"
	"ripc/targets/isa"
)

// Layer is an unscheduled Func and a target, with what strategies ask about them. Loops and buffers are found by what they
// are for: a loop by its axis in the nest of the buffer that it fills, a buffer by its role.
type Layer struct {
	Func   *ir.Func
	Target targets.Target

	known   *known               // applies the steps of its schedules
	buffers map[string]ir.Buffer // of Func
	// out writes the output or, where that is the mean of all positions, what the mean is of.
	out nest
	// mean adds up what out writes, and final writes the output, a block of channels in each iteration of its loop over words; the zero
	// nests where the output is no mean.
	mean, final nest
	// The stages of a sum over windows; the zero nest where there is none.
	sum  nest // adds up
	pad  nest // copies the input, with a border or in other words: what the sums read, if that is not the input itself
	pool nest // takes the least sum of each window
	// before are what the pad is made of in the input's place, and so on, the nearest first.
	before []nest
	// table holds what groups of the input's channels count, made from the input or from pad, where counts are looked up.
	table nest
	// between are the stages from the sums to the output, the last first: values that the output is made of, then the pool.
	between []string

	packed    bool // the output is words of bits, or the mean of blocks of as many channels
	scattered bool // neighbouring sums read addresses that are no neighbours
	together  int  // how many neighbouring sums read neighbours where not all do, as those of a group; 0 if all do, or none
	own       bool // each channel has words of the input of its own
	joined    bool // other tensors meet the sums on their way to the output
	counts    bool // the sums are of bits of words
	// differ says that the words are the differences of parameters, of the inputs and of the weights.
	differ         bool
	input, weights string
	inputDims      []ir.Axis // what the dimensions of the input and of the weights go along, as they are before any step
	weightDims     []ir.Axis
}

// LayerOf looks at f. Buffers are found by their roles.
func LayerOf(f *ir.Func, t targets.Target) *Layer {
	l := &Layer{Func: f, Target: t, known: newKnown(t), buffers: f.Buffers()}
	params := map[string]bool{}
	for _, p := range f.Params {
		params[p.Name] = true
	}
	nests := nestsOf(f, params)
	for _, p := range f.Params {
		if p.Out {
			l.out = nests[p.Name]
		}
	}
	for _, b := range allocs(f.Body) {
		l.place(l.buffers[b].Role, nests[b])
	}
	l.packed = l.out.loops[ir.Bit] != nil
	if !l.sum.exists() {
		return l
	}
	term := l.term()
	l.lookedUp(params)
	l.counted(term)
	if l.scattered = l.scatters(l.out.extent(ir.Bit)); l.scattered && (!l.packed || l.dots()) {
		l.together = l.alike()
		l.scattered = l.together == 0
	}
	for _, b := range append([]string{l.out.buf}, l.between...) {
		for _, st := range storesTo(f.Body, b) {
			for _, ld := range loads(st.Val) { // constants have no more than rows, columns and channels
				l.joined = l.joined || params[ld.Buf] && len(ld.Idx) > 3
			}
		}
	}
	return l
}

// place notes a buffer of the Func, each behind those that it is made of.
func (l *Layer) place(role ir.Role, n nest) {
	switch role {
	case ir.RolePad:
		if l.pad.exists() {
			l.before = append([]nest{l.pad}, l.before...)
		}
		l.pad = n
	case ir.RoleTable:
		l.table = n
	case ir.RoleSum:
		l.sum = n
	case ir.RoleMean:
		l.mean = n
	case ir.RolePosition:
		l.final, l.out = l.out, n
	case ir.RoleWindow:
		l.pool = n
		l.between = append([]string{n.buf}, l.between...)
	case ir.RoleValue:
		l.between = append([]string{n.buf}, l.between...)
	}
}

// lookedUp finds the weights of sums of what is looked up.
func (l *Layer) lookedUp(params map[string]bool) {
	if !l.table.exists() {
		return
	}
	for _, ld := range loads(l.term()) {
		if params[ld.Buf] {
			l.weights, l.weightDims = ld.Buf, l.sum.along(ld.Idx)
		}
	}
}

// alike is the most sums, a power of two that fills vectors, of which each block reads neighbours; 0 if there is none.
func (l *Layer) alike() int {
	most := maxVector
	if l.packed {
		most = l.out.extent(ir.Bit)
	}
	for n := most; n*ir.I32.Bits() >= l.Target.VectorBits; n /= 2 {
		if l.sum.extent(ir.Channel)%n == 0 && !l.scatters(n) {
			return n
		}
	}
	return 0
}

// scatters reports whether neighbouring sums read addresses that are no neighbours, those of each block of so many, such as a word of a packed output; of
// all if block is 0.
func (l *Layer) scatters(block int) bool {
	loop := l.sum.loops[ir.Channel]
	if block == 0 || !arith.Scattered(loop) {
		return arith.Scattered(loop)
	}
	f := l.inBlocks(block)
	return f == nil || arith.Scattered(ir.FindLoop(f.Body, loop.Var))
}

// inBlocks is the Func with the channels of its sums in blocks of so many, whose loop has the name that theirs had; nil where they are no whole blocks.
func (l *Layer) inBlocks(n int) *ir.Func {
	return l.known.blocks.get(n, func() *ir.Func {
		name := l.sum.loop(ir.Channel)
		f, err := schedule.Split(l.Func, name, n, schedule.TailPerfect, name+"block", name)
		if err != nil {
			return nil
		}
		return f
	})
}

// counted looks at sums of counts: whether words are counted, of which weights, whether each channel has words of its own and, where what is counted are differences of inputs and weights, of
// which inputs.
func (l *Layer) counted(term ir.Expr) {
	if x, ok := term.(*ir.Binary); ok && (x.Op == ir.Shl || x.Op == ir.Mul) { // counts times the factor of a plane of weights
		term = x.A
	}
	c, isCast := term.(*ir.Cast)
	if !isCast {
		return
	}
	p, isCount := c.A.(*ir.Unary)
	if !isCount || p.Op != ir.Popcount || p.Type() != ir.U32 {
		return
	}
	l.counts = true
	x, isBinary := p.A.(*ir.Binary)
	if !isBinary {
		return
	}
	a, isLoad := x.A.(*ir.Load)
	b, isLoad2 := x.B.(*ir.Load)
	if !isLoad || !isLoad2 {
		return
	}
	if !chosenBy(b.Idx, l.sum.loop(ir.Channel)) {
		a, b = b, a
	}
	l.weights, l.weightDims = b.Buf, l.sum.along(b.Idx)
	if l.own = chosenBy(a.Idx, l.sum.loop(ir.Channel)); l.own || x.Op != ir.Xor || l.sum.loops[ir.WeightPlane] != nil {
		return
	}
	l.differ, l.input, l.inputDims = true, a.Buf, l.sum.along(a.Idx)
	copies := storesTo(l.Func.Body, l.pad.buf)
	if l.input != l.pad.buf || len(copies) > 1 || len(l.before) > 0 {
		return // what is not copied word for word is a form of its own
	}
	for _, ld := range loads(copies[0].Val) {
		l.input, l.inputDims = ld.Buf, l.pad.along(ld.Idx)
	}
}

// term is what is added up.
func (l *Layer) term() ir.Expr {
	var term ir.Expr
	ir.Walk(l.sum.loops[ir.TapRow], func(s ir.Stmt) bool {
		if st, ok := s.(*ir.Store); ok && st.Buf == l.sum.buf {
			term = st.Val
		}
		return true
	})
	return term
}

// sumBits is the width of a sum.
func (l *Layer) sumBits() int { return l.sumType().Bits() }

// sumType is the type of a sum.
func (l *Layer) sumType() ir.Type { return l.buffers[l.sum.buf].Type }

// levelBits are those of the levels that are stored, a plane of words for each.
func (l *Layer) levelBits() int { return l.buffers[l.out.buf].Shape[0] }

// float says that the sums are floats.
func (l *Layer) float() bool { return l.sumType().IsFloat() }

// dots says that the sums are of products of bytes, or of bytes and weights of 16 bits.
func (l *Layer) dots() bool {
	if !l.sum.exists() || l.float() {
		return false
	}
	p, ok := l.term().(*ir.Binary)
	if !ok || p.Op != ir.Mul {
		return false
	}
	for _, e := range []ir.Expr{p.A, p.B} {
		c, isCast := e.(*ir.Cast)
		if !isCast || c.A.Type().Bits() > ir.I16.Bits() || !isLoad(c.A) {
			return false
		}
	}
	return true
}

func isLoad(e ir.Expr) bool { _, ok := e.(*ir.Load); return ok }

// dense says that there is one row, or that rows are added up in their order, so that what can be shared out are the channels.
func (l *Layer) dense() bool { return l.out.extent(ir.Row) == 1 || l.mean.exists() }

// rows is the number of rows of the output that can be computed apart.
func (l *Layer) rows() int {
	if l.mean.exists() {
		return 1
	}
	return l.out.extent(ir.Row)
}

// halves says that what is looked up is for a position of each half of a row.
func (l *Layer) halves() bool { return l.sum.loops[ir.Half] != nil }

// window is the number of positions that the pool makes one of, 0 if there is no pool.
func (l *Layer) window() int { return l.pool.extent(ir.TapRow) * l.pool.extent(ir.TapCol) }

// channels is the axis of the outermost loop over output channels.
func (l *Layer) channels() ir.Axis {
	if l.packed {
		return ir.Word
	}
	return ir.Channel
}

// instr finds an instruction of the target by what it means, nil if there is none that fits.
func (l *Layer) instr(m isa.Meaning, fits func(isa.Instr) bool) *isa.Instr {
	for _, i := range isa.Query(m, l.Target) {
		if fits(i) {
			return &i
		}
	}
	return nil
}
