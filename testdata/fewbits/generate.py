"""Writes the networks of this folder: ways to write few bits in ONNX that no function of one tensor shows, or that f32 rounds.

    python3 -m venv v && v/bin/pip install onnx onnxruntime numpy && v/bin/python generate.py [NAME...]

Each network is NAME.onnx with an input, NAME.in.npy, and the output of onnxruntime, NAME.out.npy. index.json says of each which
part of its multiply-accumulates is meant to be of few bits, and what differs from that by rounding.
"""
import json, os, sys
import numpy as np, onnx
from onnx import TensorProto as T, helper as H, numpy_helper as N

HERE = os.path.dirname(os.path.abspath(__file__))
F = np.float32
CASES = {}


def case(what, share, roundings=(), atol=1e-5, shape=(1, 3, 8, 8)):
    """A network: what it is, the share of its multiply-accumulates that has few bits, and the codes of its roundings."""
    def register(make):
        CASES[make.__name__] = (make, what, share, list(roundings), atol, shape)
        return make
    return register


class Net:
    """An ONNX graph in the making."""

    def __init__(self, seed):
        self.nodes, self.constants, self.rng = [], [], np.random.default_rng(seed)

    def const(self, v, dtype=F):
        self.constants.append(N.from_array(np.asarray(v, dtype), "c%d" % len(self.constants)))
        return self.constants[-1].name

    def op(self, kind, *inputs, **attrs):
        inputs = [x if isinstance(x, str) else self.const(x) for x in inputs]
        out = "%s_%d" % (kind, len(self.nodes))
        self.nodes.append(H.make_node(kind, inputs, [out], name="/" + out, **attrs))
        return out

    def normal(self, *shape, mean=0.0, sd=1.0):
        return self.rng.normal(mean, sd, shape).astype(F)

    def stem(self, x, outs):
        x = self.op("Conv", x, self.normal(outs, 3, 3, 3, sd=0.3), pads=[1] * 4)
        return self.norm(x, outs)

    def norm(self, x, c):
        return self.op("BatchNormalization", x, self.rng.uniform(0.5, 1.5, c), self.normal(c, sd=0.2), self.normal(c, sd=0.3), self.rng.uniform(1, 4, c))

    def head(self, x, c, outs=10):
        x = self.op("Flatten", self.op("GlobalAveragePool", x))
        return self.op("Gemm", x, self.normal(c, outs, sd=0.3), self.normal(outs, sd=0.1))

    def conv(self, x, w, pads=1):
        return self.op("Conv", x, w, pads=[pads] * 4)

    def signs(self, o, i, k=3):
        w = self.normal(o, i, k, k, sd=0.1)
        return np.where(w < 0, F(-1), F(1)) * np.abs(w).mean((1, 2, 3), keepdims=True, dtype=F)

    def model(self, shape, y):
        out = onnx.shape_inference.infer_shapes(H.make_model(H.make_graph(self.nodes, "g", [H.make_tensor_value_info("x", T.FLOAT, shape)],
            [H.make_tensor_value_info(y, T.FLOAT, None)], self.constants), opset_imports=[H.make_opsetid("", 17)], ir_version=8))
        onnx.checker.check_model(out)
        return out


# --- straight-through estimators ---------------------------------------------------------------------------------------

SUMS = {
    "q_minus_y_plus_y": lambda n, q, y: n.op("Add", n.op("Sub", q, y), y),
    "y_plus_q_minus_y": lambda n, q, y: n.op("Add", y, n.op("Sub", q, y)),
    "q_plus_y_minus_y": lambda n, q, y: n.op("Sub", n.op("Add", q, y), y),
    "y_minus_y_minus_q": lambda n, q, y: n.op("Sub", y, n.op("Sub", y, q)),
}


def residual(n, x, act, weights, blocks=2, c=16):
    x = n.stem(x, c)
    for _ in range(blocks):
        y = n.conv(act(n.op("Add", x, n.normal(1, c, 1, 1, sd=0.1))), weights(c))
        x = n.op("PRelu", n.op("Add", n.norm(y, c), x), n.rng.uniform(0.1, 0.3, (c, 1, 1)).astype(F))
    return n.head(x, c)


