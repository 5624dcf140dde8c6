"""A way around layers, as in ResNet and Bi-Real Net."""
from torch import nn

from . import arith
from .layer import Layer, Spec, want


class Shortcut(Layer):
    """Adds the levels that the layers read to what they make: in training floats, in evaluation float32, rounded once. A quantizer or
    Threshold has to follow."""

    def __init__(self, *layers: Layer):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def connect(self, x):
        want(x.levels is not None, self, "goes around layers that read levels: put a quantizer or ShiftNorm in front")
        y = x
        for layer in self.layers:
            y = layer.connect(y)
        self.ends_in_levels = y.levels is not None
        want(y.shape == x.shape, self, f"adds {x.shape} and {y.shape}; both must have one shape")
        return Spec(y.shape)

    def forward(self, x):
        y = x
        for layer in self.layers:
            y = layer(y)
        return y + x if self.training else arith.flush(y.real() + x.real())

    def write(self, w, x):
        y = x
        for layer in self.layers:
            y = layer.write(w, y)
        if self.ends_in_levels:
            y = w.node("real", "dequantize", [y], {}, {})
        return w.node("sum", "add", [y, w.node("around", "dequantize", [x], {}, {})], {}, {})
