"""Writes ops.zip: small models of every op that the importer reads, an input and the expected outputs of each.

    python3 -m venv v && v/bin/pip install onnx==1.19.1 onnxruntime==1.31.1 qonnx==1.0.0 && v/bin/python gen.py

Standard operators are computed by onnxruntime, QONNX's by qonnx's executor.
"""
import io, sys, zipfile
import numpy as np, onnx, onnxruntime as ort
from onnx import TensorProto as T, helper as h, numpy_helper as nh
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

Q = "qonnx.custom_op.general"
ZIP = zipfile.ZipFile(sys.argv[1] if len(sys.argv) > 1 else "ops.zip", "w", zipfile.ZIP_DEFLATED)
names = set()


class M:
    """One model: x is its input, every call adds a node and returns its output's name."""

    def __init__(self, name, shape, opset=13, seed=0, low=-4, high=4, grid=16, dtype=np.float32, qopset=1):
        assert name not in names, name
        names.add(name)
        self.name, self.opset, self.qopset = name, opset, qopset
        self.r = np.random.default_rng([seed] + [ord(c) for c in name])
        self.nodes, self.inits, self.k, self.qonnx = [], [], 0, False
        self.inputs = {}
        self.x = self.input("x", shape, low, high, grid, dtype)

    def input(self, name, shape, low=-4, high=4, grid=16, dtype=np.float32):
        v = self.r.integers(low * grid, high * grid + 1, shape).astype(np.float64) / grid
        self.inputs[name] = v.astype(dtype)
        return name

    def c(self, v, dtype=np.float32):
        n = "c%d" % len(self.inits)
        self.inits.append(nh.from_array(np.asarray(v, dtype), n))
        return n

    def w(self, *shape, scale=1.0, positive=False):
        v = self.r.integers(-32, 33, shape).astype(np.float32) / 32 * scale
        if positive:
            v = np.abs(v) + 0.25
        return self.c(v)

    def i(self, *v):
        return self.c(list(v), np.int64)

    def __call__(self, op, *ins, outs=1, **attrs):
        out = ["%s_%d%s" % (op.lower(), self.k, "" if j == 0 else "_%d" % j) for j in range(outs)]
        self.k += 1
        self.nodes.append(h.make_node(op, list(ins), out, **attrs))
        return out[0] if outs == 1 else out

    def q(self, op, *ins, **attrs):
        self.qonnx = True
        return self(op, *ins, domain=Q, **attrs)

    def done(self, *outs, **kw):
        types = {np.dtype(np.float32): T.FLOAT, np.dtype(np.uint8): T.UINT8, np.dtype(np.int8): T.INT8}
        g = h.make_graph(self.nodes, self.name, [h.make_tensor_value_info(n, types[v.dtype], kw.get("dims", {}).get(n, list(v.shape))) for n, v in self.inputs.items()],
                         [h.make_tensor_value_info(o, kw.get("otype", T.FLOAT), None) for o in outs], self.inits)
        imports = [h.make_opsetid("", self.opset)] + ([h.make_opsetid(Q, self.qopset)] if self.qonnx else [])
        m = h.make_model(g, opset_imports=imports, ir_version=8, producer_name="ripc-tests")
        if self.qonnx:
            mw = ModelWrapper(m)
            for o in outs:
                mw.set_tensor_shape(o, [1])
            res = self.run_qonnx(m, outs)
        else:
            so = ort.SessionOptions()
            so.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
            so.log_severity_level = 3
            s = ort.InferenceSession(m.SerializeToString(), so, providers=["CPUExecutionProvider"])
            res = s.run(list(outs), self.inputs)
        self.put(self.name + ".onnx", m.SerializeToString())
        for k, (n, v) in enumerate(self.inputs.items()):
            self.npy("%s.in%d.npy" % (self.name, k), v)
        for k, v in enumerate(res):
            self.npy("%s.out%d.npy" % (self.name, k), np.asarray(v))

    def run_qonnx(self, m, outs):
        """Node by node: qonnx's operators by its own code, others by onnxruntime."""
        from qonnx.custom_op.registry import getCustomOp
        env = {nh_.name: nh.to_array(nh_) for nh_ in m.graph.initializer}
        env.update(self.inputs)
        for n in m.graph.node:
            if n.domain == Q:
                getCustomOp(n, onnx_opset_version=self.qopset).execute_node(env, m.graph)
                continue
            ins = [i for i in n.input if i]
            g = h.make_graph([n], "one", [h.make_tensor_value_info(i, h.np_dtype_to_tensor_dtype(np.asarray(env[i]).dtype), list(np.asarray(env[i]).shape)) for i in dict.fromkeys(ins)],
                             [h.make_tensor_value_info(o, T.FLOAT, None) for o in n.output])
            s = ort.InferenceSession(h.make_model(g, opset_imports=[h.make_opsetid("", self.opset)], ir_version=8).SerializeToString(), providers=["CPUExecutionProvider"])
            for o, v in zip(n.output, s.run(None, {i: np.asarray(env[i]) for i in ins})):
                env[o] = v
        return [env[o] for o in outs]

    def put(self, name, data):
        z = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        z.compress_type = zipfile.ZIP_DEFLATED
        ZIP.writestr(z, data)

    def npy(self, name, v):
        b = io.BytesIO()
        np.save(b, np.ascontiguousarray(v))
        self.put(name, b.getvalue())