def estimated(n, c, y, w_scale=0.05):
    """bw.detach() - cw.detach() + cw, with its ops left in the file, of weights that y makes of the real ones."""
    w = n.normal(c, c, 3, 3, sd=w_scale)
    bw = np.sign(w) * np.abs(w).mean((1, 2, 3), keepdims=True, dtype=F)
    bw, cw = n.const(bw), n.const(y(w))
    return n.op("Add", n.op("Sub", bw, cw), cw)


@case("a residual network: bw.detach() - cw.detach() + cw for weights, (x.sign() - x).detach() + x for activations", 0.9, ["few_folded", "folded_sign"])
def ste_residual(n, x):
    act = lambda x: SUMS["q_minus_y_plus_y"](n, n.op("Sign", x), x)
    return residual(n, x, act, lambda c: estimated(n, c, lambda w: np.clip(w, F(-1), F(1)), w_scale=0.7))


@case("x + (x.sign() - x).detach(), unclipped weights of magnitude 20 with a small scale", 0.9, ["few_folded", "folded_sign"])
def ste_large_weights(n, x):
    act = lambda x: SUMS["y_plus_q_minus_y"](n, n.op("Sign", x), x)
    return residual(n, x, act, lambda c: estimated(n, c, lambda w: F(400) * w))


@case("(q + x) - x of clipped activations", 0.9, ["folded_sign"])
def ste_added_first(n, x):
    def act(x):
        return SUMS["q_plus_y_minus_y"](n, n.op("Sign", x), n.op("Clip", x, n.const(-1), n.const(1)))
    return residual(n, x, act, lambda c: n.signs(c, c))


@case("x - (x - q(x)), ternary activations by two comparisons", 0.9, ["folded"])
def ste_ternary(n, x):
    def act(x):
        high = n.op("Cast", n.op("Greater", x, n.const(0.5)), to=T.FLOAT)
        low = n.op("Cast", n.op("Less", x, n.const(-0.5)), to=T.FLOAT)
        return SUMS["y_minus_y_minus_q"](n, n.op("Sub", high, low), x)
    return residual(n, x, act, lambda c: n.signs(c, c))


# --- scales that are computed ------------------------------------------------------------------------------------------

def absmax(n, x, axes):
    return n.op("Clip", n.op("ReduceMax", n.op("Abs", x), axes=axes, keepdims=1), n.const(1e-5))


def token_quant(n, x, axes=(-1,)):
    """round(x * 127 / max|x|) / (127 / max|x|), as BitNet b1.58 has it."""
    s = n.op("Mul", n.op("Reciprocal", absmax(n, x, list(axes))), n.const(127))
    q = n.op("Clip", n.op("Round", n.op("Mul", x, s)), n.const(-128), n.const(127))
    return n.op("Div", q, s)


def ternary_weights(n, i, o, ste):
    w = n.normal(i, o, sd=0.05)
    s = F(1) / np.abs(w).mean(dtype=F)
    q = np.clip(np.round(w * s), F(-1), F(1)) / s
    return w + (q - w) if ste else q


def bitlinear(n, x, i, o, ste):
    q = token_quant(n, x)
    if ste:
        q = n.op("Add", x, n.op("Sub", q, x))
    return n.op("MatMul", q, ternary_weights(n, i, o, ste))


@case("BitNet b1.58 as it is trained: x + (q(x) - x), a scale for each token", 1.0, ["few_folded", "folded_sum"], shape=(4, 48))
def bitnet_training(n, x):
    return bitlinear(n, n.op("Relu", bitlinear(n, x, 48, 32, True)), 32, 16, True)


@case("BitNet b1.58 for inference", 1.0, shape=(4, 48))
def bitnet_inference(n, x):
    return bitlinear(n, n.op("Relu", bitlinear(n, x, 48, 32, False)), 32, 16, False)


@case("BitNet b1.58 as it is trained, of a batch of sequences, with a norm and a residual", 1.0, ["folded_sum"], shape=(2, 6, 32))
def bitnet_sequence(n, x):
    ms = n.op("ReduceMean", n.op("Mul", x, x), axes=[-1], keepdims=1)
    y = n.op("Div", x, n.op("Sqrt", n.op("Add", ms, n.const(1e-6))))
    y = n.op("Relu", bitlinear(n, y, 32, 64, True))
    return n.op("Add", bitlinear(n, y, 64, 32, True), x)


