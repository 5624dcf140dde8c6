"""Weights of few bits, and the layers that sum products of them and of levels."""
import torch
from torch import nn
from torch.nn import functional

from . import arith
from .layer import Layer, Spec, pair, through, want
from .tensors import Levels, Sums


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


class BitLayer(Layer):
    def sums(self, x: Levels, ints: torch.Tensor, alpha: torch.Tensor, y: torch.Tensor) -> Sums:
        unit = (x.type.scale * alpha).float()
        bound = ints[0].numel() * x.type.top * self.weights.largest
        return Sums(y, unit, bound, x.type, alpha)


class BitConv2d(BitLayer):
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


class BitLinear(BitLayer):
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
