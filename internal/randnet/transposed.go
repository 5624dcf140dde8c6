package randnet

// transposed adds a transposed convolution, bitserial over levels, that does not make the image
// much larger.
func (b *modelBuilder) transposed() {
	op, in := "conv_transpose2d", b.shape[3]
	if b.bits > 0 {
		op = "bitserial_conv_transpose2d"
	}
	kernel, strides, dilations := [2]int{}, [2]int{}, [2]int{1, 1}
	pad, more, same := []int{0, 0, 0, 0}, [2]int{}, b.r.IntN(4) == 0
	dilated := b.r.IntN(4) == 0
	shape := []int{b.shape[0], 0, 0, 0}
	for d := range 2 {
		kernel[d], strides[d] = 1+b.r.IntN(5), 1+b.r.IntN(3)
		if dilated {
			dilations[d] = 1 + b.r.IntN(3)
		}
		span, size := (kernel[d]-1)*dilations[d]+1, b.shape[1+d]
		if same {
			shape[1+d] = size * strides[d]
			continue
		}
		all := (size-1)*strides[d] + span
		pad[2*d] = b.r.IntN(min(all, span+1))
		pad[2*d+1] = b.r.IntN(min(all-pad[2*d], span+1))
		more[d] = b.r.IntN(max(strides[d], dilations[d]))
		shape[1+d] = all - pad[2*d] - pad[2*d+1] + more[d]
	}
	attrs := map[string]any{"kernel": kernel, "strides": strides}
	if dilated {
		attrs["dilations"] = dilations
	}
	if same {
		attrs["padding"] = "same"
	} else {
		attrs["padding"], attrs["output_padding"] = pad, more
	}
	shape[3] = b.pick(1, 3, 8, 31, 32, 40)
	if b.r.IntN(3) == 0 {
		shape[3] = b.groups(attrs, in, shape[3])
	}
	attrs["filters"] = shape[3]
	if op == "bitserial_conv_transpose2d" {
		attrs["weight_scale"] = []string{"mean", "none"}[b.r.IntN(2)]
		b.weights(attrs)
		delete(attrs, "weight_offset")
	}
	b.add(op, attrs)
	b.shape, b.bits = shape, 0
}
