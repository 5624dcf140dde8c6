package kit

import (
	"fmt"
	"math"
)

// Border is the kind of border around an image.
type Border int

// The borders that are made of the image itself.
const (
	Edge      Border = iota // the nearest pixel
	Reflect                 // the mirror image about the outermost pixel
	Symmetric               // the mirror image, which begins with the outermost pixel
	Wrap                    // the image again
)

// BorderPositions lists the positions of an axis of n that an axis with before positions in front
// and after positions behind it holds.
func BorderPositions(n, before, after int, border Border) []int {
	at := make([]int, before+n+after)
	for i := range at {
		p := i - before
		switch border {
		case Edge:
			p = max(0, min(p, n-1))
		case Reflect:
			if p = modulo(p, max(1, 2*(n-1))); p >= n {
				p = 2*(n-1) - p
			}
		case Symmetric:
			if p = modulo(p, 2*n); p >= n {
				p = 2*n - 1 - p
			}
		case Wrap:
			p = modulo(p, n)
		default:
			panic(fmt.Sprintf("BUG: border %d", border))
		}
		at[i] = p
	}
	return at
}

// modulo is a mod n, from 0 to n-1.
func modulo(a, n int) int { return (a%n + n) % n }

// WholePositions are positions of pixels as integers; ok is false where some lie between pixels.
func WholePositions(at []float32) (whole []int, ok bool) {
	for _, p := range at {
		if p != float32(int(p)) {
			return nil, false
		}
		whole = append(whole, int(p))
	}
	return whole, true
}

// Along is positions of one axis: of pixels, or between them.
type Along struct {
	Axis    int
	Whole   []int
	Between []float32 // if Whole is nil
}

// AlongAxis is at along an axis; it is nil where all positions stay as they are.
func AlongAxis(axis, n int, at []float32) *Along {
	whole, ok := WholePositions(at)
	if !ok {
		return &Along{Axis: axis, Between: at}
	}
	return AlongPixels(axis, n, whole)
}

// AlongPixels is AlongAxis of positions of pixels.
func AlongPixels(axis, n int, at []int) *Along {
	same := len(at) == n
	for i, p := range at {
		same = same && p == i
	}
	if same {
		return nil
	}
	return &Along{Axis: axis, Whole: at}
}

// Positions lists which positions of an axis of n each of count positions takes, by a rule. They
// stay inside the axis.
func Positions(n, count int, rule func(i int) float32) []float32 {
	at := make([]float32, count)
	for i := range at {
		at[i] = max(0, min(rule(i), float32(n-1)))
	}
	return at
}

// Scale is how far apart the positions among in are that neighbours among out take. With corners
// the outermost ones meet.
func Scale(in, out int, corners bool) float32 {
	if corners && out > 1 {
		return float32(in-1) / float32(out-1)
	}
	return float32(in) / float32(out)
}

// LinearRule gives the position that each position takes in f32: by their centers, or by their
// beginnings.
func LinearRule(scale float32, centers bool) func(i int) float32 {
	return func(i int) float32 {
		if centers {
			return float32((float32(i)+0.5)*scale) - 0.5
		}
		return float32(i) * scale
	}
}

// NearestRule gives the pixel that each position takes: the one below (i + offset) * scale.
func NearestRule(scale, offset float32) func(i int) float32 {
	return func(i int) float32 {
		return float32(math.Floor(float64(float32((float32(i) + offset) * scale))))
	}
}
