package zoo

import (
	"fmt"

	"ripc/ir"
)

// builder adds the layers of a network. Its methods take the name of a tensor and give that of
// another. Names of nodes begin with the name of their layer, and the tensors are called like the
// nodes.
type builder struct {
	Network
	*model
}

// ch is the number of channels where the published network has n.
func (b *builder) ch(n int) int {
	if b.small {
		return max(8, n/16)
	}
	return n
}

// units is the same for dense layers, which are wider.
func (b *builder) units(n int) int {
	if b.small {
		return max(16, n/64)
	}
	return n
}

// classes is the number of them where the published network has n.
func (b *builder) classes(n int) int {
	if b.small {
		return min(n, 10)
	}
	return n
}

// times is how often a block comes that the published network repeats n times.
func (b *builder) times(n int) int {
	if b.small {
		return min(n, 2)
	}
	return n
}

// with is a with more entries, those with the value nil left out.
func (a attrs) with(more attrs) attrs {
	out := attrs{}
	for _, m := range []attrs{a, more} {
		for k, v := range m {
			if v != nil {
				out[k] = v
			}
		}
	}
	return out
}

// geometry are the attributes of a convolution; padding is same, as in TensorFlow.
func geometry(filters, kernel, stride int) attrs {
	a := attrs{"filters": filters, "kernel": []int{kernel, kernel}}
	if kernel > 1 {
		a["padding"] = "same"
	}
	if stride > 1 {
		a["strides"] = []int{stride, stride}
	}
	return a
}

// conv is a float convolution. Small twins have no large windows, which the interpreter takes long
// for.
func (b *builder) conv(name string, filters, kernel, stride int, x string) string {
	if b.small {
		kernel = min(kernel, 5)
	}
	return b.add(name, "conv2d", geometry(filters, kernel, stride), x)
}

func (b *builder) norm(name, x string) string { return b.add(name, "batch_norm", nil, x) }
func (b *builder) relu(name, x string) string { return b.add(name, "relu", nil, x) }

// maxPool has no padding, or that of TensorFlow.
func (b *builder) maxPool(name string, kernel, stride int, same bool, x string) string {
	a := attrs{"kernel": []int{kernel, kernel}, "strides": []int{stride, stride}}
	if same {
		a["padding"] = "same"
	}
	return b.add(name, "max_pool", a, x)
}

// binary is a convolution of levels with binary weights.
func (b *builder) binary(name string, filters, kernel, stride int, more attrs, x string) string {
	return b.add(name, "bitserial_conv2d", geometry(filters, kernel, stride).with(more), x)
}

// levels are the attributes of the quantizers of Riptide's networks.
func (b *builder) levels() attrs {
	a := attrs{"bits": b.Bits}
	if b.Encoding != ir.Unipolar {
		a["encoding"] = b.Encoding.String()
	}
	return a
}

// shiftNorm is Riptide's glue.
func (b *builder) shiftNorm(name, x string) string {
	return b.add(name, "shift_norm", b.levels().with(attrs{"mode": b.Mode.String()}), x)
}

// weights are the attributes of Riptide's binary weights, or those of two bits.
func (b *builder) weights() attrs {
	if b.Weights > 1 {
		return attrs{"weight_bits": b.Weights, "weight_scale": "max"}
	}
	return attrs{"weight_scale": "mean"}
}

// riptide is a convolution of Riptide: it is pooled before it is normalized, if pool is its kernel
// and stride.
func (b *builder) riptide(name string, filters, kernel, stride int, pool []int, x string) string {
	x = b.binary(name, filters, kernel, stride, b.weights(), x)
	if pool != nil {
		x = b.maxPool(name+"_pool", pool[0], pool[1], false, x)
	}
	return b.shiftNorm(name+"_norm", x)
}

// stages is how many of its n stages a network has.
func (b *builder) stages(n int) int {
	if b.small {
		return min(n, 2)
	}
	return n
}

// blockName begins the names of a residual block's nodes.
func blockName(stage, block int) string { return fmt.Sprintf("s%db%d", stage+1, block+1) }
