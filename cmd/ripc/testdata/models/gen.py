# Models for the options that say how a model is read. Run: python gen.py (onnx 1.23, numpy).
import numpy as np
import onnx
from onnx import TensorProto as T, helper as h, numpy_helper as nh

rng = np.random.default_rng(7)


def w(name, *shape):
    return nh.from_array((rng.standard_normal(shape) * 0.3).astype(np.float32), name)


def save(name, nodes, inputs, outputs, inits, infer=True):
    g = h.make_graph(nodes, name, inputs, [h.make_tensor_value_info(o, T.FLOAT, None) for o in outputs], inits)
    m = h.make_model(g, opset_imports=[h.make_opsetid("", 13)])
    m.ir_version = 8
    if infer:
        m = onnx.shape_inference.infer_shapes(m)
    onnx.save(m, name + ".onnx")


def f32(name, *shape):
    return h.make_tensor_value_info(name, T.FLOAT, shape)


# A classifier with ops in front and behind that are not supported, and a batch that its reshape knows.
def classifier(name, batch, flat, front=False, back=True, infer=True):
    nodes, src = [], "x"
    if front:
        nodes.append(h.make_node("Unique", ["x"], ["pre"], name="/pre/Unique"))
        src = "pre"
    nodes += [
        h.make_node("Conv", [src, "w1"], ["c1"], name="/c1/Conv", pads=[1, 1, 1, 1]),
        h.make_node("Relu", ["c1"], ["r1"], name="/r1/Relu"),
        h.make_node("Conv", ["r1", "w2"], ["c2"], name="/c2/Conv"),
        h.make_node("Reshape", ["c2", "shape"], ["flat"], name="/Reshape"),
        h.make_node("Gemm", ["flat", "w3"], ["logits"], name="/fc/Gemm", transB=1),
    ]
    if back:
        nodes += [h.make_node("Unique", ["logits"], ["y"], name="/Unique")]
    inits = [w("w1", 4, 3, 3, 3), w("w2", 4, 4, 3, 3), w("w3", 5, 64), nh.from_array(np.array(flat, np.int64), "shape")]
    save(name, nodes, [f32("x", batch, 3, 6, 6)], ["y" if back else "logits"], inits, infer)


classifier("cut", 1, [1, -1])
classifier("cut_both", 1, [1, 64], front=True, infer=False)
classifier("open", "N", [-1, 64], back=False)
classifier("large", 789444, [789444, 64], back=False)


# A camera's frame: bytes, with the normalization in the model; in NHWC the model permutes it.
def camera(name, shape, permute):
    nodes, src = [], "x"
    if permute:
        nodes.append(h.make_node("Transpose", ["x"], ["nchw"], perm=[0, 3, 1, 2]))
        src = "nchw"
    nodes += [
        h.make_node("Cast", [src], ["float"], to=T.FLOAT),
        h.make_node("Div", ["float", "c255"], ["unit"]),
        h.make_node("Sub", ["unit", "mean"], ["centred"]),
        h.make_node("Div", ["centred", "std"], ["normal"]),
        h.make_node("Conv", ["normal", "w1"], ["y"]),
    ]
    mean = np.array([0.485, 0.456, 0.406], np.float32).reshape(3, 1, 1)
    std = np.array([0.229, 0.224, 0.225], np.float32).reshape(3, 1, 1)
    inits = [w("w1", 4, 3, 3, 3), nh.from_array(np.float32(255), "c255"), nh.from_array(mean, "mean"), nh.from_array(std, "std")]
    save(name, nodes, [h.make_tensor_value_info("x", T.UINT8, shape)], ["y"], inits)


camera("camera_nchw", [1, 3, 6, 6], False)
camera("camera_nhwc", [1, 6, 6, 3], True)
