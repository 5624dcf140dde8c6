package kit

import (
	"math"

	"ripc/graph"
)

// Window is a kernel of a convolution or a pool, which moves over the rows and columns of an image.
type Window struct {
	Kernel, Strides, Dilations [2]int
	Before, After              [2]int // padding
}

// Extent is the length of a dilated kernel along an axis.
func (w *Window) Extent(d int) int { return (w.Kernel[d]-1)*w.Dilations[d] + 1 }

// Padding returns the padding as layers have it.
func (w *Window) Padding() graph.Padding { return explicit(w.Before, w.After) }

// LayerDilations returns the dilations as layers have them, which leave out those of 1.
func (w *Window) LayerDilations() [2]int {
	if w.Dilations == [2]int{1, 1} {
		return [2]int{}
	}
	return w.Dilations
}

// TakeLargePadding takes padding as large as the kernel from the window, since layers refuse it. It
// returns that padding, which the image then needs.
func (w *Window) TakeLargePadding() (before, after [2]int) {
	for d := range 2 {
		if w.Before[d] >= w.Extent(d) {
			before[d], w.Before[d] = w.Before[d], 0
		}
		if w.After[d] >= w.Extent(d) {
			after[d], w.After[d] = w.After[d], 0
		}
	}
	return before, after
}

func explicit(before, after [2]int) graph.Padding {
	return graph.Padding{Mode: graph.PadExplicit,
		Top: before[0], Left: before[1], Bottom: after[0], Right: after[1]}
}

// ClipOp returns the op of min(max(x, lo), hi): one without attributes, clip, or "" where there is
// nothing to do.
func ClipOp(lo, hi float64) string {
	switch {
	case lo == 0 && math.IsInf(hi, 1):
		return "relu"
	case lo == 0 && hi == 6:
		return "relu6"
	case lo == -1 && hi == 1:
		return "hard_tanh"
	case math.IsInf(lo, -1) && math.IsInf(hi, 1):
		return ""
	}
	return "clip"
}
