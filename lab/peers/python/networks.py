"""The networks and layers that all engines are compared on, said once: a builder makes an ONNX or a TFLite file of them.

Shapes are those of ripc's own models (examples/convs, examples/squeezenet, examples/networks). Weights are random, and the same
in every file: a builder takes them from weights() in the order in which the layers are written here. Normalizations are left
out, as if a converter had folded them into the weights.
"""
import numpy as np

# A 3x3 convolution, stride 1, padding "same": side of the image, channels and filters. examples/convs/convX_n1_unipolar.json
CONVS = dict(convA=(56, 64), convB=(28, 128), convC=(14, 256), convD=(7, 512))

# Rows of bytes by a matrix of [WIDTH, WIDTH]. Only ONNX has files of them.
ROWS, WIDTH = dict(rows1=1, rows8=8, rows128=128), 2048


class Weights:
    """Random weights, in the order of the layers."""

    def __init__(self):
        self.rng = np.random.default_rng(1)

    def conv(self, kernel, channels, filters):
        """Weights [kernel, kernel, channels, filters] and biases that keep the size of numbers."""
        w = self.rng.normal(0, (2 / (kernel * kernel * channels)) ** 0.5, (kernel, kernel, channels, filters))
        return w.astype(np.float32), self.rng.normal(0, 0.1, filters).astype(np.float32)


def same(size, kernel, stride):
    """Padding before and behind of an axis for which the output has size/stride positions, as TensorFlow places it."""
    total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def conv_layer(b, name):
    size, channels = CONVS[name]
    return b.conv(b.input(size, size, channels), channels, 3, relu=False)


def squeezenet(b):
    def fire(x, squeeze, expand):
        s = b.conv(x, squeeze, 1)
        return b.concat(b.conv(s, expand, 1), b.conv(s, expand, 3))

    x = b.max_pool(b.conv(b.input(224, 224, 3), 64, 3, 2, "valid"), 3, 2, "valid")
    x = b.max_pool(fire(fire(x, 16, 64), 16, 64), 3, 2, "valid")
    x = b.max_pool(fire(fire(x, 32, 128), 32, 128), 3, 2, "valid")
    x = fire(fire(fire(fire(x, 48, 192), 48, 192), 64, 256), 64, 256)
    return b.mean(b.conv(x, 1000, 1, relu=False))


def resnet18(b):
    x = b.max_pool(b.conv(b.input(224, 224, 3), 64, 7, 2), 3, 2)
    for stage, filters in enumerate((64, 128, 256, 512)):
        for block in range(2):
            stride = 2 if stage and not block else 1
            y = b.conv(b.conv(x, filters, 3, stride), filters, 3, relu=False)
            if stage and not block:
                x = b.conv(x, filters, 1, 2, relu=False)
            x = b.add(x, y)
    return b.dense(b.mean(x), 1000)


def mobilenet(b):
    x = b.conv(b.input(224, 224, 3), 32, 3, 2)
    for filters, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)) + ((512, 1),) * 5 + ((1024, 2), (1024, 1)):
        x = b.conv(b.depthwise(x, 3, stride), filters, 1)
    return b.dense(b.mean(x), 1000)


NETWORKS = dict(squeezenet=squeezenet, resnet18=resnet18, mobilenet=mobilenet)


def build(b, name):
    return conv_layer(b, name) if name in CONVS else NETWORKS[name](b)


def picture(shape):
    """The input that every engine gets, in the order of NHWC: numbers from -1 to 1 that look random. lab/peers/serve.go has the same."""
    i = np.arange(np.prod(shape), dtype=np.uint64)
    return ((i * 2654435761 % 2**32).astype(np.float32) / 2**31 - 1).astype(np.float32).reshape(shape)
