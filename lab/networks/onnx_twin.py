"""Makes an ONNX model of the float network in whose place a ripc model stands: the same layers and shapes, random weights. Prints the least
time of a run on one thread, in milliseconds, or writes the model to a second argument."""
import json
import os
import struct
import sys
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

model = json.load(open(sys.argv[1]))
rng = np.random.default_rng(1)
stored = {}  # shapes of the weights, which say what attributes leave out
if isinstance(model["weights"], str):
    with open(os.path.join(os.path.dirname(sys.argv[1]), model["weights"]), "rb") as f:
        head = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
    stored = {key: t["shape"] for key, t in head.items() if key != "__metadata__"}
nodes, constants, shape, of = [], [], {}, {}


def constant(name, value):
    constants.append(numpy_helper.from_array(value, name))
    return name


def pads(attrs, h, w, kernel, strides):
    p = attrs.get("padding", "valid")
    if p == "valid":
        return [0, 0, 0, 0]
    if p != "same":
        return [p[0], p[2], p[1], p[3]]
    out = []
    for size, k, s in zip((h, w), kernel, strides):
        out.append(max(0, (-(-size // s) - 1) * s + k - size))
    return [out[0] // 2, out[1] // 2, out[0] - out[0] // 2, out[1] - out[1] // 2]


def emit(op, inputs, name, **attrs):
    nodes.append(helper.make_node(op, inputs, [name], name=name, **attrs))
    return name


def norm(name, x, c):
    v = lambda key, low: constant(f"{name}.{key}", (low + 0.2 * rng.random(c)).astype(np.float32))
    return emit("BatchNormalization", [x, v("gamma", 0.9), v("beta", -0.1), v("mean", -0.1), v("var", 0.9)], name)


def weights(name, dims, fan):
    return constant(name + ".w", ((2 * rng.random(dims, dtype=np.float32) - 1) * np.float32((6 / fan) ** 0.5)))


image = model["inputs"][0]
s = image["shape"]
graph_shape = [1, s[3], s[1], s[2]] if len(s) == 4 else s
shape[image["name"]], of[image["name"]] = graph_shape, image["name"]

for n in model["nodes"]:
    op, name, a = n["op"], n["name"], n.get("attrs", {})
    ins = [of[i] for i in n["inputs"]]
    first = shape[n["inputs"][0]]
    y, out = name, list(first)
    if op.endswith("conv2d"):
        of_file = stored.get(name + ".w", [0, 0, 0, 0])
        k, st, g, o = a.get("kernel", of_file[:2]), a.get("strides", [1, 1]), a.get("groups", 1), a.get("filters", of_file[3])
        p = pads(a, first[2], first[3], k, st)
        w = weights(name, (o, first[1] // g, *k), first[1] // g * k[0] * k[1])
        y = emit("Conv", [ins[0], w], name, kernel_shape=k, strides=st, pads=p, group=g)
        out = [1, o, (first[2] + p[0] + p[2] - k[0]) // st[0] + 1, (first[3] + p[1] + p[3] - k[1]) // st[1] + 1]
    elif op.endswith("conv_transpose2d"):
        k, st, o = a["kernel"], a["strides"], a["filters"]
        y = emit("ConvTranspose", [ins[0], weights(name, (first[1], o, *k), first[1])], name, kernel_shape=k, strides=st)
        out = [1, o, first[2] * st[0], first[3] * st[1]]
    elif op.endswith("dense"):
        units = a["units"] if "units" in a else stored[name + ".w"][1]
        y = emit("Gemm", [ins[0], weights(name, (first[1], units), first[1])], name)
        out = [1, units]
    elif op in ("batch_norm", "shift_norm"):
        y = norm(name if op == "batch_norm" else name + "_bn", ins[0], first[1])
        if op == "shift_norm":
            y = emit("Relu", [y], name)
    elif op in ("quantize", "threshold", "relu"):
        y = emit("Relu", ins, name)
    elif op in ("dequantize", "greater"):
        y = ins[0]
    elif op in ("max_pool", "avg_pool"):
        k, st = a["kernel"], a.get("strides", a["kernel"])
        p = pads(a, first[2], first[3], k, st)
        y = emit("MaxPool" if op == "max_pool" else "AveragePool", ins, name, kernel_shape=k, strides=st, pads=p)
        out = [1, first[1], (first[2] + p[0] + p[2] - k[0]) // st[0] + 1, (first[3] + p[1] + p[3] - k[1]) // st[1] + 1]
    elif op == "global_avg_pool":
        y = emit("Flatten", [emit("GlobalAveragePool", ins, name + "_mean")], name)
        out = first[:2]
    elif op == "flatten":
        y, out = emit("Flatten", ins, name), [1, int(np.prod(first))]
    elif op == "reshape":
        t = a["shape"]
        out = [t[0], t[3], t[1], t[2]]
        y = emit("Reshape", [ins[0], constant(name + ".shape", np.array(out, np.int64))], name)
    elif op == "concat":
        y, out = emit("Concat", ins, name, axis=1), [1, sum(shape[i][1] for i in n["inputs"]), *first[2:]]
    elif op in ("add", "sub", "mul"):
        if len(ins) == 1:
            ins.append(constant(name + ".b", rng.random((1, first[1], 1, 1), dtype=np.float32)))
        y = emit(op.capitalize(), ins, name)
    elif op == "prelu":
        y = emit("PRelu", [ins[0], constant(name + ".alpha", rng.random((first[1], 1, 1), dtype=np.float32))], name)
    elif op == "pad":
        p = a["padding"]
        y = emit("Pad", [ins[0], constant(name + ".pads", np.array([0, 0, p[0], p[2], 0, 0, p[1], p[3]], np.int64))], name)
        out = [1, first[1], first[2] + p[0] + p[1], first[3] + p[2] + p[3]]
    elif op == "slice":
        b, size = ([v[0], v[3], v[1], v[2]] for v in (a["begin"], a["size"]))
        v = lambda key, value: constant(f"{name}.{key}", np.array(value, np.int64))
        y, out = emit("Slice", [ins[0], v("from", b), v("to", [i + j for i, j in zip(b, size)])], name), size
    elif op in ("sigmoid", "softmax"):
        y = emit(op.capitalize(), ins, name)
    else:
        sys.exit(f"no float form of {op}")
    of[name], shape[name] = y, out

value = lambda name, dims: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
result = model["outputs"][0]
graph = helper.make_graph(nodes, model["name"], [value(image["name"], graph_shape)], [value(of[result], shape[result])], constants)
made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
made.ir_version = 8
if len(sys.argv) > 2:
    onnx.save(made, sys.argv[2])
    sys.exit()
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
feed = {image["name"]: rng.random(graph_shape, dtype=np.float32)}
best, runs, until = float("inf"), 0, time.monotonic() + 1
while runs < 10 or time.monotonic() < until:
    start = time.perf_counter()
    session.run(None, feed)
    best, runs = min(best, time.perf_counter() - start), runs + 1
print(1000 * best)