def conv(name, shape, w, opset=13, bias=False, **attrs):
    m = M("conv_" + name, shape, opset)
    ins = [m.x, m.w(*w)] + ([m.w(w[0])] if bias else [])
    m.done(m("Conv", *ins, **attrs))


conv("plain", [1, 3, 7, 6], [4, 3, 3, 3])
conv("bias_stride", [2, 3, 8, 9], [5, 3, 3, 2], bias=True, strides=[2, 1], pads=[1, 0, 1, 1])
conv("groups", [1, 6, 5, 5], [9, 2, 3, 3], group=3, pads=[1, 1, 1, 1])
conv("depthwise", [1, 5, 6, 6], [5, 1, 3, 3], group=5, strides=[2, 2], pads=[0, 1, 1, 0], bias=True)
conv("dilated", [1, 3, 9, 9], [4, 3, 3, 3], dilations=[2, 3], pads=[2, 3, 2, 3])
conv("asymmetric", [1, 3, 6, 7], [2, 3, 3, 3], pads=[0, 2, 1, 0])
conv("same_upper", [1, 3, 7, 8], [4, 3, 3, 4], auto_pad="SAME_UPPER", strides=[2, 2])
conv("same_lower", [1, 3, 7, 8], [4, 3, 2, 4], auto_pad="SAME_LOWER", strides=[2, 2])
conv("valid", [1, 3, 7, 8], [4, 3, 3, 3], auto_pad="VALID")
conv("pads_beyond_kernel", [1, 2, 4, 4], [3, 2, 1, 1], pads=[1, 2, 0, 1])
conv("opset9", [1, 3, 5, 5], [4, 3, 3, 3], opset=9, kernel_shape=[3, 3])
conv("one_channel", [1, 1, 6, 6], [4, 1, 3, 3], opset=20)

for name, attrs in {
    "plain": dict(kernel_shape=[2, 2], strides=[2, 2]), "default_stride": dict(kernel_shape=[3, 2]),
    "pads": dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 1]), "ceil": dict(kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
    "ceil_pads": dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 1, 1], ceil_mode=1), "ceil_drop": dict(kernel_shape=[2, 2], strides=[3, 3], pads=[1, 1, 1, 1], ceil_mode=1),
    "same_upper": dict(kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER"), "same_lower": dict(kernel_shape=[2, 2], strides=[1, 2], auto_pad="SAME_LOWER"),
}.items():
    m = M("maxpool_" + name, [1, 3, 8, 7], 12)
    m.done(m("MaxPool", m.x, **attrs))
    m = M("avgpool_" + name, [1, 3, 8, 7], 19)
    m.done(m("AveragePool", m.x, **attrs))
    m = M("avgpool_count_" + name, [1, 3, 8, 7], 19)
    m.done(m("AveragePool", m.x, count_include_pad=1, **attrs))

m = M("gap", [2, 3, 4, 5]); m.done(m("GlobalAveragePool", m.x))
m = M("gmp", [2, 3, 4, 5]); m.done(m("GlobalMaxPool", m.x))
m = M("gap_flatten", [2, 3, 4, 5]); m.done(m("Flatten", m("GlobalAveragePool", m.x)))
m = M("mean_hw_keep", [1, 3, 4, 5]); m.done(m("ReduceMean", m.x, axes=[2, 3]))
m = M("mean_hw_18", [1, 3, 4, 5], 18); m.done(m("ReduceMean", m.x, m.i(-1, -2), keepdims=0))
m = M("mean_w", [1, 3, 4, 5]); m.done(m("ReduceMean", m.x, axes=[3], keepdims=0))
m = M("mean_c", [1, 3, 4, 5]); m.done(m("ReduceMean", m.x, axes=[1]))
m = M("mean_chw", [2, 3, 4, 5]); m.done(m("ReduceMean", m.x, axes=[1, 2, 3], keepdims=0))
m = M("mean_c_w", [2, 3, 4, 5]); m.done(m("ReduceMean", m.x, axes=[1, 3], keepdims=0))
m = M("mean_sequence", [2, 5, 6]); m.done(m("ReduceMean", m.x, axes=[1], keepdims=0))
m = M("max_hw", [1, 3, 4, 5]); m.done(m("ReduceMax", m.x, axes=[2, 3], keepdims=0))
m = M("sum_hw", [1, 3, 4, 5]); m.done(m("ReduceSum", m.x, m.i(2, 3)))

for name, a in {"nn": {}, "tn": dict(transB=1), "alpha": dict(alpha=0.5, beta=2.0, transB=1)}.items():
    m = M("gemm_" + name, [3, 6]); m.done(m("Gemm", m.x, m.w(*([4, 6] if a.get("transB") else [6, 4])), m.w(4), **a))
