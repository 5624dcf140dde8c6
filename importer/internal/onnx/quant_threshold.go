package onnx

import (
	"math"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/internal/f32"
)

// multi are MultiThreshold's parameters: y = scale * (number of thresholds t with x >= t) + bias.
type multi struct {
	channels    int // axis of the channels
	thresholds  *array
	scale, bias float32
}

func (n *node) readMulti(rank int) *multi {
	m := &multi{thresholds: n.konst(1, "thresholds"), scale: n.floatAttr("out_scale", 1),
		bias: n.floatAttr("out_bias", 0)}
	layout := n.textAttr("data_layout", "")
	if layout == "" {
		layout = map[int]string{2: "NC", 3: "NWC", 4: "NCHW"}[rank]
	}
	m.channels = strings.Index(layout, "C")
	if m.channels < 0 {
		m.channels = 1
	}
	n.failIf(rank < 2 || m.channels >= rank, "", "data_layout %q does not fit an input of %d axes", layout, rank)
	n.failIf(len(m.thresholds.shape) != 2 || m.thresholds.len() == 0,
		"", "thresholds have shape %v, want [C, T]", m.thresholds.shape)
	return m
}

// rows are the thresholds sorted for each channel, as [T, C]; NaN is never reached.
func (m *multi) rows(mem *budget) *graph.Tensor {
	c, t := m.thresholds.shape[0], m.thresholds.shape[1]
	mem.take(c*t, 8)
	data := make([]float32, c*t)
	out := &graph.Tensor{Shape: []int{t, c}, Data: graph.NumbersOf(data)}
	src := m.thresholds.floats()
	for k := range c {
		row := slices.Clone(src[k*t : (k+1)*t])
		for i, v := range row {
			if v != v {
				row[i] = float32(math.Inf(1))
			}
		}
		slices.Sort(row)
		for i, v := range row {
			data[i*c+k] = v
		}
	}
	return out
}

func lowerMulti(n *node) *tensor {
	b, t := n.b, n.in[0]
	m := n.readMulti(len(t.shape))
	c, count := m.thresholds.shape[0], m.thresholds.shape[1]
	n.failIf(c != 1 && c != t.shape[m.channels],
		"", "thresholds of %d channels do not fit an input of shape %v", c, t.shape)
	n.failIf(count > 255, "use at most 8 bits", "%d thresholds; at most 255 are supported", count)
	w := m.rows(&b.mem)
	if c > 1 {
		if t.flat != nil && m.channels == 1 {
			cols := b.mem.columns(t.flat)
			data := make([]float32, w.Data.Len())
			for j, k := range cols {
				for i := range count {
					data[i*c+j] = w.Data.At(i*c + k)
				}
			}
			w.Data = graph.NumbersOf(data)
		} else {
			t = b.store(t, t.last(m.channels))
		}
	}
	a, add := m.encoding(count)
	y := b.thresholds(t, w, a)
	if !add {
		return y
	}
	if m.scale <= 0 {
		y = b.scalar("mul", y, m.scale)
	}
	return b.scalar("add", y, m.bias)
}

// encoding finds levels that stand for scale*count + bias, to the bit; add says that the bias
// remains (and the scale, if it is not positive).
func (m *multi) encoding(count int) (a *graph.ThresholdAttrs, add bool) {
	bits := bitsFor(count)
	want := func(k int) float32 { return f32.Add(f32.Mul(m.scale, float32(k)), m.bias) }
	same := func(scale float32, integer func(k int) int) bool {
		for k := range count + 1 {
			if f32.Mul(scale, float32(integer(k))) != want(k) {
				return false
			}
		}
		return true
	}
	zero := -float64(m.bias) / float64(m.scale)
	half := m.scale / 2
	switch {
	case !(m.scale > 0):
		return &graph.ThresholdAttrs{LevelType: unipolar(bits, 1, 0)}, true
	case count == 1<<bits-1 && m.bias != 0 && same(half, func(k int) int { return 2*k - count }):
		return &graph.ThresholdAttrs{LevelType: bipolar(bits, half)}, false
	case zero == math.Trunc(zero) && zero >= 0 && zero < float64(int(1)<<bits) &&
		same(m.scale, func(k int) int { return k - int(zero) }):
		return &graph.ThresholdAttrs{LevelType: unipolar(bits, m.scale, int(zero))}, false
	}
	return &graph.ThresholdAttrs{LevelType: unipolar(bits, m.scale, 0)}, true
}
