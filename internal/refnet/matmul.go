package refnet

import "ripc/internal/f32"

func matmul(l *layer) {
	a, b, rank := l.x, l.vals[l.n.Inputs[1]], len(l.y.shape)
	l.y.Loose = a.Loose || b.Loose
	for i := range l.y.F {
		p := position(i, l.y.shape)
		q := append([]int{}, p...)
		for d := range rank - 2 {
			p[d], q[d] = p[d]%a.shape[d], q[d]%b.shape[d]
		}
		for k := range a.shape[rank-1] {
			p[rank-1], q[rank-2] = k, k
			l.y.F[i] = f32.Fma(a.F[index(p, a.shape)], b.F[index(q, b.shape)], l.y.F[i])
		}
	}
}