m = M("gemm_trans_a", [6, 3]); m.done(m("Gemm", m.x, m.w(6, 4), transA=1))
m = M("gemm_scalar_c", [3, 6]); m.done(m("Gemm", m.x, m.w(6, 4), m.c(0.75)))
m = M("gemm_column_c", [3, 6]); m.done(m("Gemm", m.x, m.w(6, 4), m.w(3, 1), beta=0.5))
m = M("gemm_full_c", [3, 6]); m.done(m("Gemm", m.x, m.w(6, 4), m.w(3, 4)))
m = M("gemm_computed_c", [3, 4]); m.done(m("Gemm", m.x, m.w(4, 4), m("Relu", m.x), beta=0.5))
m = M("gemm_beta0", [3, 6]); m.done(m("Gemm", m.x, m.w(6, 4), m.w(4), beta=0.0))
m = M("matmul_add", [2, 6]); m.done(m("Add", m("MatMul", m.x, m.w(6, 4)), m.w(4)))
m = M("matmul_3d", [2, 3, 6]); m.done(m("MatMul", m.x, m.w(6, 4)))
m = M("matmul_4d", [1, 2, 3, 6]); m.done(m("MatMul", m.x, m.w(1, 1, 6, 4)))
m = M("matmul_vector", [3, 6]); m.done(m("MatMul", m.x, m.w(6)))
m = M("matmul_3d_vector", [2, 3, 6]); m.done(m("MatMul", m.x, m.w(6)))
m = M("matmul_nhwc", [1, 6, 3, 4]); m.done(m("MatMul", m("Transpose", m.x, perm=[0, 2, 3, 1]), m.w(6, 5)))

for shape in ([1, 4, 3, 5], [2, 4], [2, 4, 5]):
    for opset in (9, 13, 15):
        m = M("bn_%d_%d" % (len(shape), opset), shape, opset)
        m.done(m("BatchNormalization", m.x, m.w(4), m.w(4), m.w(4), m.w(4, positive=True), epsilon=1e-3))

for op, a in {"Relu": {}, "LeakyRelu": dict(alpha=0.3), "Neg": {}, "Abs": {}, "Floor": {}, "Ceil": {}, "Round": {}, "Sign": {}, "Identity": {}, "HardSigmoid": {}, "HardSwish": {}}.items():
    m = M("act_" + op.lower(), [1, 3, 4, 5], 14, grid=4); m.done(m(op, m.x, **a))
m = M("hardsigmoid_ab", [2, 5]); m.done(m("HardSigmoid", m.x, alpha=0.25, beta=0.4))
m = M("relu_2d", [2, 5]); m.done(m("Relu", m.x))
m = M("clip_9", [1, 3, 4, 5], 9); m.done(m("Clip", m.x, min=-0.5, max=1.25))
m = M("clip_9_min", [1, 3, 4, 5], 9); m.done(m("Clip", m.x, min=0.25))
m = M("clip_11", [1, 3, 4, 5], 11); m.done(m("Clip", m.x, m.c(-0.5), m.c(1.25)))
m = M("clip_11_max", [1, 3, 4, 5], 11); m.done(m("Clip", m.x, "", m.c(1.25)))
m = M("clip_relu6", [1, 3, 4, 5], 11, low=-9, high=9); m.done(m("Clip", m.x, m.c(0), m.c(6)))
m = M("clip_tanh", [2, 5]); m.done(m("Clip", m.x, m.c(-1), m.c(1)))
m = M("clip_none", [2, 5]); m.done(m("Relu", m("Clip", m.x)))
m = M("max_min", [2, 5]); m.done(m("Min", m("Max", m.x, m.c(-1.5)), m.c(2.0)))
m = M("prelu_channel", [1, 3, 4, 5]); m.done(m("PRelu", m.x, m.w(3, 1, 1)))
m = M("prelu_one", [1, 3, 4, 5]); m.done(m("PRelu", m.x, m.w(1)))
m = M("prelu_2d", [2, 5]); m.done(m("PRelu", m.x, m.w(5)))
m = M("prelu_full", [1, 3, 4, 5]); m.done(m("PRelu", m.x, m.w(3, 4, 5)))
m = M("prelu_row", [1, 3, 4, 5]); m.done(m("PRelu", m.x, m.w(5)))

for op in ("Add", "Sub", "Mul", "Div"):
    for name, s in {"scalar": [], "one": [1], "channel": [3, 1, 1], "channel4": [1, 3, 1, 1], "row": [5], "full": [1, 3, 4, 5], "spatial": [4, 5], "grow": [2, 3, 1, 1]}.items():
        m = M("%s_%s" % (op.lower(), name), [1, 3, 4, 5]); m.done(m(op, m.x, m.w(*s, positive=True)))
    m = M("%s_reverse" % op.lower(), [1, 3, 4, 5], low=1, high=4); m.done(m(op, m.w(3, 1, 1), m.x))
    m = M("%s_reverse_full" % op.lower(), [1, 3, 4, 5], low=1, high=4); m.done(m(op, m.w(1, 3, 4, 5), m.x))
    m = M("%s_two" % op.lower(), [1, 3, 4, 5], low=1, high=4); m.done(m(op, m.x, m.input("y", [1, 3, 4, 5], 1, 4)))
    m = M("%s_two_broadcast" % op.lower(), [1, 3, 4, 5], low=1, high=4); m.done(m(op, m.x, m.input("y", [5], 1, 4)))
