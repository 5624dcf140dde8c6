// Package plan lays out a Program's activations in one arena: buffers whose lifetimes overlap get disjoint places.
package plan

import (
	"cmp"
	"slices"

	"ripc/internal/abi"
	"ripc/ir"
)

// Arena gives each ArenaBuf of p an offset and returns the arena's size in bytes. A buffer lives from the first stage
// that uses it to the last. Larger buffers are placed first, each at the lowest offset that is free for its lifetime.
func Arena(p *ir.Program) int64 {
	type life struct {
		buf         *ir.ProgBuf
		first, last int
	}
	byName := map[string]*life{}
	var all []*life
	for i := range p.Buffers {
		if b := &p.Buffers[i]; b.Kind == ir.ArenaBuf {
			l := &life{buf: b, first: -1}
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
	slices.SortStableFunc(all, func(a, b *life) int { return cmp.Compare(b.buf.Bytes(), a.buf.Bytes()) })
	var size int64
	for i, l := range all {
		n := abi.RoundUp(int64(l.buf.Bytes()))
		var busy [][2]int64
		for _, o := range all[:i] {
			if o.first <= l.last && l.first <= o.last {
				busy = append(busy, [2]int64{o.buf.Offset, o.buf.Offset + abi.RoundUp(int64(o.buf.Bytes()))})
			}
		}
		slices.SortFunc(busy, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
		at := int64(0)
		for _, b := range busy {
			if at+n <= b[0] {
				break
			}
			at = max(at, b[1])
		}
		l.buf.Offset = at
		size = max(size, at+n)
	}
	return size
}
