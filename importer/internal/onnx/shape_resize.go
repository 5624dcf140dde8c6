package onnx

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
	"ripc/internal/human"
	"ripc/internal/lists"
)

// lowerBlock makes depth_to_space and space_to_depth.
func lowerBlock(op string) func(n *node) *tensor {
	return func(n *node) *tensor {
		b, t := n.b, n.in[0]
		n.failIf(len(t.shape) != 4, "", "input has shape %v, want [N, C, H, W]", t.shape)
		size := n.intAttr("blocksize", 0)
		n.failIf(size < 1 || size > 1<<20, "", "attribute \"blocksize\" is %d, want a positive number", size)
		mode := n.textAttr("mode", "DCR")
		order, known := map[string]graph.BlockOrder{"DCR": graph.BlockDCR, "CRD": graph.BlockCRD}[mode]
		n.failIf(!known, "use DCR or CRD", "mode %q is unknown", mode)
		x, _ := b.image(t)
		y := ofImage(b.emit(op, &graph.BlockAttrs{Block: [2]int{size, size}, Order: order}, nil, x.value))
		y.integers = x.integers
		return y
	}
}

// scaling is the size of an axis before and after Resize or Upsample.
type scaling struct {
	in, out int
	scale   float32
}

// lowerResize resizes by nearest neighbours or linearly. Where each pixel is repeated equally
// often, or every n-th is taken, it is a resize or a slice.
func lowerResize(n *node) *tensor {
	b, t := n.b, n.in[0]
	axes := n.scalings(t.shape)
	if !slices.ContainsFunc(axes, func(s scaling) bool { return s.in != s.out }) {
		return lowerIdentity(n)
	}
	mode := n.textAttr("mode", "nearest")
	linear := mode == "linear" || mode == "bilinear" // as Upsample 1 called it
	antialias := n.intAttr("antialias", 0)
	n.failIf(mode != "nearest" && !linear, "export it with mode linear or nearest", "mode %q is not supported", mode)
	n.failIf(linear && antialias != 0 && slices.ContainsFunc(axes, func(s scaling) bool { return s.scale < 1 }),
		"export it without antialias", "antialias is not supported where the image becomes smaller")
	n.failIf(linear && (t.truth || t.value.Whole), "put Cast to float before it",
		"input %q holds truth values or positions, between which there is nothing", n.Input[0])
	n.failIf(linear && t.integers != nil, "put DequantizeLinear before it and QuantizeLinear behind it",
		"input %q holds integers, between which nothing is interpolated", n.Input[0])
	var near, between []*kit.Along
	for d, s := range axes {
		switch {
		case s.in == s.out && s.scale == 1:
		case linear:
			positions := n.coordinates(s)
			rule := func(i int) float32 { return positions[i] }
			between = append(between, kit.AlongAxis(d, s.in, kit.Positions(s.in, s.out, rule)))
		default:
			near = append(near, &kit.Along{Axis: d, Whole: n.nearest(s)})
		}
	}
	return b.resample(t, near, between)
}

// resample returns t with the given positions along some axes. Where each pixel of near is repeated
// equally often, or every n-th is taken, it is a resize or a slice.
func (b *builder) resample(t *tensor, near, between []*kit.Along) *tensor {
	factor := slices.Repeat([]int{1}, len(t.shape))
	var cuts []span
	for _, a := range near {
		extent := t.shape[a.Axis]
		times, cut, listed := kit.Sample(extent, a.Whole)
		switch factor[a.Axis] = times; {
		case listed:
			between = append(between, kit.AlongPixels(a.Axis, extent, a.Whole))
		case cut != kit.WholeSpan(extent):
			cuts = append(cuts, span{a.Axis, cut})
		}
	}
	if cuts != nil {
		t = b.take(t, cuts)
	}
	return b.sampleAxes(b.magnify(t, factor), between)
}

// magnify repeats each position of each axis d factor[d] times.
func (b *builder) magnify(t *tensor, factor []int) *tensor {
	if !slices.ContainsFunc(factor, func(f int) bool { return f != 1 }) {
		return t
	}
	switch rank := len(factor); {
	case rank != 3 && rank != 4 || factor[0] != 1:
	case factor[1] == 1:
		return b.enlarge(t, factor[2:])
	case factor[rank-1] == 1: // channels last
		move, back := channelsFirst(rank)
		return b.permuteAxes(b.enlarge(b.permuteAxes(t, move), factor[1:rank-1]), back)
	}
	var axes []*kit.Along
	for d, f := range factor {
		at := make([]int, f*t.shape[d])
		for i := range at {
			at[i] = i / f
		}
		axes = append(axes, kit.AlongPixels(d, t.shape[d], at))
	}
	return b.sampleAxes(t, axes)
}

