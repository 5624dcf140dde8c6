package strategy

import (
	"slices"

	"ripc/ir"
	"ripc/schedule/steps"
	"ripc/targets/isa"
)

// Strategies for devices: each nest of loops becomes a kernel. Its independent loops are fused, and
// divided into blocks of threads. A block that shares buffers goes through the nests in it, one
// after the other.

// threads is the knob of the most threads of a block.
const threads = "threads"

// kernels makes one kernel for each tensor of a Func, whatever the Func is.
func kernels() Strategy {
	return Strategy{
		Name: "kernels", Text: "a kernel for each tensor", Machine: Device,
		Applies: func(*Layer) (bool, string) { return true, "" },
		Knobs:   func(l *Layer) []Knob { return []Knob{threadsKnob(l)} },
		build:   func(b *builder, v Values) { b.bindKernels("", v[threads]) },
	}
}

// pixels computes all that an output needs in one thread. Threads exchange nothing, so it suits any
// device.
func pixels() Strategy {
	return Strategy{
		Name: "pixels", Text: "all that an output needs in one thread", Machine: Device,
		Applies: func(l *Layer) (bool, string) {
			return !l.mean.exists() && len(tensors(l.Func)) > 0, "it has one tensor, or a mean of layers"
		},
		Knobs: func(l *Layer) []Knob { return []Knob{threadsKnob(l), filtersKnob(l), unrollKnob()} },
		build: func(b *builder, v Values) {
			if b.pad.exists() && len(b.before) == 0 {
				b.may(steps.ComputeInline(b.pad.buf))
			}
			home, inThread := b.placeValues(v, "")
			b.keepInRegisters(v, home, inThread)
			b.bindKernels("", v[threads])
		},
	}
}

// rows computes rows of the output in each block. Its threads share the rows of the input that they
// read, with the border around them.
func rows() Strategy {
	return Strategy{
		Name: "rows", Text: "rows in a block, which shares the input", Machine: Device,
		Applies: copiesRows,
		Knobs: func(l *Layer) []Knob {
			return []Knob{threadsKnob(l), blockKnob(tileH, l.rows()), filtersKnob(l), unrollKnob()}
		},
		build: func(b *builder, v Values) {
			at := b.blockLoop(v)
			home, inThread := b.placeValues(v, "")
			b.keepInRegisters(v, home, inThread)
			b.placeCopies(at)
			b.bindKernels(at, v[threads])
		},
	}
}

// pairRows is rows that count two words of channels with one popcount, by an instruction, on words
// that are kept as pairs.
func pairRows() Strategy {
	return Strategy{
		Name: "pair_rows", Text: "rows in a block, and two words counted at once by an instruction", Machine: Device,
		Applies: func(l *Layer) (bool, string) {
			if ok, why := copiesRows(l); !ok {
				return ok, why
			}
			return l.countsDifferences && l.unpaired() == "" && l.sum.extent(ir.Reduce)%2 == 0 &&
					l.sum.loops[ir.Plane] == nil && l.threadPair() != nil,
				"it has no pairs of words, or the target no instruction that counts them"
		},
		Knobs: func(l *Layer) []Knob {
			k := filtersKnob(l)
			k.Domain = []int{2, 4}
			return []Knob{threadsKnob(l), blockKnob(tileH, l.rows()), k}
		},
		build: func(b *builder, v Values) {
			at := b.blockLoop(v)
			b.must(steps.Pair(b.pad.buf, len(b.buffers[b.pad.buf].Shape)-1))
			home, inThread := b.placeValues(v, "")
			b.placeCopies(at)
			b.pairSums(home)
			b.keepInRegisters(nil, home, append(inThread, "s", "cc"))
			b.writeOut(maxWritten/2, b.sum.buf, "s", "cc")
			b.bindKernels(at, v[threads])
		},
	}
}

// threadPair returns the instruction by which a thread counts two words, or nil.
func (l *Layer) threadPair() *isa.Instr {
	return l.instr(isa.XorCountPair, func(i isa.Instr) bool { return i.Lanes == 1 })
}

// pairSums counts pairs of words in a thread. Its sums and carries live in loop home.
func (b *builder) pairSums(home string) {
	if b.err != nil {
		return
	}
	loop := func(a ir.Axis) string { return b.sum.loop(a) }
	_, lane := b.divideUnnamed(loop(ir.Channel), 1)
	b.must(steps.CarrySave(b.sum.buf, loop(ir.Reduce), home, "s", "cc"))
	dims := b.pack(b.weightDims, ir.Channel, ir.TapRow, 1)
	b.must(steps.Pair(b.weights, slices.Index(dims, ir.Reduce)))
	b.must(steps.Tensorize(lane, b.threadPair().Func))
}

// packWords lets a warp make each word of bits of sums that are shared, by an instruction.
func (b *builder) packWords() {
	i := b.instr(isa.PackWord, func(i isa.Instr) bool { return i.Lanes == b.out.extent(ir.Bit) })
	if b.err != nil || i == nil || b.levelBits() != 1 {
		return
	}
	b.attempt(func() { // other functions of sums stay
		_, word := b.divideUnnamed(b.out.loop(ir.Word), 1)
		b.must(steps.Tensorize(word, i.Func))
	})
}

