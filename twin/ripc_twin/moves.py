"""What only moves integers."""
from torch.nn import functional

from . import arith
from .layer import Layer, Spec, pair, want
from .tensors import Levels, Sums


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
