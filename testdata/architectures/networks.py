"""The networks, one function each. Every one has the few lines that make its architecture what it is; sizes are small."""
import math
import torch
import torch.nn as nn, torch.nn.functional as F
import parts
from parts import *

IMAGE = (3, 8, 8)
MAPS = (16, 8, 8)
ZERO = dict(sign_zero="+1")          # torch.sign where nothing proves that 0 never comes


# --- weights only ------------------------------------------------------------------------------------------------------

@network("BinaryConnect: +-1 weights, float activations", IMAGE)
def binaryconnect():
    c = lambda i, o: conv(i, o, act=None, bits=(32, 1))
    return S(c(3, 16), BN(16), nn.ReLU(), c(16, 16), nn.MaxPool2d(2), BN(16), nn.ReLU(), nn.Flatten(), dense(256, 10, None, bits=(32, 1)), nn.BatchNorm1d(10))


@network("BWN: weights +-alpha, alpha = mean|W| of a filter", IMAGE)
def bwn():
    c = lambda i, o, **kw: conv(i, o, act=None, scale="channel", bits=(32, 1), **kw)
    return S(stem(16), nn.ReLU(), c(16, 24, stride=2), BN(24), nn.ReLU(), c(24, 16, k=1), BN(16), nn.ReLU(), head(16))


# --- weights and activations -------------------------------------------------------------------------------------------

class ShiftNorm(nn.Module):
    """BNN's shift-based batch normalization: both factors are powers of two."""

    def __init__(self, c, dims):
        super().__init__()
        self.mean, self.scale, self.beta = (nn.Parameter(vector(c, *a).data.view((1, c) + (1,) * dims)) for a in ((4, -8, 8, 1 / 64), (1, -5, -3), (8, -4, 4)))

    def forward(self, x):
        return (x - self.mean) * 2.0 ** self.scale + self.beta


@network("BNN: shift-based batch normalization, hardtanh, sign", IMAGE, options=ZERO)
def bnn():
    t = lambda: nn.Hardtanh(inplace=True)
    return S(conv(3, 32, act=None, bits=(32, 1)), ShiftNorm(32, 2), t(), conv(32, 32), nn.MaxPool2d(2), ShiftNorm(32, 2), t(), conv(32, 32), ShiftNorm(32, 2), t(),
             nn.Flatten(), dense(32 * 16, 32), ShiftNorm(32, 0), t(), dense(32, 10), ShiftNorm(10, 0))


class XNORBlock(nn.Module):
    """BN, binary activation, binary convolution times alpha and K, the mean of |input| below the filter."""

    def __init__(self, i, o, k=3, **kw):
        super().__init__()
        self.bn, self.conv, self.box = BN(i), conv(i, o, k, scale="channel", **kw), Filter(torch.full((k, k), 1 / (k * k)), 1, kw.get("stride", 1))

    def forward(self, x):
        x = self.bn(x)
        return F.relu(self.conv(x) * self.box(x.abs().mean(1, keepdim=True)))


@network("XNOR-Net: alpha and the run-time map K", IMAGE, options=ZERO)
def xnor_net():
    return S(stem(16), nn.ReLU(), XNORBlock(16, 32), nn.MaxPool2d(2), XNORBlock(32, 32), XNORBlock(32, 16, 1), head(16))


class XNORConv(nn.Module):
    """The block of XNOR-Net's public PyTorch code: no K, ReLU behind the convolution, its bias kept."""

    def __init__(self, i, o, k, p):
        super().__init__()
        self.bn, self.conv = nn.BatchNorm2d(i, eps=1e-4), conv(i, o, k, p=p, scale="channel", bias=True)

    def forward(self, x):
        return F.relu(self.conv(self.bn(x)))


@network("XNOR-Net as its public code has it: network in network", IMAGE, options=ZERO)
def xnor_nin():
    return S(nn.Conv2d(3, 24, 5, padding=2), BN(24), nn.ReLU(), XNORConv(24, 20, 1, 0), XNORConv(20, 16, 1, 0), nn.MaxPool2d(3, 2, 1),
             XNORConv(16, 24, 5, 2), XNORConv(24, 24, 1, 0), nn.AvgPool2d(3, 2, 1), BN(24), nn.Conv2d(24, 10, 1), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten())


def dorefa_act(k):
    n = 2 ** k - 1
    return lambda x: torch.round(torch.clamp(near(x, [(i + 0.5) / n for i in range(n)]), 0, 1) * n) / n