// channelLanes is rows with a thread for each channel. The sums are shared: a warp packs a word of
// bits, where the target has ballots, else a thread does.
func channelLanes() Strategy {
	return Strategy{
		Name: "lanes", Text: "a thread for each channel of a position, and words by ballots", Machine: Device,
		Applies: func(l *Layer) (bool, string) {
			if ok, why := copiesRows(l); !ok {
				return ok, why
			}
			return hasLoop(l.Func.Body, ir.Bit), "it writes no bits"
		},
		Knobs: func(l *Layer) []Knob {
			return []Knob{threadsKnob(l), blockKnob(tileH, l.rows()), blockKnob(tileW, l.out.extent(ir.Col)),
				{run, "neighbouring positions of a thread", []int{1, 2, 4}}, unrollKnob()}
		},
		build: func(b *builder, v Values) {
			at := b.blockLoop(v)
			home, inThread := b.placeValues(v, at)
			b.keepInRegisters(v, home, inThread)
			b.placeCopies(at)
			b.packWords()
			b.bindKernels(at, v[threads])
		},
	}
}

// splitSums divides the sums of a dense layer into parts, which threads of a block add up.
func splitSums() Strategy {
	return Strategy{
		Name: "split_k", Text: "parts of a sum in the threads of a block", Machine: Device,
		Applies: func(l *Layer) (bool, string) {
			return l.sum.exists() && !l.float() && !l.mean.exists() && !l.table.exists() && !l.pad.exists() &&
					l.out.extent(ir.Row)*l.out.extent(ir.Col) == 1 && l.sum.loops[ir.WeightPlane] == nil &&
					l.sum.loops[ir.Plane] == nil && l.sum.extent(ir.Reduce) > 1,
				"it has no integer sums of one position, or several planes of bits"
		},
		Knobs: func(l *Layer) []Knob {
			all := divisorsUpTo(l.sum.extent(ir.Reduce), 32)[1:]
			slices.Reverse(all)
			if len(all) == 0 {
				all = []int{l.sum.extent(ir.Reduce)}
			}
			return []Knob{threadsKnob(l), {part, "parts of a sum", all}}
		},
		build: buildSplitSums,
	}
}

func buildSplitSums(b *builder, v Values) {
	at := b.out.loop(b.channels())
	if !b.packed {
		n := divisorsUpTo(b.extent(at), ir.U32.Bits())
		at, _ = b.divide(at, n[len(n)-1])
	}
	b.sumsAt(at)
	sum := func(a ir.Axis) string { return b.sum.loop(a) }
	parts, words := b.divide(sum(ir.Reduce), b.extent(sum(ir.Reduce))/v[part])
	b.reorder(sum(ir.TapRow), sum(ir.TapCol), sum(ir.Channel), parts, words)
	b.must(steps.Rfactor(b.sum.buf, parts, sum(ir.TapCol), b.sum.buf+".r"))
	b.reorder(parts, sum(ir.Channel), words)
	if n := divisorsUpTo(b.extent(words), maxWritten); len(n) > 1 {
		_, inner := b.divide(words, n[len(n)-1])
		b.unroll(b.find(inner))
	}
	b.bindKernels(at, v[threads])
}

// oneBlock computes all of a small Func in one block, tensor after tensor.
func oneBlock() Strategy {
	return Strategy{
		Name: "one_block", Text: "all tensors in one block, which shares them", Machine: Device,
		Applies: func(l *Layer) (bool, string) {
			return !l.sum.exists() && l.out.loops[ir.Batch] != nil && len(allocs(l.Func.Body)) > 0 &&
					l.out.extent(ir.Row)*l.out.extent(ir.Col) <= 1,
				"it has sums of a layer, one tensor, or several positions"
		},
		Knobs: func(l *Layer) []Knob { return []Knob{threadsKnob(l)} },
		build: func(b *builder, v Values) {
			at := b.out.loop(ir.Batch)
			for _, buf := range tensors(b.Func) {
				if b.buffers[buf].Bytes() > b.Target.Device.SharedBytes {
					b.must(steps.ComputeInline(buf))
				} else {
					b.must(steps.ComputeAt(buf, at))
				}
			}
			b.bindKernels(at, v[threads])
		},
	}
}

// copiesRows reports whether l has sums over windows of a copied input, in several rows.
func copiesRows(l *Layer) (ok bool, why string) {
	return l.sum.exists() && !l.mean.exists() && l.pad.exists() && !l.table.exists() && l.out.extent(ir.Row) > 1,
		"it has no sums over windows of a copied input, or tables of them, or one row"
}

// divisorsUpTo lists the divisors of n up to most.
func divisorsUpTo(n, most int) []int {
	return slices.DeleteFunc(divisors(n), func(k int) bool { return k > most })
}

// blockKnob is the number of rows or columns of a block: a divisor of n.
func blockKnob(name string, n int) Knob {
	return Knob{name, "rows or columns of the output in a block", divisorsUpTo(n, 64)}
}

// filtersKnob is the number of channels with sums in a thread's registers.
func filtersKnob(*Layer) Knob {
	return Knob{filters, "channels with sums in a thread's registers", []int{1, 2, 4, 8}}
}

func unrollKnob() Knob { return Knob{unroll, "write the inner loops of a sum out", []int{1, 0}} }

// threadsKnob lists powers of two, the usual one first.
func threadsKnob(l *Layer) Knob {
	all := []int{128, 64, 32, 256, 512, 1024}
	return Knob{threads, "threads of a block at most", slices.DeleteFunc(all, func(n int) bool {
		return n > l.Target.Device.MaxThreads
	})}
}