m = M("add_self", [2, 3]); m.done(m("Add", m.x, m.x))
m = M("add_enlarge_rank", [3]); m.done(m("Add", m.x, m.w(2, 3)))
m = M("mul_two_gate", [1, 3, 4, 5]); m.done(m("Mul", m.x, m("HardSigmoid", m("GlobalAveragePool", m.x))))
m = M("mul_conv_transposed", [1, 3, 4, 5]); m.done(m("Add", m("Transpose", m("Relu", m.x), perm=[0, 1, 3, 2]), m("Transpose", m.x, perm=[0, 1, 3, 2])))
m = M("sum3", [2, 3]); m.done(m("Sum", m.x, m.w(3), m.w(2, 3)))
m = M("constant_left", [2, 3]); m.done(m("Add", m("Sqrt", m.w(3, positive=True)), m.x))

for axis in (0, 1, 2, 3, -3):
    m = M("concat_%d" % axis, [1, 3, 4, 5]); m.done(m("Concat", m.x, m("Relu", m.x), axis=axis))
m = M("concat_constant", [1, 3, 4, 5]); m.done(m("Concat", m.w(1, 2, 4, 5), m.x, axis=1))
m = M("concat_flat", [1, 3, 2, 2]); m.done(m("Concat", m("Flatten", m.x), m("Flatten", m("Neg", m.x)), axis=1))
m = M("concat_rows", [1, 3, 4, 5]); m.done(m("Conv", m("Concat", m.x, m.x, axis=2), m.w(2, 3, 3, 3)))

m = M("slice_9", [1, 3, 6, 5], 9); m.done(m("Slice", m.x, axes=[2, 3], starts=[1, -4], ends=[-1, 1000]))
m = M("slice_9_noaxes", [2, 6], 9); m.done(m("Slice", m.x, starts=[0, 2], ends=[1, 5]))
m = M("slice_steps", [1, 3, 6, 5]); m.done(m("Slice", m.x, m.i(0, 1), m.i(9, 9), m.i(2, 3), m.i(2, 3)))
m = M("slice_reverse", [1, 3, 6, 5]); m.done(m("Slice", m.x, m.i(-1), m.i(-(2**63) + 1), m.i(1), m.i(-1)))
m = M("slice_back2", [1, 3, 6, 5]); m.done(m("Slice", m.x, m.i(5), m.i(0), m.i(2), m.i(-2)))
m = M("slice_channels", [1, 6, 3, 2]); m.done(m("Slice", m.x, m.i(2), m.i(5), m.i(1)))
m = M("slice_flat", [1, 3, 2, 2]); m.done(m("Slice", m("Flatten", m.x), m.i(2), m.i(9), m.i(1)))
m = M("split_9", [1, 6, 3, 2], 9); a = m("Split", m.x, outs=2, axis=1, split=[2, 4]); m.done(*a)
m = M("split_13", [1, 6, 3, 2]); a = m("Split", m.x, m.i(1, 5), outs=2, axis=1); m.done(a[1], a[0])
m = M("split_18", [1, 7, 3, 2], 18); a = m("Split", m.x, outs=3, axis=1, num_outputs=3); m.done(*a)
m = M("gather_list", [1, 5, 3, 2]); m.done(m("Gather", m.x, m.i(3, 0, 1, -1), axis=1))
m = M("gather_scalar", [2, 5, 3]); m.done(m("Gather", m.x, m.c(1, np.int64), axis=1))
m = M("gather_matrix", [2, 5]); m.done(m("Gather", m.x, m.c([[0, 1], [4, 2]], np.int64), axis=1))

m = M("pad_9", [1, 3, 4, 5], 9); m.done(m("Pad", m.x, pads=[0, 0, 1, 2, 0, 0, 0, 1], value=0.5))
m = M("pad_11", [1, 3, 4, 5], 11); m.done(m("Pad", m.x, m.i(0, 0, 1, 2, 0, 0, 0, 1)))
m = M("pad_channels", [1, 3, 4, 5]); m.done(m("Pad", m.x, m.i(0, 1, 0, 0, 0, 2, 0, 0), m.c(-1.5)))
m = M("pad_all", [1, 3, 4, 5]); m.done(m("Pad", m.x, m.i(1, 1, 2, 0, 0, 2, 0, 1), m.c(-1.5)))
m = M("pad_negative", [1, 3, 4, 5]); m.done(m("Pad", m.x, m.i(0, -1, -1, 2, 0, 0, 1, -2), m.c(0.25)))
m = M("pad_2d", [2, 5]); m.done(m("Pad", m.x, m.i(0, 2, 1, 1)))
m = M("pad_18_axes", [1, 3, 4, 5], 18); m.done(m("Pad", m.x, m.i(1, 0, 2, 1), "", m.i(-1, -2)))

