"""Writes the .tflite files of this folder and what TFLite's kernels computed of them, NAME.x*.npy and NAME.out.npy, and tflite.json.

    python3 -m venv v && v/bin/pip install ai-edge-litert==2.3.0 && v/bin/python gen_tflite.py

They are the reference kernels (BUILTIN_REF): the delegate XNNPACK, which LiteRT takes by default, multiplies by f32 numbers instead.
"""
import json
import sys

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as s
from ai_edge_litert.interpreter import Interpreter, OpResolverType

OUT = sys.argv[1] if len(sys.argv) > 1 else "."
INDEX = []
TYPES = {np.int8: s.TensorType.INT8, np.uint8: s.TensorType.UINT8, np.int32: s.TensorType.INT32, np.float32: s.TensorType.FLOAT32}
OP = s.BuiltinOperator


class Net:
    def __init__(self, name, seed):
        self.name, self.r = name, np.random.default_rng(seed)
        self.m, self.g = s.ModelT(), s.SubGraphT()
        self.m.version, self.m.subgraphs, self.m.buffers, self.m.operatorCodes = 3, [self.g], [s.BufferT()], []
        self.g.tensors, self.g.operators, self.g.inputs, self.g.outputs = [], [], [], []

    def tensor(self, shape, dtype, scales=None, zeros=None, data=None, axis=0, name=None):
        t = s.TensorT()
        t.name, t.shape, t.type = name or f"t{len(self.g.tensors)}", list(shape), TYPES[dtype]
        if scales is not None:
            q = t.quantization = s.QuantizationParametersT()
            q.scale, q.zeroPoint, q.quantizedDimension = [float(v) for v in np.atleast_1d(scales)], [int(v) for v in np.atleast_1d(zeros)], axis
        if data is not None:
            b = s.BufferT()
            b.data = np.frombuffer(np.ascontiguousarray(data, dtype).tobytes(), np.uint8)
            t.buffer = len(self.m.buffers)
            self.m.buffers.append(b)
        self.g.tensors.append(t)
        return len(self.g.tensors) - 1

    def input(self, shape, dtype, scale, zero):
        i = self.tensor(shape, dtype, scale, zero, name=f"x{len(self.g.inputs)}")
        self.g.inputs.append(i)
        return i

    def op(self, code, inputs, out, kind=None, options=None, version=3):
        c = s.OperatorCodeT()
        c.builtinCode, c.deprecatedBuiltinCode, c.version = code, min(code, 127), version
        o = s.OperatorT()
        o.opcodeIndex, o.inputs, o.outputs = len(self.m.operatorCodes), inputs, [out]
        if options is not None:
            o.builtinOptionsType, o.builtinOptions = kind, options
        self.m.operatorCodes.append(c)
        self.g.operators.append(o)
        return out

    def q(self, i):
        q = self.g.tensors[i].quantization
        return np.float32(q.scale[0]), q.zeroPoint[0]

    def conv(self, x, out_shape, o, k, dtype, yq, depthwise=False, per=True, stride=1, same=True, act=0, bias=True):
        c = self.g.tensors[x].shape[3]
        shape = (1, k, k, o) if depthwise else (o, k, k, c)
        axis = 3 if depthwise else 0
        if dtype == np.int8:
            ws, wz, data = self.r.uniform(0.002, 0.02, o if per else 1).astype(np.float32), 0, self.r.integers(-127, 128, shape)
        else:
            ws, wz, data = np.float32([0.011]), 121, self.r.integers(0, 256, shape)
        w = self.tensor(shape, dtype, ws, np.full(len(ws), wz), data, axis)
        inputs = [x, w]
        if bias:
            inputs.append(self.tensor([o], np.int32, ws * self.q(x)[0], np.zeros(len(ws)), self.r.integers(-9000, 9000, o)))
        y = self.tensor(out_shape, dtype, *yq)
        t = s.DepthwiseConv2DOptionsT() if depthwise else s.Conv2DOptionsT()
        t.strideW = t.strideH = stride
        t.padding, t.fusedActivationFunction, t.dilationWFactor, t.dilationHFactor = 0 if same else 1, act, 1, 1
        if depthwise:
            t.depthMultiplier = o // c
            return self.op(OP.DEPTHWISE_CONV_2D, inputs, y, s.BuiltinOptions.DepthwiseConv2DOptions, t)
        return self.op(OP.CONV_2D, inputs, y, s.BuiltinOptions.Conv2DOptions, t)

    def full(self, x, rows, o, dtype, yq, per=False, act=0):
        i = int(np.prod(self.g.tensors[x].shape)) // rows
        if dtype == np.int8:
            ws, wz, data = self.r.uniform(0.002, 0.02, o if per else 1).astype(np.float32), 0, self.r.integers(-127, 128, (o, i))
        else:
            ws, wz, data = np.float32([0.011]), 121, self.r.integers(0, 256, (o, i))
        w = self.tensor((o, i), dtype, ws, np.full(len(ws), wz), data)
        b = self.tensor([o], np.int32, ws * self.q(x)[0], np.zeros(len(ws)), self.r.integers(-9000, 9000, o))
        t = s.FullyConnectedOptionsT()
        t.fusedActivationFunction = act
        return self.op(OP.FULLY_CONNECTED, [x, w, b], self.tensor((rows, o), dtype, *yq), s.BuiltinOptions.FullyConnectedOptions, t, 4)

    def weights(self, dtype, *shape):
        return self.r.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape)

    def add(self, a, b, yq, act=0, sub=False, shape=None):
        dtype = {v: k for k, v in TYPES.items()}[self.g.tensors[a].type]
        t = s.SubOptionsT() if sub else s.AddOptionsT()
        t.fusedActivationFunction = act
        if shape is None:
            shape = np.maximum(self.g.tensors[a].shape, self.g.tensors[b].shape)
        y = self.tensor(shape, dtype, *yq)
        if sub:
            return self.op(OP.SUB, [a, b], y, s.BuiltinOptions.SubOptions, t, 2)
        return self.op(OP.ADD, [a, b], y, s.BuiltinOptions.AddOptions, t, 2)

    def mul(self, a, b, yq, act=0):
        dtype = {v: k for k, v in TYPES.items()}[self.g.tensors[a].type]
        t = s.MulOptionsT()
        t.fusedActivationFunction = act
        y = self.tensor(np.maximum(self.g.tensors[a].shape, self.g.tensors[b].shape), dtype, *yq)
        return self.op(OP.MUL, [a, b], y, s.BuiltinOptions.MulOptions, t, 2)

    def pool(self, x, kind, k, stride, shape, act=0, same=False):
        dtype = {v: k for k, v in TYPES.items()}[self.g.tensors[x].type]
        t = s.Pool2DOptionsT()
        t.padding, t.strideW, t.strideH, t.filterWidth, t.filterHeight, t.fusedActivationFunction = 0 if same else 1, stride, stride, k, k, act
        return self.op(kind, [x], self.tensor(shape, dtype, *self.q(x)), s.BuiltinOptions.Pool2DOptions, t, 2)

    def mean(self, x, yq):
        sh = self.g.tensors[x].shape
        dtype = {v: k for k, v in TYPES.items()}[self.g.tensors[x].type]
        t = s.ReducerOptionsT()
        t.keepDims = False
        axes = self.tensor([2], np.int32, data=[1, 2])
        return self.op(OP.MEAN, [x, axes], self.tensor((sh[0], sh[3]), dtype, *yq), s.BuiltinOptions.ReducerOptions, t, 2)

    def done(self, y, kernels=OpResolverType.BUILTIN_REF):
        self.g.outputs = [y]
        b = flatbuffers.Builder(1024)
        b.Finish(self.m.Pack(b), b"TFL3")
        path = f"{OUT}/{self.name}.tflite"
        open(path, "wb").write(b.Output())
        it = Interpreter(path, experimental_op_resolver_type=kernels)
        it.allocate_tensors()
        names = []
        for k, d in enumerate(it.get_input_details()):
            i = np.iinfo(d["dtype"])
            v = self.r.integers(i.min, i.max + 1, d["shape"]).astype(d["dtype"])
            it.set_tensor(d["index"], v)
            np.save(f"{OUT}/{self.name}.x{k}.npy", v)
            names.append(f"x{k}")
        it.invoke()
        np.save(f"{OUT}/{self.name}.out.npy", it.get_tensor(it.get_output_details()[0]["index"]))
        INDEX.append({"name": self.name, "inputs": names, "within": 0})


