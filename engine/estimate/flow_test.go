package estimate

import (
	"testing"

	"pgregory.net/rapid"
)

// TestBlocksCount: on random ways through random code, cut into pieces as qemu might, the blocks hold each instruction
// as often as it ran, their edges bring control as often as they run, and none is entered or left in the middle.
func TestBlocksCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		branch := make([]int, n) // the instruction that it may lead to, or -1
		for i := range branch {
			branch[i] = rapid.IntRange(-n, n-1).Draw(t, "branch")
		}
		most := rapid.IntRange(1, 8).Draw(t, "most") // instructions of a piece
		w := &walk{}
		executed := make([]uint64, n)
		follows := map[[2]int]uint64{}
		before := -1
		for at, pieces := 0, 0; at < n && pieces < 200; pieces++ {
			first := at
			for {
				executed[at]++
				if before >= 0 {
					follows[[2]int{before, at}]++
				}
				before = at
				at++
				if branch[before] >= 0 || at-first == most || at == n {
					break
				}
			}
			w.run(first, at-first)
			if b := branch[before]; b >= 0 && rapid.Bool().Draw(t, "taken") {
				at = b
			}
		}
		all, err := blocks(w.profile(), steps)
		if err != nil {
			t.Fatal(err)
		}
		seen := make([]uint64, n)
		sum, whole := uint64(0), w.profile().Instructions()
		for i, b := range all {
			first := int(b.first-base) / step
			sum += uint64(b.n) * b.times
			for k := first; k < first+b.n; k++ {
				seen[k] += b.times
				if k > first && follows[[2]int{k - 1, k}] != b.times {
					t.Fatalf("block %d: %d does not always follow %d", i, k, k-1)
				}
			}
			came := uint64(0)
			for _, e := range b.ways {
				last := int(all[e.block].last-base) / step
				if follows[[2]int{last, first}] != e.times {
					t.Fatalf("block %d: came %d times from %d, not %d", i, follows[[2]int{last, first}], last, e.times)
				}
				came += e.times
			}
			if first == 0 {
				came++ // from the caller
			}
			if came != b.times {
				t.Fatalf("block %d: executed %d times, entered %d times", i, b.times, came)
			}
		}
		if sum != whole {
			t.Fatalf("the blocks have %d instructions, %d were executed", sum, whole)
		}
		for k := range seen {
			if seen[k] != executed[k] {
				t.Fatalf("instruction %d: executed %d times, its blocks %d times", k, executed[k], seen[k])
			}
		}
	})
}