m = M("reshape_flat_gemm", [2, 3, 4, 5]); m.done(m("Gemm", m("Reshape", m.x, m.i(0, -1)), m.w(60, 4), m.w(4)))
m = M("flatten_gemm_conv", [1, 3, 6, 6]); m.done(m("Gemm", m("Flatten", m("MaxPool", m("Conv", m.x, m.w(4, 3, 3, 3)), kernel_shape=[2, 2], strides=[2, 2])), m.w(5, 16), m.w(5), transB=1))
m = M("flatten_bn_gemm", [2, 3, 2, 2]); m.done(m("MatMul", m("BatchNormalization", m("Flatten", m.x), m.w(12), m.w(12), m.w(12), m.w(12, positive=True)), m.w(12, 4)))
m = M("flatten_mul_gemm", [2, 3, 2, 2]); m.done(m("MatMul", m("PRelu", m("Mul", m("Flatten", m.x), m.w(12)), m.w(12)), m.w(12, 4)))
m = M("flatten_out", [2, 3, 2, 2]); m.done(m("Relu", m("Flatten", m.x)))
m = M("flatten_back", [2, 3, 2, 2]); m.done(m("Conv", m("Reshape", m("Relu", m("Flatten", m.x)), m.i(2, 3, 2, 2)), m.w(2, 3, 1, 1)))
m = M("flatten_add", [1, 3, 2, 2]); m.done(m("MatMul", m("Add", m("Flatten", m.x), m("Flatten", m("Relu", m.x))), m.w(12, 4)))
m = M("flatten_0", [2, 3, 2]); m.done(m("Flatten", m.x, axis=0))
m = M("flatten_2", [2, 3, 2, 2]); m.done(m("Flatten", m.x, axis=2))
m = M("flatten_neg", [2, 3, 2, 2]); m.done(m("Flatten", m.x, axis=-1))
m = M("reshape_allowzero", [2, 3, 2, 2], 14); m.done(m("Reshape", m.x, m.i(3, 8), allowzero=1))
m = M("reshape_split_w", [1, 3, 4, 6]); m.done(m("Reshape", m.x, m.i(1, 3, 4, 2, 3)))
m = M("reshape_6d", [1, 4, 4, 6]); m.done(m("Reshape", m("Transpose", m("Reshape", m.x, m.i(1, 4, 2, 2, 3, 2)), perm=[0, 1, 3, 5, 2, 4]), m.i(1, 16, 2, 3)))
m = M("shuffle", [1, 6, 3, 2]); m.done(m("Conv", m("Reshape", m("Transpose", m("Reshape", m.x, m.i(1, 2, 3, 3, 2)), perm=[0, 2, 1, 3, 4]), m.i(1, 6, 3, 2)), m.w(2, 6, 1, 1)))
m = M("reshape_rows", [2, 3, 4, 5]); m.done(m("Reshape", m.x, m.i(6, 20)))
m = M("squeeze_9", [1, 3, 1, 1], 9); m.done(m("Squeeze", m.x, axes=[2, 3]))
m = M("squeeze_13", [1, 3, 1, 5]); m.done(m("Squeeze", m.x, m.i(-2)))
m = M("squeeze_all", [1, 3, 1, 5]); m.done(m("Squeeze", m.x))
m = M("unsqueeze_9", [2, 3], 9); m.done(m("Conv", m("Unsqueeze", m.x, axes=[2, 3]), m.w(4, 3, 1, 1)))
m = M("unsqueeze_13", [2, 3]); m.done(m("Unsqueeze", m.x, m.i(0, -1)))
for p in ([0, 2, 3, 1], [0, 3, 1, 2], [3, 2, 1, 0], [0, 1, 3, 2], [1, 0, 2, 3]):
    m = M("transpose_" + "".join(map(str, p)), [2, 3, 4, 5]); m.done(m("Transpose", m.x, perm=p))
m = M("transpose_default", [2, 3, 4]); m.done(m("Transpose", m.x))
m = M("nhwc_to_conv", [1, 4, 5, 3]); m.done(m("Transpose", m("Conv", m("Transpose", m.x, perm=[0, 3, 1, 2]), m.w(2, 3, 3, 3)), perm=[0, 2, 3, 1]))
m = M("softmax_12", [2, 3, 2, 2], 12); m.done(m("Softmax", m.x))
m = M("softmax_12_4d1", [2, 6, 1, 1], 12); m.done(m("Softmax", m.x))
m = M("softmax_12_axis3", [2, 3, 2, 4], 12); m.done(m("Softmax", m.x, axis=3))
m = M("softmax_13", [2, 3, 2, 4]); m.done(m("Softmax", m.x))
m = M("softmax_13_c", [2, 3, 2, 4]); m.done(m("Softmax", m.x, axis=1))
m = M("softmax_flat", [2, 3, 2, 2]); m.done(m("Softmax", m("Flatten", m.x)))
m = M("expand", [1, 3, 1, 5]); m.done(m("Expand", m.x, m.i(2, 1, 4, 5)))
m = M("dropout", [2, 5], 12); m.done(m("Relu", m("Dropout", m.x)))
m = M("two_outputs", [1, 3, 4, 5]); a = m("Relu", m.x); m.done(a, m("GlobalAveragePool", a), m("Identity", m.x))
m = M("output_twice", [2, 3]); a = m("Relu", m.x); m.done(a, m("Identity", a))
m = M("dynamic_batch", [1, 3, 4, 5]); m.done(m("Relu", m.x), dims={"x": ["batch", 3, 4, 5]})

