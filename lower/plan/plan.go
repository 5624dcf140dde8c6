// Package plan lays out a Program's activations in one arena. Buffers with overlapping lifetimes
// get disjoint places, except for an output written over an input that ends its life there.
package plan

import (
	"cmp"
	"slices"

	"ripc/internal/abi"
	"ripc/ir"
)

// Arena gives each ArenaBuf of p an offset and returns the arena's size in bytes. A buffer lives
// from the first stage that uses it to the last. Buffers are placed one after the other, each at
// the lowest offset that is free for its lifetime, in the best of several orders; where a stage
// needs all that an order takes, none is better.
func Arena(p *ir.Program) int64 {
	all := lives(p, nil)
	size := arrange(all, len(p.Stages))
	settle(all)
	return size
}

// arrange gives lives their places, and returns where the highest ends.
func arrange(all []*life, stages int) (size int64) {
	least := lowerBound(all, stages)
	var best []int64
	try := func(order []*life) bool {
		if n := place(order); best == nil || n < size {
			size, best = n, best[:0]
			for _, l := range all {
				best = append(best, l.at)
			}
		}
		return size == least
	}
	tried, moves := orders(), maxMoves
	if len(all) > maxTried {
		tried, moves = tried[:1], 0
	}
search:
	for _, before := range tried {
		order := slices.Clone(all)
		slices.SortStableFunc(order, before)
		if try(order) {
			break
		}
		// The buffer that ends highest was placed too late.
		for range min(len(order), moves) {
			top := slices.MaxFunc(order, func(a, b *life) int { return cmp.Compare(a.at+a.bytes, b.at+b.bytes) })
			i := slices.Index(order, top)
			order = slices.Insert(slices.Delete(order, i, i+1), 0, top)
			if try(order) {
				break search
			}
			if i == 0 {
				break
			}
		}
	}
	for i, l := range all {
		l.at = best[i]
	}
	return size
}

// settle puts the buffers into the places of their lives.
func settle(all []*life) {
	for _, l := range all {
		for _, b := range l.bufs {
			b.Offset = l.at
		}
	}
}

// How often an order is changed at most, and of how many buffers more than one order is tried.
const maxMoves, maxTried = 32, 1000

// life is a buffer, or a chain of buffers written over each other, with its place and the first and
// the last stage that use it, -1 if there is none.
type life struct {
	bufs        []*ir.ProgBuf
	bytes       int64
	first, last int
	at          int64
	widest      int64 // the most that a stage needs of the arena which needs it
}

func (l *life) overlaps(o *life) bool { return o.first <= l.last && l.first <= o.last }

// lives returns the lives of p's buffers in the arena. The buffers of a pair share a place.
func lives(p *ir.Program, pairs []pair) []*life {
	byName := map[string]*life{}
	var all []*life
	for i := range p.Buffers {
		if b := &p.Buffers[i]; b.Kind == ir.ArenaBuf {
			l := &life{bufs: []*ir.ProgBuf{b}, bytes: abi.RoundUp(int64(b.Bytes())), first: -1}
			byName[b.Name] = l
			all = append(all, l)
		}
	}
	for i, s := range p.Stages {
		for _, a := range s.Args {
			if l := byName[a]; l != nil {
				if l.first < 0 {
					l.first = i
				}
				l.last = i
			}
		}
	}
	for _, q := range pairs {
		in, out := byName[q.in], byName[q.out]
		in.bufs, in.last = append(in.bufs, out.bufs...), out.last
		byName[q.out] = in
		all = slices.DeleteFunc(all, func(l *life) bool { return l == out })
	}
	return all
}

// lowerBound is the most that a stage needs at once, or one buffer that no stage uses; no placement
// takes less.
func lowerBound(all []*life, stages int) (most int64) {
	at := make([]int64, stages)
	for _, l := range all {
		most = max(most, l.bytes)
		for i := max(l.first, 0); l.first >= 0 && i <= l.last; i++ {
			at[i] += l.bytes
			most = max(most, at[i])
		}
	}
	for _, l := range all {
		for i := max(l.first, 0); l.first >= 0 && i <= l.last; i++ {
			l.widest = max(l.widest, at[i])
		}
	}
	return most
}

// orders are those in which buffers may be placed: large ones first; those of the stages that need
// most first; those that live longest first; in the order of the stages.
func orders() []func(a, b *life) int {
	size := func(a, b *life) int { return cmp.Compare(b.bytes, a.bytes) }
	return []func(a, b *life) int{
		size,
		func(a, b *life) int { return cmp.Or(cmp.Compare(b.widest, a.widest), size(a, b)) },
		func(a, b *life) int { return cmp.Or(cmp.Compare(b.last-b.first, a.last-a.first), size(a, b)) },
		func(a, b *life) int { return cmp.Or(cmp.Compare(a.first, b.first), size(a, b)) },
	}
}

// place puts buffers at the lowest offsets that are free, in their order, and returns where the
// highest ends.
func place(order []*life) (size int64) {
	var busy [][2]int64
	for i, l := range order {
		busy = busy[:0]
		for _, o := range order[:i] {
			if o.overlaps(l) {
				busy = append(busy, [2]int64{o.at, o.at + o.bytes})
			}
		}
		slices.SortFunc(busy, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
		l.at = 0
		for _, b := range busy {
			if l.at+l.bytes <= b[0] {
				break
			}
			l.at = max(l.at, b[1])
		}
		size = max(size, l.at+l.bytes)
	}
	return size
}
