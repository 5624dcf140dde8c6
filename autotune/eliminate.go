package autotune

import (
	"math"
	"slices"
)

// factor is a cost that depends on some variables; the costs of the last one's values lie side by side.
type factor struct {
	vars  []int
	costs []float64
}

// maxTable is how many costs a factor may have that comes of eliminating a variable.
const maxTable = 1 << 20

// minimize finds values of variables, each of so many, for which the sum of factors is least: the first ones where sums are equal and one
// variable decides. It eliminates one variable after the other, the one first that leaves the smallest factor: what remains is a
// function of the frontier between what is done and what is not, so it takes time and memory as that is wide (Bertele and Brioschi,
// Nonserial Dynamic Programming, 1972). ok is false where that is more than maxTable.
func minimize(sizes []int, factors []factor) (values []int, ok bool) {
	type step struct {
		v    int
		rest []int // that its best value depends on
		best []int
	}
	var steps []step
	live := slices.Clone(factors)
	for left := all(len(sizes)); len(left) > 0; {
		v, frontier, least := -1, []int(nil), maxTable+1
		for _, w := range left {
			vars := around(live, w)
			if n := sizeOf(sizes, vars); n < least {
				v, frontier, least = w, vars, n
			}
		}
		if v < 0 {
			return nil, false
		}
		var mine []factor
		live = slices.DeleteFunc(live, func(f factor) bool {
			if !slices.Contains(f.vars, v) {
				return false
			}
			mine = append(mine, f)
			return true
		})
		s, made := step{v: v, rest: frontier}, factor{vars: frontier}
		at := make([]int, len(sizes))
		for range least {
			best, lowest := 0, math.Inf(1)
			for at[v] = range sizes[v] {
				if c := sum(sizes, mine, at); c < lowest {
					best, lowest = at[v], c
				}
			}
			s.best, made.costs = append(s.best, best), append(made.costs, lowest)
			next(sizes, frontier, at)
		}
		steps, live = append(steps, s), append(live, made)
		left = slices.DeleteFunc(left, func(w int) bool { return w == v })
	}
	values = make([]int, len(sizes))
	for _, s := range slices.Backward(steps) {
		values[s.v] = s.best[index(sizes, s.rest, values)]
	}
	return values, true
}

// all are the numbers below n.
func all(n int) []int {
	var out []int
	for i := range n {
		out = append(out, i)
	}
	return out
}

// around are the other variables of the factors that have v.
func around(factors []factor, v int) []int {
	var vars []int
	for _, f := range factors {
		if slices.Contains(f.vars, v) {
			vars = append(vars, f.vars...)
		}
	}
	slices.Sort(vars)
	return slices.DeleteFunc(slices.Compact(vars), func(w int) bool { return w == v })
}

// sizeOf is the number of values that vars have together, at most a little more than maxTable.
func sizeOf(sizes []int, vars []int) int {
	n := 1
	for _, v := range vars {
		if n *= sizes[v]; n > maxTable {
			return n
		}
	}
	return n
}

// index is the place of the values at of vars among all.
func index(sizes []int, vars []int, at []int) int {
	i := 0
	for _, v := range vars {
		i = i*sizes[v] + at[v]
	}
	return i
}

// next makes the values at of vars those at the next index.
func next(sizes []int, vars []int, at []int) {
	for _, v := range slices.Backward(vars) {
		if at[v]++; at[v] < sizes[v] {
			return
		}
		at[v] = 0
	}
}

// sum is that of factors for the values at.
func sum(sizes []int, factors []factor, at []int) float64 {
	total := 0.0
	for _, f := range factors {
		total += f.costs[index(sizes, f.vars, at)]
	}
	return total
}
