package zoo

import (
	"fmt"
)

// stem is the float layer that Riptide's networks begin with: pooled, normalized and quantized.
func (b *builder) stem(filters, kernel, stride, pool, poolStride int, same bool, x string) string {
	x = b.conv("conv1", filters, kernel, stride, x)
	x = b.maxPool("pool1", pool, poolStride, same, x)
	x = b.norm("bn1", x)
	return b.add("act1", "quantize", b.levels(), x)
}

// classifier is the binary one that Riptide's networks end with.
func (b *builder) classifier(name, x string) string {
	x = b.add(name, "bitserial_dense", attrs{"units": b.classes(1000)}.with(b.weights()), x)
	return b.add("prob", "softmax", nil, x)
}

// hidden is a binary dense layer.
func (b *builder) hidden(name string, units int, x string) string {
	x = b.add(name, "bitserial_dense", attrs{"units": b.units(units)}.with(b.weights()), x)
	return b.shiftNorm(name+"_norm", x)
}

// alexNet is Riptide's (riptide/models/alexnet.py), with the dense layers binary, as the paper has
// them.
func alexNet(b *builder, x string) string {
	two := []int{2, 2}
	x = b.stem(b.ch(64), 11, b.alexStride(), 2, 2, false, x)
	x = b.riptide("conv2", b.ch(192), 5, 1, two, x)
	x = b.riptide("conv3", b.ch(384), 3, 1, nil, x)
	x = b.riptide("conv4", b.ch(384), 3, 1, nil, x)
	x = b.riptide("conv5", b.ch(256), 3, 1, two, x)
	x = b.add("flat", "flatten", nil, x)
	x = b.hidden("fc6", 4096, x)
	x = b.hidden("fc7", 4096, x)
	return b.classifier("fc8", x)
}

// vggNet is Riptide's (riptide/models/vggnet.py), which is model A of He et al., 2015, on smaller
// pictures, as HWGQ has it.
func vggNet(b *builder, x string) string {
	x = b.stem(b.ch(96), 7, 2, 2, 2, false, x)
	layer := 2
	for _, filters := range []int{256, 512, 512}[:b.stages(3)] {
		for i := range b.times(3) {
			var pool []int
			if i == b.times(3)-1 {
				pool = []int{2, 2}
			}
			x = b.riptide(fmt.Sprintf("conv%d", layer), b.ch(filters), 3, 1, pool, x)
			layer++
		}
	}
	x = b.add("flat", "flatten", nil, x)
	x = b.hidden(fmt.Sprintf("fc%d", layer), 4096, x)
	x = b.hidden(fmt.Sprintf("fc%d", layer+1), 4096, x)
	return b.classifier(fmt.Sprintf("fc%d", layer+2), x)
}

// resNet is a residual network with the given blocks in its stages. Its residual sums are of
// levels: Riptide's QAdd, a shift_norm behind it.
func resNet(blocks [4]int, bottleneck bool) func(b *builder, x string) string {
	return func(b *builder, x string) string {
		x = b.stem(b.ch(64), 7, 2, 3, 2, true, x)
		for stage, n := range blocks[:b.stages(len(blocks))] {
			width := b.ch(64 << stage)
			for i := range b.times(n) {
				name, stride := blockName(stage, i), 1
				if i == 0 && stage > 0 {
					stride = 2
				}
				short, out := x, width
				if bottleneck {
					out = 4 * width
				}
				if i == 0 && (stage > 0 || bottleneck) {
					short = b.riptide(name+"_down", out, 1, stride, nil, x)
				}
				if bottleneck {
					x = b.riptide(name+"_conv1", width, 1, 1, nil, x)
					x = b.riptide(name+"_conv2", width, 3, stride, nil, x)
					x = b.riptide(name+"_conv3", out, 1, 1, nil, x)
				} else {
					x = b.riptide(name+"_conv1", width, 3, stride, nil, x)
					x = b.riptide(name+"_conv2", width, 3, 1, nil, x)
				}
				x = b.add(name+"_sum", "add", nil, short, x)
				x = b.shiftNorm(name, x)
			}
		}
		x = b.add("features", "dequantize", nil, x)
		x = b.add("pool", "global_avg_pool", nil, x)
		x = b.norm("pool_bn", x)
		x = b.add("pool_act", "quantize", b.levels(), x)
		return b.classifier("fc", x)
	}
}

// squeezeNet is SqueezeNet 1.1 (Iandola et al. 2016) on 224x224 pictures, in the form that Riptide
// gives networks. The binary network pools before it normalizes, as Riptide does (its Algorithm 1),
// behind fire modules the integers of both expand convolutions: so bits stay balanced.
func squeezeNet(b *builder, x string) string {
	stem := "conv2d"
	if b.bytes {
		stem = "int_conv2d"
	}
	pool := attrs{"kernel": []int{3, 3}, "strides": []int{2, 2}}
	x = b.add("conv1", stem, attrs{"filters": b.ch(64), "kernel": []int{3, 3}, "strides": []int{2, 2}}, x)
	if b.Bits == 0 {
		x = b.relu("relu1", b.norm("bn1", x))
		x = b.add("pool1", "max_pool", pool, x)
	} else {
		x = b.add("pool1", "max_pool", pool, x)
		x = b.norm("bn1", x)
		x = b.add("act1", "quantize", b.levels(), x)
	}
	for i, width := range []int{16, 16, 32, 32, 48, 48, 64, 64} {
		if b.small && i >= 4 {
			break // pictures of 32x32 have 1 pixel here
		}
		f := fmt.Sprintf("fire%d", i+2)
		pooled := f == "fire3" || f == "fire5" && !b.small
		s := b.fire(f+"_squeeze", b.ch(width), 1, false, x)
		e1 := b.fire(f+"_expand1", b.ch(4*width), 1, pooled, s)
		e3 := b.fire(f+"_expand3", b.ch(4*width), 3, pooled, s)
		x = b.add(f, "concat", nil, e1, e3)
		if b.Bits == 0 && pooled {
			x = b.add(f+"_pool", "max_pool", pool, x)
		}
	}
	op := "conv2d"
	if b.Bits > 0 {
		op = "bitserial_conv2d"
	}
	x = b.add("conv10", op, attrs{"filters": b.classes(1000), "kernel": []int{1, 1}}, x)
	x = b.add("pool10", "global_avg_pool", nil, x)
	return b.add("prob", "softmax", nil, x)
}

// fire is one convolution of a fire module with the layers behind it.
func (b *builder) fire(name string, filters, kernel int, pooled bool, x string) string {
	if b.Bits == 0 {
		x = b.conv(name, filters, kernel, 1, x)
		return b.relu(name+"_relu", b.norm(name+"_bn", x))
	}
	var pool []int
	if pooled {
		pool = []int{3, 2}
	}
	return b.riptide(name, filters, kernel, 1, pool, x)
}