def middle(dtype):
    z = 0 if dtype == np.int8 else 128
    return z


for dtype, t in [(np.int8, "s8"), (np.uint8, "u8")]:
    z = middle(dtype)
    n = Net(f"tfl_conv_{t}", 1)
    x = n.input((2, 9, 8, 5), dtype, 0.031, z - 4)
    n.done(n.conv(x, (2, 9, 8, 12), 12, 3, dtype, (0.37, z + 7)))
    n = Net(f"tfl_conv_relu6_{t}", 2)
    x = n.input((1, 9, 9, 33), dtype, 0.031, z - 4)
    n.done(n.conv(x, (1, 4, 4, 12), 12, 3, dtype, (0.031, z - 100), stride=2, same=False, act=3))
    n = Net(f"tfl_depthwise_{t}", 3)
    x = n.input((1, 8, 8, 6), dtype, 0.031, z - 4)
    n.done(n.conv(x, (1, 8, 8, 12), 12, 3, dtype, (0.17, z - 3), depthwise=True))
    # LiteRT 2 multiplies sums of dense layers in f64: with these seeds none lies where that rounds otherwise than the product of integers.
    n = Net(f"tfl_full_{t}", 14)
    x = n.input((3, 40), dtype, 0.02, z + 9)
    n.done(n.full(x, 3, 21, dtype, (0.19, z + 1)))
    n = Net(f"tfl_add_{t}", 5)
    a, b = n.input((1, 6, 7, 19), dtype, 0.02, z + 9), n.input((1, 6, 7, 19), dtype, 0.033, z - 6)
    n.done(n.add(a, b, (0.041, z + 2), act=1))
    n = Net(f"tfl_sub_{t}", 6)
    a, b = n.input((1, 6, 7, 19), dtype, 0.02, z + 9), n.input((1, 6, 7, 19), dtype, 0.033, z - 6)
    n.done(n.add(a, b, (0.041, z + 2), sub=True))
    n = Net(f"tfl_average_{t}", 7)
    x = n.input((1, 8, 8, 19), dtype, 0.02, z + 9)
    n.done(n.pool(x, OP.AVERAGE_POOL_2D, 3, 2, (1, 3, 3, 19)))
    n = Net(f"tfl_average_same_{t}", 17)  # windows of 4, 6 and 9 pixels
    x = n.input((1, 7, 8, 19), dtype, 0.02, z + 9)
    n.done(n.pool(x, OP.AVERAGE_POOL_2D, 3, 1, (1, 7, 8, 19), act=3, same=True))
    n = Net(f"tfl_max_{t}", 8)
    x = n.input((1, 8, 8, 19), dtype, 0.02, z + 9)
    n.done(n.pool(x, OP.MAX_POOL_2D, 2, 2, (1, 4, 4, 19)))
    n = Net(f"tfl_mean_{t}", 9)
    x = n.input((2, 7, 7, 19), dtype, 0.02, z + 9)
    n.done(n.mean(x, (0.013, z - 7)))
    n = Net(f"tfl_mean_same_{t}", 10)
    x = n.input((2, 5, 5, 19), dtype, 0.02, z + 9)
    n.done(n.mean(x, (0.02, z + 9)))
    if dtype == np.int8:
        n = Net("tfl_full_channels_s8", 11)
        x = n.input((3, 40), dtype, 0.02, z + 9)
        n.done(n.full(x, 3, 21, dtype, (0.19, z + 1), per=True))
        n = Net("tfl_conv_tensor_s8", 12)
        x = n.input((2, 9, 8, 5), dtype, 0.031, z - 4)
        n.done(n.conv(x, (2, 9, 8, 12), 12, 3, dtype, (0.37, z + 7), per=False))
    n = Net(f"tfl_mul_{t}", 13)
    a, b = n.input((1, 6, 7, 19), dtype, 0.02, z + 9), n.input((1, 6, 7, 19), dtype, 0.05, z - 6)
    n.done(n.mul(a, b, (0.01, z + 2)))  # many products are halves of the new scale
    n = Net(f"tfl_mul_channels_{t}", 15)  # by a number for each channel, as squeeze and excitation has it, that is larger than the result's scale
    a, b = n.input((2, 6, 7, 19), dtype, 0.3, z + 9), n.input((2, 1, 1, 19), dtype, 1 / 16, z - 128 if t == "s8" else 0)
    n.done(n.mul(a, b, (0.006, z + 2), act=1))
    n = Net(f"tfl_block_{t}", 20)  # a residual block of MobileNetV2, pools and a classifier
    x = n.input((1, 12, 12, 3), dtype, 0.02, z - 4)
    x = n.conv(x, (1, 12, 12, 16), 16, 3, dtype, (0.0235, -128 + z), act=3)
    x = n.pool(x, OP.MAX_POOL_2D, 2, 2, (1, 6, 6, 16))
    y = n.conv(x, (1, 6, 6, 16), 16, 3, dtype, (0.0235, -128 + z), depthwise=True, act=3)
    y = n.conv(y, (1, 6, 6, 16), 16, 1, dtype, (0.09, z + 5))
    x = n.add(x, y, (0.1, z - 2))
    x = n.mean(x, (0.05, z - 2))
    n.done(n.full(x, 1, 10, dtype, (0.2, z)))

