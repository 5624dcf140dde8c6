package refnet

import (
	"math"
	"slices"

	"ripc/graph"
)

// rowsOf calls f for each row of x over the last axis, with its number.
func rowsOf(x *Tensor, f func(row int, v []float32)) {
	i := 0
	for v := range slices.Chunk(x.F, x.shape[len(x.shape)-1]) {
		f(i, v)
		i++
	}
}

// softmax applies f to each element less its row's greatest, and to the sum of their exponentials.
func softmax(l *layer, f func(e, sum float64) float64) {
	c := l.x.shape[len(l.x.shape)-1]
	rowsOf(l.x, func(row int, v []float32) {
		sum, top := 0.0, slices.Max(v)
		for _, e := range v {
			sum += math.Exp(float64(e) - float64(top))
		}
		for j, e := range v {
			l.y.F[row*c+j] = float32(f(float64(e)-float64(top), sum))
		}
	})
	l.y.Loose = true
}

// order are the positions of v's elements, the greatest first (sign 1) or the least (-1), equal
// ones in order.
func order(v []float32, sign float32) []int {
	at := make([]int, len(v))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int {
		switch {
		case sign*v[i] > sign*v[j]:
			return -1
		case v[i] == v[j]:
			return 0
		}
		return 1
	})
	return at
}

func refArg(l *layer, last bool, sign float32) {
	rowsOf(l.x, func(row int, v []float32) {
		at := order(v, sign)
		k := 0
		for last && k+1 < len(v) && v[at[k+1]] == v[at[0]] {
			k++
		}
		l.y.F[row] = float32(at[k])
	})
}

func refTopK(l *layer, a *graph.TopKAttrs) {
	sign := float32(1)
	if a.Least {
		sign = -1
	}
	rowsOf(l.x, func(row int, v []float32) {
		for j, at := range order(v, sign)[:a.K] {
			if l.y.F[row*a.K+j] = v[at]; l.out.Whole {
				l.y.F[row*a.K+j] = float32(at)
			}
		}
	})
}
