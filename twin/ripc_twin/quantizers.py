"""What makes levels of floats, those of the input or those that sums stand for."""
import torch
from torch import nn
from torch.nn import functional

from . import arith
from .arith import LevelType, levels_of
from .layer import Layer, Spec, channels, through, want
from .tensors import Levels, Sums


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
