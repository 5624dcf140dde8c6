// Package features describes scheduled kernels by numbers that a cost model can learn from: loops,
// memory that is touched, how often it is used again, instructions, registers, the size of the
// code, the knobs of the strategy, and the target. None of them names a layer, so a model that was
// fitted to some holds for others, of other networks and, as far as that goes, of other targets.
//
// Counts are of executed vector instructions, as of a compiler that hoists all invariant code.
// Counts, bytes and extents are log2(1+x): a split of a tree then asks for a ratio.
package features

import (
	"cmp"
	"math"
	"slices"

	"ripc/ir"
	"ripc/ir/size"
	"ripc/targets"
	"ripc/targets/isa"
)

// Levels is how many loops around the hottest statement are described, from the inside.
const Levels = 10

// knobs are those of package strategy, by name.
func knobs() []string {
	return []string{
		"tile_h", "tile_w", "lanes", "unroll", "filters_outer", "vectors", "width", "words", "step", "at", "spread",
		"group", "wide", "whole", "by_lane",
		"filters", "run", "part", "kept", "share", "ordered", "blocks", "threads",
	}
}

// meanings are those of the instructions that schedules may have, with names of features.
func meanings() []meaning {
	return []meaning{
		{isa.XorCount, "xor_count"}, {isa.XorCountPair, "xor_count_pair"}, {isa.XorCountTile, "xor_count_tile"},
		{isa.DotBytes, "dot_bytes"},
		{isa.PackCompare, "pack_compare"}, {isa.Clear, "clear"}, {isa.WidenAdd, "widen_add"},
		{isa.WidenAddMemory, "widen_add_memory"},
		{isa.LookUp, "look_up"}, {isa.Tables, "tables"}, {isa.XorCountRow, "xor_count_row"},
		{isa.LookUpRow, "look_up_row"},
		{isa.XorCountWindow, "xor_count_window"}, {isa.DotPairs, "dot_pairs"}, {isa.AddPairs, "add_pairs"},
		{isa.PackLess, "pack_less"}, {isa.FmaRow, "fma_row"}, {isa.DotChannels, "dot_channels"},
		{isa.XorCountMatrix, "xor_count_matrix"}, {isa.DotMatrix, "dot_matrix"}, {isa.PackWord, "pack_word"},
	}
}

type meaning struct {
	isa.Meaning
	name string
}

// Describer describes kernels for one target. It may be used from several goroutines.
type Describer struct {
	target       targets.Target
	instructions map[string]int // number in meanings, by name
	knobs        []string
	firstKnob    int // where their values are among the features
}

// For is the Describer of a target.
func For(t targets.Target) *Describer {
	d := &Describer{target: t, instructions: map[string]int{}, knobs: knobs()}
	d.firstKnob = slices.Index(names(d), "knob."+d.knobs[0])
	for i, m := range meanings() {
		for _, in := range isa.Query(m.Meaning, t) {
			d.instructions[in.Func.Name] = i
		}
	}
	return d
}

// Names are the features that Of gives, in order.
func Names() []string {
	return names(&Describer{target: targets.Target{VectorBits: 128, Registers: 16, L1: 1, L2: 1}, knobs: knobs()})
}

func names(d *Describer) []string {
	var names []string
	d.each(newKernel(&ir.Func{Body: &ir.Block{}}, d, false), nil, func(group, name string, _ float64) {
		names = append(names, group+name)
	})
	return names
}

// Of describes a scheduled Func with the values of its strategy's knobs; a knob that it does not
// have is NaN. The same kernel has the same features each time.
func (d *Describer) Of(f *ir.Func, v map[string]int) []float32 {
	out := make([]float32, 0, 256)
	d.each(newKernel(f, d, false), v, func(_, _ string, x float64) { out = append(out, float32(x)) })
	return out
}

// Describe returns the counts of a scheduled Func, in the order of CountNames, and its features as
// Of does. Bodies of conditions count with the share of iterations that meet the condition.
func (d *Describer) Describe(f *ir.Func, v map[string]int) (counts []float64, x []float32) {
	k := newKernel(f, d, true)
	k.counts(func(_ string, n float64) { counts = append(counts, n) })
	d.each(k, v, func(_, _ string, n float64) { x = append(x, float32(n)) })
	return counts, x
}

// log is how counts, bytes and extents are scaled.
func log(x float64) float64 { return math.Log2(1 + max(0, x)) }

// ratio is log2 of a quotient of numbers that may be 0, between -20 and 20.
func ratio(a, b float64) float64 {
	return min(20, max(-20, math.Log2((a+1e-6)/(b+1e-6))))
}

