"""Writes FOLDER/NAME.f32.onnx and FOLDER/NAME.int8.onnx, with what is in them in NAME.f32.json and NAME.int8.json:

    python models_onnx.py FOLDER [NAME...]
"""
import json
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

import networks


class Builder:
    """Makes an ONNX graph. Images are NCHW there; a value is its name and its shape (height, width, channels)."""

    def __init__(self):
        self.nodes, self.constants, self.weights = [], [], networks.Weights()

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, op, inputs, **attributes):
        out = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [out], name=out, **attributes))
        return out

    def input(self, h, w, c):
        self.shape = [1, c, h, w]
        return "x", (h, w, c)

    def window(self, shape, kernel, stride, padding):
        h, w, _ = shape
        (top, bottom), (left, right) = (networks.same(n, kernel, stride) if padding == "same" else (0, 0) for n in (h, w))
        out = tuple((n + a + b - kernel) // stride + 1 for n, a, b in ((h, top, bottom), (w, left, right)))
        return out, dict(kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[top, left, bottom, right])

    def conv(self, x, filters, kernel, stride=1, padding="same", relu=True, group=1):
        name, shape = x
        w, bias = self.weights.conv(kernel, shape[2] // group, filters)
        out, attributes = self.window(shape, kernel, stride, padding)
        y = self.node("Conv", [name, self.constant(w.transpose(3, 2, 0, 1)), self.constant(bias)], group=group, **attributes)
        return (self.node("Relu", [y]) if relu else y), (*out, filters)

    def depthwise(self, x, kernel, stride):
        return self.conv(x, x[1][2], kernel, stride, group=x[1][2])

    def max_pool(self, x, kernel, stride, padding="same"):
        out, attributes = self.window(x[1], kernel, stride, padding)
        return self.node("MaxPool", [x[0]], **attributes), (*out, x[1][2])

    def concat(self, x, y):
        return self.node("Concat", [x[0], y[0]], axis=1), (*x[1][:2], x[1][2] + y[1][2])

    def add(self, x, y):
        return self.node("Relu", [self.node("Add", [x[0], y[0]])]), x[1]

    def mean(self, x):
        return self.node("Flatten", [self.node("GlobalAveragePool", [x[0]])]), (x[1][2],)

    def dense(self, x, filters):
        w, bias = self.weights.conv(1, x[1][0], filters)
        return self.node("Gemm", [x[0], self.constant(w[0, 0]), self.constant(bias)]), (filters,)

    def model(self, y, dtype=TensorProto.FLOAT):
        shape = [1, *y[1]] if len(y[1]) == 1 else [1, y[1][2], *y[1][:2]]
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info("x", dtype, self.shape)],
                                  [helper.make_tensor_value_info(y[0], dtype, shape)], self.constants)
        return finish(graph)


def finish(graph):
    m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    m.ir_version = 8
    onnx.checker.check_model(m)
    return m


def int8_conv(name):
    """A QLinearConv from bytes to bytes, which no float is in the way of."""
    size, channels = networks.CONVS[name]
    b = Builder()
    b.input(size, size, channels)
    rng = np.random.default_rng(1)
    scalar = lambda v, dtype: b.constant(np.array(v, dtype))
    y = b.node("QLinearConv", ["x", scalar(0.02, np.float32), scalar(128, np.uint8),
                               b.constant(rng.integers(-127, 128, (channels, channels, 3, 3), np.int8)), b.constant(np.full(channels, 0.003, np.float32)),
                               b.constant(np.zeros(channels, np.int8)), scalar(0.5, np.float32), scalar(128, np.uint8),
                               b.constant(rng.integers(-100, 100, channels, np.int32))], kernel_shape=[3, 3], pads=[1] * 4)
    return b.model((y, (size, size, channels)), TensorProto.UINT8)


def rows(name, values):
    """A MatMulInteger of unsigned bytes by a matrix of these values."""
    b = Builder()
    w = np.random.default_rng(1).choice(np.array(values, np.int8), (networks.WIDTH, networks.WIDTH))
    shape = [networks.ROWS[name], networks.WIDTH]
    y = b.node("Cast", [b.node("MatMulInteger", ["x", b.constant(w)])], to=TensorProto.FLOAT)
    graph = helper.make_graph(b.nodes, "g", [helper.make_tensor_value_info("x", TensorProto.UINT8, shape)],
                              [helper.make_tensor_value_info(y, TensorProto.FLOAT, shape)], b.constants)
    return finish(graph)


class Pictures(CalibrationDataReader):
    def __init__(self, shape):
        rng = np.random.default_rng(2)
        self.left = [{"x": rng.uniform(-1, 1, shape).astype(np.float32)} for _ in range(4)]

    def get_next(self):
        return self.left.pop() if self.left else None


def contents(path):
    """What the file has: shapes, and multiply-adds by the type of their operands. It is counted from the file."""
    m = onnx.shape_inference.infer_shapes(onnx.load(path))
    g = m.graph
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in [*g.value_info, *g.input, *g.output]}
    shapes.update({c.name: list(c.dims) for c in g.initializer})
    made_by = {o: n.op_type for n in g.node for o in n.output}
    macs = dict(fp32=0, int8=0)
    for n in g.node:
        if n.op_type in ("Conv", "QLinearConv"):
            w = shapes[n.input[3 if n.op_type == "QLinearConv" else 1]]
            one = int(np.prod(w[1:]))
        elif n.op_type in ("Gemm", "MatMul", "MatMulInteger"):
            one = shapes[n.input[0]][-1]
        else:
            continue
        whole = n.op_type in ("QLinearConv", "MatMulInteger") or made_by.get(n.input[0]) == "DequantizeLinear"
        macs["int8" if whole else "fp32"] += int(np.prod(shapes[n.output[0]])) * one
    names = {c.name for c in g.initializer}
    return dict(inputs=[shapes[v.name] for v in g.input if v.name not in names], outputs=[shapes[v.name] for v in g.output], macs=macs)


def save(model, path):
    onnx.save(model, path)
    describe(path)


def describe(path):
    with open(path + ".json", "w") as f:
        json.dump(contents(path), f)


def main():
    folder, names = sys.argv[1], sys.argv[2:] or [*networks.CONVS, *networks.NETWORKS, *networks.ROWS]
    for name in names:
        if name in networks.ROWS:
            for kind, values in dict(int8=range(-127, 128), ternary=(-1, 0, 1), binary=(-1, 1)).items():
                save(rows(name, values), os.path.join(folder, f"{name}.{kind}.onnx"))
            continue
        f32, int8 = (os.path.join(folder, f"{name}.{kind}.onnx") for kind in ("f32", "int8"))
        b = Builder()
        save(b.model(networks.build(b, name)), f32)
        if name in networks.CONVS:
            save(int8_conv(name), int8)
        else:
            quantize_static(f32, int8, Pictures(b.shape), quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8,
                            weight_type=QuantType.QInt8, per_channel=True)
            describe(int8)


main()
