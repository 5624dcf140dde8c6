package judge

import (
	"fmt"
	"maps"
	"slices"

	"ripc/ir"
)

// step is a step that refers to loops and buffers of f; it need not be legal.
func (d *draw) step(f *ir.Func) string {
	var loops, allocs []string
	inside := map[string][]string{} // loops in a loop
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.For:
			loops = append(loops, s.Var)
			ir.Walk(s.Body, func(t ir.Stmt) bool {
				if l, ok := t.(*ir.For); ok {
					inside[s.Var] = append(inside[s.Var], l.Var)
				}
				return true
			})
		case *ir.Alloc:
			allocs = append(allocs, s.Buf.Name)
		}
		return true
	})
	if len(loops) == 0 {
		return "unroll none"
	}
	loop := pickOne(d, loops...)
	if len(d.independentLoops) > 0 && d.chance(2) {
		if loop = pickOne(d, d.independentLoops...); d.chance(2) {
			return fmt.Sprintf("split %s %d tail=shift", loop, d.count(2, 3))
		}
	}
	inner := loop
	if in := inside[loop]; len(in) > 0 {
		inner = pickOne(d, in...)
	}
	buf := pickOne(d, slices.Sorted(maps.Keys(f.Buffers()))...)
	alloc := buf
	if len(allocs) > 0 {
		alloc = pickOne(d, allocs...)
	}
	factor := d.count(1, 4)
	narrow := pickOne(d, "u8", "i8", "u16", "i16", "i32")
	switch d.IntN(20) {
	case 0, 1, 2:
		return fmt.Sprintf("split %s %d tail=shift", loop, factor)
	case 3, 4:
		return fmt.Sprintf("split %s %d tail=%s", loop, factor, pickOne(d, "guard", "cut", "perfect"))
	case 5:
		return fmt.Sprintf("reorder %s %s", inner, loop)
	case 6:
		return "vectorize " + loop
	case 7:
		return "parallel " + loop
	case 8:
		return fmt.Sprintf("fuse %s %s", loop, inner)
	case 9:
		return "decompose_reduction " + loop
	case 10, 11:
		return fmt.Sprintf("compute_at %s %s", alloc, loop)
	case 12:
		return "compute_inline " + alloc
	case 13:
		return fmt.Sprintf("cache_read %s %s", buf, loop)
	case 14:
		return fmt.Sprintf("cache_write %s %s", buf, loop)
	case 15:
		return fmt.Sprintf("narrow_accumulate %s %s %s", buf, loop, narrow)
	case 16:
		if d.chance(2) {
			return fmt.Sprintf("rfactor %s %s %s", buf, inner, loop)
		}
		return fmt.Sprintf("rfactor %s %s %s type=%s", buf, inner, loop, narrow)
	case 17:
		return fmt.Sprintf("peel %s %d %d", loop, d.IntN(3), d.IntN(3))
	case 18:
		return fmt.Sprintf("replicate %s %s", buf, loop)
	}
	return fmt.Sprintf("flatten %s %d", alloc, d.IntN(2))
}
