"""Writes the .onnx files of this folder and what onnxruntime computed of them, NAME.in*.npy and NAME.out*.npy, and onnx.json.

    python3 -m venv v && v/bin/pip install onnx==1.19.1 onnxruntime==1.31.1 && v/bin/python gen_onnx.py

onnxruntime runs with its defaults: DequantizeLinear, an op and QuantizeLinear in a row become one op of integers.
"""
import json
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

OUT = sys.argv[1] if len(sys.argv) > 1 else "."
INDEX = []  # of each network its inputs, and how far outputs may be from onnxruntime's


class Net:
    """A network that is made node by node, and then run."""

    def __init__(self, name, seed):
        self.name, self.r = name, np.random.default_rng(seed)
        self.nodes, self.consts, self.inputs, self.outputs, self.n = [], [], [], [], 0
        self.feed = {}  # of inputs that are not drawn

    def const(self, v, dtype):
        v = np.asarray(v, dtype)
        self.n += 1
        self.consts.append(numpy_helper.from_array(v, f"c{self.n}"))
        return f"c{self.n}"

    def __call__(self, op, *inputs, domain="", outs=1, **attrs):
        self.n += 1
        names = [f"t{self.n}_{i}" if outs > 1 else f"t{self.n}" for i in range(outs)]
        self.nodes.append(h.make_node(op, list(inputs), names, domain=domain, name=f"{op}{self.n}", **attrs))
        return names if outs > 1 else names[0]

    def input(self, dtype, *shape):
        name = f"x{len(self.inputs)}"
        self.inputs.append((name, dtype, shape))
        return name

    def f(self, v):
        return self.const(v, np.float32)

    def quantize(self, x, scale, zero, dtype):
        return self("QuantizeLinear", x, self.f(scale), self.const(zero, dtype))

    def dequantize(self, x, scale, zero, dtype, **attrs):
        return self("DequantizeLinear", x, self.f(scale), self.const(zero, dtype), **attrs)

    def weights(self, *shape, dtype=np.int8):
        i = np.iinfo(dtype)
        return self.r.integers(max(i.min, -127), i.max + 1, shape).astype(dtype)

    def done(self, output, kind=None, within=0, floats=False):
        kinds = {np.uint8: T.UINT8, np.int8: T.INT8, np.float32: T.FLOAT, np.int32: T.INT32}
        graph = h.make_graph(self.nodes, self.name, [h.make_tensor_value_info(n, kinds[d], s) for n, d, s in self.inputs],
                             [h.make_tensor_value_info(output, kinds[kind or self.inputs[0][1]], None)], self.consts)
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17), h.make_opsetid("com.microsoft", 1)], ir_version=8)
        options = ort.SessionOptions()
        options.log_severity_level = 3
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        onnx.save(model, f"{OUT}/{self.name}.onnx")
        feed = {}
        for n, d, s in self.inputs:
            if n in self.feed:
                feed[n] = self.feed[n]
            elif d == np.float32:
                feed[n] = self.r.normal(size=s).astype(d)
            else:
                feed[n] = self.r.integers(np.iinfo(d).min, np.iinfo(d).max + 1, s).astype(d)
        for n, v in feed.items():
            np.save(f"{OUT}/{self.name}.{n}.npy", v)
        np.save(f"{OUT}/{self.name}.out.npy", session.run(None, feed)[0])
        INDEX.append({"name": self.name, "inputs": [n for n, _, _ in self.inputs], "within": within})
        if floats:
            INDEX[-1]["floats"] = True


