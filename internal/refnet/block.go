package refnet

import "ripc/graph"

// inBlock is the channel that channel c of pixel (i, j) of a block has in the smaller image; the larger one has channels.
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
