"""Writes elements.zip: small models of operators on single elements and of those that networks end with.

    python3 -m venv v && v/bin/pip install onnx==1.23.0 onnxruntime==1.31.0 && v/bin/python gen_elements.py
"""
import sys
from onnx import TensorProto as T
from models import Archive

ARCHIVE = Archive(sys.argv[1] if len(sys.argv) > 1 else "elements.zip")

M, single = ARCHIVE.model, ARCHIVE.single

# Activations.
for op in ["Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Elu", "Selu", "Celu", "Abs", "Softsign", "ThresholdedRelu"]:
    single(op.lower(), op, [2, 3, 4, 5])
single("sigmoid_rows", "Sigmoid", [3, 7], opset=9)
single("hardsigmoid_attrs", "HardSigmoid", [2, 5], alpha=0.3, beta=0.4)
single("elu_alpha", "Elu", [2, 3, 4], alpha=0.7)
single("selu_attrs", "Selu", [2, 6], alpha=1.5, gamma=1.2)
single("celu_alpha", "Celu", [2, 6], alpha=2.0)
single("thresholded_alpha", "ThresholdedRelu", [2, 6], alpha=0.5)
m = M("silu", [1, 3, 4, 4])  # as PyTorch writes it
y = m("Conv", m.x, m.w(4, 3, 3, 3), pads=[1] * 4)
m.done(m("Mul", y, m("Sigmoid", y)))
m = M("gate", [1, 4, 3, 3])  # squeeze and excitation
g = m("Sigmoid", m("Conv", m("Relu", m("Conv", m("GlobalAveragePool", m.x), m.w(2, 4, 1, 1), m.w(2))), m.w(4, 2, 1, 1), m.w(4)))
m.done(m("Mul", m.x, g))

for op in ["Exp", "Erf", "Softplus"]:
    single(op.lower(), op, [2, 3, 4, 5])
single("mish", "Mish", [2, 3, 4], opset=18)
for op in ["Sqrt", "Log", "Reciprocal"]:
    m = M(op.lower(), [2, 3, 4])
    m.done(m(op, m("Add", m("Abs", m.x), m.c(0.5))))
for p in [2, 3, 1, 0.5, -0.5, 1.5, -2]:
    m = M("pow%g" % p, [2, 3, 4])
    m.done(m("Pow", m("Add", m("Abs", m.x), m.c(0.5)), m.c(p)))
single("gelu", "Gelu", [2, 3, 4], opset=20)
single("gelu_tanh", "Gelu", [2, 3, 4], opset=20, approximate="tanh")
m = M("gelu_spelled", [2, 3, 4])
m.done(m("Mul", m("Mul", m.x, m("Add", m("Erf", m("Div", m.x, m.c(2 ** 0.5))), m.c(1.0))), m.c(0.5)))

# The least and the greatest.
for op in ["Min", "Max"]:
    m = M(op.lower() + "_two", [2, 3, 4, 5])
    m.done(m(op, m.x, m.input("y", [2, 3, 4, 5])))
    m = M(op.lower() + "_repeated", [2, 3, 4, 5])
    m.done(m(op, m.x, m.input("y", [3, 1, 1]), m.input("z", [2, 1, 4, 1])))
    m = M(op.lower() + "_channels", [2, 3, 4, 5])
    m.done(m(op, m.w(3, 1, 1), m.x))
    m = M(op.lower() + "_wide", [1, 3])
    m.done(m(op, m.x, m.w(4, 3)))
    m = M(op.lower() + "_many", [2, 3])
    m.done(m(op, m.c(0.5), m.x, m.c([1.0]), m.input("y", [2, 3]), m.w(3)))
    single(op.lower() + "_one", op, [2, 3])

# Comparisons and choices.
for op in ["Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal"]:
    m = M(op.lower() + "_two", [2, 3, 4, 5])
    m.done(m("Cast", m(op, m.x, m.input("y", [2, 3, 4, 5])), to=T.FLOAT))
    m = M(op.lower() + "_out", [2, 9])
    y = m(op, m.x, m.input("y", [1, 9]))
    m.done(y, types={y: T.BOOL})
    m = M(op.lower() + "_number", [2, 3, 4, 5])
    y = m("Not", m(op, m.x, m.c(0.25)))
    m.done(y, types={y: T.BOOL})
    m = M(op.lower() + "_left", [1, 3])
    m.done(m("Where", m(op, m.w(4, 3), m.x), m.x, m.w(3)))
