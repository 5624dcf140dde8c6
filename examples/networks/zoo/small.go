package zoo

import "fmt"

// vehicleInput is the input of the vehicle network's first layer.
type vehicleInput uint8

const (
	vehicleFloat vehicleInput = iota // the picture itself
	vehicleRGB                       // its colours above a threshold each
	vehicleGray                      // its brightness above a threshold
	vehicleLBP                       // local binary patterns: which neighbours are brighter than a pixel
)

// gray is the brightness of a picture.
func (b *builder) gray(x string) string {
	b.store("gray.w", []int{1, 1, 3, 1}, 0.299, 0.587, 0.114)
	return b.conv("gray", 1, 1, 1, x)
}

// threshold makes bipolar bits: whether channels are at least their threshold.
func (b *builder) threshold(name, x string) string {
	return b.add(name, "threshold", attrs{"bits": 1, "encoding": "bipolar", "scale": 1}, x)
}

// vehicle is the network of the GPU paper with one of its input binarizations: bits from -1 and +1,
// or from 0 and 1 of local binary patterns.
func vehicle(in vehicleInput) func(b *builder, x string) string {
	return func(b *builder, x string) string {
		size := b.Input[1]
		switch in {
		case vehicleRGB:
			x = b.threshold("bits", x)
		case vehicleGray:
			x = b.threshold("bits", b.gray(x))
		case vehicleLBP:
			// Of the eight neighbours, clockwise from the upper left one, those at a stride of 3.
			x = b.gray(x)
			around := b.add("around", "pad", attrs{"padding": []int{1, 1, 1, 1}}, x)
			var parts []string
			for i, at := range [][2]int{{0, 0}, {1, 2}, {2, 0}} {
				name := fmt.Sprintf("neighbour%d", i+1)
				y := b.add(name, "slice", attrs{"begin": []int{0, at[0], at[1], 0}, "size": []int{1, size, size, 1}},
					around)
				parts = append(parts, b.add(name+"_brighter", "greater", nil, y, x))
			}
			x = b.add("bits", "concat", nil, parts...)
		}
		for i := range 2 {
			name := fmt.Sprintf("conv%d", i+1)
			if i == 0 && in == vehicleFloat {
				x = b.conv(name, b.ch(32), 5, 1, x)
			} else {
				x = b.binary(name, b.ch(32), 5, 1, unscaled(), x)
			}
			x = b.norm(name+"_bn", b.pooled(name+"_pool", x))
			x = b.sign(name+"_sign", x)
		}
		x = b.add("flat", "flatten", nil, x)
		for _, l := range []struct {
			name  string
			units int
		}{{"fc3", 100}, {"fc4", 100}, {"fc5", 4}} {
			x = b.add(l.name, "bitserial_dense", attrs{"units": l.units}.with(unscaled()), x)
			if x = b.norm(l.name+"_bn", x); l.units > 4 {
				x = b.sign(l.name+"_sign", x)
			}
		}
		return b.add("prob", "softmax", nil, x)
	}
}

// mlp4 is the survey's, with the widths of FINN's large one: four binary dense layers on bits of a
// picture.
func mlp4(b *builder, x string) string {
	x = b.threshold("bits", x)
	return b.dense(x, b.units(1024), b.units(1024), b.units(1024))
}

// dense is binary dense layers with the given units, with normalization and sign, and the last one
// of 10.
func (b *builder) dense(x string, units ...int) string {
	for i, n := range units {
		name := fmt.Sprintf("fc%d", i+1)
		x = b.norm(name+"_bn", b.add(name, "bitserial_dense", attrs{"units": n}.with(unscaled()), x))
		x = b.sign(name+"_sign", x)
	}
	return b.norm("fc_bn", b.add("fc", "bitserial_dense", attrs{"units": 10}.with(unscaled()), x))
}

