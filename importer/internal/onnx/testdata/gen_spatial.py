"""Writes spatial.zip: small models of operators on rows and columns, one or two, an input and the expected outputs of each.

    python3 -m venv v && v/bin/pip install onnx==1.23.0 onnxruntime==1.31.0 && v/bin/python gen_spatial.py

Everything is computed by onnxruntime.
"""
import sys
import numpy as np
from onnx import TensorProto as T, numpy_helper as nh
from models import Archive

ARCHIVE = Archive(sys.argv[1] if len(sys.argv) > 1 else "spatial.zip")
M, single = ARCHIVE.model, ARCHIVE.single

# Blocks of pixels.
single("d2s", "DepthToSpace", [2, 12, 3, 4], blocksize=2)
single("d2s_crd", "DepthToSpace", [1, 18, 2, 3], blocksize=3, mode="CRD")
single("d2s_old", "DepthToSpace", [1, 8, 2, 2], blocksize=2, opset=9)
single("s2d", "SpaceToDepth", [2, 3, 4, 6], blocksize=2)
m = M("d2s_conv", [1, 3, 4, 4])
m.done(m("Conv", m("DepthToSpace", m("Conv", m.x, m.w(8, 3, 3, 3), pads=[1] * 4), blocksize=2, mode="CRD"), m.w(2, 2, 3, 3)))
m = M("pixel_shuffle", [1, 8, 3, 4])  # as PyTorch wrote it once
m.done(m("Reshape", m("Transpose", m("Reshape", m.x, m.i(1, 2, 2, 2, 3, 4)), perm=[0, 1, 4, 2, 5, 3]), m.i(1, 2, 6, 8)))
m = M("pixel_unshuffle", [1, 2, 6, 4])
m.done(m("Reshape", m("Transpose", m("Reshape", m.x, m.i(1, 2, 3, 2, 2, 2)), perm=[0, 1, 3, 5, 2, 4]), m.i(1, 8, 3, 2)))
m = M("channel_shuffle", [1, 6, 3, 4])
m.done(m("Reshape", m("Transpose", m("Reshape", m.x, m.i(1, 2, 3, 3, 4)), perm=[0, 2, 1, 3, 4]), m.i(1, -1, 3, 4)))

