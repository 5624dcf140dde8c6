package source

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSort: each node comes behind what it reads, sorted nodes stay as they are, and those left out are in or behind a cycle.
func TestSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "nodes")
		sorted := rapid.Bool().Draw(t, "sorted")
		reads := make([][]int, n)
		for i := range reads {
			most := n - 1
			if sorted {
				most = i - 1
			}
			if most >= 0 {
				reads[i] = rapid.SliceOfN(rapid.IntRange(0, most), 0, 3).Draw(t, "reads")
			}
		}
		order, cycles := Sort(n, func(i int) []int { return reads[i] }, 3)
		at := map[int]int{}
		for k, i := range order {
			at[i] = k
			for _, p := range reads[i] {
				if q, ok := at[p]; !ok || q >= k {
					t.Fatalf("%v: %d comes before %d in %v", reads, i, p, order)
				}
			}
		}
		if sorted && !slices.IsSorted(order) || sorted && len(order) != n {
			t.Fatalf("%v became %v", reads, order)
		}
		for i := range n { // what is left out reads something that is left out
			if _, in := at[i]; !in && !slices.ContainsFunc(reads[i], func(p int) bool { _, in := at[p]; return !in }) {
				t.Fatalf("%v: %d is missing in %v", reads, i, order)
			}
		}
		if len(cycles) > 3 || (len(order) < n) != (len(cycles) > 0) {
			t.Fatalf("%v: %v, cycles %v", reads, order, cycles)
		}
		for _, c := range cycles {
			for k, i := range c {
				if !slices.Contains(reads[i], c[(k+1)%len(c)]) {
					t.Fatalf("%v: %v is no cycle", reads, c)
				}
			}
		}
	})
}

// TestSortDeep: a network as deep as a long file, the wrong way around.
func TestSortDeep(t *testing.T) {
	const n = 1 << 20
	order, cycles := Sort(n, func(i int) []int {
		if i == n-1 {
			return nil
		}
		return []int{i + 1}
	}, 1)
	if len(order) != n || order[0] != n-1 || cycles != nil {
		t.Errorf("%d nodes, cycles %v", len(order), cycles)
	}
}
