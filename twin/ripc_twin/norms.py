"""What stands behind sums: Riptide's normalization in integers, and float operations for a quantizer to take in."""
import torch
from torch import nn

from . import arith
from .arith import levels_of
from .layer import Layer, Spec, channels, through, want
from .tensors import Levels, Sums
from .weights import BitLayer


class ShiftNorm(Layer):
    """Riptide's normalization and quantizer: an addition, a shift and a clip for each channel (docs/shift-norm.md).

    Mean and variance are those of the batch in training, and running ones in evaluation and once they are frozen. Besides the paper, each
    channel learns by how many standard deviations its mean is off (shift), which the exported mean takes in. With spread it also learns
    how many standard deviations the largest level stands for, from that number on, which the exported variance takes in. Both cost nothing.
    """

    def __init__(self, features, bits, encoding="unipolar", mode="exact_round", spread=None, epsilon=1e-5, momentum=0.1):
        super().__init__()
        self.type, self.mode, self.epsilon, self.momentum = levels_of(bits, encoding), mode, epsilon, momentum
        self.spread = None if spread is None else nn.Parameter(torch.full((features,), float(spread)).log2())
        self.shift = nn.Parameter(torch.full((features,), 0.5 if encoding == "unipolar" else 0.0))
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("var", torch.ones(features))
        self.frozen = False

    def connect(self, x):
        want(isinstance(x.sums, BitLayer), self, "reads the sums of BitConv2d or BitLinear; MaxPool2d may stand between")
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
        sd = self.deviation(var)
        with torch.no_grad():  # the integers of arith.shift_norm, as floats that hold them
            alpha = self.layer[0].weights.integers()[1].clamp(min=2.0**-30)
            wb = -torch.round(torch.log2(alpha))
            unit = source.scale * torch.exp2(-wb)
            limit = source.scale * (source.top + 1 - torch.exp2(-wb))
            exact_mean, exact_var = self.statistics(mean, var)
            exact_sd = torch.sqrt(exact_var.double() + self.epsilon)
            m = torch.round(torch.minimum(torch.maximum(exact_mean.double(), -limit), limit) / unit)
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

    def deviation(self, var):
        """What the largest level stands for."""
        sd = torch.sqrt(var + self.epsilon)
        return sd if self.spread is None else sd * torch.exp2(self.spread)

    @torch.no_grad()
    def statistics(self, mean, var) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean and variance as the file has them, float32."""
        sd = self.deviation(var.double())
        if self.spread is not None:
            var = (sd * sd - self.epsilon).clamp(min=0)
        return (mean.double() - self.shift.double() * sd).float(), var.float()

    def _evaluate(self, x):
        want(isinstance(x, Sums) and not x.steps, self, "reads sums with nothing between")
        mean, var = self.statistics(self.mean, self.var)
        glue = arith.shift_norm(mean.tolist(), var.tolist(), x.alpha.tolist(), x.source, self.type, self.mode, self.epsilon)
        return Levels(self.type.integer(glue(x.ints)), self.type)

    def write(self, w, x):
        mean, var = self.statistics(self.mean, self.var)
        attrs = {"bits": self.type.bits, "encoding": self.type.encoding, "mode": self.mode, "epsilon": self.epsilon}
        return w.node("norm", "shift_norm", [x], attrs, {"mean": mean, "var": var})


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