# Nearest neighbours, in every way that repeats pixels alike.
e = lambda m: ""
scales = lambda *v: lambda m: m.c(v)
sizes = lambda *v: lambda m: m.i(*v)
single("resize_plain", "Resize", [1, 3, 4, 5], e, scales(1, 1, 2, 2), mode="nearest")
single("resize_torch", "Resize", [2, 3, 4, 5], e, scales(1, 1, 2, 3), coordinate_transformation_mode="asymmetric", nearest_mode="floor", cubic_coeff_a=-0.75)
single("resize_half_up", "Resize", [1, 3, 4, 5], e, scales(1, 1, 3, 2), coordinate_transformation_mode="half_pixel", nearest_mode="round_prefer_ceil")
single("resize_pytorch_half", "Resize", [1, 2, 4, 5], e, scales(1, 1, 2, 2), coordinate_transformation_mode="pytorch_half_pixel")
single("resize_sizes", "Resize", [1, 3, 4, 5], e, e, sizes(1, 3, 8, 15), coordinate_transformation_mode="asymmetric", nearest_mode="floor")
single("resize_axes", "Resize", [1, 3, 4, 5], e, scales(2, 4), opset=18, axes=[3, 2], coordinate_transformation_mode="asymmetric", nearest_mode="floor")
single("resize_axes_sizes", "Resize", [1, 3, 4, 5], e, e, sizes(8, 10), opset=19, axes=[-2, -1], coordinate_transformation_mode="half_pixel_symmetric")
single("resize_rows", "Resize", [1, 3, 4, 1], e, scales(1, 1, 4, 1), coordinate_transformation_mode="half_pixel")
single("resize_opset10", "Resize", [1, 3, 4, 5], scales(1, 1, 2, 2), opset=10)
single("resize_opset10_down", "Resize", [1, 3, 8, 6], scales(1, 1, 0.5, 0.5), opset=10)
single("upsample", "Upsample", [1, 3, 4, 5], scales(1, 1, 2, 2), opset=9, mode="nearest")
single("upsample7", "Upsample", [1, 3, 4, 5], opset=7, scales=[1.0, 1.0, 3.0, 2.0])
single("resize_down", "Resize", [1, 3, 8, 9], e, scales(1, 1, 0.5, 1 / 3), coordinate_transformation_mode="asymmetric", nearest_mode="floor")
single("resize_down_half", "Resize", [1, 3, 8, 9], e, e, sizes(1, 3, 4, 3))
single("resize_down_odd", "Resize", [1, 3, 7, 9], e, scales(1, 1, 0.5, 0.5), coordinate_transformation_mode="asymmetric", nearest_mode="floor")
single("resize_both", "Resize", [1, 3, 8, 3], e, e, sizes(1, 3, 4, 9), coordinate_transformation_mode="asymmetric", nearest_mode="floor")
single("resize_one", "Resize", [1, 3, 1, 1], e, e, sizes(1, 3, 5, 7))
single("resize_same", "Resize", [1, 3, 4, 5], e, scales(1, 1, 1, 1), mode="linear")
single("resize_channels_half", "Resize", [1, 4, 4, 5], e, scales(1, 0.5, 2, 1), coordinate_transformation_mode="asymmetric", nearest_mode="floor")
single("resize_sequence", "Resize", [1, 3, 5], e, scales(1, 1, 2), coordinate_transformation_mode="asymmetric", nearest_mode="floor")
single("resize_channels_last", "Resize", [1, 3, 5, 4], e, scales(1, 2, 3, 1), coordinate_transformation_mode="asymmetric", nearest_mode="floor")
single("resize_sequence_last", "Resize", [1, 5, 3], e, scales(1, 2, 1), coordinate_transformation_mode="asymmetric", nearest_mode="floor")

# Linear, and nearest neighbours that repeat pixels unevenly.
for where in ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"]:
    single("linear_" + where, "Resize", [2, 3, 4, 5], e, e, sizes(2, 3, 7, 10), opset=19, mode="linear", coordinate_transformation_mode=where)
    single("linear_down_" + where, "Resize", [1, 2, 9, 8], e, scales(1, 1, 0.6, 0.4), opset=19, mode="linear", coordinate_transformation_mode=where)
single("linear_one", "Resize", [1, 2, 5, 1], e, e, sizes(1, 2, 1, 4), mode="linear", coordinate_transformation_mode="pytorch_half_pixel")
single("linear_corners_one", "Resize", [1, 2, 5, 3], e, e, sizes(1, 2, 1, 4), mode="linear", coordinate_transformation_mode="align_corners")
single("linear_same_rows", "Resize", [1, 2, 5, 3], e, scales(1, 1, 1.1, 2), mode="linear")
single("linear_whole", "Resize", [1, 2, 4, 9], e, e, sizes(1, 2, 4, 3), mode="linear", coordinate_transformation_mode="asymmetric")
single("linear_opset10", "Resize", [1, 3, 4, 5], scales(1, 1, 2, 3), opset=10, mode="linear")
single("linear_sequence", "Resize", [1, 3, 5], e, scales(1, 1, 2.5), mode="linear")
single("linear_channels_last", "Resize", [1, 4, 5, 3], e, e, sizes(1, 6, 9, 3), mode="linear")
single("linear_upsample", "Upsample", [1, 3, 4, 5], scales(1, 1, 2, 1), opset=9, mode="linear")
single("nearest_uneven", "Resize", [1, 3, 8, 7], e, e, sizes(1, 3, 12, 10))
single("nearest_ceil", "Resize", [1, 3, 8, 8], e, e, sizes(1, 3, 16, 12), nearest_mode="ceil")
single("nearest_channels", "Resize", [1, 3, 8, 8], e, e, sizes(1, 6, 16, 8))
single("nearest_five_axes", "Resize", [1, 2, 3, 4, 5], e, e, sizes(1, 2, 5, 8, 5), coordinate_transformation_mode="asymmetric", nearest_mode="floor")
m = M("linear_conv", [1, 3, 6, 6])
m.done(m("Conv", m("Resize", m("Conv", m.x, m.w(4, 3, 3, 3), pads=[1] * 4), "", m.c([1, 1, 2, 2]), mode="linear"), m.w(2, 4, 3, 3)))

