package refnet

import (
	"math"

	"ripc/graph"
	"ripc/internal/f32"
)

// inBlock is the channel that channel c of pixel (i, j) of a block has in the smaller image; the
// larger one has channels.
func inBlock(a *graph.BlockAttrs, i, j, c, channels int) int {
	if a.Order == graph.BlockCRD {
		return (c*a.Block[0]+i)*a.Block[1] + j
	}
	return (i*a.Block[1]+j)*channels + c
}

func depthToSpace(l *layer, a *graph.BlockAttrs) {
	l.y.each(func(b, h, w, c int, e *float32) {
		*e = *l.x.at(b, h/a.Block[0], w/a.Block[1], inBlock(a, h%a.Block[0], w%a.Block[1], c, l.y.shape[3]))
	})
}

func spaceToDepth(l *layer, a *graph.BlockAttrs) {
	l.x.each(func(b, h, w, c int, e *float32) {
		*l.y.at(b, h/a.Block[0], w/a.Block[1], inBlock(a, h%a.Block[0], w%a.Block[1], c, l.x.shape[3])) = *e
	})
}

func resize(l *layer, a *graph.ResizeAttrs) {
	l.y.each(func(b, h, w, c int, e *float32) { *e = *l.x.at(b, h/a.Factor[0], w/a.Factor[1], c) })
}

func gather(l *layer, a *graph.GatherAttrs) {
	place := func(at []int, i int) int {
		if len(at) > 0 {
			return at[i]
		}
		return i
	}
	l.y.each(func(b, h, w, c int, e *float32) { *e = *l.x.at(b, place(a.Rows, h), place(a.Columns, w), c) })
}

func interpolate(l *layer, a *graph.InterpolateAttrs) {
	between := func(at []float32, i, n int, read func(i int) float32) float32 {
		if len(at) == 0 {
			return read(i)
		}
		low := math.Floor(float64(at[i]))
		s := f32.Sub(at[i], float32(low))
		return f32.Fma(read(min(int(low)+1, n-1)), s, f32.Mul(read(int(low)), f32.Sub(1, s)))
	}
	l.y.each(func(b, h, w, c int, e *float32) {
		*e = between(a.Columns, w, l.x.shape[2], func(w int) float32 {
			return between(a.Rows, h, l.x.shape[1], func(h int) float32 { return *l.x.at(b, h, w, c) })
		})
	})
}
