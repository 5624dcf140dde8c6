package isa

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/targets/isa"
)

// TestBlock draws blocks of chains, and follows what each register holds: every sum gets what its chains made of their loads,
// once, whatever cores, registers and streams there are.
func TestBlock(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(label string, from, to int) int { return rapid.IntRange(from, to).Draw(rt, label) }
		time := func() timing { return timing{draw("latency", 0, 8), draw("slots", 1, 2), 0} }
		loading := timing{draw("latency", 0, 8), draw("slots", 0, 2), draw("port", 0, 4)}
		b := &block{apart: draw("apart", 0, 3)}
		loads, results := newPool(0, 2*draw("pairs", 2, 3)), newPool(20, draw("results", 1, 4))
		if draw("shared", 0, 1) == 1 { // by results and single loads
			results = loads
			loads.most = len(loads.free) - 1
		}
		size := draw("size", 1, 2)
		if results == loads {
			size = 1
		}
		sums := fixedCells(100, 4)
		want, isSet := map[int][]string{}, map[int]bool{}
		for n := range draw("chains", 1, 30) {
			read := func() (*cell, string) {
				at, part := n+draw("load", 0, 1), draw("part", 0, size-1) // more would have no registers
				return b.load(loadKey{at: at}, size, loads, loading, func(k int) string { return fmt.Sprintf("load %d %d %d", k, at, size) })[part], fmt.Sprintf("%d.%d", at, part)
			}
			x, xs := read()
			y, ys := read()
			r, s := results.cell(), draw("sum", 0, 3)
			first := b.do(time(), lineOf("join %d %d %d", r, x, y), cells(r), nil, x, y)
			second := b.do(time(), lineOf("count %d %d %d", r, r, r), cells(r), nil, r)
			format, write, add := "set %d %d %d", cells(sums[s]), []*cell(nil)
			if isSet[s] {
				format, write, add = "add %d %d %d", nil, cells(sums[s])
			}
			isSet[s] = true
			last := b.do(time(), lineOf(format, sums[s], r, r), write, add, r)
			b.chain(0, first, second, last)
			want[100+s] = append(want[100+s], "count("+xs+"^"+ys+")")
		}
		b.order()
		got, holds := map[int][]string{}, map[int]string{}
		for _, l := range b.lines {
			var op string
			var to, x, y int
			if _, err := fmt.Sscanf(l, "%s %d %d %d", &op, &to, &x, &y); err != nil {
				rt.Fatal(err)
			}
			switch op {
			case "load":
				for k := range y {
					holds[to+k] = fmt.Sprintf("%d.%d", x, k)
				}
			case "join":
				holds[to] = holds[x] + "^" + holds[y]
			case "count":
				holds[to] = "count(" + holds[x] + ")"
			case "set":
				got[to] = []string{holds[x]}
			default:
				got[to] = append(got[to], holds[y])
			}
		}
		for _, sums := range []map[int][]string{got, want} {
			for s := range sums {
				slices.Sort(sums[s])
			}
		}
		if !maps.EqualFunc(got, want, slices.Equal) {
			rt.Fatalf("%q\nmakes %v, want %v", b.lines, got, want)
		}
	})
}

// TestAdditionsWait looks at sums that get two products of one load: others are added between, since an addition waits for
// the one before it.
func TestAdditionsWait(t *testing.T) {
	i, _ := isa.Named("neon_smull_channels_2s1x4x8")
	if i.Together != 1 {
		t.Fatal("there is no instruction with two additions to a sum")
	}
	last := map[string]int{}
	for k, line := range regexp.MustCompile(`sadalp \$\d+`).FindAllString(function(i, Core{InOrder: true}).Text, -1) {
		if before, again := last[line]; again && k-before < 2 {
			t.Errorf("%s follows itself", line)
		}
		last[line] = k
	}
	if len(last) != i.Positions*i.Lanes {
		t.Errorf("there are %d sums, want %d", len(last), i.Positions*i.Lanes)
	}
}