# Borders made of the image itself.
for mode, opset in [("reflect", 13), ("edge", 13), ("wrap", 19)]:
    for name, shape, pads in [("image", [1, 3, 4, 5], [0, 0, 1, 2, 0, 0, 2, 0]), ("channels", [1, 3, 4, 5], [0, 2, 1, 0, 0, 1, 0, 0]), ("sequence", [2, 3, 6], [0, 0, 3, 0, 0, 4]),
                              ("rows", [4, 5], [0, 3, 0, 1]), ("vector", [7], [2, 5])]:
        m = M("pad_%s_%s" % (mode, name), shape, opset)
        m.done(m("Pad", m.x, m.i(*pads), mode=mode))
m = M("pad_edge_cut", [1, 3, 5, 6], 13); m.done(m("Pad", m.x, m.i(0, 0, -1, 2, 0, 0, 3, -2), mode="edge"))
m = M("pad_reflect_axes", [1, 3, 4, 5], 18); m.done(m("Pad", m.x, m.i(1, 2, 2, 1), "", m.i(-1, -2), mode="reflect"))
m = M("pad_reflect_opset2", [1, 3, 4, 5], 9); m.done(m("Pad", m.x, pads=[0, 0, 1, 1, 0, 0, 1, 1], mode="reflect"))
for mode in ["reflect", "edge", "wrap"]:
    m = M("pad_constant_" + mode, [1, 9], 19); m.done(m("Add", m.x, m("Pad", m.c([[1, 2, 3, 4]]), m.i(0, 3, 0, 2), mode=mode)))
m = M("pad_conv", [1, 3, 6, 6]); m.done(m("Conv", m("Pad", m("Conv", m.x, m.w(4, 3, 1, 1)), m.i(0, 0, 1, 1, 0, 0, 1, 1), mode="reflect"), m.w(2, 4, 3, 3)))

# One spatial axis.
def conv1(name, shape, w, bias=False, **attrs):
    m = M("conv1d_" + name, shape)
    m.done(m("Conv", *([m.x, m.w(*w)] + ([m.w(w[0])] if bias else [])), **attrs))


conv1("plain", [1, 3, 9], [4, 3, 3])
conv1("bias_stride", [2, 3, 10], [5, 3, 4], bias=True, strides=[2], pads=[1, 2])
conv1("groups", [1, 6, 9], [9, 2, 3], group=3, pads=[1, 1], kernel_shape=[3])
conv1("depthwise", [1, 5, 9], [5, 1, 3], group=5, dilations=[2], pads=[2, 2])
conv1("same", [1, 3, 10], [4, 3, 4], auto_pad="SAME_UPPER", strides=[2])
conv1("lower", [1, 3, 10], [4, 3, 4], auto_pad="SAME_LOWER", strides=[3])
conv1("pads_beyond", [1, 3, 6], [4, 3, 1], pads=[2, 1])
conv1("point", [1, 8, 1], [4, 8, 1])
for name, attrs in {"plain": dict(kernel_shape=[2], strides=[2]), "pads": dict(kernel_shape=[3], pads=[1, 1]), "ceil": dict(kernel_shape=[3], strides=[2], ceil_mode=1)}.items():
    single("maxpool1d_" + name, "MaxPool", [1, 3, 10], **attrs)
    single("avgpool1d_" + name, "AveragePool", [1, 3, 10], **attrs)