# What exporters compute shapes with.
m = M("torch_flatten", [2, 3, 2, 2])
s = m("Shape", m.x); b = m("Unsqueeze", m("Gather", s, m.c(0, np.int64), axis=0), m.i(0))
m.done(m("Gemm", m("Reshape", m.x, m("Concat", b, m.i(-1), axis=0)), m.w(12, 3)))
m = M("shape_math", [2, 3, 2, 2], 15)
s = m("Shape", m.x, start=1); p = m("ReduceProd", s, keepdims=1); f = m("Cast", m("Floor", m("Div", m("Cast", p, to=1), m.c([2.0]))), to=7)
m.done(m("Reshape", m.x, m("Concat", m.i(4), f, axis=0)))
m = M("fold_misc", [2, 6])
k = m("ConstantOfShape", m.i(6), value=nh.from_array(np.array([2.0], np.float32)))
k = m("Pow", m("Add", k, m("Cast", m("Range", m.c(0, np.int64), m.c(6, np.int64), m.c(1, np.int64)), to=1)), m.c(2.0))
k = m("Where", m("Greater", k, m.c(20.0)), m("Sqrt", k), m("Exp", m("Neg", k)))
k = m("Transpose", m("Tile", m("Reshape", k, m.i(6, 1)), m.i(1, 2)), perm=[1, 0])
k = m("Slice", m("Pad", k, m.i(0, 1, 0, 0)), m.i(6), m.i(0), m.i(1), m.i(-1))
m.done(m("Mul", m.x, k))

for op in ("Greater", "GreaterOrEqual", "Less", "LessOrEqual"):
    m = M("where_" + op.lower(), [1, 3, 4, 5], 16, grid=2); m.done(m("Where", m(op, m.x, m.c(0.5)), m.c(1.0), m.c(-1.0)))
    m = M("where_left_" + op.lower(), [1, 3, 4, 5], 16, grid=2); m.done(m("Where", m(op, m.c(0.5), m.x), m.c(3.0), m.c(0.0)))
    m = M("where_zero_" + op.lower(), [1, 3, 4, 5], 16, grid=2); m.done(m("Where", m(op, m.x, m.c(0.0)), m.c(-0.5), m.c(0.5)))
m = M("where_channel", [1, 3, 4, 5], 16, grid=2); m.done(m("Where", m("Greater", m.x, m.w(3, 1, 1)), m.c(0.7), m.c(0.3)))
m = M("where_channels", [1, 3, 4, 5], 16, grid=2); m.done(m("Where", m("GreaterOrEqual", m.x, m.w(1, 3, 1, 1)), m.w(3, 1, 1), m.w(3, 1, 1)))
m = M("where_not", [2, 5], 16, grid=2); m.done(m("Where", m("Not", m("GreaterOrEqual", m.x, m.c(0.0))), m.c(-1.0), m.c(1.0)))
m = M("cast_bool", [2, 5], 16, grid=2); m.done(m("Sub", m("Mul", m("Cast", m("Greater", m.x, m.c(0.0)), to=1), m.c(2.0)), m.c(1.0)))
m = M("where_constant", [2, 5], 16); m.done(m("Where", m("Equal", m.i(1), m.i(1)), m.x, m.w(5)))

m = M("qdq_uint8", [1, 3, 4, 5]); s, z = m.c(0.05), m.c(100, np.uint8); m.done(m("DequantizeLinear", m("QuantizeLinear", m.x, s, z), s, z))
m = M("qdq_int8", [1, 3, 4, 5]); s, z = m.c(0.0625), m.c(-3, np.int8); m.done(m("DequantizeLinear", m("MaxPool", m("QuantizeLinear", m.x, s, z), kernel_shape=[2, 2]), s, z))
m = M("q_output", [1, 3, 4, 5]); m.done(m("QuantizeLinear", m.x, m.c(0.03), m.c(7, np.uint8)), otype=T.UINT8)
m = M("q_output_int8", [1, 3, 4, 5]); m.done(m("QuantizeLinear", m.x, m.c(0.03), m.c(7, np.int8)), otype=T.INT8)
m = M("dq_input", [1, 3, 4, 5], low=0, high=255, grid=1, dtype=np.uint8); m.done(m("Relu", m("DequantizeLinear", m.x, m.c(0.03), m.c(128, np.uint8))))
m = M("dq_input_int8", [1, 3, 4, 5], low=-128, high=127, grid=1, dtype=np.int8); m.done(m("Neg", m("DequantizeLinear", m.x, m.c(0.03), m.c(5, np.int8))))
m = M("cast_input", [1, 3, 4, 5], low=0, high=255, grid=1, dtype=np.uint8); m.done(m("Mul", m("Cast", m.x, to=1), m.c(1 / 255)))
m = M("dq_weights", [1, 3, 5, 5])
w = m.c(m.r.integers(-127, 128, (4, 3, 3, 3)), np.int8)
m.done(m("Conv", m.x, m("DequantizeLinear", w, m.w(4, positive=True), m.c([0] * 4, np.int8), axis=0), m("DequantizeLinear", m.c([100, -50, 3, 7], np.int32), m.c(0.01))))

# QONNX.
def quant(name, shape, scale, zp, bits, opset=13, grid=16, low=-4, high=4, **a):
    m = M("quant_" + name, shape, opset, grid=grid, low=low, high=high)
    m.done(m.q("Quant", m.x, m.c(scale), m.c(zp), m.c(bits), **a))