@case("a convolution of levels with a scale of each image", 0.8, ["folded_sum"], shape=(2, 3, 8, 8))
def image_scale(n, x):
    x = n.op("Relu", n.stem(x, 16))
    q = token_quant(n, x, axes=(1, 2, 3))
    x = n.conv(n.op("Add", x, n.op("Sub", q, x)), n.signs(16, 16))
    return n.head(n.op("Relu", n.norm(x, 16)), 16)


# --- values that are in no even steps --------------------------------------------------------------------------------------

def signs_of(n, x):
    return n.op("Where", n.op("GreaterOrEqual", x, n.const(0)), n.const(1), n.const(-1))


def plain(n, x, act, weights, c=16):
    """Two layers of few bits between a stem and a head."""
    x = n.norm(n.conv(act(n.stem(x, c)), weights(c)), c)
    x = n.norm(n.conv(act(x), weights(c)), c)
    return n.head(x, c)


def two_scales(n, c, negative=True, per_filter=True):
    """Trained ternary weights: {-wn, 0, wp}."""
    w = n.normal(c, c, 3, 3)
    size = (c, 1, 1, 1) if per_filter else (1,)
    wp, wn = n.rng.uniform(0.1, 0.5, size).astype(F), n.rng.uniform(0.1, 0.5, size).astype(F)
    return np.where(w > 0.6, wp, np.where(w < -0.6, -wn if negative else wn, F(0))).astype(F)


@case("trained ternary weights {-wn, 0, wp} of a layer", 0.9)
def ttq(n, x):
    return plain(n, x, lambda x: signs_of(n, x), lambda c: two_scales(n, c, per_filter=False))


@case("trained ternary weights of a filter, behind an estimator, over activations of 2 bits", 0.9, ["few_folded"])
def ttq_estimated(n, x):
    act = lambda x: n.op("Div", n.op("Round", n.op("Mul", n.op("Clip", x, n.const(0), n.const(1)), n.const(3))), n.const(3))

    def weights(c):
        w, q = n.normal(c, c, 3, 3, sd=0.5), two_scales(n, c)
        return (q - w) + w
    return plain(n, x, act, weights)


@case("trained ternary weights whose scales are both positive", 0.9)
def ttq_positive(n, x):
    return plain(n, x, lambda x: signs_of(n, x), lambda c: two_scales(n, c, negative=False))


@case("trained ternary weights over real activations, which stay floats", 0.0)
def ttq_floats(n, x):
    return plain(n, x, lambda x: n.op("Relu", x), lambda c: two_scales(n, c))


@case("weights of two binary bases, as LQ-Nets learn them", 0.9, ["few_folded"])
def lq_weights(n, x):
    def weights(c):
        a, b = n.rng.uniform(0.3, 0.5, (c, 1, 1, 1)).astype(F), n.rng.uniform(0.05, 0.2, (c, 1, 1, 1)).astype(F)
        return a * np.sign(n.normal(c, c, 3, 3)) + b * np.sign(n.normal(c, c, 3, 3))
    return plain(n, x, lambda x: signs_of(n, x), weights)


def nested(n, x, levels, steps):
    y = n.const(levels[0])
    for s, v in zip(steps, levels[1:]):
        y = n.op("Where", n.op("Greater", x, n.const(s)), n.const(v), y)
    return y


@case("LQ-Nets: activations of two learned bases", 0.9)
def lq_activations(n, x):
    return plain(n, x, lambda x: nested(n, x, [0, 0.5, 1.3, 1.8], [0.25, 0.9, 1.55]), lambda c: n.signs(c, c))


@case("activations of learned levels from below 0 on", 0.9)
def levels_below_zero(n, x):
    return plain(n, x, lambda x: nested(n, x, [-0.625, -0.125, 0.25, 1], [-0.3, 0.1, 0.5]), lambda c: n.signs(c, c))


@case("activations of learned levels, then max_pool", 0.9)
def levels_pooled(n, x):
    def act(x):
        return n.op("MaxPool", nested(n, x, [0, 0.5, 1.3, 1.8], [0.25, 0.9, 1.55]), kernel_shape=[2, 2], strides=[2, 2])
    x = n.conv(act(n.stem(x, 8)), n.signs(64, 8))
    return n.head(n.norm(n.conv(act(n.norm(x, 64)), n.signs(64, 64)), 64), 64)


@case("HWGQ: even levels, written as decimal fractions", 0.9)
def hwgq_even(n, x):
    return plain(n, x, lambda x: nested(n, x, [0, 0.538, 1.076, 1.614], [0.269, 0.807, 1.345]), lambda c: n.signs(c, c))