// each gives the features in order.
func (d *Describer) each(k *kernel, v map[string]int, yield func(group, name string, x float64)) {
	t := d.target

	// Work hardly depends on the schedule, so counts are also given as ratios to work.
	work, moves := k.work, k.moves()
	totals := []struct {
		name string
		x    float64
	}{
		{"operations", k.operations}, {"vector", k.vector}, {"loads", moves.loads}, {"stores", moves.stores},
		{"calls", k.calls},
		{"iterations", k.iterations}, {"branches", k.branches}, {"spills", k.spills},
		{"instructions", k.instructions()},
		{"blocks", k.blocks}, {"threads", k.threads}, {"barriers", k.barriers},
	}
	yield("total.", "work", log(work))
	for _, c := range totals {
		yield("total.", c.name, log(c.x))
	}
	for _, c := range totals {
		yield("rate.", c.name, ratio(c.x, work))
	}
	yield("", "intensity", ratio(k.operations, moves.loads+moves.stores))
	yield("", "vector_share", k.vector/max(1, k.operations))

	for op := range operationKinds {
		for w := range widths {
			yield("op.", operationNames()[op]+widthNames()[w], log(k.ops[op][w]))
		}
	}
	for a := range accessKinds {
		yield("load.", accessNames()[a], log(k.memory[a].loads))
		yield("store.", accessNames()[a], log(k.memory[a].stores))
	}
	yield("op.", "address", log(k.indexed))
	for i, m := range meanings() {
		yield("call.", m.name, log(k.called[i]))
	}

	// The registers of the innermost code.
	yield("registers.", "kept", log(k.kept))
	yield("registers.", "share", k.kept/float64(max(1, t.Registers)))
	yield("registers.", "memory", log(k.onStack))

	yield("code.", "size", log(float64(size.Of(k.f.Body))))
	yield("code.", "statements", log(float64(len(k.sites))))
	yield("code.", "addresses", log(k.addresses))
	yield("code.", "body", log(k.body))
	for kind := range k.loopKinds {
		yield("code.", ir.LoopKind(kind).String(), log(k.loopKinds[kind]))
	}
	yield("", "parallel", log(k.parallel))
	yield("", "parallel_full", cmp.Or(k.full, 1))

	// Bytes that come from beyond memory of some size.
	for _, c := range []struct {
		name string
		cap  int
	}{{"1k", 1 << 10}, {"4k", 4 << 10}, {"half_l1", t.L1 / 2}, {"l1", t.L1}, {"half_l2", t.L2 / 2}, {"all", 0}} {
		bytes := k.traffic(k.root, float64(c.cap))
		if c.cap == 0 {
			bytes = k.touched(k.root)
		}
		yield("bytes.", c.name, log(bytes))
		yield("bytes_rate.", c.name, ratio(bytes, work))
	}

	// The loops around the statement that most instructions are of, from the inside.
	yield("hot.", "share", k.hotShare())
	around := k.levels()
	for i := range Levels {
		var l level
		if i < len(around) {
			l = around[i]
		}
		group := levelNames()[i]
		yield(group, "extent", log(l.extent))
		yield(group, "kind", l.kind)
		yield(group, "axis", l.axis)
		yield(group, "bytes", log(l.touched))
		yield(group, "reuse", ratio(l.moved, l.touched))
	}

	for _, name := range d.knobs {
		yield("knob.", name, knobValue(v, name))
	}

	for _, c := range []struct {
		name string
		x    float64
	}{
		{"vector_bits", log(float64(t.VectorBits))}, {"registers", log(float64(t.Registers))},
		{"count_ops", float64(t.CountOps)},
		{"ternary", truth(t.Ternary)}, {"pair_loads", truth(t.PairLoads)}, {"pointer_bits", float64(t.PointerBits())},
		{"l1", log(float64(t.L1))}, {"l2", log(float64(t.L2))},
	} {
		yield("target.", c.name, c.x)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// levelNames are the groups of the features of each level.
func levelNames() [Levels]string {
	return [Levels]string{"loop0.", "loop1.", "loop2.", "loop3.", "loop4.", "loop5.", "loop6.", "loop7.", "loop8.",
		"loop9."}
}

// Turn is x, features of a Func, with the values of knobs.
func (d *Describer) Turn(x []float32, v map[string]int) []float32 {
	x = slices.Clone(x)
	for i, name := range d.knobs {
		x[d.firstKnob+i] = float32(knobValue(v, name))
	}
	return x
}

// knobValue is the feature of a knob, NaN if v does not have it.
func knobValue(v map[string]int, knob string) float64 {
	n, ok := v[knob]
	if !ok {
		return math.NaN()
	}
	return log(float64(n))
}