def qconv(n, x, c, o, k, xq, yq, dtype, groups=1, per_channel=True, bias=True, wdtype=np.int8, wzero=0, **attrs):
    """QLinearConv of x with parameters xq, made yq."""
    ws = n.r.uniform(0.002, 0.02, o if per_channel else ()).astype(np.float32)
    wz = np.full(ws.shape, wzero, wdtype)
    inputs = [x, n.f(xq[0]), n.const(xq[1], dtype), n.const(n.weights(o, c // groups, k, k, dtype=wdtype), wdtype), n.f(ws), n.const(wz, wdtype),
              n.f(yq[0]), n.const(yq[1], dtype)]
    if bias:
        inputs.append(n.const(n.r.integers(-20000, 20000, o), np.int32))
    return n("QLinearConv", *inputs, group=groups, **attrs)


for seed, (name, (dtype, kw)) in enumerate({
    "qconv_u8": (np.uint8, dict(c=5, o=7, k=3, pads=[1] * 4)),
    "qconv_s8": (np.int8, dict(c=16, o=33, k=3, pads=[1] * 4, strides=[2, 2])),
    "qconv_u8_tensor": (np.uint8, dict(c=3, o=8, k=5, per_channel=False, bias=False)),
    "qconv_u8_wu8": (np.uint8, dict(c=4, o=6, k=3, per_channel=False, wdtype=np.uint8, wzero=131)),
    "qconv_depthwise": (np.uint8, dict(c=12, o=12, k=3, groups=12, pads=[1] * 4)),
    "qconv_groups": (np.int8, dict(c=12, o=18, k=3, groups=3, dilations=[2, 2])),
    "qconv_deep": (np.uint8, dict(c=520, o=9, k=3)),
}.items()):
    n = Net(name, seed)
    zero = 120 if dtype == np.uint8 else -7
    x = n.input(dtype, 2 if name != "qconv_deep" else 1, kw["c"], 9, 8)
    n.done(qconv(n, x, xq=(0.031, zero), yq=(0.07 * (kw["c"] * kw["k"] ** 2) ** 0.5, zero - 9), dtype=dtype, **kw))

for name, dtype in [("qmatmul_u8", np.uint8), ("qmatmul_s8", np.int8)]:
    n = Net(name, 20)
    zero = 99 if dtype == np.uint8 else 4
    x = n.input(dtype, 3, 40)
    per = name == "qmatmul_s8"
    ws = n.r.uniform(0.002, 0.02, 11 if per else ()).astype(np.float32)
    n.done(n("QLinearMatMul", x, n.f(0.02), n.const(zero, dtype), n.const(n.weights(40, 11), np.int8), n.f(ws), n.const(np.zeros(ws.shape), np.int8), n.f(0.11),
             n.const(zero + 3, dtype)))

n = Net("qgemm", 21)
x = n.input(np.uint8, 3, 40)
n.done(n("QGemm", x, n.f(0.02), n.const(99, np.uint8), n.const(n.weights(11, 40), np.int8), n.f(n.r.uniform(0.002, 0.02, 11)), n.const(np.zeros(11), np.int8),
         n.const(n.r.integers(-9000, 9000, 11), np.int32), n.f(0.11), n.const(102, np.uint8), domain="com.microsoft", transB=1))
n = Net("qgemm_float", 22)
x = n.input(np.uint8, 3, 40)
n.done(n("QGemm", x, n.f(0.02), n.const(99, np.uint8), n.const(n.weights(11, 40), np.int8), n.f(0.01), n.const(0, np.int8),
         n.const(n.r.integers(-9000, 9000, 11), np.int32), domain="com.microsoft", transB=1), np.float32)

for name, dtype, shapes in [("qadd_u8", np.uint8, ([2, 6, 7, 5], [2, 6, 7, 5])), ("qadd_s8", np.int8, ([2, 6, 7, 5], [2, 6, 7, 5])), ("qadd_repeated", np.uint8, ([2, 6, 7, 5], [2, 6, 1, 1]))]:
    n = Net(name, 30)
    a, b = n.input(dtype, *shapes[0]), n.input(dtype, *shapes[1])
    z = 128 if dtype == np.uint8 else 0
    n.done(n("QLinearAdd", a, n.f(0.0213), n.const(z - 5, dtype), b, n.f(0.0371), n.const(z + 11, dtype), n.f(0.0518), n.const(z + 2, dtype), domain="com.microsoft"))

for name, dtype, shapes in [("qmul_u8", np.uint8, ([2, 6, 7, 5], [2, 6, 7, 5])), ("qmul_s8", np.int8, ([2, 6, 7, 5], [2, 6, 7, 5])), ("qmul_repeated", np.int8, ([2, 6, 7, 5], [2, 6, 1, 1]))]:
    n = Net(name, 32)
    a, b = n.input(dtype, *shapes[0]), n.input(dtype, *shapes[1])
    z = 128 if dtype == np.uint8 else 0  # products are twentieths of the new scale, so that many lie between two levels
    n.done(n("QLinearMul", a, n.f(0.02), n.const(z - 5, dtype), b, n.f(0.03), n.const(z + 11, dtype), n.f(0.012), n.const(z + 2, dtype), domain="com.microsoft"))

for name, dtype in [("qmean_u8", np.uint8), ("qmean_s8", np.int8)]:
    n = Net(name, 31)
    z = 128 if dtype == np.uint8 else 0
    x = n.input(dtype, 2, 13, 7, 7)
    n.done(n("QLinearGlobalAveragePool", x, n.f(0.0213), n.const(z - 5, dtype), n.f(0.0151), n.const(z + 11, dtype), domain="com.microsoft", channels_last=0))

n = Net("conv_integer", 40)
x = n.input(np.uint8, 1, 5, 6, 6)
n.done(n("Cast", n("ConvInteger", x, n.const(n.weights(7, 5, 3, 3), np.int8), n.const(117, np.uint8), n.const(0, np.int8), pads=[1] * 4), to=T.FLOAT), np.float32)
n = Net("matmul_integer", 41)
x = n.input(np.uint8, 4, 33)
n.done(n("Mul", n("Cast", n("MatMulInteger", x, n.const(n.weights(33, 9), np.int8), n.const(117, np.uint8)), to=T.FLOAT), n.f(0.0123)), np.float32)


def qdq(n, x, scale, zero, dtype):
    return n.dequantize(n.quantize(x, scale, zero, dtype), scale, zero, dtype)


def qdq_conv(n, x, c, o, k, xs, dtype, groups=1, bias="int", **attrs):
    ws = n.r.uniform(0.002, 0.02, o).astype(np.float32)
    w = n.dequantize(n.const(n.weights(o, c // groups, k, k), np.int8), ws, np.zeros(o), np.int8, axis=0)
    inputs = [x, w]
    if bias == "int":
        inputs.append(n.dequantize(n.const(n.r.integers(-2000, 2000, o), np.int32), np.float32(xs) * ws, np.zeros(o), np.int32, axis=0))
    elif bias == "float":
        inputs.append(n.f(n.r.normal(size=o)))
    return n("Conv", *inputs, group=groups, **attrs)


for seed, dtype in enumerate([np.uint8, np.int8]):
    z = 128 if dtype == np.uint8 else 0
    low = 0 if dtype == np.uint8 else -128
    n = Net("qdq_block_" + ("u8" if dtype == np.uint8 else "s8"), 50 + seed)  # a residual block, pools and a classifier
    x = n.input(np.float32, 1, 3, 16, 16)
    x = qdq(n, x, 0.02, z - 3, dtype)
    x = qdq(n, n("Relu", qdq_conv(n, x, 3, 16, 3, 0.02, dtype, pads=[1] * 4)), 0.03, low, dtype)
    x = qdq(n, n("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), 0.03, low, dtype)
    y = qdq(n, n("Clip", qdq_conv(n, x, 16, 16, 3, 0.03, dtype, groups=16, pads=[1] * 4), n.f(0), n.f(6)), 6 / 255, low, dtype)
    y = qdq(n, qdq_conv(n, y, 16, 16, 1, 6 / 255, dtype), 0.05, z + 4, dtype)
    x = qdq(n, n("Relu", n("Add", x, y)), 0.06, low, dtype)
    x = qdq(n, n("GlobalAveragePool", x), 0.02, low, dtype)
    x = n("Flatten", x)
    ws = n.r.uniform(0.002, 0.02, 10).astype(np.float32)
    w = n.dequantize(n.const(n.weights(10, 16), np.int8), ws, np.zeros(10), np.int8, axis=0)
    b = n.dequantize(n.const(n.r.integers(-2000, 2000, 10), np.int32), np.float32(0.02) * ws, np.zeros(10), np.int32, axis=0)
    y = n("Gemm", x, w, b, transB=1)
    # Of int8 activations, onnxruntime 1.31 leaves the pool, the clipped convolution and the sum float: near a half its levels are others.
    n.done(qdq(n, y, 0.02, z, dtype), within=0.0601 if dtype == np.int8 else 0)

n = Net("qdq_float_bias", 60)
x = n.input(np.uint8, 1, 6, 8, 8)
n.done(n.quantize(qdq_conv(n, n.dequantize(x, 0.02, 121, np.uint8), 6, 10, 3, 0.02, np.uint8, bias="float"), 0.05, 120, np.uint8))
n = Net("qdq_mul", 62)  # a number for each channel, as squeeze and excitation has it
a, b = n.input(np.uint8, 1, 6, 8, 8), n.input(np.uint8, 1, 6, 1, 1)
n.done(n.quantize(n("Relu", n("Mul", n.dequantize(a, 0.02, 121, np.uint8), n.dequantize(b, 0.03, 0, np.uint8))), 0.012, 0, np.uint8))
n = Net("qdq_matmul", 61)
x = n.input(np.uint8, 2, 5, 24)
w = n.dequantize(n.const(n.weights(24, 12), np.int8), 0.01, 0, np.int8)
n.done(n.quantize(n("MatMul", n.dequantize(x, 0.02, 121, np.uint8), w), 0.05, 120, np.uint8))


def levels(n, dtype):
    """An input that has every level, four times, in shapes [1, 16, 8, 8]."""
    x = n.input(dtype, 1, 16, 8, 8)
    n.feed[x] = np.tile(np.arange(256, dtype=np.uint8), 4).view(dtype).reshape(1, 16, 8, 8)
    return x


def linear(n, op, x, xs, xz, ys, yz, dtype, **attrs):
    return n(op, x, n.f(xs), n.const(xz, dtype), n.f(ys), n.const(yz, dtype), domain="com.microsoft", **attrs)


def qconcat(n, y, *parts, dtype, axis=1):
    inputs = [n.f(y[0]), n.const(y[1], dtype)]
    for x, s, z in parts:
        inputs += [x, n.f(s), n.const(z, dtype)]
    return n("QLinearConcat", *inputs, domain="com.microsoft", axis=axis)


for dtype in [np.uint8, np.int8]:
    low = 0 if dtype == np.uint8 else -128
    kind = "u8" if dtype == np.uint8 else "s8"
    n = Net("qleaky_" + kind, 70)
    n.done(linear(n, "QLinearLeakyRelu", levels(n, dtype), 0.0213, low + 101, 0.0151, low + 40, dtype, alpha=0.1))
    n = Net("qsigmoid_" + kind, 71)
    n.done(linear(n, "QLinearSigmoid", levels(n, dtype), 0.0413, low + 131, 1 / 256, low, dtype))
    n = Net("qconcat_" + kind, 72)  # another scale, half the scale, the same one
    x = levels(n, dtype)
    n.done(qconcat(n, (0.04, low + 120), (x, 0.0313, low + 101), (x, 0.0313, low + 101), (levels(n, dtype), 0.02, low + 7), (levels(n, dtype), 0.04, low + 120), dtype=dtype))
    n = Net("qdq_concat_" + kind, 73)
    a, b = n.dequantize(levels(n, dtype), 0.0313, low + 101, dtype), n.dequantize(levels(n, dtype), 0.02, low + 7, dtype)
    n.done(n.quantize(n("Concat", a, b, axis=1), 0.04, low + 120, dtype))

    # A fire module and what quantize_static(quant_format=QuantFormat.QOperator) makes of other ops around it.
    n = Net("qlinear_fire_" + kind, 74)
    x = n.input(np.float32, 1, 3, 20, 20)
    x = n.quantize(x, 0.02, low + 125, dtype)
    x = qconv(n, x, 3, 16, 3, (0.02, low + 125), (0.04, low), dtype, strides=[2, 2])
    x = n("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    x = qconv(n, x, 16, 8, 1, (0.04, low), (0.05, low), dtype)
    a = qconv(n, x, 8, 32, 1, (0.05, low), (0.031, low), dtype)
    b = qconv(n, x, 8, 32, 3, (0.05, low), (0.0527, low + 90), dtype, pads=[1] * 4)
    b = linear(n, "QLinearLeakyRelu", b, 0.0527, low + 90, 0.047, low + 30, dtype, alpha=0.2)
    x = qconcat(n, (0.0601, low + 20), (a, 0.031, low), (b, 0.047, low + 30), dtype=dtype)
    y = linear(n, "QLinearSigmoid", qconv(n, x, 64, 64, 1, (0.0601, low + 20), (0.07, low + 128), dtype), 0.07, low + 128, 1 / 256, low, dtype)
    x = n("QLinearMul", x, n.f(0.0601), n.const(low + 20, dtype), y, n.f(1 / 256), n.const(low, dtype), n.f(0.05), n.const(low + 24, dtype), domain="com.microsoft")
    x = linear(n, "QLinearGlobalAveragePool", x, 0.05, low + 24, 0.012, low + 60, dtype, channels_last=0)
    n.done(n.dequantize(x, 0.012, low + 60, dtype), np.float32)

for dtype in [np.uint8, np.int8]:
    low = 0 if dtype == np.uint8 else -128
    kind = "u8" if dtype == np.uint8 else "s8"
    # Of one scale, and of windows of 4, a quarter of all means are halves, and f32 decides.
    for name, ys, attrs in [("one_scale", 0.0213, dict(kernel_shape=[2, 2], strides=[2, 2])), ("padded", 0.0151, dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1])),
                            ("counted", 0.0117, dict(kernel_shape=[3, 2], pads=[1, 0, 2, 1], count_include_pad=1))]:
        n = Net(f"qaverage_{name}_{kind}", 75)
        n.done(linear(n, "QLinearAveragePool", n.input(dtype, 2, 6, 13, 12), 0.0213, low + 101, ys, low + 101 if name == "one_scale" else low + 90, dtype, **attrs))
    n = Net("qdq_average_" + kind, 76)
    x = n.input(dtype, 1, 16, 9, 9)
    n.done(n.quantize(n("AveragePool", n.dequantize(x, 0.0213, low + 101, dtype), kernel_shape=[3, 3], strides=[2, 2]), 0.0151, low + 90, dtype))

    n = Net("qlinear_average_" + kind, 77)
    x = n.quantize(n.input(np.float32, 1, 3, 20, 20), 0.02, low + 125, dtype)
    x = qconv(n, x, 3, 32, 3, (0.02, low + 125), (0.04, low + 70), dtype, pads=[1] * 4)
    x = linear(n, "QLinearLeakyRelu", x, 0.04, low + 70, 0.032, low + 26, dtype, alpha=0.1)
    x = linear(n, "QLinearAveragePool", x, 0.032, low + 26, 0.032, low + 26, dtype, kernel_shape=[2, 2], strides=[2, 2])
    x = qconv(n, x, 32, 32, 3, (0.032, low + 26), (0.1, low + 128), dtype, groups=32, pads=[1] * 4)
    x = linear(n, "QLinearSigmoid", x, 0.1, low + 128, 1 / 256, low, dtype)
    x = linear(n, "QLinearAveragePool", x, 1 / 256, low, 0.003, low, dtype, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    n.done(n.dequantize(x, 0.003, low, dtype), np.float32)

for dtype in [np.uint8, np.int8]:
    low = 0 if dtype == np.uint8 else -128
    kind = "u8" if dtype == np.uint8 else "s8"
    # Constants: what quantize_static makes of the bias behind a MatMul, of factors, and of tokens that are put before others.
    n = Net("qconstants_" + kind, 78)
    x = n("QLinearAdd", levels(n, dtype), n.f(0.0213), n.const(low + 101, dtype), n.const(n.weights(16, 1, 1, dtype=dtype), dtype), n.f(0.0151), n.const(low + 3, dtype),
          n.f(0.03), n.const(low + 120, dtype), domain="com.microsoft")
    x = n("QLinearMul", n.const(low + 77, dtype), n.f(0.02), n.const(low + 9, dtype), x, n.f(0.03), n.const(low + 120, dtype), n.f(0.05), n.const(low + 99, dtype), domain="com.microsoft")
    x = qconcat(n, (0.04, low + 90), (n.const(n.weights(1, 3, 8, 8, dtype=dtype), dtype), 0.02, low + 80), (x, 0.05, low + 99), dtype=dtype)
    x = n("Reshape", x, n.const([19, 64], np.int64))
    n.done(n("QLinearAdd", n.const(n.weights(64, dtype=dtype), dtype), n.f(0.02), n.const(low + 50, dtype), x, n.f(0.04), n.const(low + 90, dtype),
             n.f(0.05), n.const(low + 110, dtype), domain="com.microsoft"))

    n = Net("qdq_constants_" + kind, 81)  # the bias behind a MatMul, and factors of channels
    x = n.input(dtype, 2, 6, 32)
    w = n("DequantizeLinear", n.const(n.weights(32, 24), np.int8), n.f(0.01), n.const(0, np.int8))
    x = n.dequantize(n.quantize(n("MatMul", n.dequantize(x, 0.0213, low + 101, dtype), w), 0.05, low + 120, dtype), 0.05, low + 120, dtype)
    x = n("Add", n.dequantize(n.const(n.weights(24, dtype=dtype), dtype), 0.0151, low + 3, dtype), x)
    x = n.dequantize(n.quantize(x, 0.06, low + 110, dtype), 0.06, low + 110, dtype)
    x = n("Mul", x, n.dequantize(n.const(n.weights(1, 6, 1, dtype=dtype), dtype), 0.0151, low + 99, dtype))
    n.done(n.quantize(x, 0.05, low + 128, dtype))

    n = Net("qaverage_ceil_" + kind, 79)
    n.done(linear(n, "QLinearAveragePool", n.input(dtype, 2, 6, 13, 12), 0.0213, low + 101, 0.0151, low + 90, dtype, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1))

    n = Net("qsoftmax_" + kind, 80)
    n.done(linear(n, "QLinearSoftmax", n.input(dtype, 40, 100), 0.07, low + 101, 1 / 256, low, dtype, axis=-1, opset=17))

    # Padding of integers, by what stands for 0, as quantize_static has it, and by another integer, which is around rows and columns and before channels.
    n = Net("qpad_" + kind, 84)
    x = qconv(n, n.input(dtype, 1, 3, 9, 8), 3, 8, 3, (0.0213, low + 101), (0.03, low + 120), dtype)
    x = n("Pad", x, n.const([0, 0, 1, 1, 0, 0, 1, 1], np.int64), n.const(low + 120, dtype))
    x = qconv(n, x, 8, 5, 3, (0.03, low + 120), (0.05, low + 90), dtype)
    x = n("Pad", x, n.const([0, 1, 0, 2, 0, 0, 2, 0], np.int64), n.const(low + 77, dtype))
    n.done(qconv(n, x, 6, 4, 3, (0.05, low + 90), (0.07, low + 110), dtype))

    # Of 1/255, which quantize_static gives it, 254 levels make 1; before opset 13 all axes from the given one on are one.
    n = Net("qsoftmax_steps_" + kind, 82)
    n.done(linear(n, "QLinearSoftmax", n.input(dtype, 30, 3, 5), 0.07, low + 101, 1 / 255, low + 2, dtype, axis=1, opset=11))

    n = Net("qdq_softmax_" + kind, 83)  # over channels of images
    x = n("Softmax", n.dequantize(n.input(dtype, 2, 19, 7, 6), 0.07, low + 101, dtype), axis=1)
    n.done(n.quantize(x, 1 / 255, low, dtype))

    # Constants of integers beside integers, and zero points of outputs that are left out, which are 0 of the type of the input.
    n = Net("concat_constant_" + kind, 85)
    x = qconv(n, n.input(dtype, 1, 3, 9, 8), 3, 8, 3, (0.0213, low + 101), (0.03, low + 120), dtype)
    x = n("Concat", n.const(n.weights(1, 2, 7, 6, dtype=dtype), dtype), x, n("QuantizeLinear", n.f(n.r.normal(size=(1, 3, 7, 6))), n.f(0.03), n.const(low + 120, dtype)), axis=1)
    n.done(qconv(n, x, 13, 5, 3, (0.03, low + 120), (0.05, low + 90), dtype))

    n = Net("left_out_" + kind, 86)
    x = n("QLinearAdd", n.input(dtype, 1, 3, 6, 6), n.f(0.02), n.const(low + 90, dtype), n.input(dtype, 1, 3, 6, 6), n.f(0.03), n.const(low + 99, dtype), n.f(0.04), domain="com.microsoft")
    x = n("QLinearMul", x, n.f(0.04), n.const(0, dtype), n.const(n.weights(1, 3, 1, 1, dtype=dtype), dtype), n.f(0.03), n.const(low + 120, dtype), n.f(0.05), domain="com.microsoft")
    n.done(n("QLinearAveragePool", x, n.f(0.05), n.const(0, dtype), n.f(0.04), domain="com.microsoft", kernel_shape=[2, 2]))

    # Means whose windows hang over the end of the padding, which counts.
    n = Net("qaverage_hanging_" + kind, 87)
    n.done(linear(n, "QLinearAveragePool", n.input(dtype, 1, 5, 7, 8), 0.0213, low + 101, 0.0151, low + 90, dtype, kernel_shape=[3, 3], strides=[3, 2], pads=[1, 1, 1, 1], ceil_mode=1,
                  count_include_pad=1))

n = Net("qgemm_alpha", 88)  # alpha is multiplied by the scale of A first, and then by those of B
n.done(n("QGemm", n.input(np.uint8, 6, 40), n.f(0.0213), n.const(101, np.uint8), n.const(n.weights(40, 21), np.int8), n.f(n.r.uniform(0.005, 0.02, 21)), n.const(np.zeros(21), np.int8), "",
         domain="com.microsoft", alpha=0.37), np.float32)

json.dump({"networks": INDEX}, open(f"{OUT}/onnx.json", "w"), indent=1)
