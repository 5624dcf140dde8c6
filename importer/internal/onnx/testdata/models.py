"""What makes the archives of small models: a model, an input and the expected outputs of each, computed by onnxruntime."""
import io, zipfile
import numpy as np, onnxruntime as ort
from onnx import TensorProto as T, helper as h, numpy_helper as nh


class Archive:
    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.names = set()

    def put(self, name, data):
        z = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        z.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(z, data)

    def npy(self, name, v):
        b = io.BytesIO()
        np.save(b, np.ascontiguousarray(v))
        self.put(name, b.getvalue())

    def model(self, name, shape, opset=17):
        return M(self, name, shape, opset)

    def single(self, name, op, shape, *ins, opset=17, **attrs):
        m = self.model(name, shape, opset)
        m.done(m(op, m.x, *[f(m) for f in ins], **attrs))


class M:
    """One model: x is its input, every call adds a node and returns its output's name."""

    def __init__(self, archive, name, shape, opset):
        assert name not in archive.names, name
        archive.names.add(name)
        self.archive, self.name, self.opset, self.r = archive, name, opset, np.random.default_rng([ord(c) for c in name])
        self.nodes, self.inits, self.inputs, self.dims = [], [], {}, {}
        self.x = self.input("x", shape)

    def input(self, name, shape):
        """Extents that are texts stay open in the file, and are 1."""
        self.dims[name] = list(shape)
        self.inputs[name] = (self.r.integers(-64, 65, [1 if isinstance(d, str) else d for d in shape]) / 16).astype(np.float32)
        return name

    def c(self, v, dtype=np.float32):
        n = "c%d" % len(self.inits)
        self.inits.append(nh.from_array(np.asarray(v, dtype), n))
        return n

    def w(self, *shape):
        return self.c(self.r.integers(-32, 33, shape) / 32)

    def i(self, *v):
        return self.c(list(v), np.int64)

    def n(self, v):
        return self.c(v, np.int64)

    def __call__(self, op, *ins, outs=1, **attrs):
        out = ["%s_%d%s" % (op.lower(), len(self.nodes), "" if j == 0 else "_%d" % j) for j in range(outs)]
        self.nodes.append(h.make_node(op, list(ins), out, **attrs))
        return out[0] if outs == 1 else out

    def done(self, *outs, types={}):
        """types are those of outputs that are no floats. Truth values and integers are kept as u8 and i32."""
        g = h.make_graph(self.nodes, self.name, [h.make_tensor_value_info(n, T.FLOAT, self.dims[n]) for n in self.inputs],
                         [h.make_tensor_value_info(o, types.get(o, T.FLOAT), None) for o in outs], self.inits)
        m = h.make_model(g, opset_imports=[h.make_opsetid("", self.opset)], ir_version=10 if self.opset > 21 else 8, producer_name="ripc-tests")
        so = ort.SessionOptions()
        so.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        so.log_severity_level = 3
        res = ort.InferenceSession(m.SerializeToString(), so, providers=["CPUExecutionProvider"]).run(list(outs), self.inputs)
        self.archive.put(self.name + ".onnx", m.SerializeToString())
        for k, v in enumerate(self.inputs.values()):
            self.archive.npy("%s.in%d.npy" % (self.name, k), v)
        for k, v in enumerate(res):
            v = np.asarray(v)
            self.archive.npy("%s.out%d.npy" % (self.name, k), v.astype({np.dtype(bool): np.uint8, np.dtype(np.int64): np.int32}.get(v.dtype, v.dtype)))
