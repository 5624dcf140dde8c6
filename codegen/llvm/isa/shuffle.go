package isa

import (
	"fmt"
	"strings"
)

// Shuffle is the mask of a shufflevector of n lanes, in LLVM's text: at says which lane of its
// operands each is, less than 0 that it may hold anything.
func Shuffle(n int, at func(lane int) int) string {
	indices := list(n, func(lane int) string {
		if i := at(lane); i >= 0 {
			return fmt.Sprint("i32 ", i)
		}
		return "i32 poison"
	})
	return fmt.Sprintf("<%d x i32> <%s>", n, indices)
}

// ShuffleRun is the mask of a shufflevector of length lanes: the first n are neighbours, from lane
// from on, and the others may hold anything.
func ShuffleRun(from, n, length int) string {
	return Shuffle(length, func(lane int) int {
		if lane < n {
			return from + lane
		}
		return -1
	})
}

// list is n texts with commas between them.
func list(n int, of func(k int) string) string {
	all := make([]string, n)
	for k := range all {
		all[k] = of(k)
	}
	return strings.Join(all, ", ")
}
