package onnx

import (
	"math"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
)

// graphRound rounds by a mode of the graph's.
func graphRound(mode scalar.Rounding, v float32) float32 {
	x := float64(v)
	switch mode {
	case scalar.HalfUp:
		x = math.Floor(x + 0.5)
	case scalar.HalfDown:
		x = math.Ceil(x - 0.5)
	case scalar.HalfAway:
		x = math.Round(x)
	case scalar.Floor:
		x = math.Floor(x)
	case scalar.Ceil:
		x = math.Ceil(x)
	case scalar.Trunc:
		x = math.Trunc(x)
	case scalar.Away:
		x = math.Copysign(math.Ceil(math.Abs(x)), x)
	default:
		x = math.RoundToEven(x)
	}
	return float32(x)
}

// evalWindow calls f for each output element and position of its window that lies inside the image.
func evalWindow(in, out *graph.Value, kernel, strides, dilation [2]int, p graph.Padding, f func(k, n, h, w, kh, kw int)) {
	for k := range out.Elems() {
		q := k / out.Shape[3]
		ow, oh, n := q%out.Shape[2], q/out.Shape[2]%out.Shape[1], q/out.Shape[2]/out.Shape[1]
		for kh := range kernel[0] {
			for kw := range kernel[1] {
				h, w := oh*strides[0]+kh*dilation[0]-p.Top, ow*strides[1]+kw*dilation[1]-p.Left
				if h >= 0 && h < in.Shape[1] && w >= 0 && w < in.Shape[2] {
					f(k, n, h, w, kh, kw)
				}
			}
		}
	}
}

func evalConv(n *graph.Node, a *graph.Conv2DAttrs, in *graph.Value, x []float32, out *graph.Value) []float32 {
	y := make([]float32, out.Elems())
	w := n.Weights["w"]
	per, o := w.Shape[2], w.Shape[3]
	evalWindow(in, out, [2]int{w.Shape[0], w.Shape[1]}, a.Strides, a.Dilation(), a.Pad, func(k, b, h, v, kh, kw int) {
		first := k % o / (o / a.GroupCount()) * per
		for c := range per {
			y[k] = f32.Fma(x[((b*in.Shape[1]+h)*in.Shape[2]+v)*in.Shape[3]+first+c], w.Data.At(((kh*w.Shape[1]+kw)*per+c)*o+k%o), y[k])
		}
	})
	if t := n.Weights["b"]; t != nil {
		for k := range y {
			y[k] = f32.Add(y[k], t.Data.At(k%o))
		}
	}
	return y
}

func evalPool(op string, a *graph.PoolAttrs, in *graph.Value, x []float32, out *graph.Value) []float32 {
	y, count := make([]float32, out.Elems()), make([]float32, out.Elems())
	for k := range y {
		if op == "max_pool" {
			y[k] = float32(math.Inf(-1))
		}
	}
	evalWindow(in, out, a.Kernel, a.Strides, [2]int{1, 1}, a.Pad, func(k, b, h, w, _, _ int) {
		v := x[((b*in.Shape[1]+h)*in.Shape[2]+w)*in.Shape[3]+k%in.Shape[3]]
		count[k]++
		if op == "max_pool" {
			y[k] = max(y[k], v)
		} else {
			y[k] += v
		}
	})
	if op == "avg_pool" {
		for k := range y {
			y[k] /= count[k]
		}
	}
	return y
}

// evalBlock computes depth_to_space and space_to_depth.
func evalBlock(op string, a *graph.BlockAttrs, in *graph.Value, x []float32, out *graph.Value) []float32 {
	large, small := out.Shape, in.Shape
	if op == "space_to_depth" {
		large, small = small, large
	}
	y := make([]float32, len(x))
	for k := range x {
		c, w, h, b := k%large[3], k/large[3]%large[2], k/large[3]/large[2]%large[1], k/large[3]/large[2]/large[1]
		i, j := h%a.Block[0], w%a.Block[1]
		d := (i*a.Block[1]+j)*large[3] + c
		if a.Order == graph.BlockCRD {
			d = (c*a.Block[0]+i)*a.Block[1] + j
		}
		s := ((b*small[1]+h/a.Block[0])*small[2]+w/a.Block[1])*small[3] + d
		if op == "space_to_depth" {
			y[s] = x[k]
		} else {
			y[k] = x[s]
		}
	}
	return y
}

// evalConvTranspose adds each product where it belongs.
func evalConvTranspose(n *graph.Node, a *graph.ConvTranspose2DAttrs, in *graph.Value, x []float32, out *graph.Value) []float32 {
	w, s, t := n.Weights["w"], in.Shape, out.Shape
	y := make([]float32, out.Elems())
	for k := range y {
		if b := n.Weights["b"]; b != nil {
			y[k] = b.Data.At(k % t[3])
		}
	}
	for k, v := range x {
		c, col, row, b := k%s[3], k/s[3]%s[2], k/s[3]/s[2]%s[1], k/s[3]/s[2]/s[1]
		for q, f := range w.Data.All() {
			o, ci, j, i := q%w.Shape[3], q/w.Shape[3]%w.Shape[2], q/w.Shape[3]/w.Shape[2]%w.Shape[1], q/w.Shape[3]/w.Shape[2]/w.Shape[1]
			r, v2 := row*a.Strides[0]+i*a.Dilation()[0]-a.Pad.Top, col*a.Strides[1]+j*a.Dilation()[1]-a.Pad.Left
			if o/(w.Shape[3]/a.GroupCount())*w.Shape[2]+ci == c && r >= 0 && r < t[1] && v2 >= 0 && v2 < t[2] {
				y[((b*t[1]+r)*t[2]+v2)*t[3]+o] += v * f
			}
		}
	}
	return y
}

// evalMatMul multiplies the matrices of each batch.
func evalMatMul(in []*graph.Value, x [][]float32, out *graph.Value) []float32 {
	y, last := make([]float32, out.Elems()), len(out.Shape)-1
	m, k, n := out.Shape[last-1], in[0].Shape[last], out.Shape[last]
	batches := out.Shape[:last-1]
	other := walk(batches, 0, broadcastSteps(in[1].Shape[:last-1], batches))
	eachOffset(batches, 0, broadcastSteps(in[0].Shape[:last-1], batches), func(b, left int) {
		right := other()
		for i := range m * n {
			for c := range k {
				y[b*m*n+i] += x[0][(left*m+i/n)*k+c] * x[1][(right*k+c)*n+i%n]
			}
		}
	})
	return y
}
