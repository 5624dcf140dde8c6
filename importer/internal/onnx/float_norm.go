package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// lowerBatchNorm takes the statistics as constants; axis 1 is that of the channels.
func lowerBatchNorm(n *node) *tensor {
	b, t := n.b, n.in[0]
	train := n.intAttr("training_mode", 0)
	switch {
	case train != 0 && b.batchStatistics: // weight standardization
		return lowerBatchStatistics(n)
	case train != 0:
		panic(n.fail("export the model in evaluation mode", "training_mode is on"))
	}
	eps := n.floatAttr("epsilon", 1e-5)
	n.failIf(len(t.shape) < 2, "", "input has shape %v, want [N, C, ...]", t.shape)
	if t.flat == nil {
		t = b.store(t, t.last(1))
	}
	weights := map[string]*graph.Tensor{}
	for i, name := range []string{"gamma", "beta", "mean", "var"} {
		a := n.konst(1+i, name)
		n.failIf(!slices.Equal(a.shape, t.shape[1:2]),
			"", "%s %q has shape %v, want [%d]", name, n.Input[1+i], a.shape, t.shape[1])
		shape := slices.Repeat([]int{1}, len(t.shape)-1)
		shape[0] = a.len()
		w := b.vector(t, a.view(shape))
		if w.Data.Len() == 1 {
			w.Shape = []int{1}
		}
		weights[name] = w
	}
	return b.elementwise(t, "batch_norm", &graph.BatchNormAttrs{Epsilon: float64(eps)}, weights)
}

// LayerNormalization and its kin are made of means, as the standard defines them: (x - mean) /
// sqrt(variance + epsilon), scaled and shifted.

// mean is the mean of t over axes, which stay with extent 1. Axes that do not lie side by side in
// memory are reduced one run after the other.
func (b *builder) mean(t *tensor, axes []int) *tensor {
	t = b.orderColumns(t)
	var run []int
	for _, d := range t.order() {
		if slices.Contains(axes, d) {
			run = append(run, d)
		} else if len(run) > 0 && t.shape[d] != 1 {
			t, run = b.reduce(t, run, true, true), nil
		}
	}
	if len(run) == 0 {
		return t
	}
	return b.reduce(t, run, true, true)
}

// subtractMean returns t less its mean over axes.
func (b *builder) subtractMean(t *tensor, axes []int) *tensor {
	return b.binary("sub", t, b.mean(t, axes))
}

// divideByRoot returns t * (1 / sqrt(mean of its squares over axes + epsilon)).
func (b *builder) divideByRoot(t *tensor, axes []int, epsilon float32) *tensor {
	return b.binary("mul", t, b.reciprocal(b.pipe(b.affine(b.mean(b.square(t), axes), 1, epsilon), "sqrt")))
}

// normalize returns t less its mean over axes, by its standard deviation.
func (b *builder) normalize(t *tensor, axes []int, epsilon float32) *tensor {
	return b.divideByRoot(b.subtractMean(t, axes), axes, epsilon)
}

// scaleAndShift returns t * scale + bias. Both broadcast to the shape of t, and either may be nil.
func (n *node) scaleAndShift(t, scale, bias *tensor) *tensor {
	for i, c := range []*tensor{scale, bias} {
		if c == nil {
			continue
		}
		n.failIf(!broadcastsTo(c.shape, t.shape), "", "a scale or bias of shape %v does not fit shape %v", c.shape,
			t.shape)
		t = n.b.binary([]string{"mul", "add"}[i], t, c)
	}
	return t
}

// channelwise is input i, [count], with rank axes: the first one is that of the channels, the
// others have extent 1. It is nil if the input is left out.
func (n *node) channelwise(i, count, rank int) *tensor {
	t := n.input(i)
	if t == nil {
		return nil
	}
	n.failIf(!slices.Equal(t.shape, []int{count}), "", "input %q has shape %v, want [%d]", n.Input[i], t.shape, count)
	shape := append([]int{count}, slices.Repeat([]int{1}, rank-1)...)
	if t.konst != nil {
		return &tensor{shape: shape, konst: t.konst.view(shape)}
	}
	return n.b.reshape(t, shape)
}

// channelwiseBoth are inputs 1 and 2 as channelwise has them.
func (n *node) channelwiseBoth(count, rank int) (scale, bias *tensor) {
	scale = n.channelwise(1, count, rank)
	bias = n.channelwise(2, count, rank)
	return scale, bias
}

// axesFrom are the axes from attribute axis on.
func (n *node) axesFrom() []int {
	rank := len(n.in[0].shape)
	axis := n.axis(n.intAttr("axis", -1), rank)
	return kit.Identity(rank)[axis:]
}

// lowerLayerNorm normalizes over the last axes.
func lowerLayerNorm(n *node) *tensor { return n.normalizeRows((*builder).normalize) }