for mode in ("ROUND", "CEIL", "FLOOR", "UP", "DOWN", "HALF_EVEN", "HALF_UP", "HALF_DOWN", "round", "half_down"):
    for signed in (0, 1):
        quant("%s_%d%s" % (mode, signed, "_lower" if mode.islower() else ""), [1, 3, 4, 5], 0.25, 0.0, 4.0, signed=signed, narrow=0, rounding_mode=mode)
        quant("wide_%s_%d%s" % (mode, signed, "_lower" if mode.islower() else ""), [2, 9], 0.125, 0.0, 10.0, signed=signed, narrow=0, rounding_mode=mode)
for bits in range(1, 10):
    for signed in (0, 1):
        for narrow in (0, 1):
            if bits == 1 and narrow and not signed:
                continue
            quant("b%d_s%d_n%d" % (bits, signed, narrow), [2, 40], 0.25, 0.0, float(bits), signed=signed, narrow=narrow, rounding_mode="ROUND", low=-40, high=40)
quant("zp", [1, 3, 4, 5], 0.25, 3.0, 4.0, signed=0, narrow=0, rounding_mode="ROUND")
quant("zp_signed", [1, 3, 4, 5], 0.25, -3.0, 4.0, signed=1, narrow=1, rounding_mode="ROUND")
quant("zp_fraction", [1, 3, 4, 5], 0.25, 1.5, 4.0, signed=0, narrow=0, rounding_mode="ROUND")
quant("zp_outside", [1, 3, 4, 5], 0.25, 20.0, 4.0, signed=0, narrow=0, rounding_mode="ROUND")
quant("zp_bipolar", [1, 3, 4, 5], 0.25, 1.0, 1.0, signed=1, narrow=0, rounding_mode="ROUND")
quant("zp_channel", [1, 3, 4, 5], np.float32([0.25, 0.5, 1]).reshape(1, 3, 1, 1), np.float32([1, 2, 3]).reshape(1, 3, 1, 1), 4.0, signed=0, narrow=0, rounding_mode="ROUND")
quant("scale_channel", [1, 3, 4, 5], np.float32([0.25, 0.5, 1]).reshape(1, 3, 1, 1), 0.0, 4.0, signed=1, narrow=0, rounding_mode="ROUND")
quant("scale_channel_half_down", [1, 3, 4, 5], np.float32([0.25, 0.5, 1]).reshape(1, 3, 1, 1), 0.0, 4.0, signed=1, narrow=0, rounding_mode="HALF_DOWN")
quant("scale_channel_bipolar", [1, 3, 4, 5], np.float32([0.25, 0.5, 1]).reshape(1, 3, 1, 1), 0.0, 1.0, signed=1, narrow=0, rounding_mode="ROUND")
quant("scale_2d", [2, 3], np.float32([[0.25, 0.5, 1]]), 0.0, 4.0, signed=1, narrow=0, rounding_mode="ROUND")
quant("scale_3d", [2, 3, 4], np.float32([0.25, 0.5, 1]).reshape(1, 3, 1), 0.0, 4.0, signed=1, narrow=0, rounding_mode="ROUND")
quant("scale_full", [1, 2, 2, 2], (np.arange(8) / 8 + 0.25).reshape(1, 2, 2, 2), 0.0, 4.0, signed=1, narrow=0, rounding_mode="ROUND")
quant("scale_one", [1, 3, 4, 5], np.float32([0.3]), np.float32([0]), np.float32([3]), signed=1, narrow=0, rounding_mode="ROUND")

m = M("bipolar", [1, 3, 4, 5], grid=1); m.done(m.q("BipolarQuant", m.x, m.c(0.7)))
m = M("bipolar_channel", [1, 3, 4, 5], grid=1); m.done(m.q("BipolarQuant", m.x, m.c(np.float32([0.7, 2, 0.1]).reshape(3, 1, 1))))
m = M("bipolar_negative", [2, 9], grid=1); m.done(m.q("BipolarQuant", m.x, m.c(-0.5)))

for name, (t, a) in {
    "plain": ([[-1, 0, 1]], {}), "scaled": ([[-1, 0, 1]], dict(out_scale=0.25, out_bias=-0.5)), "bipolar": ([[0.25]], dict(out_scale=2.0, out_bias=-1.0)),
    "int2": ([[-1, 0, 1]], dict(out_scale=1.0, out_bias=-2.0)), "fraction": ([[-1, 0, 1]], dict(out_scale=0.3, out_bias=0.1)), "bipolar2": ([[-1, 0, 1]], dict(out_scale=2.0, out_bias=-3.0)),
    "five": ([[-2, -1, 0, 1, 2]], dict(out_bias=-3.0)), "unsorted": ([[1, -1, 0]], {}), "negative": ([[-1, 0, 1]], dict(out_scale=-1.0, out_bias=1.0)),
    "channels": ([[-1, 0, 1], [0, 0, 0.5], [-3, 2, 3]], dict(out_scale=0.5)), "many": ([list(np.arange(-127, 128) / 32)], dict(out_bias=-128.0)),
}.items():
    m = M("multi_" + name, [1, 3, 4, 5], grid=4); m.done(m.q("MultiThreshold", m.x, m.c(t), out_dtype="INT8", **a))
