package onnx

import (
	"cmp"
	"slices"

	"ripc/graph"
)

// window is what Conv and the pools have in common: a kernel that moves over the two spatial axes of an image.
type window struct {
	kernel, strides, dilations [2]int
	before, after              [2]int // padding
}

// extent is the length of a dilated kernel.
func (w *window) extent(d int) int { return (w.kernel[d]-1)*w.dilations[d] + 1 }

// readWindow reads the attributes of a kernel over an image of shape [N, C, H, W].
func (n *node) readWindow(kernel [2]int, shape []int) (*window, error) {
	w := &window{kernel: kernel}
	var err error
	if w.strides, err = n.pairAttr("strides"); err != nil {
		return nil, err
	}
	if w.dilations, err = n.pairAttr("dilations"); err != nil {
		return nil, err
	}
	auto, err := n.textAttr("auto_pad", "NOTSET")
	if err != nil {
		return nil, err
	}
	pads, err := n.intsAttr("pads")
	if err != nil {
		return nil, err
	}
	switch auto {
	case "NOTSET", "":
		if pads == nil {
			break
		}
		if len(pads) != 4 || slices.Min(pads) < 0 || slices.Max(pads) > 1<<20 {
			return nil, n.fail("give the rows above, columns left, rows below, columns right", "pads %v: want four numbers from 0", pads)
		}
		w.before, w.after = [2]int{pads[0], pads[1]}, [2]int{pads[2], pads[3]}
	case "VALID":
	case "SAME_UPPER", "SAME_LOWER":
		for d := range 2 {
			w.before[d], w.after[d] = graph.SamePadding(shape[2+d], w.extent(d), w.strides[d])
			if auto == "SAME_LOWER" {
				w.before[d], w.after[d] = w.after[d], w.before[d]
			}
		}
	default:
		return nil, n.fail("re-export with explicit pads", "auto_pad %q is unknown", auto)
	}
	return w, nil
}

// ceil makes room for a last window that hangs over the end, as long as it begins inside the image or its first padding.
func (w *window) ceil(shape []int) {
	for d := range 2 {
		size, s := shape[2+d], w.strides[d]
		over := size + w.before[d] + w.after[d] - w.extent(d)
		if over < 0 {
			continue
		}
		out := (over+s-1)/s + 1
		if (out-1)*s >= size+w.before[d] {
			out--
		}
		w.after[d] = max(w.after[d], (out-1)*s+w.extent(d)-size-w.before[d])
	}
}

func (w *window) padding() graph.Padding {
	return graph.Padding{Mode: graph.PadExplicit, Top: w.before[0], Left: w.before[1], Bottom: w.after[0], Right: w.after[1]}
}

// image is t as an image, stored NHWC. Tensors of one or three spatial axes are refused.
func (b *builder) image(t *tensor) (*tensor, error) {
	if len(t.shape) != 4 {
		return nil, b.n.fail("only images of two spatial axes are supported", "input has shape %v, want [N, C, H, W]", t.shape)
	}
	return b.stored(t, nhwc())
}

// fit pads the image where the window's padding is as large as the kernel, which conv2d and the pools refuse.
func (b *builder) fit(t *tensor, w *window, value float64) (*tensor, error) {
	var before, after [2]int
	for d := range 2 {
		if w.before[d] >= w.extent(d) {
			before[d], w.before[d] = w.before[d], 0
		}
		if w.after[d] >= w.extent(d) {
			after[d], w.after[d] = w.after[d], 0
		}
	}
	return b.padImage(t, before, after, value)
}

// padImage puts rows and columns around an image stored NHWC.
func (b *builder) padImage(t *tensor, before, after [2]int, value float64) (*tensor, error) {
	if before == [2]int{} && after == [2]int{} {
		return t, nil
	}
	v, err := b.emit("pad", &graph.SpatialPadAttrs{Pad: graph.Padding{Mode: graph.PadExplicit, Top: before[0], Left: before[1], Bottom: after[0], Right: after[1]}, Value: value}, nil, t.value)
	if err != nil {
		return nil, err
	}
	shape := []int{t.shape[0], t.shape[1], t.shape[2] + before[0] + after[0], t.shape[3] + before[1] + after[1]}
	return &tensor{shape: shape, value: v, perm: t.perm, integers: t.integers}, nil
}

// ofImage is the tensor of an NHWC value.
func ofImage(v *graph.Value) *tensor {
	return &tensor{shape: []int{v.Shape[0], v.Shape[3], v.Shape[1], v.Shape[2]}, value: v, perm: nhwc()}
}

// lowerConv makes conv2d with weights [KH, KW, I/groups, O].
func lowerConv(n *node) ([]*tensor, error) {
	b := n.b
	w, err := n.konst(1, "weight")
	if err != nil {
		return nil, err
	}
	if len(w.shape) != 4 {
		return nil, n.fail("only images of two spatial axes are supported", "weight has shape %v, want [O, I, KH, KW]", w.shape)
	}
	x, err := b.image(n.in[0])
	if err != nil {
		return nil, err
	}
	kernel := [2]int{w.shape[2], w.shape[3]}
	if given, err := n.intsAttr("kernel_shape"); err != nil || given != nil && !slices.Equal(given, kernel[:]) {
		return nil, cmp.Or(err, n.fail("", "kernel_shape %v, but the weight has shape %v", given, w.shape))
	}
	win, err := n.readWindow(kernel, x.shape)
	if err != nil {
		return nil, err
	}
	groups, err := n.intAttr("group", 1)
	if err != nil {
		return nil, err
	}
	if groups < 1 || min(kernel[0], kernel[1], w.shape[0], w.shape[1]) < 1 || groups > x.shape[1] || w.shape[1]*groups != x.shape[1] {
		return nil, n.fail("", "%d groups of weight %v do not fit the %d channels of the input", groups, w.shape, x.shape[1])
	}
	hwio, err := b.mem.permuted(w, []int{2, 3, 1, 0})
	if err != nil {
		return nil, err
	}
	weights := map[string]*graph.Tensor{"w": {Shape: hwio.shape, Data: hwio.floats()}}
	bias, err := n.konst(2, "bias")
	if err != nil {
		return nil, err
	}
	if bias != nil {
		if !slices.Equal(bias.shape, w.shape[:1]) {
			return nil, n.fail("", "bias has shape %v, want [%d]", bias.shape, w.shape[0])
		}
		weights["b"] = &graph.Tensor{Shape: bias.shape, Data: slices.Clone(bias.floats())}
	}
	if x, err = b.fit(x, win, 0); err != nil {
		return nil, err
	}
	a := &graph.Conv2DAttrs{Strides: win.strides, Pad: win.padding()}
	if win.dilations != [2]int{1, 1} {
		a.Dilations = win.dilations
	}
	if groups > 1 {
		a.Groups = groups
	}
	v, err := b.emit("conv2d", a, weights, x.value)
	if err != nil {
		return nil, err
	}
	return []*tensor{ofImage(v)}, nil
}
