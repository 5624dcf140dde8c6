package zoo

import (
	"fmt"
	"math"
	"slices"
)

// pooled is maxPool of squares that do not overlap.
func (b *builder) pooled(name, x string) string { return b.maxPool(name, 2, 2, false, x) }

func (b *builder) avgPool(name string, size int, x string) string {
	return b.add(name, "avg_pool", attrs{"kernel": []int{size, size}, "strides": []int{size, size}}, x)
}

// sign makes bipolar levels of one bit; 0 becomes +1, as in Larq.
func (b *builder) sign(name, x string) string {
	return b.add(name, "quantize", attrs{"bits": 1, "encoding": "bipolar", "rounding": "half_up"}, x)
}

// signConv is sign and binary, as Larq's QuantConv2D.
func (b *builder) signConv(name string, filters, kernel, stride int, more attrs, x string) string {
	return b.binary(name, filters, kernel, stride, more, b.sign(name+"_sign", x))
}

// head is the float classifier behind the last feature map.
func (b *builder) head(x string) string {
	x = b.add("pool", "global_avg_pool", nil, x)
	x = b.add("fc", "dense", attrs{"units": b.classes(1000)}, x)
	return b.add("prob", "softmax", nil, x)
}

// unscaled are binary weights of +1 and -1, as those of Larq's ste_sign.
func unscaled() attrs { return attrs{"weight_scale": "none"} }

// alexStride is that of AlexNet's first layer.
func (b *builder) alexStride() int {
	if b.small {
		return 2 // pictures of 32x32 are pooled three times
	}
	return 4
}

// alexConvs are AlexNet's binary convolutions. first is the number of filters of the first one, and
// more has attributes of the weights.
func (b *builder) alexConvs(first int, more attrs, x string) string {
	for i, l := range []struct {
		filters, kernel int
		pool            bool
	}{{first, 5, true}, {384, 3, false}, {384, 3, false}, {256, 3, true}} {
		name := fmt.Sprintf("conv%d", i+2)
		x = b.signConv(name, b.ch(l.filters), l.kernel, 1, more, x)
		if l.pool {
			x = b.maxPool(name+"_pool", 3, 2, false, x)
		}
		x = b.norm(name+"_bn", x)
	}
	return x
}

// binaryAlexNet is larq-zoo's: all layers have binary weights, the first one reads floats.
func binaryAlexNet(b *builder, x string) string {
	x = b.conv("conv1", b.ch(64), 11, b.alexStride(), x)
	x = b.norm("conv1_bn", b.maxPool("conv1_pool", 3, 2, false, x))
	x = b.alexConvs(192, unscaled(), x)
	x = b.add("flat", "flatten", nil, x)
	for i, units := range []int{b.units(4096), b.units(4096), b.classes(1000)} {
		name := fmt.Sprintf("fc%d", i+6)
		x = b.add(name, "bitserial_dense", attrs{"units": units}.with(unscaled()), b.sign(name+"_sign", x))
		x = b.norm(name+"_bn", x)
	}
	return b.add("prob", "softmax", nil, x)
}

// xnorNet is larq-zoo's, without the map K of the paper: its last layers are convolutions, and the
// classifier is one of floats.
func xnorNet(b *builder, x string) string {
	last := 6
	if b.small {
		last = 1
	}
	x = b.relu("conv1_relu", b.norm("conv1_bn", b.conv("conv1", b.ch(96), 11, b.alexStride(), x)))
	x = b.norm("conv1_out", b.maxPool("conv1_pool", 3, 2, false, x))
	x = b.alexConvs(256, nil, x)
	x = b.norm("conv6_bn", b.signConv("conv6", b.units(4096), last, 1, attrs{"padding": "valid"}, x))
	x = b.norm("conv7_bn", b.signConv("conv7", b.units(4096), 1, 1, nil, x))
	x = b.add("flat", "flatten", nil, b.relu("conv7_relu", x))
	x = b.add("fc8", "dense", attrs{"units": b.classes(1000)}, x)
	return b.add("prob", "softmax", nil, x)
}

// resStem is the float stem of the residual networks of Larq.
func (b *builder) resStem(x string) string {
	x = b.relu("conv1_relu", b.norm("conv1_bn", b.conv("conv1", b.ch(64), 7, 2, x)))
	return b.maxPool("conv1_pool", 3, 2, true, x)
}

// shortcut halves the picture, and gives it other channels.
func (b *builder) shortcut(name string, filters int, x string) string {
	x = b.avgPool(name+"_down", 2, x)
	return b.norm(name+"_down_bn", b.conv(name+"_down_conv", filters, 1, 1, x))
}