def dorefa_weight(k):
    def q(w):
        if k == 1:
            return torch.sign(w) * w.abs().mean()
        n, t = 2 ** k - 1, torch.tanh(w)
        return 2 * (torch.round((t / (2 * t.abs().max()) + 0.5) * n) / n) - 1
    return q


def dorefa(w, a):
    c = lambda i, o, **kw: Quantized((o, i, 3, 3), dorefa_weight(w), dorefa_act(a), bits=(a, w), padding=1, **kw)
    return S(stem(16), c(16, 32), BN(32), nn.MaxPool2d(2), c(32, 32), BN(32), c(32, 16), BN(16), nn.ReLU(), head(16))


@network("DoReFa-Net, 1-bit weights and activations", IMAGE)
def dorefa_w1a1():
    return dorefa(1, 1)


@network("DoReFa-Net, 1-bit weights, 2-bit activations", IMAGE)
def dorefa_w1a2():
    return dorefa(1, 2)


@network("DoReFa-Net, 2-bit weights and activations", IMAGE)
def dorefa_w2a2():
    return dorefa(2, 2)


@network("DoReFa-Net, 1-bit weights, 4-bit activations", IMAGE)
def dorefa_w1a4():
    return dorefa(1, 4)


def hwgq_act(levels, steps):
    def f(x):
        y = torch.full_like(x, levels[-1])
        for s, v in reversed(list(zip(steps, levels[:-1]))):
            y = torch.where(near(x, [s]) < s, torch.full_like(x, v), y)
        return y
    return f


@network("HWGQ: half-wave Gaussian quantizer, uniform levels, by nested where", IMAGE)
def hwgq_uniform():
    q = hwgq_act([0.0, 0.5, 1.0, 1.5], [0.25, 0.75, 1.25])
    c = lambda i, o: conv(i, o, act=q, scale="channel", bits=(2, 1))
    return S(stem(16), c(16, 32), BN(32), nn.MaxPool2d(2), c(32, 32), BN(32), nn.ReLU(), head(32))


def of_planes(model, x):
    """Four levels in uneven steps are three planes of 1 bit, each with a layer of its own."""
    return [dict(activations=32, weights=32, macs=27648)] + [dict(activations=1, weights=1, macs=3 * m) for m in (294912, 147456)] + [dict(activations=32, weights=32, macs=320)]


@network("HWGQ with the levels of Lloyd's algorithm, unevenly spaced: three planes of 1 bit", IMAGE, layers=of_planes)
def hwgq_lloyd():
    q = hwgq_act([0.0, 0.3125, 0.875, 1.625], [0.125, 0.5, 1.25])
    c = lambda i, o: conv(i, o, act=q, scale="channel", bits=(32, 1))
    return S(stem(16), c(16, 32), BN(32), nn.MaxPool2d(2), c(32, 32), BN(32), nn.ReLU(), head(32))


class PACT(nn.Module):
    def __init__(self, a, k):
        super().__init__()
        self.a, self.n = nn.Parameter(torch.tensor(float(a))), 2 ** k - 1

    def forward(self, x):
        x = 0.5 * (x.abs() - (x - self.a).abs() + self.a)
        s = self.n / self.a
        return torch.round(near(x * s, [i + 0.5 for i in range(self.n)])) / s


def sawb(w):
    """Levels -a, -a/3, a/3, a."""
    a = 0.75 * w.abs().max()
    return torch.round((torch.clamp(w / a, -1, 1) + 1) * 1.5) / 1.5 * a - a


@network("PACT activations and SAWB weights of 2 bits", IMAGE)
def pact_sawb():
    c = lambda i, o, a: Quantized((o, i, 3, 3), sawb, PACT(a, 2), bits=(2, 2), padding=1)
    return S(stem(16), c(16, 32, 1.5), BN(32), nn.MaxPool2d(2), c(32, 32, 3), BN(32), c(32, 16, 0.75), BN(16), nn.ReLU(), head(16))


class LSQ(nn.Module):
    """LSQ's forward pass with its scaled gradient of the step, as public code writes it with detach."""

    def __init__(self, s, low, high, near=lambda x, steps: x):
        super().__init__()
        self.near = near
        self.s, self.low, self.high = nn.Parameter(torch.tensor(float(s))), low, high

    def forward(self, x):
        g = 0.015625
        s = (self.s - self.s * g).detach() + self.s * g
        v = torch.clamp(self.near(x / s, [i + 0.5 for i in range(self.low, self.high)]), self.low, self.high)
        return ((torch.round(v) - v).detach() + v) * s


