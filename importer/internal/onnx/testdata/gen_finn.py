"""Writes finn.zip: small models of the operators that qonnx and FINN rewrite networks to, inputs and expected outputs.

    python3 -m venv v && v/bin/pip install onnx==1.19.1 onnxruntime==1.31.1 qonnx==1.0.0 && v/bin/python gen_finn.py

Everything is computed by qonnx's executor.
"""
import io, sys, zipfile
import numpy as np, onnx
from onnx import TensorProto as T, helper as h, numpy_helper as nh
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

Q, L = "qonnx.custom_op.general", "qonnx.custom_op.channels_last"
ZIP = zipfile.ZipFile(sys.argv[1] if len(sys.argv) > 1 else "finn.zip", "w", zipfile.ZIP_DEFLATED)


def put(name, data):
    z = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
    z.compress_type = zipfile.ZIP_DEFLATED
    ZIP.writestr(z, data)


def npy(name, v):
    b = io.BytesIO()
    np.save(b, np.ascontiguousarray(v.astype(np.float32)))
    put(name, b.getvalue())


class M:
    def __init__(self, name, shape, values=None, dtype=None):
        self.name, self.r = name, np.random.default_rng([ord(c) for c in name])
        self.x = self.r.choice(values, shape) if values else self.r.integers(-32, 33, shape) / 8
        self.nodes, self.inits, self.shapes, self.dtype = [], [], {}, dtype
        self.last = "x"

    def c(self, v):
        n = "c%d" % len(self.inits)
        self.inits.append(nh.from_array(np.asarray(v, np.float32), n))
        return n

    def w(self, *shape, values=(-1, 1)):
        return self.c(self.r.choice(values, shape))

    def __call__(self, op, *ins, shape, domain="", **attrs):
        out = "%s_%d" % (op.lower(), len(self.nodes))
        self.nodes.append(h.make_node(op, [self.last, *ins], [out], domain=domain, **attrs))
        self.last, self.shapes[out] = out, shape
        return self

    def done(self):
        info = [h.make_tensor_value_info(n, T.FLOAT, s) for n, s in self.shapes.items() if n != self.last]
        g = h.make_graph(self.nodes, self.name, [h.make_tensor_value_info("x", T.FLOAT, self.x.shape)],
                         [h.make_tensor_value_info(self.last, T.FLOAT, self.shapes[self.last])], self.inits, value_info=info)
        m = ModelWrapper(h.make_model(g, opset_imports=[h.make_opsetid("", 13), h.make_opsetid(Q, 1), h.make_opsetid(L, 14)], ir_version=8))
        for n in ["x", *self.shapes]:
            m.set_tensor_datatype(n, DataType[self.dtype or "FLOAT32"])
        y = execute_onnx(m, {"x": self.x.astype(np.float32)})[self.last]
        put(self.name + ".onnx", m.model.SerializeToString())
        npy(self.name + ".in0.npy", self.x)
        npy(self.name + ".out0.npy", y)


def im2col(m, k, s, pads=(0, 0, 0, 0), dil=(1, 1), value=0, **kw):
    n, H, W, C = m.x.shape
    oh = (H + pads[0] + pads[2] - dil[0] * (k[0] - 1) - 1) // s[0] + 1
    ow = (W + pads[1] + pads[3] - dil[1] * (k[1] - 1) - 1) // s[1] + 1
    m("Im2Col", domain=Q, shape=[n, oh, ow, k[0] * k[1] * C], kernel_size=list(k), stride=list(s), pad_amount=list(pads), dilations=list(dil),
      pad_value=value, input_shape=str((n, H, W, C)), **kw)
    return oh, ow, k[0] * k[1] * C


im2col(m := M("im2col_alone", [1, 5, 6, 3]), (3, 2), (1, 2), (1, 0, 1, 1))
m.done()
im2col(m := M("im2col_alone_1x1", [1, 5, 6, 3]), (1, 1), (2, 2))
m.done()
for name, a in {"plain": ((3, 3), (1, 1)), "padded": ((3, 3), (2, 1), (1, 2, 1, 0)), "dilated": ((2, 3), (1, 1), (1, 1, 1, 1), (2, 1)), "pad_value": ((3, 3), (1, 1), (1, 1, 1, 1), (1, 1), -1)}.items():
    m = M("im2col_matmul_" + name, [1, 6, 7, 4], values=[-1, 1], dtype="INT8")
    oh, ow, k = im2col(m, *a)
    m("MatMul", m.w(k, 5, values=(-1, 0, 1)), shape=[1, oh, ow, 5]).done()
m = M("im2col_matmul_depthwise", [1, 6, 6, 4], dtype="INT8", values=range(-3, 4))
oh, ow, k = im2col(m, (3, 3), (1, 1), (1, 1, 1, 1), depthwise=1)
w = np.zeros((9, 4, 4))
for c in range(4):
    w[:, c, c] = m.r.choice([-1, 1], 9)
m("MatMul", m.c(w.reshape(36, 4)), shape=[1, oh, ow, 4]).done()

m = M("xnor", [2, 19], values=[0, 1], dtype="BINARY")
m("XnorPopcountMatMul", m.w(19, 6, values=(0, 1)), domain=Q, shape=[2, 6]).done()
m = M("xnor_rank3", [1, 3, 8], values=[0, 1], dtype="BINARY")
m("XnorPopcountMatMul", m.w(8, 5, values=(0, 1)), domain=Q, shape=[1, 3, 5]).done()
m = M("xnor_im2col", [1, 5, 5, 4], values=[0, 1], dtype="BINARY")
oh, ow, k = im2col(m, (3, 3), (1, 1), (1, 1, 1, 1))
m("XnorPopcountMatMul", m.w(k, 6, values=(0, 1)), domain=Q, shape=[1, oh, ow, 6]).done()

M("maxpool_nhwc", [1, 6, 7, 3])("MaxPoolNHWC", domain=Q, shape=[1, 3, 3, 3], kernel_shape=[2, 2], strides=[2, 2], pads=[0, 0, 0, 0]).done()
M("maxpool_nhwc_padded", [1, 6, 6, 3])("MaxPoolNHWC", domain=Q, shape=[1, 3, 3, 3], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]).done()
m = M("last_conv", [1, 6, 7, 4])
m("Conv", m.w(5, 3, 2, 4, values=(-1, 0.5)), m.w(5), domain=L, shape=[1, 6, 3, 5], kernel_shape=[3, 2], strides=[1, 2], pads=[1, 0, 1, 0], dilations=[1, 1], group=1).done()
m = M("last_conv_groups", [1, 6, 7, 4])
m("Conv", m.w(6, 3, 3, 2), domain=L, shape=[1, 4, 5, 6], kernel_shape=[3, 3], strides=[1, 1], pads=[0, 0, 0, 0], dilations=[1, 1], group=2).done()
m = M("last_chain", [1, 6, 8, 4])
m("Conv", m.w(5, 3, 3, 4), domain=L, shape=[1, 6, 8, 5], kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1], dilations=[1, 1], group=1)
m("BatchNormalization", m.c(m.r.random(5) + 0.5), m.c(m.r.random(5)), m.c(m.r.random(5)), m.c(m.r.random(5) + 0.5), domain=L, shape=[1, 6, 8, 5], epsilon=1e-5, momentum=0.9)
m("MaxPool", domain=L, shape=[1, 3, 4, 5], kernel_shape=[2, 2], strides=[2, 2], pads=[0, 0, 0, 0]).done()
ZIP.close()