// bypass returns the tensor that is added behind a block, and the stride of the block: of one that
// halves the picture the shortcut does so too.
func (b *builder) bypass(name string, filters int, halves bool, x string) (stride int, short string) {
	if halves {
		return 2, b.shortcut(name, filters, x)
	}
	return 1, x
}

// biRealNet is larq-zoo's: a shortcut around each binary convolution. It is normalized behind the
// pool, not before it: the signs of maxima would nearly all be +1 without training.
func biRealNet(b *builder, x string) string {
	x = b.norm("conv1_bn", b.maxPool("conv1_pool", 3, 2, true, b.conv("conv1", b.ch(64), 7, 2, x)))
	for stage := range b.stages(4) {
		for i := range b.times(4) {
			name, filters := blockName(stage, i), b.ch(64<<stage)
			stride, short := b.bypass(name, filters, i == 0 && stage > 0, x)
			x = b.norm(name+"_bn", b.signConv(name+"_conv", filters, 3, stride, nil, x))
			x = b.add(name, "add", nil, x, short)
		}
	}
	return b.head(x)
}

// realToBinary is larq-zoo's RealToBinNet: small dense layers make a scale of the sums from the
// mean of the input.
func realToBinary(b *builder, x string) string {
	x = b.resStem(x)
	channels := b.ch(64)
	for stage := range b.stages(4) {
		for i := range b.times(4) {
			name, filters := blockName(stage, i), b.ch(64<<stage)
			stride, short := b.bypass(name, filters, i == 0 && stage > 0, x)
			y := b.norm(name+"_bn", x)
			x = b.signConv(name+"_conv", filters, 3, stride, unscaled(), y)
			z := b.add(name+"_mean", "global_avg_pool", nil, y)
			z = b.relu(name+"_reduce_relu", b.add(name+"_reduce", "dense", attrs{"units": channels / 8}, z))
			z = b.add(name+"_gate", "sigmoid", nil, b.add(name+"_expand", "dense", attrs{"units": filters}, z))
			z = b.add(name+"_scale", "reshape", attrs{"shape": []int{1, 1, 1, filters}}, z)
			x = b.add(name+"_act", "prelu", nil, b.add(name+"_scaled", "mul", nil, x, z))
			x = b.add(name, "add", nil, x, short)
			channels = filters
		}
	}
	return b.head(x)
}

// binaryDenseNet is larq-zoo's BinaryDenseNet28.
func binaryDenseNet(b *builder, x string) string {
	x = b.resStem(x)
	channels := b.ch(64)
	layers, reduction := []int{6, 6, 6, 5}[:b.stages(4)], []float64{2.7, 2.7, 2.2}
	for stage, n := range layers {
		for i := range b.times(n) {
			name := blockName(stage, i)
			y := b.signConv(name+"_conv", b.ch(64), 3, 1, unscaled(), b.norm(name+"_bn", x))
			x = b.add(name, "concat", nil, x, y)
			channels += b.ch(64)
		}
		if stage == len(layers)-1 {
			break
		}
		name := fmt.Sprintf("transition%d", stage+1)
		if channels /= 2; !b.small {
			channels = 32 * int(math.Round(math.Floor(float64(2*channels)/reduction[stage])/32))
		}
		x = b.relu(name+"_relu", b.pooled(name+"_pool", b.norm(name+"_bn", x)))
		x = b.conv(name, channels, 1, 1, x)
	}
	return b.head(b.relu("relu", b.norm("bn", x)))
}

// meliusNet is larq-zoo's MeliusNet22: dense blocks add channels, improvement blocks add to the
// newest of them.
func meliusNet(b *builder, x string) string {
	grouped := func(name string, filters, groups int, x string) string {
		x = b.add(name, "conv2d", geometry(filters, 3, 1).with(attrs{"groups": groups}), x)
		return b.relu(name+"_relu", b.norm(name+"_bn", x))
	}
	x = b.relu("conv1_relu", b.norm("conv1_bn", b.conv("conv1", b.ch(32), 3, 2, x)))
	x = grouped("conv2", b.ch(32), 4, x)
	x = grouped("conv3", b.ch(64), 8, x)
	x = b.pooled("conv3_pool", x)
	size, channels, grow := b.Input[1]/4, b.ch(64), b.ch(64)
	blocks, features := []int{4, 5, 4, 4}[:b.stages(4)], []int{160, 224, 256}
	for stage, n := range blocks {
		for i := range b.times(n) {
			name := blockName(stage, i)
			y := b.signConv(name+"_dense", grow, 3, 1, unscaled(), b.norm(name+"_dense_bn", x))
			x = b.add(name+"_grown", "concat", nil, x, y)
			channels += grow
			y = b.signConv(name+"_improve", grow, 3, 1, unscaled(), b.norm(name+"_improve_bn", x))
			old := b.add(name+"_old", "slice", attrs{"begin": []int{0, 0, 0, 0},
				"size": []int{1, size, size, channels - grow}}, x)
			last := b.add(name+"_new", "slice", attrs{"begin": []int{0, 0, 0, channels - grow},
				"size": []int{1, size, size, grow}}, x)
			x = b.add(name, "concat", nil, old, b.add(name+"_sum", "add", nil, last, y))
		}
		if stage == len(blocks)-1 {
			break
		}
		name := fmt.Sprintf("transition%d", stage+1)
		size, channels = size/2, b.ch(features[stage])
		x = b.relu(name+"_relu", b.pooled(name+"_pool", b.norm(name+"_bn", x)))
		x = b.conv(name, channels, 1, 1, x)
	}
	return b.head(b.relu("relu", b.norm("bn", x)))
}