// lowerRMSNorm divides by the root of the mean square over the last axes.
func lowerRMSNorm(n *node) *tensor { return n.normalizeRows((*builder).divideByRoot) }

// normalizeRows normalizes over the axes from attribute axis on; inputs 1 and 2 are scale and
// bias.
func (n *node) normalizeRows(normalize func(b *builder, t *tensor, axes []int, epsilon float32) *tensor) *tensor {
	epsilon := n.floatAttr("epsilon", 1e-5)
	return n.scaleAndShift(normalize(n.b, n.in[0], n.axesFrom(), epsilon), n.input(1), n.input(2))
}

// image checks that input 0 is [N, C, ...].
func (n *node) image() {
	n.failIf(len(n.in[0].shape) < 3, "", "input has shape %v, want [N, C, ...]", n.in[0].shape)
}

// lowerInstanceNorm normalizes each channel of each image.
func lowerInstanceNorm(n *node) *tensor {
	n.image()
	return n.normalizeChannels(kit.Identity(len(n.in[0].shape))[2:])
}

// normalizeChannels normalizes input 0, [N, C, ...], over axes; inputs 1 and 2 have a scale and a
// bias for each channel.
func (n *node) normalizeChannels(axes []int) *tensor {
	epsilon := n.floatAttr("epsilon", 1e-5)
	t := n.in[0]
	scale, bias := n.channelwiseBoth(t.shape[1], len(t.shape)-1)
	return n.scaleAndShift(n.b.normalize(t, axes, epsilon), scale, bias)
}

// lowerGroupNorm normalizes groups of channels. Scale and bias have a number for each group before
// opset 21, for each channel from there on.
func lowerGroupNorm(n *node) *tensor {
	epsilon := n.floatAttr("epsilon", 1e-5)
	n.image()
	groups := n.intAttr("num_groups", 0)
	b, t := n.b, n.in[0]
	c, rank := t.shape[1], len(t.shape)
	n.failIf(groups < 1 || c%groups != 0, "", "num_groups %d does not divide %d channels", groups, c)
	apart := slices.Concat(t.shape[:1], []int{groups, c / groups}, t.shape[2:])
	y := b.normalize(b.reshape(t, apart), kit.Identity(rank + 1)[2:], epsilon)
	count, over := c, rank-1
	if n.opset < 21 {
		count, over = groups, rank
	}
	scale, bias := n.channelwiseBoth(count, over)
	if n.opset < 21 {
		return b.reshape(n.scaleAndShift(y, scale, bias), t.shape)
	}
	return n.scaleAndShift(b.reshape(y, t.shape), scale, bias)
}

// lowerBatchStatistics is BatchNormalization by the mean and deviation of the input itself.
func lowerBatchStatistics(n *node) *tensor {
	shape := n.in[0].shape
	n.failIf(len(shape) < 2, "", "input has shape %v, want [N, C, ...]", shape)
	return n.normalizeChannels(slices.Delete(kit.Identity(len(shape)), 1, 2))
}

// lowerMeanVariance normalizes over attribute axes, with the standard's epsilon.
func lowerMeanVariance(n *node) *tensor {
	list := n.intsAttr("axes")
	if list == nil {
		list = []int{0, 2, 3}
	}
	axes := n.axes(list, len(n.in[0].shape))
	b := n.b
	t := b.subtractMean(n.in[0], axes)
	return b.binary("div", t, b.affine(b.pipe(b.mean(b.square(t), axes), "sqrt"), 1, 1e-9))
}

// lowerNorm is ReduceSum of before(input), followed by the ops in behind.
func lowerNorm(before func(b *builder, t *tensor) *tensor, behind ...string) lowerFunc {
	return func(n *node) *tensor {
		m := *n
		m.in = slices.Concat([]*tensor{before(n.b, n.in[0])}, n.in[1:])
		return n.b.pipe(lowerReduceSum(&m), behind...)
	}
}

func (b *builder) abs(t *tensor) *tensor { return b.pipe(t, "abs") }

func (b *builder) square(t *tensor) *tensor { return b.binary("mul", t, t) }

func (b *builder) identity(t *tensor) *tensor { return t }

// lowerLpNorm divides by the norm along an axis.
func lowerLpNorm(n *node) *tensor {
	p := n.intAttr("p", 2)
	axis := n.axis(n.intAttr("axis", -1), len(n.in[0].shape))
	n.failIf(p != 1 && p != 2, "", "p is %d, want 1 or 2", p)
	b, t := n.b, n.in[0]
	before, behind := (*builder).square, []string{"sqrt"}
	if p == 1 {
		before, behind = (*builder).abs, nil
	}
	norm := b.pipe(b.affine(b.mean(before(b, t), []int{axis}), float32(t.shape[axis]), 0), behind...)
	return b.binary("div", t, norm)
}
