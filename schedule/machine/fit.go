package machine

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Sample is a scheduled Func that was measured.
type Sample struct {
	Counts []float64
	Cost   float64
	Weight float64 // of its error, 0 for 1
}

// Fit finds the prices, none below 0, with the least sum of weighted squares of relative errors
// over samples.
func Fit(samples []Sample) []float64 {
	n := len(samples[0].Counts)
	rows, wanted := mat.NewDense(len(samples), n, nil), mat.NewVecDense(len(samples), nil)
	for i, s := range samples {
		w := cmp.Or(s.Weight, 1)
		for j, x := range s.Counts {
			rows.Set(i, j, w*x/s.Cost)
		}
		wanted.SetVec(i, w)
	}
	scale := make([]float64, n) // columns of length 1
	for j := range n {
		scale[j] = mat.Norm(rows.ColView(j), 2)
		for i := range samples {
			if scale[j] > 0 {
				rows.Set(i, j, rows.At(i, j)/scale[j])
			}
		}
	}
	var square mat.Dense
	square.Mul(rows.T(), rows)
	var right mat.VecDense
	right.MulVec(rows.T(), wanted)

	x := descend(&square, &right)
	for j := range x {
		if x[j] < nothing {
			x[j] = 0
		}
		if scale[j] > 0 {
			x[j] /= scale[j]
		}
	}
	return x
}

// nothing is a share of costs that is left by rounding.
const nothing = 1e-9

// descend finds the x >= 0 with the least x'Ax/2 - b'x, one coordinate after the other (Franc,
// Hlavac and Navara 2005).
func descend(a *mat.Dense, b *mat.VecDense) []float64 {
	const rounds, still = 20000, 1e-10
	n := b.Len()
	x, slope := make([]float64, n), make([]float64, n)
	for j := range n {
		slope[j] = -b.AtVec(j)
	}
	for range rounds {
		moved := 0.0
		for j := range n {
			if a.At(j, j) == 0 {
				continue
			}
			to := max(0, x[j]-slope[j]/a.At(j, j))
			step := to - x[j]
			if step == 0 {
				continue
			}
			x[j], moved = to, max(moved, math.Abs(step))
			for k := range n {
				slope[k] += step * a.At(k, j)
			}
		}
		if moved < still {
			break
		}
	}
	return x
}
