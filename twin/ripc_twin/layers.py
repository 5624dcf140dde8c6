"""Layers with two forwards. In training they are float, with straight-through gradients through what is a step; in evaluation
(net.eval()) they are the integer arithmetic that ripc compiles. Each writes itself as nodes of a ripc model."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from . import arith
from .arith import LevelType, levels_of
from .tensors import Levels, Sums


@dataclass(frozen=True)
class Spec:
    """What a layer gets or makes: shape without the batch, (C, H, W) or (K,); type of levels; the layer whose sums it is."""

    shape: tuple[int, ...]
    levels: LevelType | None = None
    sums: "nn.Module | None" = None


def through(hard: torch.Tensor, soft: torch.Tensor) -> torch.Tensor:
    """hard, with the gradient of soft."""
    return soft + (hard - soft).detach()


def channels(t: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """t [C] as it meets x [N, C, ...]."""
    return t.view((1, -1) + (1,) * (x.dim() - 2))


def pair(v) -> tuple[int, int]:
    return (v, v) if isinstance(v, int) else tuple(v)


def want(ok: bool, layer: nn.Module, what: str):
    if not ok:
        raise TypeError(f"{type(layer).__name__} {what}")


class Layer(nn.Module):
    """A layer of a Network. connect is told once what the layer gets and says what it makes; write adds the layer's nodes to a model."""

    def connect(self, x: Spec) -> Spec:
        return x

    def write(self, w, x: str) -> str:
        raise NotImplementedError


# Weights