// enlarge repeats the rows and columns of an image, or the positions of a sequence.
func (b *builder) enlarge(t *tensor, factor []int) *tensor {
	x, spatials := b.image(t)
	y := ofImage(b.emit("resize", &graph.ResizeAttrs{Factor: spatial(factor, 1)}, nil, x.value))
	y.integers = x.integers
	return b.fromImage(y, spatials)
}

// scalings reads the sizes that the axes of a tensor get, from scales or from sizes.
func (n *node) scalings(shape []int) []scaling {
	scales, sizes := n.scales()
	axes := kit.Identity(len(shape))
	if n.has("axes") {
		axes = n.intsAttr("axes")
		n.axes(axes, len(shape))
	}
	n.failIf(len(scales)+len(sizes) != len(axes),
		"give one of them, for each axis",
		"%s and %s for %s", human.Count(len(scales), "scale"), human.Count(len(sizes), "size"),
		human.Count(len(axes), "axis"))
	policy := n.textAttr("keep_aspect_ratio_policy", "stretch")
	n.failIf(policy != "stretch" && sizes != nil,
		"give the sizes themselves", "keep_aspect_ratio_policy %q is not supported", policy)
	out := lists.Map(shape, func(e int) scaling { return scaling{e, e, 1} })
	for i, a := range axes {
		d := n.axis(a, len(shape))
		s := &out[d]
		if sizes != nil {
			s.out, s.scale = sizes[i], float32(sizes[i])/float32(s.in)
		} else {
			s.scale = scales[i]
			if v := math.Floor(float64(s.scale) * float64(s.in)); v >= 1 && v <= maxElements {
				s.out = int(v)
			} else {
				s.out = 0
			}
		}
		n.failIf(s.out < 1 || s.out > graph.MaxElems || !(s.scale > 0),
			"", "axis %d of %v gets %d positions (scale %g)", d, shape, s.out, s.scale)
	}
	return out
}

// scales reads the scales or the sizes of Resize or Upsample.
func (n *node) scales() (scales []float32, sizes []int) {
	at := 2
	switch {
	case n.GetOpType() == "Upsample" && n.opset < 9:
		a := n.attrs["scales"]
		n.failIf(a == nil, "", "attribute \"scales\" is missing")
		return a.Floats, nil
	case n.GetOpType() == "Upsample" || n.opset < 11:
		at = 1
	}
	a := n.konst(at, "scales")
	if a != nil && a.len() > 0 {
		return a.floats(), nil
	}
	if at == 2 {
		sizes = n.listOf(3, "sizes")
	}
	return nil, sizes
}

// simple reports whether the op is of a version that has one way to find neighbours.
func (n *node) simple() bool { return n.GetOpType() == "Upsample" || n.opset < 11 }

// coordinates lists the position in the input of each position of the result, in f32 as onnxruntime
// computes it.
func (n *node) coordinates(s scaling) []float32 {
	where := n.textAttr("coordinate_transformation_mode", "half_pixel")
	if n.simple() {
		where = "asymmetric"
	}
	n.b.mem.take(s.out, 8)
	out := make([]float32, s.out)
	for i := range out {
		v, x := float32(0), float32(i)
		switch where {
		case "asymmetric":
			v = x / s.scale
		case "half_pixel":
			v = (x+0.5)/s.scale - 0.5
		case "pytorch_half_pixel":
			if s.out > 1 {
				v = (x+0.5)/s.scale - 0.5
			}
		case "half_pixel_symmetric":
			adjust := float32(s.out) / (s.scale * float32(s.in))
			v = float32(s.in)/2*(1-adjust) + (x+0.5)/s.scale - 0.5
		case "align_corners":
			if s.out > 1 {
				v = float32(x*float32(s.in-1)) / float32(s.out-1)
			}
		default:
			panic(n.fail("use asymmetric, half_pixel, half_pixel_symmetric, pytorch_half_pixel or align_corners",
				"coordinate_transformation_mode %q is not supported", where))
		}
		out[i] = v
	}
	return out
}

// nearest lists which position each position of the result takes.
func (n *node) nearest(s scaling) []int {
	round := n.textAttr("nearest_mode", "round_prefer_floor")
	if n.simple() {
		round = "floor"
	}
	at := n.coordinates(s)
	n.b.mem.take(s.out, 8)
	out := make([]int, s.out)
	for i, v := range at {
		var r float64
		switch f := float64(v); round {
		case "round_prefer_floor":
			r = math.Ceil(f - 0.5)
		case "round_prefer_ceil":
			r = math.Floor(f + 0.5)
		case "floor":
			r = math.Floor(f)
		case "ceil":
			r = math.Ceil(f)
		default:
			panic(n.fail("use round_prefer_floor, round_prefer_ceil, floor or ceil", "nearest_mode %q is unknown",
				round))
		}
		out[i] = int(min(max(r, 0), float64(s.in-1)))
	}
	return out
}