@case("HWGQ: quantiles of a half-wave, unevenly spaced", 0.9, ["folded"])
def hwgq_quantiles(n, x):
    return plain(n, x, lambda x: nested(n, x, [0, 0.2187, 0.6745, 1.3102], [0.1, 0.4, 0.95]), lambda c: n.signs(c, c))


@case("weights with a scale for each group of 16 inputs, of 3 bits, over levels of 4 bits", 0.9, shape=(4, 3, 8, 8))
def groups_of_inputs(n, x):
    def weights(c):
        q = np.clip(np.round(n.normal(c, c // 16, 16, 3, 3)), -3, 3).astype(F)
        return (q * n.rng.uniform(0.05, 0.2, (c, c // 16, 1, 1, 1)).astype(F)).reshape(c, c, 3, 3)
    return plain(n, x, lambda x: dorefa(n, x, 4), weights, c=32)


@case("unsigned weights of 4 bits with a scale and a zero point for each group of 32 inputs", 1.0, shape=(4, 64))
def groups_with_zeros(n, x):
    q = np.round(n.rng.uniform(0, 15, (64, 32))).astype(F)
    s = np.repeat(n.rng.uniform(0.05, 0.2, (2, 32)).astype(F), 32, 0)
    z = np.repeat(np.round(n.rng.uniform(5, 9, (2, 32))).astype(F), 32, 0)
    return n.op("MatMul", dorefa(n, x, 4), (q - z) * s)


# --- means of levels -------------------------------------------------------------------------------------------------------

def dorefa(n, x, bits):
    m = 2.0**bits - 1
    return n.op("Div", n.op("Round", n.op("Mul", n.op("Clip", x, n.const(0), n.const(1)), n.const(m))), n.const(m))


@case("means of windows of 2 x 2 levels of 2 bits, then a layer", 0.88)
def mean_2x2(n, x):
    x = n.op("AveragePool", dorefa(n, n.stem(x, 16), 2), kernel_shape=[2, 2], strides=[2, 2])
    x = n.norm(n.conv(x, n.signs(32, 16)), 32)
    return n.head(n.norm(n.conv(dorefa(n, x, 2), n.signs(32, 32)), 32), 32)


@case("means of 3 x 3 signs in steps of 1, then a layer", 0.7)
def mean_3x3(n, x):
    x = n.op("AveragePool", signs_of(n, n.stem(x, 16)), kernel_shape=[3, 3], strides=[1, 1])
    return n.head(n.norm(n.conv(x, n.signs(16, 16)), 16), 16)


@case("the mean of an image of 4 x 4 levels of 1 bit, then a dense layer", 0.06, shape=(2, 3, 4, 4))
def mean_of_image(n, x):
    x = n.op("Flatten", n.op("GlobalAveragePool", signs_of(n, n.stem(x, 32))))
    w = n.signs(32, 32, 1).reshape(32, 32)
    return n.op("Gemm", x, w.T, n.normal(32), transB=0)


# --- writing -----------------------------------------------------------------------------------------------------------

def write(name):
    import onnxruntime as ort
    make, what, share, roundings, atol, shape = CASES[name]
    n = Net([ord(c) for c in name])
    y = make(n, "x")
    m = n.model(shape, y)
    x = np.random.default_rng(len(name)).normal(0, 1, shape).astype(F)
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    out = ort.InferenceSession(m.SerializeToString(), o, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    onnx.save(m, os.path.join(HERE, name + ".onnx"))
    np.save(os.path.join(HERE, name + ".in.npy"), x)
    np.save(os.path.join(HERE, name + ".out.npy"), out)
    print("%-24s %6d B" % (name, len(m.SerializeToString())))
    return dict(name=name, what=what, share=share, roundings=roundings, atol=float("%.1g" % (atol * max(1.0, float(np.abs(out).max())))))


if __name__ == "__main__":
    path = os.path.join(HERE, "index.json")
    rows = {r["name"]: r for r in json.load(open(path))["networks"]} if os.path.exists(path) else {}
    for name in sys.argv[1:] or CASES:
        rows[name] = write(name)
    with open(path, "w") as f:
        f.write('{"networks": [\n' + ",\n".join(json.dumps(rows[n]) for n in CASES if n in rows) + "\n]}\n")
