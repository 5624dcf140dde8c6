package features

import (
	"maps"
	"slices"

	"ripc/ir"
)

// CountNames are the names of the counts of Describe: numbers of executions in a scheduled Func,
// each of a kind that a machine has a price for. They are plain numbers, unlike those of Of, and
// the body of a condition counts as often as the condition holds.
func (d *Describer) CountNames() []string {
	k := newKernel(&ir.Func{Body: &ir.Block{}}, d, true)
	var names []string
	k.counts(func(name string, _ float64) { names = append(names, name) })
	return names
}

// Lacking lists the counts of instructions that the target does not have.
func (d *Describer) Lacking() (names []string) {
	for i, m := range meanings() {
		if !slices.Contains(slices.Collect(maps.Values(d.instructions)), i) {
			names = append(names, "call."+m.name)
		}
	}
	return names
}

func (k *kernel) counts(yield func(name string, n float64)) {
	for op := range operationKinds {
		for w := range widths {
			name := operationNames()[op] + widthNames()[w]
			yield("op."+name, k.ops[op][w])
			yield("vector."+name, k.vectors[op][w]) // which is part of the former
		}
	}
	for a := range accessKinds {
		yield("load."+accessNames()[a], k.memory[a].loads)
		yield("store."+accessNames()[a], k.memory[a].stores)
	}
	yield("op.address", k.indexed)
	for i, m := range meanings() {
		yield("call."+m.name, k.called[i])
		yield("work."+m.name, k.calledWork[i])
	}
	yield("iterations", k.iterations)
	yield("entries", k.entries)
	yield("branches", k.branches)
	yield("spills", k.spills)
	yield("calls", 1)
	yield("kernels", k.kernels)
	yield("blocks", k.blocks)
	yield("threads", k.threads)
	yield("barriers", k.barriers)
}
