// Package lists makes lists and sets of other lists.
package lists

// Map returns f of each element.
func Map[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// Set returns the set of the elements.
func Set[T comparable](list ...T) map[T]bool {
	set := map[T]bool{}
	for _, v := range list {
		set[v] = true
	}
	return set
}