// cnv4 is the survey's: two convolutions, each with a normalization, a sign and a pool, and two
// dense layers.
func cnv4(b *builder, x string) string {
	x = b.threshold("bits", x)
	for i, n := range []int{32, 64} {
		name := fmt.Sprintf("conv%d", i+1)
		x = b.norm(name+"_bn", b.binary(name, b.ch(n), 3, 1, unscaled(), x))
		x = b.pooled(name+"_pool", b.sign(name+"_sign", x))
	}
	return b.dense(b.add("flat", "flatten", nil, x), b.units(512))
}

// cnv8 is the survey's: VGG-small's six convolutions, the first one of floats, and two dense
// layers.
func cnv8(b *builder, x string) string {
	for i, n := range []int{128, 128, 256, 256, 512, 512} {
		name := fmt.Sprintf("conv%d", i+1)
		if i == 0 {
			x = b.conv(name, b.ch(n), 3, 1, x)
		} else {
			x = b.binary(name, b.ch(n), 3, 1, unscaled(), x)
		}
		if i%2 == 1 {
			x = b.pooled(name+"_pool", x)
		}
		x = b.sign(name+"_sign", b.norm(name+"_bn", x))
	}
	return b.dense(b.add("flat", "flatten", nil, x), b.units(1024))
}

// uNet is a U-Net of bits: pictures are halved and doubled, and each size of the way up reads the
// bits of the way down.
func uNet(b *builder, x string) string {
	two := func(name string, width int, x string) string {
		for i := range 2 {
			layer := fmt.Sprintf("%s_conv%d", name, i+1)
			x = b.sign(layer+"_sign", b.norm(layer+"_bn", b.binary(layer, width, 3, 1, unscaled(), x)))
		}
		return x
	}
	depth := 4
	if b.small {
		depth = 2
	}
	x = b.sign("conv1_sign", b.norm("conv1_bn", b.conv("conv1", b.ch(32), 3, 1, x)))
	var skips []string
	for i := range depth {
		x = two(fmt.Sprintf("down%d", i+1), b.ch(32<<i), x)
		skips = append(skips, x)
		x = b.pooled(fmt.Sprintf("down%d_pool", i+1), x)
	}
	x = two("bottom", b.ch(32<<depth), x)
	for i := depth - 1; i >= 0; i-- {
		name := fmt.Sprintf("up%d", i+1)
		x = b.add(name, "bitserial_conv_transpose2d", attrs{"filters": b.ch(32 << i), "kernel": []int{2, 2},
			"strides": []int{2, 2}}.with(unscaled()), x)
		x = b.sign(name+"_sign", b.norm(name+"_bn", x))
		x = two(name, b.ch(32<<i), b.add(name+"_both", "concat", nil, skips[i], x))
	}
	return b.binary("classes", 2, 1, 1, unscaled(), x)
}

// ecg is a network of one axis for an electrocardiogram: a float layer, binary layers with pools,
// the mean over time.
func ecg(b *builder, x string) string {
	line := func(filters, kernel, stride int) attrs {
		return attrs{"filters": b.ch(filters), "kernel": []int{1, kernel}, "strides": []int{1, stride},
			"padding": "same"}
	}
	x = b.sign("conv1_sign", b.norm("conv1_bn", b.add("conv1", "conv2d", line(32, 15, 2), x)))
	for i, n := range []int{64, 64, 128, 128} {
		name := fmt.Sprintf("conv%d", i+2)
		x = b.add(name, "bitserial_conv2d", line(n, 7, 1).with(unscaled()), x)
		x = b.add(name+"_pool", "max_pool", attrs{"kernel": []int{1, 2}, "strides": []int{1, 2}}, x)
		x = b.norm(name+"_bn", x)
		if i < 3 {
			x = b.sign(name+"_sign", x)
		}
	}
	x = b.add("pool", "global_avg_pool", nil, b.relu("relu", x))
	x = b.add("fc", "dense", attrs{"units": 5}, x)
	return b.add("prob", "softmax", nil, x)
}