n = Net("tfl_concat_u8", 30)  # of scales of their own, of which TFLite has none of int8
a, b, c = n.input((2, 6, 7, 19), np.uint8, 0.0313, 101), n.input((2, 6, 7, 5), np.uint8, 0.02, 7), n.input((2, 6, 7, 8), np.uint8, 0.04, 120)
o = s.ConcatenationOptionsT()
o.axis, o.fusedActivationFunction = 3, 0
n.done(n.op(OP.CONCATENATION, [a, b, c], n.tensor((2, 6, 7, 32), np.uint8, 0.04, 120), s.BuiltinOptions.ConcatenationOptions, o, version=1))

for dtype, t in [(np.int8, "s8"), (np.uint8, "u8")]:
    z = middle(dtype)
    low = np.iinfo(dtype).min

    def every(n, scale, zero):  # an input of many levels, as functions of single numbers have a table
        return n.input((1, 16, 16, 8), dtype, scale, zero)

    def like(n, x, yq):
        return n.tensor(n.g.tensors[x].shape, dtype, *yq)

    n = Net(f"tfl_requantize_{t}", 40)
    x = every(n, 0.031, z - 4)
    n.done(n.op(OP.QUANTIZE, [x], like(n, x, (0.0231, z + 17)), version=2))
    n = Net(f"tfl_relu_{t}", 41)
    x = every(n, 0.031, z - 4)
    n.done(n.op(OP.RELU6, [x], like(n, x, (0.0235, low)), version=2))
    n = Net(f"tfl_leaky_{t}", 42)
    x = every(n, 0.031, z - 4)
    o = s.LeakyReluOptionsT()
    o.alpha = 0.3
    n.done(n.op(OP.LEAKY_RELU, [x], like(n, x, (0.0231, z + 17)), s.BuiltinOptions.LeakyReluOptions, o, version=2))
    n = Net(f"tfl_hard_swish_{t}", 43)
    x = every(n, 0.05, z - 4)
    n.done(n.op(OP.HARD_SWISH, [x], like(n, x, (0.031, z - 90)), s.BuiltinOptions.HardSwishOptions, s.HardSwishOptionsT(), version=1))
    n = Net(f"tfl_constants_{t}", 44)
    x = every(n, 0.031, z - 4)
    x = n.add(x, n.tensor((1, 1, 1, 8), dtype, 0.0213, z + 9, n.weights(dtype, 1, 1, 1, 8)), (0.037, z + 2))
    x = n.mul(n.tensor((1, 1, 1, 1), dtype, 0.05, z - 9, n.weights(dtype, 1, 1, 1, 1)), x, (0.04, z + 30))
    n.done(n.add(x, n.tensor((8,), dtype, 0.0213, z + 9, n.weights(dtype, 8)), (0.037, z + 2), sub=True, shape=(1, 16, 16, 8)))

json.dump({"networks": INDEX}, open(f"{OUT}/tflite.json", "w"), indent=1)
