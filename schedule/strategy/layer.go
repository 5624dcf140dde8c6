package strategy

import (
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/schedule"
	"ripc/schedule/steps"
	"ripc/targets"
	"ripc/targets/isa"
)

// Layer is an unscheduled Func and a target, with the facts that strategies ask for. A loop is
// found by its axis in the nest that writes a buffer, a buffer by its role.
type Layer struct {
	Func   *ir.Func
	Target targets.Target

	known   *known               // caches the results of steps
	buffers map[string]ir.Buffer // of Func
	// out writes the output. If the output is a mean of positions, out writes the operands of the
	// mean.
	out nest
	// mean adds up the operands, and final writes the output, a block of channels in each iteration
	// of its loop over words. Both are zero if the output is no mean.
	mean, final nest
	// The stages of a sum over windows; zero nests where there is none.
	sum  nest // adds up
	pad  nest // copies the input, with a border or repacked, for the sums to read
	pool nest // takes the least sum of each pooling window
	// before lists the copies between the input and pad, the nearest to the pad first.
	before []nest
	// table holds the partial sums of groups of input channels, where counts are looked up.
	table nest
	// between lists the buffers of the stages from the sums to the output, the last first: values
	// of the epilogue, then the pool.
	between []string

	packed    bool // the output is packed words, or the mean of blocks of a word's channels
	scattered bool // neighbouring sums read scattered addresses
	// length of the runs of neighbouring sums that read adjacent elements, as in a group of
	// channels; 0 if there are no runs, or one
	runLength  int
	hasJoins   bool // other tensors join the sums on their way to the output
	countsBits bool // the sums are popcounts of words
	// countsDifferences: the counted words are differences (xor) of input and weights.
	countsDifferences bool
	input, weights    string
	inputDims         []ir.Axis // the axes of the dimensions of the input and of the weights, before any step
	weightDims        []ir.Axis
}

// LayerOf analyses f. Buffers are found by their roles.
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
		l.recordBuffer(l.buffers[b].Role, nests[b])
	}
	l.packed = l.out.loops[ir.Bit] != nil
	if !l.sum.exists() {
		return l
	}
	term := l.term()
	l.findTableWeights(params)
	l.analyzeCounts(term)
	if l.scattered = l.scatters(l.out.extent(ir.Bit)); l.scattered && (!l.packed || l.dots()) {
		l.runLength = l.contiguousLanes()
		l.scattered = l.runLength == 0
	}
	for _, b := range append([]string{l.out.buf}, l.between...) {
		for _, st := range storesTo(f.Body, b) {
			for _, ld := range loads(st.Val) { // constants have at most rows, columns and channels
				l.hasJoins = l.hasJoins || params[ld.Buf] && len(ld.Idx) > 3
			}
		}
	}
	return l
}

// recordBuffer records a buffer of the Func by its role.
func (l *Layer) recordBuffer(role ir.Role, n nest) {
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

// findTableWeights finds the weights that select entries of the table.
func (l *Layer) findTableWeights(params map[string]bool) {
	if !l.table.exists() {
		return
	}
	for _, ld := range loads(l.term()) {
		if params[ld.Buf] {
			l.weights, l.weightDims = ld.Buf, l.sum.axesOf(ld.Idx)
		}
	}
}

// contiguousLanes returns the largest power of two n such that every block of n neighbouring sums
// reads adjacent elements, or 0.
func (l *Layer) contiguousLanes() int {
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

// scatters reports whether neighbouring sums read scattered addresses within blocks of the given
// size, such as a word of a packed output; within all channels if block is 0.
func (l *Layer) scatters(block int) bool {
	loop := l.sum.loops[ir.Channel]
	if block == 0 || !arith.Scattered(loop) {
		return arith.Scattered(loop)
	}
	f := l.inBlocks(block)
	return f == nil || arith.Scattered(ir.FindLoop(f.Body, loop.Var))
}

// inBlocks returns the Func with the channel loop of its sums split into blocks of n. The inner
// loop keeps the name. It is nil if n does not divide the channels.
func (l *Layer) inBlocks(n int) *ir.Func {
	return l.known.blocks.get(n, func() *ir.Func {
		name := l.sum.loop(ir.Channel)
		f, err := steps.SplitAs(name, n, schedule.TailPerfect, name+"block", name).Apply(l.Func)
		if err != nil {
			return nil
		}
		return f
	})
}

// analyzeCounts finds the operands of sums of counts: the weights, whether every channel gathers
// its own words and, for differences of input and weights, the input.
func (l *Layer) analyzeCounts(term ir.Expr) {
	// counts times the factor of a weight plane
	if x, ok := term.(*ir.Binary); ok && (x.Op == ir.Shl || x.Op == ir.Mul) {
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
	l.countsBits = true
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
	l.weights, l.weightDims = b.Buf, l.sum.axesOf(b.Idx)
	// In a layer with groups, channels choose words of the input, too
	if chosenBy(a.Idx, l.sum.loop(ir.Channel)) || x.Op != ir.Xor || l.sum.loops[ir.WeightPlane] != nil {
		return
	}
	l.countsDifferences, l.input, l.inputDims = true, a.Buf, l.sum.axesOf(a.Idx)
	copies := storesTo(l.Func.Body, l.pad.buf)
	if l.input != l.pad.buf || len(copies) > 1 || len(l.before) > 0 {
		return // a copy that changes words has its own form
	}
	for _, ld := range loads(copies[0].Val) {
		l.input, l.inputDims = ld.Buf, l.pad.axesOf(ld.Idx)
	}
}

// term returns the value that a sum adds up.
func (l *Layer) term() ir.Expr {
	var term ir.Expr
	for st := range ir.StmtsOf[*ir.Store](l.sum.loops[ir.TapRow]) {
		if st.Buf == l.sum.buf {
			term = st.Val
		}
	}
	return term
}

// sumBits returns the width of a sum.
func (l *Layer) sumBits() int { return l.sumType().Bits() }

// sumType returns the type of a sum.
func (l *Layer) sumType() ir.Type { return l.buffers[l.sum.buf].Type }

// levelBits returns the number of bits of the stored levels; each bit has a plane of words.
func (l *Layer) levelBits() int { return l.buffers[l.out.buf].Shape[0] }

// float reports whether the sums are floats.
func (l *Layer) float() bool { return l.sumType().IsFloat() }

// dots reports whether the sums are of products of bytes, or of bytes and weights of 16 bits.
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

// dense reports whether threads can share channels alone: there is one row, or the rows are summed
// in order.
func (l *Layer) dense() bool { return l.out.extent(ir.Row) == 1 || l.mean.exists() }

// rows returns the number of output rows that are independent.
func (l *Layer) rows() int {
	if l.mean.exists() {
		return 1
	}
	return l.out.extent(ir.Row)
}

// halves reports whether one look-up serves a position in each half of a row.
func (l *Layer) halves() bool { return l.sum.loops[ir.Half] != nil }

// window returns the number of positions in a pooling window, or 0 without a pool.
func (l *Layer) window() int { return l.pool.extent(ir.TapRow) * l.pool.extent(ir.TapCol) }

// channels returns the axis of the outermost loop over output channels.
func (l *Layer) channels() ir.Axis {
	if l.packed {
		return ir.Word
	}
	return ir.Channel
}

// instr finds an instruction of the target by its meaning, or returns nil.
func (l *Layer) instr(m isa.Meaning, fits func(isa.Instr) bool) *isa.Instr {
	for _, i := range isa.Query(m, l.Target) {
		if fits(i) {
			return &i
		}
	}
	return nil
}
