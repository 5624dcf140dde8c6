package estimate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ripc/engine/simulate"
)

// step is the size of an instruction in lines, in bytes. Zeros follow a short one.
const step = 4

// block is straight code that was always executed as a whole: control came to its first instruction
// only, and left behind its last one only. Branches in it were never taken.
type block struct {
	first uint64 // address
	last  uint64 // of its last instruction
	n     int    // instructions
	times uint64
	ways  []edge // how control came to it; by times, falling, then by address
}

// edge counts the executions of a block directly behind another one, or behind itself.
type edge struct {
	block int // index of the one before
	times uint64
}

// blocks returns the basic blocks of a profile, by address. qemu's pieces overlap where control
// enters the middle of one. So executions, and steps to the next instruction, are counted for each
// address first. size returns the bytes of the instruction at an address.
func blocks(p *simulate.Profile, size func(at uint64) uint64) ([]block, error) {
	times, on := map[uint64]uint64{}, map[uint64]uint64{} // of each instruction; and how often the next one followed
	for _, q := range p.Pieces {
		n, a := uint64(1), q.First
		for ; a < q.Last; a += size(a) {
			times[a] += q.Times
			on[a] += q.Times
			n++
		}
		if a != q.Last || n != q.Instructions {
			return nil, fmt.Errorf("%d instructions from %#x to %#x do not have their sizes", q.Instructions, q.First,
				q.Last)
		}
		times[a] += q.Times
	}
	jumps := make([]simulate.Jump, 0, len(p.Jumps))
	for _, j := range p.Jumps {
		if j.To == j.From+size(j.From) {
			on[j.From] += j.Times
			continue
		}
		jumps = append(jumps, j)
	}
	var all []block
	starts, ends, behind := map[uint64]int{}, map[uint64]int{}, map[uint64]int{}
	for _, a := range slices.Sorted(maps.Keys(times)) {
		if k := len(all) - 1; k >= 0 {
			if b := &all[k]; b.last+size(b.last) == a && on[b.last] == times[b.last] && on[b.last] == times[a] {
				b.n, b.last = b.n+1, a
				continue
			}
		}
		starts[a] = len(all)
		all = append(all, block{first: a, last: a, n: 1, times: times[a]})
	}
	for i, b := range all {
		ends[b.last], behind[b.last+size(b.last)] = i, i
	}
	for i := range all {
		if k, ok := behind[all[i].first]; ok && on[all[k].last] > 0 {
			all[i].ways = append(all[i].ways, edge{k, on[all[k].last]})
		}
	}
	for _, j := range jumps {
		to, ok := starts[j.To]
		from, known := ends[j.From]
		if !ok || !known {
			return nil, fmt.Errorf("a jump from %#x to %#x is from or to the middle of a block", j.From, j.To)
		}
		all[to].ways = append(all[to].ways, edge{from, j.Times})
	}
	for i := range all {
		slices.SortFunc(all[i].ways,
			func(a, b edge) int { return cmp.Or(-cmp.Compare(a.times, b.times), cmp.Compare(a.block, b.block)) })
	}
	return all, nil
}