m = M("multi_nhwc", [1, 4, 5, 3], grid=4); m.done(m.q("MultiThreshold", m.x, m.c([[-1, 0, 1], [0, 0, 0.5], [-3, 2, 3]]), out_dtype="INT8", data_layout="NHWC"))
m = M("multi_2d", [2, 3], grid=4); m.done(m.q("MultiThreshold", m.x, m.c([[-1, 0, 1], [0, 0, 0.5], [-3, 2, 3]]), out_dtype="INT8", data_layout="NC"))
m = M("multi_flat", [1, 3, 2, 2], grid=4); m.done(m("MatMul", m.q("MultiThreshold", m("Flatten", m.x), m.w(12, 1), out_dtype="INT8"), m.w(12, 3)))

for mode in ("FLOOR", "ROUND", "CEIL"):
    m = M("trunc1_" + mode, [1, 3, 4, 5]); m.done(m.q("Trunc", m.x, m.c(0.125), m.c(0.0), m.c(8.0), m.c(4.0), rounding_mode=mode))
    m = M("trunc2_" + mode, [1, 3, 4, 5], qopset=2); m.done(m.q("Trunc", m.x, m.c(0.125), m.c(0.0), m.c(8.0), m.c(0.5), m.c(4.0), rounding_mode=mode, signed=1, narrow=0))
m = M("trunc2_wide", [1, 3, 4, 5], qopset=2); m.done(m.q("Trunc", m.x, m.c(0.0078125), m.c(4.0), m.c(16.0), m.c(0.015625), m.c(12.0), rounding_mode="FLOOR", signed=1, narrow=1))

# Weights behind quantizers, and whole layers.
def layer(name, wq, aq, shape=(1, 6, 6, 6), o=5, k=3, bn=True, **a):
    m = M("layer_" + name, list(shape))
    x = aq(m, m.x)
    y = m("Conv", x, wq(m, m.w(o, shape[1] // a.get("group", 1), k, k)), pads=[1, 1, 1, 1], **a)
    if bn:
        y = m("BatchNormalization", y, m.w(o), m.w(o), m.w(o), m.w(o, positive=True))
    m.done(y)


bip = lambda s: lambda m, x: m.q("BipolarQuant", x, m.c(s))
uq = lambda bits, s, **a: lambda m, x: m.q("Quant", x, m.c(s), m.c(0.0), m.c(float(bits)), **dict(dict(signed=0, narrow=0, rounding_mode="ROUND"), **a))
layer("w1a1", bip(1.0), bip(1.0)); layer("w1a2", bip(0.5), uq(2, 0.5)); layer("w1a8", bip(0.5), uq(8, 0.125, signed=1))
layer("w2a2", uq(2, 0.5, signed=1, narrow=1), uq(2, 0.5)); layer("w2full", uq(2, 0.5, signed=1), uq(2, 0.5)); layer("w4a4_signed", uq(4, 0.125, signed=1, narrow=1), uq(4, 0.25, signed=1))
layer("per_channel", bip(np.float32([0.5, 1, 2, 0.25, 0.125]).reshape(5, 1, 1, 1)), uq(3, 0.25))
layer("group", bip(1.0), uq(2, 0.5), o=6, group=3); layer("depthwise", bip(1.0), uq(2, 0.5), o=6, group=6)
layer("stride_dil", bip(1.0), uq(1, 0.5), strides=[2, 2], dilations=[2, 2]); layer("float_act", bip(0.25), lambda m, x: m("Relu", x))
m = M("layer_residual", [1, 4, 5, 5])
x = uq(2, 0.5)(m, m.x); y = uq(2, 0.5)(m, m("BatchNormalization", m("Conv", x, bip(1.0)(m, m.w(4, 4, 3, 3)), pads=[1, 1, 1, 1]), m.w(4), m.w(4), m.w(4), m.w(4, positive=True)))
m.done(m("Conv", m("Add", x, y), bip(1.0)(m, m.w(3, 4, 1, 1))))
m = M("layer_flatten_gemm", [1, 4, 3, 3])
x = uq(2, 0.5)(m, m("Flatten", bip(1.0)(m, m.x))); m.done(m("Gemm", x, bip(0.5)(m, m.w(5, 36)), m.w(5), transB=1))
m = M("layer_per_row_gemm", [2, 12]); m.done(m("Gemm", uq(2, 0.5)(m, m.x), m.q("Quant", m.w(5, 12), m.c(np.float32([0.5, 0.25, 1, 2, 0.125]).reshape(5, 1)), m.c(0.0), m.c(4.0), signed=1, narrow=1, rounding_mode="ROUND"), transB=1))
m = M("fold_multi", [2, 4]); m.done(m("Mul", m.x, m.q("MultiThreshold", m.w(2, 4), m.c([[-0.5, 0, 0.5]]), out_dtype="INT8", out_scale=0.5, out_bias=-1.0)))
m = M("fold_trunc", [2, 4]); m.done(m("Mul", m.x, m.q("Trunc", m.w(2, 4), m.c(0.03125), m.c(0.0), m.c(8.0), m.c(4.0), rounding_mode="FLOOR")))
ZIP.close()
print(len(names), "models")