// reactNet is ReActNet-A: MobileNet's widths, RSign with a threshold for each channel, RPReLU.
func reactNet(b *builder, x string) string {
	rsign := func(name, x string) string {
		return b.add(name, "threshold", attrs{"bits": 1, "encoding": "bipolar", "scale": 1}, x)
	}
	rprelu := func(name, x string) string { // shifts in front and behind are about 1 with weights from a seed
		x = b.add(name+"_prelu", "prelu", nil, b.add(name+"_before", "sub", nil, x))
		return b.add(name, "add", nil, x)
	}
	x = b.norm("conv1_bn", b.conv("conv1", b.ch(32), 3, 2, x))
	from := b.ch(32)
	widths := []int{64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024}
	if b.small {
		widths = widths[:4]
	}
	last := 64
	for i, width := range widths {
		name, out, stride, short := fmt.Sprintf("block%d", i+1), b.ch(width), 1, x
		if i > 0 && width > last {
			stride = 2
			short = b.avgPool(name+"_down", 2, x)
		}
		last = width
		y := b.binary(name+"_conv3", from, 3, stride, nil, rsign(name+"_sign3", x))
		x = rprelu(name+"_act3", b.add(name+"_sum3", "add", nil, b.norm(name+"_bn3", y), short))
		s := rsign(name+"_sign1", x)
		var parts []string
		for j := range out / from {
			part := fmt.Sprintf("%s_%d", name, j+1)
			y := b.norm(part+"_bn", b.binary(part+"_conv", from, 1, 1, nil, s))
			parts = append(parts, b.add(part+"_sum", "add", nil, y, x))
		}
		if x = parts[0]; len(parts) > 1 {
			x = b.add(name+"_wide", "concat", nil, parts...)
		}
		x, from = rprelu(name+"_act1", x), out
	}
	return b.head(x)
}

// quickNet is larq-zoo's, with the blocks and channels of each stage: padded with +1, relu before
// the normalization, blurred transitions.
func quickNet(blocks, widths [4]int) func(b *builder, x string) string {
	return func(b *builder, x string) string {
		depthwise := func(name string, channels int, x string) string {
			return b.add(name, "conv2d", geometry(channels, 3, 2).with(attrs{"groups": channels}), x)
		}
		first := max(8, b.ch(widths[0])/4)
		x = b.relu("stem1_relu", b.norm("stem1_bn", b.conv("stem1", first, 3, 2, x)))
		x = b.norm("stem2_bn", depthwise("stem2", first, x))
		x = b.norm("stem3_bn", b.conv("stem3", b.ch(widths[0]), 1, 1, x))
		for stage, n := range blocks[:b.stages(4)] {
			width := b.ch(widths[stage])
			if stage > 0 {
				name, from := fmt.Sprintf("transition%d", stage), b.ch(widths[stage-1])
				x = b.maxPool(name+"_pool", 2, 1, false, b.relu(name+"_relu", x))
				x = depthwise(name+"_blur", from, x)
				var blur []float32
				for _, v := range []float32{1, 2, 1, 2, 4, 2, 1, 2, 1} {
					blur = append(blur, slices.Repeat([]float32{v / 16}, from)...)
				}
				b.store(name+"_blur.w", []int{3, 3, 1, from}, blur...)
				x = b.norm(name+"_bn", b.conv(name+"_conv", width, 1, 1, x))
			}
			for i := range b.times(n) {
				name := blockName(stage, i)
				y := b.signConv(name+"_conv", width, 3, 1, unscaled().with(attrs{"pad_value": "one"}), x)
				y = b.norm(name+"_bn", b.relu(name+"_relu", y))
				x = b.add(name, "add", nil, y, x)
			}
		}
		return b.head(b.relu("relu", x))
	}
}