single("avgpool1d_count", "AveragePool", [1, 3, 10], kernel_shape=[3], pads=[1, 1], count_include_pad=1)
single("gap1d", "GlobalAveragePool", [2, 3, 10])
single("gmp1d", "GlobalMaxPool", [2, 3, 10])
single("pad1d", "Pad", [1, 3, 6], lambda m: m.i(0, 0, 2, 0, 0, 1), lambda m: m.c(0.5))
single("pad1d_all", "Pad", [1, 3, 6], lambda m: m.i(0, 1, -1, 0, 0, 3))


def norm(m, x, c):
    return m("BatchNormalization", x, m.w(c), m.w(c), m.w(c), m.c(np.abs(m.r.integers(1, 32, c)) / 16))


m = M("bn1d", [1, 4, 7]); m.done(norm(m, m.x, 4))
m = M("net1d", ["batch", 2, 32])  # a network for signals
y = m("MaxPool", m("Relu", norm(m, m("Conv", m.x, m.w(8, 2, 5), pads=[2, 2]), 8)), kernel_shape=[2], strides=[2])
y = m("AveragePool", m("Relu", norm(m, m("Conv", y, m.w(12, 8, 3), pads=[1, 1]), 12)), kernel_shape=[4], strides=[4])
m.done(m("Gemm", m("Flatten", y), m.w(5, 48), m.w(5), transB=1))
m = M("residual1d", [1, 4, 16])
y = m("Relu", norm(m, m("Conv", m.x, m.w(4, 4, 3), pads=[1, 1]), 4))
m.done(m("ReduceMean", m("Relu", m("Add", m.x, norm(m, m("Conv", y, m.w(4, 4, 3), pads=[1, 1]), 4))), axes=[2], keepdims=0))
m = M("concat1d", [1, 4, 16])
m.done(m("Conv", m("Concat", m("Conv", m.x, m.w(3, 4, 3), pads=[1, 1]), m("Conv", m.x, m.w(2, 4, 1)), axis=1), m.w(2, 5, 3)))
m = M("lifted1d", [1, 4, 16])  # as those write it who have no 1-D convolution
m.done(m("Squeeze", m("MaxPool", m("Conv", m("Unsqueeze", m.x, m.i(2)), m.w(3, 4, 1, 3), pads=[0, 1, 0, 1]), kernel_shape=[1, 2], strides=[1, 2]), m.i(2)))
m = M("lifted1d_behind", [1, 4, 16])
m.done(m("Squeeze", m("Conv", m("Unsqueeze", m.x, m.i(3)), m.w(3, 4, 3, 1)), m.i(-1)))
m = M("steps_first", [1, 16, 4])  # [N, L, C], as Keras has it
m.done(m("Transpose", m("Conv", m("Transpose", m.x, perm=[0, 2, 1]), m.w(3, 4, 3)), perm=[0, 2, 1]))
m = M("flatten1d", [2, 4, 6]); m.done(m("MatMul", m("Reshape", m("Relu", m("Conv", m.x, m.w(3, 4, 3))), m.i(0, -1)), m.w(12, 5)))
m = M("sequence_to_image", [1, 1, 8, 4]); m.done(m("Conv", m("Reshape", m.x, m.i(1, 8, 4)), m.w(3, 8, 3)))


# Transposed convolutions.
def deconv(name, shape, w, bias=False, groups=1, **attrs):
    m = M("deconv_" + name, shape)
    if groups > 1:
        attrs["group"] = groups
    m.done(m("ConvTranspose", *([m.x, m.w(*w)] + ([m.w(w[1] * groups)] if bias else [])), **attrs))


