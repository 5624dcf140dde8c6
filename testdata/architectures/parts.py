"""What the networks are made of: numbers that compute without rounding, activations, layers, and the list of networks."""
import math
import numpy as np, torch
import torch.nn as nn, torch.nn.functional as F

REGISTER = {}


def network(paper, x, bits=None, opset=17, dynamo=False, options=None, fold=True, note="", **kw):
    """Registers a function that makes a network. x is the shape of its input, without the batch."""
    def register(make):
        REGISTER[make.__name__] = dict(make=make, paper=paper, shape=(1,) + tuple(x), opset=opset, dynamo=dynamo, options=options or {}, fold=fold, note=note, **kw)
        return make
    return register


# --- numbers -----------------------------------------------------------------------------------------------------------
# Parameters are short binary fractions, and normalizations divide by powers of two, so that most networks compute without
# rounding, and any order of additions gives the same bits.

RNG = None


def latent(*shape):
    """Weights under training: signs are random, and each filter's mean of magnitudes is a short binary fraction."""
    k = int(np.prod(shape[1:]))
    out = []
    for _ in range(shape[0]):
        a = 2.0 ** -int(RNG.integers(1, 4)) * (1 if RNG.integers(2) else 0.75)
        half = RNG.integers(0, 16, k // 2) / 256
        d = np.concatenate([half, -half, np.zeros(k % 2)])
        out.append((a + RNG.permutation(d)) * RNG.choice([-1.0, 1.0], k))
    return nn.Parameter(torch.tensor(np.reshape(out, shape), dtype=torch.float32))


def grid(*shape, step=16, high=12):
    """Real weights, multiples of 1/step."""
    return torch.tensor(RNG.integers(-high, high + 1, shape) / step, dtype=torch.float32)


def vector(n, step=8, low=-8, high=8, other=0.0):
    return nn.Parameter(torch.tensor(RNG.integers(low, high + 1, n) / step + other, dtype=torch.float32))


def snap(model, x):
    """Gives normalizations the statistics of x, rounded, and real layers weights on a grid."""
    for m in model.modules():
        if type(m) in (nn.Conv2d, nn.Linear, nn.Conv1d, nn.ConvTranspose2d):
            m.weight.data = grid(*m.weight.shape)
            if m.bias is not None:
                m.bias.data = grid(*m.bias.shape, step=8, high=8)
        if isinstance(m, nn.modules.batchnorm._BatchNorm):
            m.momentum = 1.0
    model.train()
    with torch.no_grad():
        model(x)
    model.eval()
    for m in model.modules():
        if isinstance(m, nn.modules.batchnorm._BatchNorm):
            m.eps = 2.0 ** -8  # so that variance + eps is the square of a power of two
            sd = np.maximum(2.0 ** np.round(np.log2(np.sqrt(m.running_var.numpy() + 1e-3))), 0.125)
            m.running_var = torch.tensor(sd * sd - m.eps, dtype=torch.float32)
            # The last bit of the mean is below all bits of the sums, so that no result is a quantizer's step.
            m.running_mean = torch.tensor(np.round(m.running_mean.numpy() * 4) / 4 + 2.0 ** -9, dtype=torch.float32)
            if m.affine:
                n = m.num_features
                m.weight.data = torch.tensor(RNG.choice([0.5, 1, 1, 2, -1, -0.5], n), dtype=torch.float32)
                m.bias.data = torch.tensor(RNG.integers(-6, 7, n) / 8, dtype=torch.float32)


# --- activations -------------------------------------------------------------------------------------------------------

MARGIN = []  # how near the values of quantizers come to a step, relative to their mean


def near(x, steps=(0.0,)):
    if not torch.jit.is_tracing() and not torch.compiler.is_compiling():
        MARGIN.append(min(float((x - s).abs().min()) for s in steps) / float(x.abs().mean() + 1e-30))
    return x


class Sign(torch.autograd.Function):
    """The straight-through sign of most public code: torch.sign forward, a clipped gradient backward."""
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sign(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.abs() <= 1)


class SignOp(torch.autograd.Function):
    """The same with a symbolic of its own."""
    @staticmethod
    def forward(ctx, x):
        return torch.sign(x)

    @staticmethod
    def symbolic(g, x):
        return g.op("Sign", x)


def sign(x):
    return Sign.apply(near(x))


def sign_torch(x):
    return torch.sign(near(x))


def sign_symbolic(x):
    return SignOp.apply(near(x))


def sign_where(x):
    return torch.where(near(x) >= 0, 1.0, -1.0).to(x.dtype)


def sign_where_gt(x):
    return torch.where(near(x) > 0, torch.ones_like(x), -torch.ones_like(x))


def sign_where_lt(x):
    return torch.where(near(x) < 0, -torch.ones_like(x), torch.ones_like(x))


def sign_cast(x):
    return (near(x) >= 0).to(x.dtype) * 2 - 1


def sign_cast_gt(x):
    return 2 * (near(x) > 0).to(x.dtype) - 1


def sign_cast_pair(x):
    return (near(x) >= 0).to(x.dtype) - (x < 0).to(x.dtype)


def sign_half(x):
    """2 (x >= 0) - 1 as 2 ((x >= 0) - 1/2)."""
    return ((near(x) >= 0).to(x.dtype) - 0.5) * 2


def sign_where_scaled(x):
    return torch.where(near(x) >= 0, 1.0, -1.0).to(x.dtype) * 0.375


def sign_where_uneven(x):
    """Two levels that are not each other's negative."""
    return torch.where(near(x) >= 0, 0.75, -0.25).to(x.dtype)


def sign_sign(x):
    """Larq's: never 0."""
    return torch.sign(torch.sign(near(x)) + 0.1)


def sign_add_eps(x):
    """sign with a small number against zeros."""
    return torch.sign(near(x) + 1e-6)


def sign_round(x):
    """BinaryNet's deterministic form: round(hard_sigmoid(x)) * 2 - 1."""
    return torch.round(torch.clamp((near(x) + 1) / 2, 0, 1)) * 2 - 1


def sign_clamp(x):
    """hardtanh, then sign."""
    return torch.sign(F.hardtanh(near(x)))


def sign_tanh(x):
    return torch.sign(torch.tanh(near(x) * 5))


def sign_masked(x):
    """By assignment: y[x >= 0] = 1."""
    y = -torch.ones_like(x)
    return y.masked_fill(near(x) >= 0, 1.0)


class Indexed(torch.autograd.Function):
    """By two masked assignments."""
    @staticmethod
    def forward(ctx, x):
        y = torch.zeros_like(x)
        y[x >= 0] = 1
        y[x < 0] = -1
        return y


def sign_indexed(x):
    return Indexed.apply(near(x))


def sign_equal(x):
    """sign, with 1 put where it is 0."""
    return torch.sign(near(x)) + (x == 0).to(x.dtype)


def sign_sign_where(x):
    y = torch.sign(near(x))
    return torch.where(y == 0, torch.ones_like(y), y)


def sign_divided(x):
    return near(x) / (x.abs() + 1e-12)


def sign_where_01(x):
    return torch.where(near(x) > 0, 1.0, 0.0).to(x.dtype) * 2 - 1


def sign_not(x):
    return 1 - 2 * torch.logical_not(near(x) >= 0).to(x.dtype)


def step_unipolar(x):
    """{0, 1}, as DoReFa of one bit has it."""
    return (near(x) > 0).to(x.dtype)


def step_relu(x):
    """{0, 1} by sign and relu."""
    return F.relu(torch.sign(near(x)))


def sign_clamped(x):
    """torch.sign(x).clamp(min=0) * 2 - 1: 0 goes down."""
    return torch.clamp(torch.sign(near(x)), min=0) * 2 - 1


def sign_floor(x):
    """floor of a clipped ramp."""
    return torch.floor(torch.clamp(near(x) + 1, 0, 1)) * 2 - 1


def ternary_where(x):
    """Three levels by two comparisons."""
    return (near(x, (-0.5, 0.5)) > 0.5).to(x.dtype) - (x < -0.5).to(x.dtype)


def ternary_nested(x):
    return torch.where(near(x, (-0.5, 0.5)) > 0.5, 1.0, torch.where(x < -0.5, -1.0, 0.0)).to(x.dtype)


def two_bits_sum(x):
    """Two bits as a sum of comparisons, each worth its scale."""
    return sum((near(x, (t,)) >= t).to(x.dtype) for t in (0.25, 0.75, 1.25)) * 0.5


def sign_detach(x):
    """The straight-through estimator without a Function: (sign(x) - c).detach() + c."""
    c = torch.clamp(x, -1, 1)
    return (torch.sign(near(x)) - c).detach() + c


def sign_detach_where(x):
    c = torch.clamp(x, -1, 1)
    return (torch.where(near(x) >= 0, 1.0, -1.0).to(x.dtype) - c).detach() + c


def sign_detach_id(x):
    return (torch.sign(near(x)) - x).detach() + x


def sign_approx(x):
    """Bi-Real Net's polynomial as it is written in public code: what is left of it forward is sign(x)."""
    s = torch.sign(near(x))
    one, two, three = x < -1, x < 0, x < 1
    a = -1 * one.to(x.dtype) + (x * x + 2 * x) * (1 - one.to(x.dtype))
    b = a * two.to(x.dtype) + (-x * x + 2 * x) * (1 - two.to(x.dtype))
    c = b * three.to(x.dtype) + 1 * (1 - three.to(x.dtype))
    return s.detach() - c.detach() + c


# --- layers ------------------------------------------------------------------------------------------------------------

class Layer(nn.Module):
    """A convolution or dense layer of few bits. weight gives its weights, quantized; act its quantizer of activations."""

    def __init__(self, shape, act=None, scale=None, bits=(1, 1), stride=1, padding=0, groups=1, dilation=1, bias=False, transposed=False, wsign=Sign.apply):
        super().__init__()
        self.w = latent(*shape)
        self.act, self.scale, self.bits, self.transposed, self.wsign = act, scale, bits, transposed, wsign
        self.kw = dict(stride=stride, padding=padding) if len(shape) > 2 else {}
        if len(shape) > 2:
            self.kw.update(groups=groups, dilation=dilation)
        self.bias = vector(shape[0]) if bias else None

    def weight(self):
        w = self.wsign(self.w)
        dims = tuple(range(1, self.w.dim()))
        if self.scale == "channel":
            w = w * self.w.abs().mean(dims, keepdim=True)
        elif self.scale == "layer":
            w = w * self.w.abs().mean()
        return w

    def forward(self, x):
        if self.act is not None:
            x = self.act(x)
        w = self.weight()
        if self.transposed:
            return F.conv_transpose2d(x, w, self.bias, **self.kw)
        if w.dim() == 4:
            return F.conv2d(x, w, self.bias, **self.kw)
        if w.dim() == 3:
            return F.conv1d(x, w, self.bias, **self.kw)
        return F.linear(x, w, self.bias)


class Quantized(Layer):
    """A layer whose weights are a function of the latent ones."""

    def __init__(self, shape, quantize, act, **kw):
        super().__init__(shape, act=act, **kw)
        self.quantize = quantize

    def weight(self):
        return self.quantize(self.w)


def conv(i, o, k=3, act=sign, p=None, **kw):
    return Layer((o, i // kw.get("groups", 1), k, k), act, padding=k // 2 if p is None else p, **kw)


def conv1d(i, o, k, act=sign, p=None, **kw):
    return Layer((o, i, k), act, padding=k // 2 if p is None else p, **kw)


def dense(i, o, act=sign, **kw):
    return Layer((o, i), act, **kw)


class Filter(nn.Module):
    """A fixed real filter, the same on every channel."""

    def __init__(self, kernel, channels, stride):
        super().__init__()
        self.register_buffer("weight", kernel.expand(channels, 1, *kernel.shape).clone())
        self.stride = stride

    def forward(self, x):
        return F.conv2d(x, self.weight, stride=self.stride, padding=self.weight.size(-1) // 2, groups=self.weight.size(0))


class Residual(nn.Module):
    def __init__(self, *body, skip=None):
        super().__init__()
        self.body, self.skip = nn.Sequential(*body), skip

    def forward(self, x):
        return self.body(x) + (x if self.skip is None else self.skip(x))


class Shift(nn.Module):
    """A learned bias for each channel, expanded as ReActNet's code does."""

    def __init__(self, c):
        super().__init__()
        self.bias = nn.Parameter(vector(c, 16, other=1 / 512).data.view(1, c, 1, 1))

    def forward(self, x):
        return x + self.bias.expand_as(x)


def prelu(c, low=0, high=8, step=16):
    m = nn.PReLU(c)
    m.weight.data = vector(c, step, low, high).data
    return m


def stem(o, i=3, k=3, stride=1):
    return nn.Sequential(nn.Conv2d(i, o, k, stride, k // 2, bias=False), nn.BatchNorm2d(o))


def head(c, classes=10):
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, classes))


def downsample(i, o):
    return nn.Sequential(nn.AvgPool2d(2, 2), nn.Conv2d(i, o, 1, bias=False), nn.BatchNorm2d(o))


S = nn.Sequential
BN = nn.BatchNorm2d
