package refnet

import (
	"ripc/graph"
	"ripc/internal/f32"
)

// convTranspose looks for each output which pixels of the input lie under its taps: those from
// which a tap leads to it.
func convTranspose(l *layer, a *graph.ConvTranspose2DAttrs) {
	w, ws := l.n.Weights["w"], l.n.Weights["w"].Shape
	var scale []float64
	var integers []int
	if a.Binary != nil {
		integers, scale = Weights(l.n, a.Binary, ws)
	}
	dil, perGroup := a.Dilation(), ws[3]/a.GroupCount()
	l.y.each(func(b, oh, ow, o int, e *float32) {
		sum, weights := 0, 0
		if bias := l.n.Weights["b"]; bias != nil {
			*e = bias.Data.At(o)
		}
		for h := range l.v.Shape[1] {
			for v := range l.v.Shape[2] {
				i, j := oh+a.Pad.Top-h*a.Strides[0], ow+a.Pad.Left-v*a.Strides[1]
				if i < 0 || j < 0 || i%dil[0] != 0 || j%dil[1] != 0 || i/dil[0] >= ws[0] || j/dil[1] >= ws[1] {
					continue
				}
				for c := range ws[2] {
					p, k := *l.x.at(b, h, v, o/perGroup*ws[2]+c), ((i/dil[0]*ws[1]+j/dil[1])*ws[2]+c)*ws[3]+o
					if a.Binary != nil {
						sum, weights = sum+int(p)*integers[k], weights+integers[k]
					} else {
						*e = f32.Fma(p, w.Data.At(k), *e)
					}
				}
			}
		}
		if a.Binary != nil {
			*e = f32.Mul(float32(sum), float32(l.v.Scale*scale[o]))
			if l.v.Offset != 0 {
				*e = f32.Add(*e, float32(l.v.Offset*(scale[o]*float64(weights))))
			}
		}
	})
}