m = M("where_two", [2, 3, 4, 5])
m.done(m("Where", m("Greater", m.x, m.c(0.0)), m.x, m.input("y", [3, 1, 1])))
m = M("where_leaky", [2, 3, 4, 5])
m.done(m("Where", m("Less", m.x, m.c(0.0)), m("Mul", m.x, m.w(3, 1, 1)), m.x))
m = M("where_zero", [2, 3, 4, 5])
m.done(m("Where", m("GreaterOrEqual", m.x, m.input("y", [2, 3, 4, 5])), m.x, m.c(0.0)))
m = M("where_channels", [2, 3, 4, 5])
m.done(m("Where", m("Greater", m.x, m.input("y", [1, 3, 1, 1])), m.w(3, 1, 1), m.w(3, 1, 1)))
m = M("where_mask", [2, 6])
m.done(m("Where", m.c([True, False, True, True, False, False], bool), m.x, m.c(-1e9)))
m = M("where_cast", [2, 6])
m.done(m("Where", m("Cast", m("Relu", m.x), to=T.BOOL), m.x, m.c(7.0)))
m = M("where_wide", [2, 1])
m.done(m("Where", m("Greater", m.x, m.c(0.0)), m.w(1, 5), m.w(2, 5)))
m = M("where_nested", [2, 3, 4, 5])
m.done(m("Where", m("Greater", m.x, m.c(1.0)), m.c(1.0), m("Where", m("Less", m.x, m.c(-1.0)), m.c(-1.0), m.x)))
for op in ["And", "Or", "Xor"]:
    m = M(op.lower(), [2, 3, 4, 5])
    m.done(m("Cast", m(op, m("Greater", m.x, m.c(-1.0)), m("Less", m.x, m.input("y", [3, 1, 1]))), to=T.FLOAT))
m = M("equal_truths", [2, 6])
m.done(m("Cast", m("Equal", m("Greater", m.x, m.c(-1.0)), m("Less", m.x, m.c(1.0))), to=T.FLOAT))
m = M("not_or", [2, 6])
m.done(m("Cast", m("Cast", m("Not", m("Or", m("Greater", m.x, m.c(1.0)), m("Greater", m.x, m.input("y", [2, 6])))), to=T.BOOL), to=T.FLOAT))
m = M("mask_moved", [2, 3, 4])
m.done(m("Where", m("Transpose", m("Unsqueeze", m("Greater", m.x, m.c(0.0)), m.i(0)), perm=[0, 1, 3, 2]), m.c(1.0), m.input("y", [1, 2, 4, 3])))

# Ends of networks.
for axis in [0, 1, -1]:
    single("log_softmax%d" % axis, "LogSoftmax", [2, 3, 4, 5], axis=axis)
single("log_softmax_rows", "LogSoftmax", [3, 7])
single("log_softmax_old", "LogSoftmax", [2, 3, 4], opset=11)
single("log_softmax_old2", "LogSoftmax", [2, 3, 4], opset=11, axis=2)
m = M("log_softmax_net", [1, 2, 3, 4])
m.done(m("LogSoftmax", m("Gemm", m("Flatten", m.x), m.w(24, 5), m.w(5)), axis=1))


def whole(name, op, shape, opset=17, **attrs):
    m = M(name, shape, opset)
    y = m(op, m("Floor", m.x), **attrs)
    m.done(y, types={y: T.INT64})


for op in ["ArgMax", "ArgMin"]:
    whole(op.lower() + "_image", op, [2, 3, 4, 5], axis=1)
    whole(op.lower() + "_dropped", op, [2, 3, 4, 5], axis=1, keepdims=0)
    whole(op.lower() + "_rows", op, [3, 7], axis=-1, keepdims=0)
    whole(op.lower() + "_last", op, [3, 17], axis=1, select_last_index=1)
    whole(op.lower() + "_default", op, [3, 7])
    whole(op.lower() + "_old", op, [3, 7], opset=7, axis=1)
    whole(op.lower() + "_first", op, [2, 3, 4], axis=0, keepdims=0)
m = M("argmax_cast", [2, 9])
m.done(m("Cast", m("ArgMax", m.x, axis=1), to=T.FLOAT))
m = M("argmax_net", [1, 2, 3, 4])
y = m("ArgMax", m("Gemm", m("Flatten", m("Conv", m.x, m.w(3, 2, 1, 1))), m.w(36, 5), m.w(5)), axis=1, keepdims=0)
m.done(y, types={y: T.INT64})
m = M("argmax_int32", [2, 9])
y = m("Cast", m("Squeeze", m("ArgMax", m.x, axis=1), m.i(1)), to=T.INT32)
m.done(y, types={y: T.INT32})


def top(name, shape, *ins, opset=17, **attrs):
    m = M(name, shape, opset)
    v, i = m("TopK", m("Floor", m.x), *[f(m) for f in ins], outs=2, **attrs)
    m.done(v, i, types={i: T.INT64})


k = lambda n: lambda m: m.i(n)
top("topk", [3, 9], k(4))
top("topk_one", [2, 5], k(1))
top("topk_all", [2, 5], k(5))
top("topk_least", [3, 9], k(3), largest=0)
top("topk_image", [2, 3, 4, 5], k(2), axis=1)
top("topk_first", [5, 4], k(2), axis=0)
top("topk_unsorted", [3, 9], k(4), sorted=1, axis=1)
top("topk_old", [3, 9], opset=9, k=3)
top("topk_old10", [3, 9], k(3), opset=10)
m = M("topk_values", [3, 9])
m.done(m("Relu", m("TopK", m.x, m.i(2), outs=2)[0]))
m = M("topk_positions", [3, 9])
y = m("TopK", m.x, m.i(2), outs=2)[1]
m.done(y, types={y: T.INT64})
single("reducemin", "ReduceMin", [2, 3, 4, 5], axes=[2, 3])
single("reducemin_18", "ReduceMin", [2, 3, 4], k(1), opset=18, keepdims=0)