deconv("plain", [1, 3, 4, 5], [3, 4, 3, 3])
deconv("two", [2, 3, 4, 5], [3, 4, 2, 2], bias=True, strides=[2, 2])
deconv("four", [1, 3, 4, 5], [3, 4, 4, 4], strides=[2, 2], pads=[1, 1, 1, 1])
deconv("three", [1, 3, 4, 5], [3, 4, 3, 3], bias=True, strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
deconv("odd", [1, 3, 4, 5], [3, 4, 3, 5], strides=[3, 2], pads=[0, 1, 2, 0], kernel_shape=[3, 5])
deconv("groups", [1, 6, 3, 4], [6, 2, 3, 3], groups=3, strides=[2, 2])
deconv("groups_two", [1, 6, 3, 4], [6, 2, 2, 2], groups=3, strides=[2, 2], bias=True)
deconv("bilinear", [1, 4, 5, 5], [4, 1, 4, 4], groups=4, strides=[2, 2], pads=[1, 1, 1, 1])
deconv("dilated", [1, 2, 4, 4], [2, 3, 3, 3], dilations=[2, 3], strides=[2, 2])
deconv("dilated_even", [1, 2, 4, 4], [2, 3, 3, 2], dilations=[2, 2], strides=[4, 2], pads=[1, 0, 0, 1])
deconv("eight", [1, 2, 3, 3], [2, 1, 16, 16], strides=[8, 8], pads=[4, 4, 4, 4])
deconv("holes", [1, 2, 3, 3], [2, 3, 2, 1], strides=[3, 2])
deconv("large_stride", [1, 2, 3, 3], [2, 3, 7, 5], strides=[5, 6], output_padding=[2, 0])
deconv("same_upper", [1, 3, 4, 5], [3, 4, 3, 3], auto_pad="SAME_UPPER", strides=[2, 2])
deconv("same_lower", [1, 3, 4, 5], [3, 4, 4, 3], auto_pad="SAME_LOWER", strides=[2, 2])
deconv("valid", [1, 3, 4, 5], [3, 4, 3, 3], auto_pad="VALID", strides=[2, 2])
deconv("output_shape", [1, 3, 4, 5], [3, 4, 3, 3], strides=[2, 2], output_shape=[8, 10])
deconv("output_shape_upper", [1, 3, 4, 5], [3, 4, 3, 3], strides=[2, 2], output_shape=[8, 10], auto_pad="SAME_UPPER")
deconv("1d", [1, 3, 6], [3, 4, 4], strides=[2], pads=[1, 1], bias=True)
deconv("1d_padding", [1, 3, 6], [3, 4, 3], strides=[3], output_padding=[2])
m = M("unet", [1, 2, 8, 8])
a = m("Relu", m("Conv", m.x, m.w(4, 2, 3, 3), pads=[1] * 4))
y = m("Relu", m("Conv", m("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2]), m.w(6, 4, 3, 3), pads=[1] * 4))
y = m("Concat", a, m("ConvTranspose", y, m.w(6, 4, 2, 2), m.w(4), strides=[2, 2]), axis=1)
m.done(m("Conv", m("Relu", m("Conv", y, m.w(4, 8, 3, 3), pads=[1] * 4)), m.w(1, 4, 1, 1)))

# Shapes that exporters compute, with a batch size that is left open.
def flattened(m, x):
    """view(x.size(0), -1)"""
    n = m("Unsqueeze", m("Gather", m("Shape", x), m.n(0), axis=0), m.i(0))
    return m("Reshape", x, m("Concat", n, m.i(-1), axis=0))


m = M("view_size", ["N", 3, 4, 5]); m.done(flattened(m, m("Relu", m.x)))
m = M("view_slice", ["N", 3, 4, 5])
m.done(m("Reshape", m.x, m("Concat", m("Slice", m("Shape", m.x), m.i(0), m.i(2), m.i(0)), m.i(-1), axis=0)))
m = M("interpolate_scale", ["N", 3, 4, 5])  # F.interpolate(x, scale_factor=2)
s = m("Shape", m.x)
size = [m("Unsqueeze", m("Cast", m("Floor", m("Mul", m("Cast", m("Gather", s, m.n(d), axis=0), to=T.FLOAT), m.c(2.0))), to=T.INT64), m.i(0)) for d in (2, 3)]
y = m("Concat", m("Slice", s, m.i(0), m.i(2), m.i(0)), m("Concat", *size, axis=0), axis=0)
m.done(m("Resize", m.x, "", "", y, coordinate_transformation_mode="asymmetric", mode="nearest", nearest_mode="floor"))
m = M("interpolate_size", ["N", 3, 4, 5])  # F.interpolate(x, size=(2*h, 2*w))
s = m("Shape", m.x)
size = [m("Unsqueeze", m("Mul", m("Gather", s, m.n(d), axis=0), m.n(2)), m.i(0)) for d in (2, 3)]
sc = m("Div", m("Cast", m("Concat", *size, axis=0), to=T.FLOAT), m("Cast", m("Slice", s, m.i(2), m.i(4)), to=T.FLOAT))
m.done(m("Resize", m.x, "", m("Concat", m.c([1, 1]), sc, axis=0), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"))
m = M("chunk", [1, 6, 4, 5])
a, b = m("Split", m.x, m.i(3, 3), outs=2, axis=1); m.done(m("Add", m("Relu", a), b))
m = M("chunk_slices", [1, 6, 4, 5])
c = m("Gather", m("Shape", m.x), m.n(1), axis=0)
half = m("Div", m("Add", c, m.n(1)), m.n(2))
a = m("Slice", m.x, m.i(0), m("Unsqueeze", m("Mul", half, m.n(1)), m.i(0)), m.i(1))
b = m("Slice", m.x, m("Unsqueeze", m("Mul", half, m.n(1)), m.i(0)), m("Unsqueeze", m("Mul", half, m.n(2)), m.i(0)), m.i(1))
m.done(m("Concat", b, a, axis=1))
m = M("shuffle_sizes", ["N", 6, 3, 4])  # ShuffleNet's channel_shuffle
s = m("Shape", m.x)
n, c, h_, w_ = [m("Gather", s, m.n(d), axis=0) for d in range(4)]
u = lambda v: m("Unsqueeze", v, m.i(0))
y = m("Transpose", m("Reshape", m.x, m("Concat", u(n), m.i(2), u(m("Div", c, m.n(2))), u(h_), u(w_), axis=0)), perm=[0, 2, 1, 3, 4])
m.done(m("Reshape", y, m("Concat", u(n), m.i(-1), u(h_), u(w_), axis=0)))
m = M("expand_as", ["N", 3, 4, 5])  # a gate
g = m("GlobalAveragePool", m.x)
m.done(m("Mul", m.x, m("Expand", g, m("Shape", m.x))))
m = M("expand_where", ["N", 3, 4, 5])  # expand(-1, -1, 4, 5) as PyTorch writes it
want = m.i(-1, -1, 4, 5)
ones = m("ConstantOfShape", m("Shape", want), value=nh.from_array(np.array([1], np.int64)))
m.done(m("Expand", m("GlobalAveragePool", m.x), m("Where", m("Equal", want, m("Mul", ones, m.n(-1))), ones, want)))
m = M("adaptive", ["N", 3, 4, 6])  # pads to a multiple, computed
s = m("Shape", m.x)
p = m("Mod", m("Sub", m.n(8), m("Mod", m("Gather", s, m.n(3), axis=0), m.n(8))), m.n(8))
m.done(m("Pad", m.x, m("Concat", m.i(0, 0, 0, 0, 0, 0, 0), m("Unsqueeze", p, m.i(0)), axis=0)))
m = M("pad_torch", ["N", 3, 4, 5])  # F.pad as PyTorch writes it
t = m("Concat", m.i(1, 2, 0, 1), m("ConstantOfShape", m.i(4), value=nh.from_array(np.array([0], np.int64))), axis=0)
t = m("Reshape", m("Transpose", m("Slice", m("Reshape", t, m.i(-1, 2)), m.i(-1), m.i(-2**63 + 1), m.i(0), m.i(-1)), perm=[1, 0]), m.i(-1))
m.done(m("Pad", m.x, m("Cast", t, to=T.INT64), m.c(0.0), mode="constant"))
m = M("arange", ["N", 3, 4, 5])
m.done(m("Gather", m.x, m("Range", m.n(0), m("Gather", m("Shape", m.x), m.n(2), axis=0), m.n(2)), axis=2))
m = M("tile", ["N", 3, 4, 5]); m.done(m("Tile", m.x, m.i(1, 1, 2, 1)))
m = M("tile_one", ["N", 3, 1, 1]); m.done(m("Tile", m.x, m.i(1, 1, 4, 5)))
m = M("tile_channels", [1, 3, 4, 5]); m.done(m("Tile", m.x, m.i(1, 2, 1, 1)))
m = M("gather_channels", [1, 6, 3, 4]); m.done(m("Gather", m.x, m.i(0, 3, 1, 4, 2, 5), axis=1))
m = M("gather_one", [1, 6, 3, 4]); m.done(m("Gather", m.x, m.n(-1), axis=2))
m = M("gather_matrix", [1, 6, 3]); m.done(m("Gather", m.x, m.n([[0, 1], [5, 4]]), axis=1))
m = M("tile_all", [2, 3, 1, 4]); m.done(m("Tile", m.x, m.i(2, 1, 3, 2)))
m = M("tile_flat", [1, 3, 2, 2]); m.done(m("Tile", m("Flatten", m("Relu", m.x)), m.i(2, 3)))
m = M("expand_rank", [3, 1]); m.done(m("Expand", m.x, m.i(2, 1, 4)))
m = M("concat_batch", [2, 3, 4, 5]); m.done(m("Concat", m.x, m("Relu", m.x), m.w(1, 3, 4, 5), axis=0))
m = M("concat_columns", [2, 3, 4, 5]); m.done(m("Concat", m("Relu", m.x), m.w(2, 3, 4, 2), m.x, axis=-1))
m = M("concat_rows", [1, 3, 4, 5]); m.done(m("Concat", m.x, m("Relu", m.x), axis=2))
m = M("stack", [1, 3, 4]); m.done(m("Concat", m("Unsqueeze", m.x, m.i(1)), m("Unsqueeze", m("Relu", m.x), m.i(1)), axis=1))
m = M("unstack", [1, 3, 4, 5]); m.done(m("Add", m("Squeeze", m("Slice", m.x, m.i(0), m.i(1), m.i(2)), m.i(2)), m("Gather", m.x, m.n(3), axis=2)))
m = M("focus", [1, 3, 4, 6])  # YOLOv5: space_to_depth by slices
cuts = [m("Slice", m.x, m.i(i, j), m.i(4, 6), m.i(2, 3), m.i(2, 2)) for j in (0, 1) for i in (0, 1)]
m.done(m("Conv", m("Concat", *cuts, axis=1), m.w(4, 12, 3, 3), pads=[1] * 4))
m = M("positions", ["N", 3, 4, 5])  # adds something of the size of the input
s = m("Shape", m.x)
m.done(m("Add", m.x, m("ConstantOfShape", s, value=nh.from_array(np.array([0.5], np.float32)))))
m = M("cast_back", ["N", 3, 4, 5])
m.done(m("Reshape", m.x, m("Cast", m("Concat", m("Cast", m("Shape", m.x, end=1), to=T.INT32), m.c([-1], np.int32), axis=0), to=T.INT64)))


# Products of two tensors.
def product(name, a, b, opset=17):
    m = M("matmul_" + name, a, opset)
    m.done(m("MatMul", m.x, m.input("y", b)))


product("two", [4, 5], [5, 3])
product("batches", [2, 3, 4, 5], [2, 3, 5, 6])
product("repeated", [2, 1, 4, 5], [3, 5, 6])
product("row", [5], [2, 5, 3])
product("column", [2, 4, 5], [5])
product("row_column", [1, 5], [5])
product("left", [4, 5], [3, 5, 2])
m = M("matmul_constant_left", [5, 3]); m.done(m("MatMul", m.w(4, 5), m.x))
m = M("matmul_constant_left_batches", [2, 5, 3]); m.done(m("MatMul", m.w(4, 5), m.x))
m = M("matmul_constant_batches", [2, 4, 5]); m.done(m("MatMul", m.x, m.w(2, 5, 3)))
m = M("gemm_two", [4, 5]); m.done(m("Gemm", m.x, m.input("y", [3, 5]), m.input("z", [3]), transB=1, alpha=0.5, beta=2.0))
m = M("gemm_two_transposed", [5, 4]); m.done(m("Gemm", m.x, m.input("y", [5, 3]), m.w(4, 1), transA=1))
m = M("attention", [1, 6, 8])
q, k, v = [m("Transpose", m("Reshape", m("MatMul", m.x, m.w(8, 8)), m.i(1, 6, 2, 4)), perm=p) for p in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])]
y = m("MatMul", m("Softmax", m("Mul", m("MatMul", q, k), m.c(0.5)), axis=-1), v)
m.done(m("MatMul", m("Reshape", m("Transpose", y, perm=[0, 2, 1, 3]), m.i(1, 6, 8)), m.w(8, 8)))
m = M("gram", [1, 3, 4, 5])
f = m("Reshape", m("Relu", m.x), m.i(1, 3, -1)); m.done(m("MatMul", f, m("Transpose", f, perm=[0, 2, 1])))

# What stands behind convolutions of one axis.
def behind1d(name, *ops):
    """Each op of the list makes one of what the last made."""
    m = M("behind1d_" + name, ["N", 4, 12])
    y = m("Conv", m.x, m.w(6, 4, 3), pads=[1, 1])
    for op in ops:
        y = op(m, y)
    m.done(m("Conv", y, m.w(2, m_channels(y, m), 3)))


def m_channels(y, m):
    return m.channels if hasattr(m, "channels") else 6


def channels(n, op):
    def f(m, y):
        m.channels = n
        return op(m, y)
    return f


behind1d("prelu", lambda m, y: m("PRelu", y, m.w(6, 1)))
behind1d("bias", lambda m, y: m("Add", y, m.w(1, 6, 1)), lambda m, y: m("Mul", y, m.w(6, 1)), lambda m, y: m("HardSwish", y))
behind1d("clip", lambda m, y: m("Clip", y, m.c(-1.0), m.c(1.0)), lambda m, y: m("LeakyRelu", y))
behind1d("pad", lambda m, y: m("Pad", y, m.i(0, 0, 1, 0, 0, 1)), lambda m, y: m("MaxPool", y, kernel_shape=[2]))
behind1d("softmax", lambda m, y: m("Softmax", y, axis=1))
behind1d("split", channels(3, lambda m, y: m("Split", y, outs=2, axis=1)[1]))
behind1d("slice", lambda m, y: m("Slice", y, m.i(2), m.i(100), m.i(2), m.i(2)))
behind1d("residual", lambda m, y: m("Relu", m("Add", y, m("Conv", y, m.w(6, 6, 1)))))
behind1d("gate", lambda m, y: m("Mul", y, m("Sigmoid", m("Conv", m("GlobalAveragePool", y), m.w(6, 6, 1)))))
behind1d("squeeze_excite", lambda m, y: m("Mul", y, m("Unsqueeze", m("Sigmoid", m("Gemm", m("Squeeze", m("GlobalAveragePool", y), m.i(2)), m.w(6, 6))), m.i(2))))
behind1d("steps_dense", lambda m, y: m("Transpose", m("Add", m("MatMul", m("Transpose", y, perm=[0, 2, 1]), m.w(6, 6)), m.w(6)), perm=[0, 2, 1]))
behind1d("up_down", lambda m, y: m("ConvTranspose", m("MaxPool", y, kernel_shape=[2], strides=[2]), m.w(6, 6, 2), strides=[2]))
behind1d("concat", channels(12, lambda m, y: m("Concat", y, m("Relu", y), axis=1)))
m = M("image_rows_as_steps", [1, 1, 8, 6])  # an image whose rows are steps, as for spoken words
y = m("Squeeze", m.x, m.i(1))
m.done(m("Conv", m("Transpose", y, perm=[0, 2, 1]), m.w(3, 6, 3), strides=[2]))
