package estimate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ripc/engine/simulate"
)

// step is the size of an instruction in bytes; all code that is simulated has instructions of one
// size.
const step = 4

// block is straight code that was always executed as a whole: control came to its first instruction
// only, and left behind its last one only. Branches in it were never taken.
type block struct {
	first uint64 // address
	n     int    // instructions
	times uint64
	ways  []edge // how control came to it; by times, falling, then by address
}

// edge counts the executions of a block directly behind another one, or behind itself.
type edge struct {
	block int // index of the one before
	times uint64
}

// last is the address of a block's last instruction.
func (b block) last() uint64 { return b.first + uint64(b.n-1)*step }

// blocks returns the basic blocks of a profile, by address. qemu's pieces overlap where control
// enters the middle of one. So executions, and steps to the next instruction, are counted for each
// address first.
func blocks(p *simulate.Profile) ([]block, error) {
	times, on := map[uint64]uint64{}, map[uint64]uint64{} // of each instruction; and how often the next one followed
	for _, q := range p.Pieces {
		if q.Last-q.First != (q.Instructions-1)*step {
			return nil, fmt.Errorf("%d instructions from %#x to %#x do not have %d bytes each", q.Instructions,
				q.First, q.Last, step)
		}
		for a := q.First; a <= q.Last; a += step {
			times[a] += q.Times
			if a < q.Last {
				on[a] += q.Times
			}
		}
	}
	jumps := make([]simulate.Jump, 0, len(p.Jumps))
	for _, j := range p.Jumps {
		if j.To == j.From+step {
			on[j.From] += j.Times
			continue
		}
		jumps = append(jumps, j)
	}
	var all []block
	starts, ends := map[uint64]int{}, map[uint64]int{}
	for _, a := range slices.Sorted(maps.Keys(times)) {
		before := a - step
		if k := len(all) - 1; k >= 0 && all[k].last() == before && on[before] == times[before] &&
			on[before] == times[a] {
			all[k].n++
			continue
		}
		starts[a] = len(all)
		all = append(all, block{first: a, n: 1, times: times[a]})
	}
	for i, b := range all {
		ends[b.last()] = i
	}
	for i := range all {
		if k, ok := ends[all[i].first-step]; ok && on[all[k].last()] > 0 {
			all[i].ways = append(all[i].ways, edge{k, on[all[k].last()]})
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