class Weights(nn.Module):
    """Latent float weights [O, ...] and the integers of few bits that they stand for.

    kind: binary (+1 for w >= 0, else -1), ternary (0 where |w| is at most 0.7 of the filter's mean), or a number of bits from 2 to 4: the
    odd integers in +-(2^bits-1). scale: ap2, Riptide's power of two nearest to the mean magnitude (ternary: of those that are not 0; several
    bits: to the largest magnitude by the largest integer); mean, the same without rounding; none, 1. Scales are of each filter, or, with
    shared, one. A mean above 1 counts as 1.
    """

    def __init__(self, shape, kind="binary", scale="ap2", shared=False):
        super().__init__()
        if kind not in ("binary", "ternary", 2, 3, 4):
            raise ValueError(f"weights {kind!r}; use binary, ternary, 2, 3 or 4 (bits)")
        if scale not in ("ap2", "mean", "none"):
            raise ValueError(f"scale {scale!r}; use ap2, mean or none")
        self.kind, self.scale, self.shared = kind, scale, shared
        self.latent = nn.Parameter(torch.empty(shape))
        nn.init.kaiming_uniform_(self.latent, a=5**0.5)

    @property
    def largest(self) -> int:
        return 2**self.kind - 1 if isinstance(self.kind, int) else 1

    @torch.no_grad()
    def integers(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The integers, int64, and the real value of 1 of each filter, float64 [O]."""
        w = self.latent.double()
        flat = w.reshape(len(w), -1)
        size = flat.abs()
        if self.kind == "binary":
            ints, alpha = torch.where(w >= 0, 1, -1), self._mean(size, torch.ones_like(size))
        elif self.kind == "ternary":
            on = size > 0.7 * size.mean(1, keepdim=True)
            ints = (torch.where(flat < 0, -1, 1) * on).view(w.shape)
            alpha = self._mean(size, on.double())
        else:
            top = self.largest
            alpha = size.amax(1) / top
            if self.shared:
                alpha = alpha.amax().expand(len(w)).clone()
            alpha = self._scaled(alpha.clamp(max=1))
            unit = alpha.view((-1,) + (1,) * (w.dim() - 1))
            unit = torch.where(unit > 0, unit, torch.ones_like(unit))
            ints = 2 * torch.round(((w / unit).clamp(-top, top) + top) / 2).long() - top
            return ints, alpha
        return ints, self._scaled(alpha.clamp(max=1))

    def _mean(self, size, on):
        dims = (0, 1) if self.shared else (1,)
        mean = (size * on).sum(dims) / on.sum(dims).clamp(min=1)
        return mean.expand(len(size)).clone()

    def _scaled(self, alpha):
        if self.scale == "none":
            return torch.ones_like(alpha)
        # as the file has it: float32
        return arith.ap2(alpha) if self.scale == "ap2" else alpha.float().double()

    def forward(self) -> torch.Tensor:
        """The real values, with the gradient of the latent weights inside +-1."""
        ints, alpha = self.integers()
        real = ints * alpha.view((-1,) + (1,) * (ints.dim() - 1))
        return through(real.float(), self.latent.clamp(-1, 1))

    def attrs(self) -> dict:
        attrs = {"weight_scale": "tensor"}
        if self.kind == "ternary":
            attrs["weight_encoding"] = "ternary"
        elif self.kind != "binary":
            attrs["weight_bits"] = self.kind
        return attrs

    def tensors(self, order) -> dict[str, torch.Tensor]:
        """What the file has of them: w, its axes in the order given, and scale. Of several bits w is real, else integers."""
        ints, alpha = self.integers()
        if isinstance(self.kind, int):
            unit = torch.where(alpha > 0, alpha, torch.ones_like(alpha))
            w = (ints * unit.view((-1,) + (1,) * (ints.dim() - 1))).float()
        else:
            w = ints.to(torch.int8)
        return {"w": w.permute(order).contiguous(), "scale": alpha.float()}


class _BitLayer(Layer):
    def sums(self, x: Levels, ints: torch.Tensor, alpha: torch.Tensor, y: torch.Tensor) -> Sums:
        unit = (x.type.scale * alpha).float()
        bound = ints[0].numel() * x.type.top * self.weights.largest
        return Sums(y, unit, bound, x.type, alpha)


class BitConv2d(_BitLayer):
    """Convolution of levels with weights of few bits (see Weights). Bipolar levels are padded with 0 (zero) or with +1 (one)."""

    def __init__(self, inputs, outputs, kernel, stride=1, padding=0, weights="binary", scale="ap2", pad_value="zero"):
        super().__init__()
        self.kernel, self.stride, self.padding, self.pad_value = pair(kernel), pair(stride), padding, pad_value
        self.inputs, self.outputs = inputs, outputs
        self.weights = Weights((outputs, inputs, *self.kernel), weights, scale)

    def connect(self, x):
        want(x.levels is not None and len(x.shape) == 3, self, "reads levels of images: put a quantizer, Threshold or ShiftNorm in front")
        want(x.shape[0] == self.inputs, self, f"was made for {self.inputs} channels and gets {x.shape[0]}")
        self.source = x.levels
        size = [(n + 2 * self.padding - k) // s + 1 for n, k, s in zip(x.shape[1:], self.kernel, self.stride)]
        return Spec((self.outputs, *size), sums=self)

    def _ones(self):
        return self.source.encoding == "bipolar" and self.pad_value == "one"

    def forward(self, x):
        if self.training:
            p = self.padding
            x = functional.pad(x, (p, p, p, p), value=self.source.top * self.source.scale if self._ones() else 0.0)
            return functional.conv2d(x, self.weights(), None, self.stride)
        ints, alpha = self.weights.integers()
        return self.sums(x, ints, alpha, arith.conv(x.ints, ints, self.stride, self.padding, x.type.top if self._ones() else 0))

    def write(self, w, x):
        attrs = {"strides": list(self.stride), "padding": [self.padding] * 4, **self.weights.attrs()}
        if self._ones():
            attrs["pad_value"] = "one"
        return w.node("conv", "bitserial_conv2d", [x], attrs, self.weights.tensors((2, 3, 1, 0)))


class BitLinear(_BitLayer):
    """Matrix product of levels with weights of few bits, which share one scale, as Riptide's dense layers do."""

    def __init__(self, inputs, outputs, weights="binary", scale="ap2"):
        super().__init__()
        self.inputs, self.outputs = inputs, outputs
        self.weights = Weights((outputs, inputs), weights, scale, shared=True)

    def connect(self, x):
        want(x.levels is not None and x.shape == (self.inputs,), self, f"reads {self.inputs} levels, not {x.shape}: put Flatten in front")
        self.source = x.levels
        return Spec((self.outputs,), sums=self)

    def forward(self, x):
        if self.training:
            return functional.linear(x, self.weights())
        ints, alpha = self.weights.integers()
        return self.sums(x, ints, alpha, x.ints @ ints.T)

    def write(self, w, x):
        return w.node("dense", "bitserial_dense", [x], self.weights.attrs(), self.weights.tensors((1, 0)))


class IntLinear(Layer):
    """Matrix product of levels with weights of 8 bits, for the end of a network. Evaluation gives the sums of integers themselves."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.inputs, self.outputs = inputs, outputs
        self.latent = nn.Parameter(torch.empty(outputs, inputs))
        nn.init.kaiming_uniform_(self.latent, a=5**0.5)

    def connect(self, x):
        want(x.levels is not None and x.shape == (self.inputs,), self, f"reads {self.inputs} levels, not {x.shape}: put Flatten in front")
        return Spec((self.outputs,))

    @torch.no_grad()
    def integers(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The integers, int64, and what 1 stands for in training."""
        unit = (self.latent.double().abs().amax() / 127).clamp(min=1e-30)
        return torch.round(self.latent.double() / unit).long(), unit

    def forward(self, x):
        ints, unit = self.integers()
        if self.training:
            return functional.linear(x, through((ints * unit).float(), self.latent))
        return Sums(x.ints @ ints.T, torch.ones(self.outputs), self.inputs * x.type.top * 127)

    def write(self, w, x):
        return w.node("dense", "int_dense", [x], {}, {"w": self.integers()[0].to(torch.int8).T.contiguous()})


# Behind sums


class ShiftNorm(Layer):
    """Riptide's normalization and quantizer: an addition, a shift and a clip for each channel (docs/shift-norm.md).

    Mean and variance are those of the batch in training, and running ones in evaluation and once they are frozen. Besides the paper, each
    channel learns by how many standard deviations its mean is off (shift), which the exported mean takes in, so that it costs nothing.
    """

    def __init__(self, features, bits, encoding="unipolar", mode="riptide", epsilon=1e-5, momentum=0.1):
        super().__init__()
        self.type, self.mode, self.epsilon, self.momentum = levels_of(bits, encoding), mode, epsilon, momentum
        self.shift = nn.Parameter(torch.full((features,), 0.5 if encoding == "unipolar" else 0.0))
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("var", torch.ones(features))
        self.frozen = False

    def connect(self, x):
        want(isinstance(x.sums, _BitLayer), self, "reads the sums of BitConv2d or BitLinear; MaxPool2d may stand between")
        want(x.shape[0] == len(self.shift), self, f"was made for {len(self.shift)} channels and gets {x.shape[0]}")
        self.layer, self.source = (x.sums,), x.sums.source  # a tuple: it is no part of this layer
        return Spec(x.shape, self.type)

    def forward(self, x):
        return self._train(x) if self.training else self._evaluate(x)

    def _train(self, x):
        source, top = self.source, self.type.top
        if self.frozen:
            mean, var = self.mean, self.var
        else:
            dims = [d for d in range(x.dim()) if d != 1]
            mean, var = x.mean(dims), x.var(dims, unbiased=False)
            with torch.no_grad():
                self.mean += self.momentum * (mean - self.mean)
                self.var += self.momentum * (var - self.var)
        sd = torch.sqrt(var + self.epsilon)
        with torch.no_grad():  # the integers of arith.shift_norm, as floats that hold them
            alpha = self.layer[0].weights.integers()[1].clamp(min=2.0**-30)
            wb = -torch.round(torch.log2(alpha))
            unit = source.scale * torch.exp2(-wb)
            limit = source.scale * (source.top + 1 - torch.exp2(-wb))
            exact_mean, exact_sd = self.statistics(mean, var)
            m = torch.round(torch.minimum(torch.maximum(exact_mean, -limit), limit) / unit)
            t = wb + torch.round(torch.log2(exact_sd * (arith.inverse(source.scale) / top)))
            a = torch.round(x / channels((source.scale * alpha).float(), x))
            if self.mode == "exact_round":
                r = torch.where(t > 0, torch.exp2(t - 1), 0.0)
            else:
                r = torch.where(wb > 0, torch.exp2(wb - 1), 0.0)
            if self.type.encoding == "unipolar":
                hard = torch.floor((a + channels((r - m).float(), x)) * channels(torch.exp2(-t).float(), x)).clamp(0, top)
            else:
                z = (a - channels(m.float(), x)) * channels(torch.exp2(-t).float(), x)
                hard = 2 * torch.floor((z + top + 1) / 2).clamp(0, top) - top
        centre = through((m * unit).float(), (mean - self.shift * sd).clamp(-limit.float(), limit.float()))
        step = through((unit * torch.exp2(t)).float(), sd / top)  # the real value of one level
        soft = ((x - channels(centre, x)) / channels(step, x)).clamp(self.type.least, top)
        return through(hard, soft) * self.type.scale

    @torch.no_grad()
    def statistics(self, mean, var) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean that the file has, float32 numbers in float64, and the standard deviation."""
        sd = torch.sqrt(var.double() + self.epsilon)
        return (mean.double() - self.shift.double() * sd).float().double(), sd

    def _evaluate(self, x):
        want(isinstance(x, Sums) and not x.steps, self, "reads sums with nothing between")
        mean, _ = self.statistics(self.mean, self.var)
        glue = arith.shift_norm(mean.tolist(), self.var.tolist(), x.alpha.tolist(), x.source, self.type, self.mode, self.epsilon)
        return Levels(self.type.integer(glue(x.ints)), self.type)

    def write(self, w, x):
        mean, _ = self.statistics(self.mean, self.var)
        attrs = {"bits": self.type.bits, "encoding": self.type.encoding, "mode": self.mode, "epsilon": self.epsilon}
        return w.node("norm", "shift_norm", [x], attrs, {"mean": mean.float(), "var": self.var})


class BatchNorm(Layer):
    """Batch normalization, in evaluation one float32 multiply-add, for quantizers behind it to take in."""

    def __init__(self, features, epsilon=1e-5):
        super().__init__()
        self.norm = nn.BatchNorm2d(features, eps=epsilon)

    def connect(self, x):
        return Spec(x.shape, sums=x.sums)

    def forward(self, x):
        if self.training:
            return self.norm(x)
        n = self.norm
        s = n.weight.detach().double() / torch.sqrt(n.running_var.double() + n.eps)
        b = (n.bias.detach().double() - n.running_mean.double() * s).float()
        s = s.float()
        return x.then(lambda v: arith.fma(v, s[:, None], b[:, None]))

    def write(self, w, x):
        n = self.norm
        return w.node("bn", "batch_norm", [x], {"epsilon": n.eps},
                      {"gamma": n.weight.detach(), "beta": n.bias.detach(), "mean": n.running_mean, "var": n.running_var})


class RPReLU(Layer):
    """ReActNet's activation: x - left, times slope where that is below 0, plus right, of each channel."""

    def __init__(self, features):
        super().__init__()
        self.left, self.right = nn.Parameter(torch.zeros(features)), nn.Parameter(torch.zeros(features))
        self.slope = nn.Parameter(torch.full((features,), 0.25))

    def forward(self, x):
        left, slope, right = (t if self.training else t.detach() for t in (self.left, self.slope, self.right))
        if self.training:
            y = x - channels(left, x)
            return torch.where(y >= 0, y, channels(slope, y) * y) + channels(right, y)

        def negative(v):
            return torch.where(v >= 0, v, arith.flush(slope[:, None] * v))

        return x.then(lambda v: arith.flush(v - left[:, None])).then(negative).then(lambda v: arith.flush(v + right[:, None]))

    def write(self, w, x):
        y = w.node("left", "sub", [x], {}, {"b": self.left.detach()})
        y = w.node("prelu", "prelu", [y], {}, {"alpha": self.slope.detach()})
        return w.node("right", "add", [y], {}, {"b": self.right.detach()})


# Quantizers, of the input or of sums


class _Quantizer(Layer):
    """A quantizer of floats: of the input, or of what sums stand for, whose levels are looked up."""

    def connect(self, x):
        want(x.levels is None, self, "reads numbers, not levels")
        return Spec(x.shape, self.type)

    def level(self, x: torch.Tensor) -> torch.Tensor:
        """The levels, int64, of float32 [C, K]."""
        raise NotImplementedError

    def forward(self, x):
        if self.training:
            return self.soft(x)
        if isinstance(x, Sums):
            return Levels(self.type.integer(x.levels(self.level)), self.type)
        flat = x.transpose(0, 1)
        level = self.level(flat.reshape(len(flat), -1)).view(flat.shape).transpose(0, 1)
        return Levels(self.type.integer(level), self.type)


class Quantize(_Quantizer):
    """Levels at even distances: round(x / scale), clipped. Without a scale, 0 to 1 (bipolar: -1 to 1) is the range."""

    def __init__(self, bits, encoding="unipolar", scale=None, rounding="half_even"):
        super().__init__()
        given = None if scale is None else torch.tensor(scale, dtype=torch.float32).item()
        self.type = LevelType(encoding, bits, given or 1 / (2**bits - 1))
        self.given, self.rounding = given, rounding

    def _real_level(self, x):
        top = float(self.type.top)
        if self.given is not None:
            v = x / torch.tensor(self.given, dtype=torch.float32)
            return v.clamp(0, top) if self.type.encoding == "unipolar" else (v.clamp(-top, top) + top) * 0.5
        return x.clamp(0, 1) * top if self.type.encoding == "unipolar" else ((x.clamp(-1, 1) + 1) * top) * 0.5

    def level(self, x):
        return arith.round_by(self._real_level(x), self.rounding).long()

    def soft(self, x):
        v = self._real_level(x)
        return self.type.integer(through(arith.round_by(v, self.rounding), v)) * self.type.scale

    def write(self, w, x):
        attrs = {"bits": self.type.bits, "encoding": self.type.encoding, "rounding": self.rounding}
        if self.given is not None:
            attrs["scale"] = self.given
        return w.node("levels", "quantize", [x], attrs, {})


class Threshold(_Quantizer):
    """The level is the number of thresholds that x reaches; each channel learns 2^bits-1 of them. The gradient is that of a ramp of
    the width given around each."""

    def __init__(self, features, bits=1, encoding="bipolar", low=0.25, high=0.75, width=1.0):
        super().__init__()
        self.type, self.width = levels_of(bits, encoding), width
        top = self.type.top
        t = torch.linspace(low, high, top) if top > 1 else torch.tensor([(low + high) / 2])
        self.thresholds = nn.Parameter(t[:, None].repeat(1, features))

    def connect(self, x):
        want(x.shape[0] == self.thresholds.shape[1], self, f"was made for {self.thresholds.shape[1]} channels and gets {x.shape[0]}")
        return super().connect(x)

    def _sorted(self):
        return self.thresholds.sort(0).values

    @torch.no_grad()
    def level(self, x):
        return sum((x >= t[:, None]).long() for t in self._sorted())

    def soft(self, x):
        level = 0
        for t in self._sorted():
            d = x - channels(t, x)
            level = level + through((d >= 0).float(), (d / self.width + 0.5).clamp(0, 1))
        return self.type.integer(level) * self.type.scale

    def write(self, w, x):
        attrs = {"bits": self.type.bits, "encoding": self.type.encoding}
        return w.node("threshold", "threshold", [x], attrs, {"thresholds": self._sorted().detach().contiguous()})


class RSign(Threshold):
    """ReActNet's sign: +1 where x reaches the channel's threshold, else -1."""

    def __init__(self, features):
        super().__init__(features, 1, "bipolar", 0.0, 0.0, 2.0)


class LBP(Layer):
    """Local binary patterns of a grey image: a channel for each neighbour, 1 where it is greater than the pixel, else 0. Neighbours are
    numbered clockwise from the upper left one; what lies outside is 0. Those of the GPU paper are 0, 3 and 6."""

    around = ((0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0))

    def __init__(self, neighbours=(0, 3, 6)):
        super().__init__()
        self.neighbours = tuple(neighbours)
        self.type = LevelType("unipolar", 1, 1.0)

    def connect(self, x):
        want(x.levels is None and len(x.shape) == 3 and x.shape[0] == 1, self, "reads one channel of an image of floats")
        self.size = x.shape[1:]
        return Spec((len(self.neighbours), *self.size), self.type)

    def forward(self, x):
        h, w = self.size
        wide = functional.pad(x, (1, 1, 1, 1))
        at = [self.around[n] for n in self.neighbours]
        bits = torch.cat([wide[:, :, i : i + h, j : j + w] > x for i, j in at], 1)
        return bits.float() if self.training else Levels(bits.long(), self.type)

    def write(self, w, x):
        h, width = self.size
        wide = w.node("wide", "pad", [x], {"padding": [1, 1, 1, 1]}, {})
        bits = []
        for n in self.neighbours:
            i, j = self.around[n]
            moved = w.node(f"neighbour{n}_", "slice", [wide], {"begin": [0, i, j, 0], "size": [1, h, width, 1]}, {})
            bits.append(w.node(f"greater{n}_", "greater", [moved, x], {}, {}))
        return bits[0] if len(bits) == 1 else w.node("patterns", "concat", bits, {}, {})


# What only moves


class MaxPool2d(Layer):
    """The maximum over windows, of levels or of sums."""

    def __init__(self, kernel, stride=None):
        super().__init__()
        self.kernel = pair(kernel)
        self.stride = pair(kernel if stride is None else stride)

    def connect(self, x):
        size = [(n - k) // s + 1 for n, k, s in zip(x.shape[1:], self.kernel, self.stride)]
        return Spec((x.shape[0], *size), x.levels, x.sums)

    def forward(self, x):
        if self.training:
            return functional.max_pool2d(x, self.kernel, self.stride)
        want(isinstance(x, Levels) or not x.steps, self, "stands behind levels or directly behind sums")
        y = arith.windows(x.ints, self.kernel, self.stride, 0, 0).amax((4, 5)).permute(0, 3, 1, 2)
        return Levels(y, x.type) if isinstance(x, Levels) else Sums(y, x.unit, x.bound, x.source, x.alpha)

    def write(self, w, x):
        return w.node("pool", "max_pool", [x], {"kernel": list(self.kernel), "strides": list(self.stride)}, {})


class Flatten(Layer):
    """Images of levels as vectors, in ripc's order: row, column, channel."""

    def connect(self, x):
        n = 1
        for d in x.shape:
            n *= d
        return Spec((n,), x.levels)

    def forward(self, x):
        t = x if self.training else x.ints
        y = t.permute(0, 2, 3, 1).reshape(len(t), -1)
        return y if self.training else Levels(y, x.type)

    def write(self, w, x):
        return w.node("flat", "flatten", [x], {}, {})