@network("LSQ, 2 bits, straight-through by detach", IMAGE)
def lsq_w2a2():
    class L(Quantized):
        def __init__(self, i, o, s):
            super().__init__((o, i, 3, 3), LSQ(0.25, -2, 1), LSQ(s, 0, 3, near), bits=(2, 2), padding=1)
    return S(stem(16), nn.ReLU(), L(16, 32, 0.5), BN(32), nn.ReLU(), L(32, 32, 0.25), nn.MaxPool2d(2), BN(32), nn.ReLU(), head(32))


class HardBinary(Layer):
    """The convolution of Bi-Real Net's and ReActNet's public code: alpha sign(w) - clip(w) + clip(w), so +-alpha but for roundings."""

    def __init__(self, shape, act, **kw):
        super().__init__(shape, act, **kw)
        self.w = nn.Parameter(torch.tensor(parts.RNG.laplace(0, 0.05, shape), dtype=torch.float32))  # no short fractions, as training leaves them

    def weight(self):
        w = self.w
        binary, clipped = w.abs().mean((1, 2, 3), keepdim=True).detach() * torch.sign(w), torch.clamp(w, -1.0, 1.0)
        return binary.detach() - clipped.detach() + clipped


def hard(i, o, k=3, act=None, stride=1):
    return HardBinary((o, i, k, k), act, padding=k // 2, stride=stride)


def scaled(i, o, k=3, **kw):
    return conv(i, o, k, scale="channel", **kw)


def bireal(act, conv=scaled):
    block = lambda i, o, s=1: Residual(conv(i, o, act=act, stride=s), BN(o), skip=downsample(i, o) if s > 1 else None)
    return S(stem(16), nn.MaxPool2d(3, 2, 1), block(16, 16), block(16, 16), block(16, 32, 2), block(32, 32), head(32))


@network("Bi-Real Net: a shortcut around each convolution", (3, 16, 16), options=ZERO)
def bireal_sign():
    return bireal(sign)


@network("Bi-Real Net with the polynomial of its public code left in", (3, 16, 16), options=ZERO)
def bireal_approx():
    return bireal(sign_approx, hard)


class Gamma(nn.Module):
    """XNOR-Net++'s scale of rank 1: alpha of channels, beta of rows, gamma of columns."""

    def __init__(self, c, h, w):
        super().__init__()
        p = lambda *s: nn.Parameter(torch.tensor(parts.RNG.choice([0.5, 1.0, 0.75], s), dtype=torch.float32))
        self.a, self.b, self.g = p(1, c, 1, 1), p(1, 1, h, 1), p(1, 1, 1, w)

    def forward(self, x):
        return x * (self.a * self.b * self.g)


@network("XNOR-Net++: a learned scale over channels, rows and columns", IMAGE, options=ZERO)
def xnor_pp():
    return S(stem(16), nn.ReLU(), BN(16), conv(16, 32), Gamma(32, 8, 8), BN(32), conv(32, 32, stride=2), Gamma(32, 4, 4), BN(32), conv(32, 16), Gamma(16, 4, 4), BN(16), nn.ReLU(), head(16))


class Dense(nn.Module):
    def __init__(self, i, growth):
        super().__init__()
        self.bn, self.conv = BN(i), conv(i, growth)

    def forward(self, x):
        return torch.cat([x, self.conv(self.bn(x))], 1)


@network("BinaryDenseNet: concatenation, real downsampling", IMAGE, options=ZERO)
def binarydensenet():
    return S(stem(16), nn.ReLU(), Dense(16, 12), Dense(28, 12), BN(40), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(40, 20, 1, bias=False), Dense(20, 12), Dense(32, 12), BN(44), nn.ReLU(), head(44))


@network("BinaryDenseNet with a dilated convolution instead of the pool", IMAGE, options=ZERO)
def binarydensenet_dilated():
    class D(Dense):
        def __init__(self, i, growth):
            nn.Module.__init__(self)
            self.bn, self.conv = BN(i), conv(i, growth, p=2, dilation=2)
    return S(stem(16, stride=2), nn.ReLU(), Dense(16, 12), BN(28), nn.ReLU(), nn.Conv2d(28, 20, 1, bias=False), D(20, 12), D(32, 12), BN(44), nn.ReLU(), head(44))


class Improve(nn.Module):
    """MeliusNet's improvement block: added to the newest channels only."""

    def __init__(self, c, new):
        super().__init__()
        self.bn, self.conv, self.new = BN(c), conv(c, new), new

    def forward(self, x):
        y = self.conv(self.bn(x))
        return torch.cat([x[:, :-self.new], x[:, -self.new:] + y], 1)


@network("MeliusNet: dense and improvement blocks, a grouped stem", IMAGE, options=ZERO)
def meliusnet():
    grouped = S(nn.Conv2d(3, 16, 3, 1, 1, bias=False), BN(16), nn.ReLU(), nn.Conv2d(16, 16, 3, 1, 1, groups=4, bias=False), BN(16), nn.ReLU(), nn.MaxPool2d(2))
    return S(grouped, Dense(16, 16), Improve(32, 16), Dense(32, 16), Improve(48, 16), BN(48), nn.ReLU(), nn.Conv2d(48, 24, 1, bias=False), BN(24), nn.ReLU(), head(24))


class Gate(nn.Module):
    """Squeeze and excite: a scale for each channel, computed from the real input."""

    def __init__(self, i, o, r=4, last=None):
        super().__init__()
        self.net = S(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(i, i // r), nn.ReLU(), nn.Linear(i // r, o), last or nn.Sigmoid())

    def forward(self, x):
        return self.net(x).view(x.size(0), -1, 1, 1)


class RealToBinary(nn.Module):
    def __init__(self, c, **kw):
        super().__init__()
        self.bn, self.conv, self.gate, self.act = BN(c), conv(c, c), Gate(c, c, **kw), prelu(c)

    def forward(self, x):
        y = self.bn(x)
        return self.act(self.conv(y) * self.gate(y)) + x


@network("Real-to-Binary: run-time scales of channels by sigmoid", IMAGE, options=ZERO)
def real_to_binary():
    return S(stem(16, stride=2), prelu(16), RealToBinary(16), RealToBinary(16), RealToBinary(16), BN(16), head(16))


@network("Real-to-Binary with hard sigmoid", IMAGE, options=ZERO)
def real_to_binary_hard():
    return S(stem(16, stride=2), prelu(16), RealToBinary(16, last=nn.Hardsigmoid()), RealToBinary(16, last=nn.Hardsigmoid()), BN(16), head(16))


class ReAct(nn.Module):
    """Half a block of ReActNet: RSign, binary convolution, BN, shortcut, RPReLU."""

    def __init__(self, c, k, low, act, conv, stride=1):
        super().__init__()
        self.move, self.conv, self.bn = Shift(c), conv(c, c, k, act=act, stride=stride), BN(c)
        self.before, self.prelu, self.after, self.stride = Shift(c), prelu(c, low), Shift(c), stride

    def forward(self, x):
        y = self.bn(self.conv(self.move(x)))
        if self.stride > 1:
            x = F.avg_pool2d(x, 2, 2)
        return self.after(self.prelu(self.before(x + y)))


class ReActWide(nn.Module):
    """The half block that doubles the channels: two convolutions on one input."""

    def __init__(self, c, low, act, conv):
        super().__init__()
        self.move, self.before, self.prelu, self.after = Shift(c), Shift(2 * c), prelu(2 * c, low), Shift(2 * c)
        self.a, self.b, self.bna, self.bnb, self.act = conv(c, c, 1, act=None), conv(c, c, 1, act=None), BN(c), BN(c), act

    def forward(self, x):
        s = self.act(self.move(x))
        return self.after(self.prelu(self.before(torch.cat([self.bna(self.a(s)) + x, self.bnb(self.b(s)) + x], 1))))


def reactnet_of(act, low=0, conv=scaled):
    return S(stem(16, stride=2), ReAct(16, 3, low, act, conv), ReAct(16, 1, low, act, conv), ReAct(16, 3, low, act, conv, 2), ReActWide(16, low, act, conv), head(32))


@network("ReActNet: RSign, RPReLU, doubled channels", (3, 16, 16), options=ZERO)
def reactnet():
    return reactnet_of(sign)


@network("ReActNet with slopes of either sign, sign by where", (3, 16, 16))
def reactnet_slopes():
    return reactnet_of(sign_where, -6)


@network("ReActNet's public code, straight-through polynomial and all", (3, 16, 16), options=ZERO)
def reactnet_approx():
    return reactnet_of(sign_approx, conv=hard)


@network("ReActNet's RPReLU folded between two convolutions: intervals where a slope is negative", MAPS)
def reactnet_plain():
    b = lambda i, o, low: S(conv(i, o, act=sign_where), BN(o), Shift(o), prelu(o, low), Shift(o))
    return S(b(16, 32, 0), b(32, 32, -6), b(32, 32, 0), conv(32, 8, act=sign_where), head(8))


class IRConv(Layer):
    """IR-Net's weights: balanced and standardized, sign, times a power of two."""

    def weight(self):
        w = self.w - self.w.view(self.w.size(0), -1).mean(-1).view(-1, 1, 1, 1)
        w = w / w.view(w.size(0), -1).std(-1).view(-1, 1, 1, 1)
        s = torch.pow(torch.tensor([2.0] * w.size(0)).to(w.dtype), (torch.log(w.abs().view(w.size(0), -1).mean(-1)) / math.log(2)).round()).view(-1, 1, 1, 1).detach()
        return Sign.apply(w) * s


@network("IR-Net: balanced weights, scales by shifts", IMAGE, options=ZERO)
def ir_net():
    c = lambda i, o, s=1: IRConv((o, i, 3, 3), sign, stride=s, padding=1)
    b = lambda i, o, s=1: Residual(c(i, o, s), BN(o), skip=S(nn.AvgPool2d(2, 2), nn.Conv2d(i, o, 1, bias=False), BN(o)) if s > 1 else None)
    return S(stem(16), nn.Hardtanh(), b(16, 16), nn.Hardtanh(), b(16, 32, 2), nn.Hardtanh(), b(32, 32), nn.Hardtanh(), head(32))


class AdaAct(nn.Module):
    """AdaBin's activations: alpha (sign((x - beta) / alpha) + beta)."""

    def __init__(self, act, a, b):
        super().__init__()
        self.a, self.b, self.act = nn.Parameter(torch.tensor(a)), nn.Parameter(torch.tensor(b)), act

    def forward(self, x):
        return self.a * (self.act((x - self.b) / self.a) + self.b)


class AdaConv(Layer):
    def weight(self):
        b = self.w.mean((1, 2, 3)).view(-1, 1, 1, 1)
        a = torch.sqrt(((self.w - b) ** 2).sum((1, 2, 3)) / self.w[0].numel()).view(-1, 1, 1, 1)
        return Sign.apply((self.w - b) / a) * a + b


class Maxout(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.neg, self.pos = vector(c, 8, 0, 4), vector(c, 8, 4, 12)

    def forward(self, x):
        return self.pos.view(1, -1, 1, 1) * F.relu(x) - self.neg.view(1, -1, 1, 1) * F.relu(-x)


def adabin_of(act, kind):
    c = lambda i, o, a, b, s=1: kind((o, i, 3, 3), AdaAct(act, a, b), stride=s, padding=1)
    b = lambda i, o, a, b, s=1: S(Residual(c(i, o, a, b, s), BN(o), skip=downsample(i, o) if s > 1 else None), Maxout(o))
    return S(stem(16), Maxout(16), b(16, 16, 0.75, 0.375), b(16, 32, 1.5, -0.25, 2), b(32, 32, 0.5, 0.125), head(32))


@network("AdaBin: two levels {beta - alpha, beta + alpha} of weights and activations", IMAGE, options=ZERO)
def adabin():
    return adabin_of(sign, AdaConv)


@network("AdaBin's activations with plain weights, where", IMAGE)
def adabin_activations():
    return adabin_of(sign_where, Layer)


@network("AdaBin's weights with plain activations, where", IMAGE)
def adabin_weights():
    c = lambda i, o, s=1: AdaConv((o, i, 3, 3), sign_where, stride=s, padding=1)
    return S(stem(16), c(16, 32), BN(32), c(32, 32, 2), BN(32), c(32, 16), BN(16), Maxout(16), head(16))


class DyBlock(nn.Module):
    """DyBNN: the threshold of a channel is computed from the input, and RPReLU's shifts are learned."""

    def __init__(self, c, k, act, compare=False):
        super().__init__()
        self.gate = S(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, c // 4), nn.ReLU(), nn.Linear(c // 4, c), nn.Sigmoid())
        self.conv, self.bn, self.prelu, self.act, self.compare = conv(c, c, k, act=None, scale="channel"), BN(c), prelu(c), act, compare

    def forward(self, x):
        t = self.gate(x).view(x.size(0), -1, 1, 1)
        s = torch.where(near(x - t) > 0, 1.0, -1.0) if self.compare else self.act(x - t)
        if self.compare:
            s = torch.where(torch.gt(x, t), torch.ones_like(x), -torch.ones_like(x))
        return self.prelu(self.bn(self.conv(s)) + x)


@network("DyBNN: thresholds computed at run time", IMAGE, options=ZERO)
def dybnn():
    return S(stem(16, stride=2), DyBlock(16, 3, sign), DyBlock(16, 1, sign), DyBlock(16, 3, sign), head(16))


@network("DyBNN with a comparison of two tensors", IMAGE)
def dybnn_greater():
    return S(stem(16, stride=2), DyBlock(16, 3, None, True), DyBlock(16, 1, None, True), head(16))


class Ghost(nn.Module):
    """BGM's ghost module: half of the features by a binary convolution, half of those by a binary depthwise one."""

    def __init__(self, i, o):
        super().__init__()
        self.move, self.one, self.bn1 = Shift(i), conv(i, o // 2, 3, scale="channel"), BN(o // 2)
        self.again, self.cheap, self.bn2 = Shift(o // 2), conv(o // 2, o // 2, 3, groups=o // 2, scale="channel"), BN(o // 2)
        self.prelu = prelu(o)

    def forward(self, x):
        a = self.bn1(self.one(self.move(x)))
        b = self.bn2(self.cheap(self.again(a)))
        return self.prelu(torch.cat([a, b], 1) + x)


@network("BGM: ghost modules, depthwise binary convolutions", IMAGE, options=ZERO)
def bgm():
    return S(stem(16, stride=2), Ghost(16, 16), Ghost(16, 16), Ghost(16, 16), head(16))


class Ensemble(nn.Module):
    """IE-Net: several signs of one input, each with its threshold and scale, and one weight."""

    def __init__(self, i, o, n=3):
        super().__init__()
        self.conv, self.moves, self.bn, self.n = conv(i, o, act=None, scale="channel", bits=(1, 1)), nn.ModuleList(Shift(i) for _ in range(n)), BN(o), n
        self.scales = nn.Parameter(torch.tensor([1.0, 0.5, 0.25]))

    def forward(self, x):
        y = sum(self.scales[k] * self.conv(sign_where(m(x))) for k, m in enumerate(self.moves))
        return self.bn(y) + x


@network("IE-Net: three signs, one weight", IMAGE)
def ie_net():
    return S(stem(16), nn.Hardtanh(), Ensemble(16, 16), nn.Hardtanh(), Ensemble(16, 16), nn.ReLU(), head(16))


def to_channels(x, k=2):
    """Space to channels, as reshape and permute."""
    n, c, h, w = x.shape
    return x.reshape(n, c, h // k, k, w // k, k).permute(0, 1, 3, 5, 2, 4).reshape(n, c * k * k, h // k, w // k)


class RBlock(nn.Module):
    """RB-Net: space moves to channels, a binary 1x1 convolution, and a balanced, gated activation."""

    def __init__(self, c, o, move):
        super().__init__()
        self.shift, self.conv, self.bn, self.gate, self.move = Shift(c), conv(4 * c, o, 1, act=None), BN(o), Gate(c, o), move

    def forward(self, x):
        y = self.conv(self.move(sign_where(self.shift(x))))
        return F.hardtanh(self.bn(y * self.gate(x)))


@network("RB-Net: space to channels, 1x1 binary convolutions", (3, 16, 16))
def rb_net():
    return S(stem(16), nn.Hardtanh(), RBlock(16, 32, to_channels), RBlock(32, 32, to_channels), head(32))


@network("RB-Net by PixelUnshuffle", (3, 16, 16))
def rb_net_unshuffle():
    return S(stem(16), nn.Hardtanh(), RBlock(16, 32, nn.PixelUnshuffle(2)), RBlock(32, 32, nn.PixelUnshuffle(2)), head(32))


class One(nn.Module):
    """A binary convolution padded with +1, as larq's pad_values=1."""

    def __init__(self, i, o, act):
        super().__init__()
        self.conv, self.act = conv(i, o, p=0, act=None), act

    def forward(self, x):
        return self.conv(F.pad(self.act(x), (1, 1, 1, 1), value=1.0))


@network("QuickNet: one-padding, ReLU then BN, blurred transitions", (3, 32, 32))
def quicknet():
    block = lambda c: Residual(One(c, c, sign_where), nn.ReLU(), BN(c))
    transition = lambda i, o: S(nn.ReLU(), Filter(torch.tensor([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]) / 16, i, 2), nn.Conv2d(i, o, 1, bias=False), BN(o))
    first = S(nn.Conv2d(3, 8, 3, 2, 1, bias=False), BN(8), nn.ReLU(), nn.Conv2d(8, 8, 3, 2, 1, groups=8, bias=False), BN(8), nn.Conv2d(8, 16, 1, bias=False), BN(16))
    return S(first, block(16), block(16), transition(16, 32), block(32), block(32), nn.ReLU(), head(32))


# --- applications ------------------------------------------------------------------------------------------------------

class UNet(nn.Module):
    def __init__(self, act):
        super().__init__()
        c = lambda i, o: S(conv(i, o, act=act), BN(o))
        self.first, self.a, self.b, self.c = stem(16), c(16, 32), c(32, 32), c(48, 16)
        self.up = Layer((32, 32, 2, 2), act, stride=2, transposed=True)
        self.bn, self.last = BN(32), nn.Conv2d(16, 4, 1)

    def forward(self, x):
        x = F.hardtanh(self.first(x))
        y = self.b(self.a(F.max_pool2d(x, 2)))
        y = self.bn(self.up(y))
        return self.last(F.relu(self.c(torch.cat([x, y], 1))))


@network("U-Net with a binary transposed convolution", IMAGE)
def unet():
    return UNet(sign_where)


@network("U-Net with transposed convolutions of 3x3, stride 2, output padding", IMAGE)
def unet_output_padding():
    up = Layer((16, 16, 3, 3), sign_where, stride=2, padding=1, transposed=True)
    up.kw["output_padding"] = 1
    return S(stem(16), nn.MaxPool2d(2), conv(16, 16, act=sign_where), BN(16), up, BN(16), nn.Hardtanh(), nn.Conv2d(16, 4, 1))


class Yolo(nn.Module):
    def __init__(self):
        super().__init__()
        c = lambda i, o: S(conv(i, o, act=sign_where, scale="channel"), BN(o), nn.LeakyReLU(0.125))
        self.first, self.a, self.b, self.c, self.d = S(stem(16), nn.LeakyReLU(0.125)), c(16, 32), c(32, 32), c(32, 16), c(48, 32)
        self.head1, self.head2 = nn.Conv2d(32, 14, 1), nn.Conv2d(32, 14, 1)

    def forward(self, x):
        x = self.a(F.max_pool2d(self.first(x), 2))
        y = self.b(F.max_pool2d(x, 2))
        z = self.d(torch.cat([F.interpolate(self.c(y), scale_factor=2, mode="nearest"), x], 1))
        flat = lambda t: t.view(t.size(0), 2, 7, -1).permute(0, 1, 3, 2).reshape(t.size(0), -1, 7)
        t = torch.cat([flat(self.head1(y)), flat(self.head2(z))], 1)
        return torch.cat([torch.sigmoid(t[..., :5]), torch.softmax(t[..., 5:], -1)], -1)


@network("A YOLO head: resize, concat, boxes by sigmoid", (3, 16, 16))
def yolo():
    return Yolo()


class PointNet(nn.Module):
    """Points through shared binary layers, the maximum over points, binary dense layers."""

    def __init__(self):
        super().__init__()
        c = lambda i, o: S(conv1d(i, o, 1, act=sign_where), nn.BatchNorm1d(o), nn.Hardtanh())
        d = lambda i, o: S(dense(i, o, sign_where), nn.BatchNorm1d(o), nn.Hardtanh())
        self.first, self.points, self.rest = S(nn.Conv1d(3, 32, 1), nn.BatchNorm1d(32), nn.Hardtanh()), S(c(32, 32), c(32, 64)), S(d(64, 32), nn.Linear(32, 8))

    def forward(self, x):
        x = self.points(self.first(x))
        x = torch.max(x, 2, keepdim=True)[0].view(-1, 64)
        return F.log_softmax(self.rest(x), dim=1)


@network("A binary PointNet: Conv1d of 1, maximum over points", (3, 32), rounds=True)
def bipointnet():
    return PointNet()


@network("The same by dense layers on [batch, points, features]", (32, 3))
def bipointnet_dense():
    class P(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c, self.last = nn.Linear(3, 32), dense(32, 32, sign_where), dense(32, 64, sign_where), nn.Linear(64, 8)

        def forward(self, x):
            x = self.c(F.hardtanh(self.b(self.a(x)) * 0.125 + 0.0625))
            return self.last(F.relu(x.max(1)[0] * 0.125))
    return P()


@network("1-D convolutions on an electrocardiogram", (1, 128))
def ecg():
    c = lambda i, o, k: S(conv1d(i, o, k, act=sign_where), nn.MaxPool1d(2), nn.BatchNorm1d(o), nn.Hardtanh())
    return S(nn.Conv1d(1, 16, 7, 2, 3, bias=False), nn.BatchNorm1d(16), nn.Hardtanh(), c(16, 32, 5), c(32, 32, 5), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, 5))


@network("1-D convolutions on six accelerations: human activity, stride and dilation", (6, 64), rounds=True)
def har():
    return S(nn.Conv1d(6, 32, 3), nn.BatchNorm1d(32), conv1d(32, 32, 3, sign_where, p=0, stride=2), nn.BatchNorm1d(32), conv1d(32, 32, 3, sign_where, p=2, dilation=2), nn.BatchNorm1d(32),
             nn.Flatten(), dense(32 * 30, 16, sign_where), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 6), nn.LogSoftmax(1))


class SuperResolution(nn.Module):
    def __init__(self):
        super().__init__()
        b = lambda: Residual(conv(16, 16, act=sign_where, scale="channel"), BN(16))
        self.first, self.body, self.last, self.up = nn.Conv2d(1, 16, 3, padding=1), S(b(), b(), b()), nn.Conv2d(16, 4, 3, padding=1), nn.PixelShuffle(2)

    def forward(self, x):
        x = self.first(x)
        return self.up(self.last(self.body(x) + x))


@network("Super-resolution: binary residual body, pixel shuffle", (1, 8, 8))
def super_resolution():
    return SuperResolution()


class Keywords(nn.Module):
    """Depthwise-separable binary layers on a spectrogram; the class and its index."""

    def __init__(self):
        super().__init__()
        d = lambda: S(conv(16, 16, act=sign_where, groups=16), BN(16), conv(16, 16, 1, act=sign_where), BN(16))
        self.net = S(nn.Conv2d(1, 16, (10, 4), 2, (4, 1), bias=False), BN(16), d(), d(), nn.ReLU(), head(16, 12))

    def forward(self, x):
        return self.net(x)


@network("Keyword spotting: depthwise-separable binary layers on a spectrogram", (1, 24, 10))
def keywords():
    return Keywords()


# --- one network, spelled in many ways ---------------------------------------------------------------------------------

def spelled(act, **kw):
    return S(conv(16, 16, act=act, **kw), BN(16), conv(16, 16, act=act, **kw), nn.MaxPool2d(2), BN(16), nn.Flatten(), dense(256, 10, act, **kw))


def spelling(name, act, options=None, bits=(1, 1), **kw):
    @network("one network, " + name, MAPS, options=options, like="spelled", **kw)
    def make():
        return spelled(act, bits=bits)
    REGISTER["spelled_" + name] = REGISTER.pop("make")


for name, act in dict(where=sign_where, where_gt=sign_where_gt, where_lt=sign_where_lt, cast=sign_cast, cast_gt=sign_cast_gt, cast_pair=sign_cast_pair, half=sign_half, where_scaled=sign_where_scaled,
                      where_uneven=sign_where_uneven, sign_sign=sign_sign, round=sign_round, masked=sign_masked, indexed=sign_indexed, equal=sign_equal, sign_where=sign_sign_where, where_01=sign_where_01, logical_not=sign_not,
                      unipolar=step_unipolar, unipolar_relu=step_relu, clamped=sign_clamped, floor=sign_floor).items():
    spelling(name, act)
for name, act in dict(sign=sign, torch=sign_torch, symbolic=sign_symbolic, hardtanh=sign_clamp, tanh=sign_tanh, add_eps=sign_add_eps).items():
    spelling(name, act, ZERO)
for name, act in dict(detach=sign_detach, approx=sign_approx).items():
    spelling(name, act, ZERO)
spelling("detach_id", sign_detach_id, ZERO)
for name, act in dict(ternary=ternary_where, ternary_nested=ternary_nested, two_bits=two_bits_sum).items():
    spelling(name, act, bits=(2, 1))
spelling("detach_where", sign_detach_where)
spelling("dynamo_where", sign_where, opset=18, dynamo=True)
spelling("dynamo_sign", sign, ZERO, opset=20, dynamo=True)
spelling("dynamo_cast", sign_cast, opset=21, dynamo=True)
spelling("opset11", sign_where, opset=11)
spelling("opset9_where", sign_where, opset=9)
spelling("unfolded", sign_where, fold=False)
