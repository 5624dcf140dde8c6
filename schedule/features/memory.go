package features

import (
	"math"
	"slices"

	"ripc/ir"
)

// touched is how many bytes an execution of a loop touches, each once. Buffers in registers are no
// memory.
func (k *kernel) touched(n *node) float64 {
	if n.bytes > 0 {
		return n.bytes
	}
	var met []*buffer
	for i := n.from; i < n.to; i++ {
		a := &k.all[i]
		if a.buf.kept {
			continue
		}
		if !slices.Contains(met, a.buf) {
			met = append(met, a.buf)
			clear(a.buf.touched)
		}
		for d, x := range a.dims {
			if d >= len(a.buf.Shape) {
				break
			}
			span := 1.0
			for _, t := range x.terms {
				if t.depth >= n.depth {
					span += math.Abs(t.coef) * float64(a.path[t.depth].loop.Extent-1)
				}
			}
			if x.any {
				span = float64(a.buf.Shape[d])
			}
			if w := d - (len(a.dims) - len(a.size)); w >= 0 && a.size != nil {
				span += float64(a.size[w] - 1)
			}
			a.buf.touched[d] = max(a.buf.touched[d], min(math.Ceil(span), float64(a.buf.Shape[d])))
		}
	}
	for _, b := range met {
		bytes := float64(b.Type.Bytes())
		for d := range b.Shape {
			bytes *= max(1, b.touched[d])
		}
		n.bytes += bytes
	}
	return n.bytes
}

// traffic is how many bytes come to a memory of some size while a loop is executed: data that fits
// comes once.
func (k *kernel) traffic(n *node, size float64) float64 {
	all := k.touched(n)
	if all <= size || len(n.children) == 0 {
		return all
	}
	bytes := 0.0
	for _, c := range n.children {
		bytes += k.traffic(c, size)
	}
	if n.loop != nil {
		bytes *= float64(n.loop.Extent)
	}
	return max(all, bytes)
}

// trafficBytes is how many bytes an execution of a loop loads and stores.
func (k *kernel) trafficBytes(n *node) float64 {
	bytes := 0.0
	for i := n.from; i < n.to; i++ {
		a := &k.all[i]
		if a.buf.kept {
			continue
		}
		b := a.trips * a.width * float64(a.buf.Type.Bytes())
		if l := lane(a.path); l != nil && a.depend&l.bit() != 0 {
			b *= float64(l.loop.Extent)
		}
		bytes += b
	}
	for p := n.parent; p != nil && p.loop != nil; p = p.parent {
		bytes /= float64(p.loop.Extent)
	}
	return bytes
}

// pressure looks at the registers around the hottest statement, and at the loop with that code.
func (k *kernel) pressure() {
	if k.hot == nil {
		return
	}
	for _, b := range k.hot.live {
		if b.kept {
			k.kept += k.registers(b.Elems(), b.Type)
		}
	}
	var inner *node
	for _, n := range k.hot.path {
		if !n.written {
			inner = n
		}
	}
	if inner == nil {
		return
	}
	times := 1.0
	for n := inner; n != nil && n.loop != nil; n = n.parent {
		times *= float64(n.loop.Extent)
	}
	for _, s := range k.sites {
		if slices.Contains(s.path, inner) {
			k.body += s.cost / times
		}
	}
	if over := k.kept - float64(k.target.Registers); over > 0 {
		k.spills = 2 * over * times
	}
}

// hotShare is how much of the instructions the hottest statement has.
func (k *kernel) hotShare() float64 {
	if k.hot == nil {
		return 0
	}
	return k.hot.cost / max(1, k.instructions())
}

// level is a loop around a statement; moved and touched are bytes.
type level struct{ extent, kind, axis, touched, moved float64 }

// levels lists the loops around the hottest statement, the innermost first.
func (k *kernel) levels() []level {
	if k.hot == nil {
		return nil
	}
	var out []level
	for _, n := range slices.Backward(k.hot.path) {
		if n.loop.Extent > 1 {
			out = append(out, level{float64(n.loop.Extent), float64(n.loop.Kind-ir.Serial) + 1, float64(n.loop.Axis),
				k.touched(n), k.trafficBytes(n)})
		}
	}
	return out
}
