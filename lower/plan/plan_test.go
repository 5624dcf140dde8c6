package plan_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"ripc/internal/abi"
	"ripc/ir"
	"ripc/lower/plan"
)

// TestArena: buffers that live at the same time never share a byte, all lie in the arena on cache lines, and the arena is
// no larger than all of them side by side, nor smaller than what lives at once.
func TestArena(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &ir.Program{Name: "p"}
		n := rapid.IntRange(0, 12).Draw(t, "buffers")
		var all int64
		for i := range n {
			b := ir.ProgBuf{Buffer: ir.Buffer{Name: fmt.Sprint("b", i), Type: ir.U8, Shape: []int{rapid.IntRange(1, 300).Draw(t, "size")}}, Kind: ir.ArenaBuf, Offset: -1}
			if rapid.IntRange(0, 5).Draw(t, "kind") == 0 {
				b.Kind = ir.OutputBuf
			} else {
				all += int64(b.Bytes()+63) / 64 * 64
			}
			p.Buffers = append(p.Buffers, b)
		}
		for range rapid.IntRange(0, 10).Draw(t, "stages") {
			var s ir.Stage
			for range rapid.IntRange(1, 3).Draw(t, "args") {
				s.Args = append(s.Args, fmt.Sprint("b", rapid.IntRange(0, max(n-1, 0)).Draw(t, "arg")))
			}
			p.Stages = append(p.Stages, s)
		}
		size := plan.Arena(p)
		life := func(name string) (first, last int) {
			first = -1
			for i, s := range p.Stages {
				for _, a := range s.Args {
					if a == name {
						if first < 0 {
							first = i
						}
						last = i
					}
				}
			}
			return first, last
		}
		var used int64
		for i, b := range p.Buffers {
			if b.Kind != ir.ArenaBuf {
				if b.Offset != -1 {
					t.Fatalf("%s, which is not in the arena, was placed", b.Name)
				}
				continue
			}
			end := b.Offset + int64(b.Bytes())
			used = max(used, end)
			if b.Offset < 0 || b.Offset%abi.Align != 0 || end > size {
				t.Fatalf("%s: %d to %d in %d bytes", b.Name, b.Offset, end, size)
			}
			f, l := life(b.Name)
			for _, o := range p.Buffers[:i] {
				if o.Kind != ir.ArenaBuf {
					continue
				}
				of, ol := life(o.Name)
				if f >= 0 && of >= 0 && f <= ol && of <= l && b.Offset < o.Offset+int64(o.Bytes()) && o.Offset < end {
					t.Fatalf("%s (stages %d to %d) and %s (%d to %d) overlap: %+v", b.Name, f, l, o.Name, of, ol, p.Buffers)
				}
			}
		}
		if size > all || size < used || size > (used+63)/64*64 {
			t.Fatalf("an arena of %d bytes; %d are used, %d would do for all", size, used, all)
		}
	})
}

// TestReuse: in a chain, the third buffer goes where the first was.
func TestReuse(t *testing.T) {
	p := &ir.Program{}
	for _, n := range []string{"a", "b", "c"} {
		p.Buffers = append(p.Buffers, ir.ProgBuf{Buffer: ir.Buffer{Name: n, Type: ir.U8, Shape: []int{100}}, Kind: ir.ArenaBuf})
	}
	p.Stages = []ir.Stage{{Args: []string{"x", "a"}}, {Args: []string{"a", "b"}}, {Args: []string{"b", "c"}}}
	if size := plan.Arena(p); size != 256 || p.Buffers[2].Offset != p.Buffers[0].Offset {
		t.Errorf("%d bytes: %+v", size, p.Buffers)
	}
}
