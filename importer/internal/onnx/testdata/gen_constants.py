"""Writes constants.zip: weights that the file computes by every op that is not arithmetic of its own in the importer, and normalizations,
norms and Einsum on what is computed from an input."""
import numpy as np
from onnx import TensorProto as T
from models import Archive

a = Archive("constants.zip")


def weights(name, make, opset=17, shape=(1, 3, 6, 6), w=(8, 3, 3, 3)):
    """A convolution whose weights make gives of constants."""
    m = a.model("weights_" + name, list(shape), opset)
    m.done(m("Conv", m.x, make(m, m.w(*w))))


def unary(op, **attrs):
    return lambda m, w: m(op, w, **attrs)


for op, attrs in [("Softplus", {}), ("Softsign", {}), ("HardSigmoid", dict(alpha=0.3, beta=0.4)), ("HardSwish", {}), ("Elu", dict(alpha=0.7)), ("Selu", {}),
                  ("Celu", {}), ("Mish", {}), ("ThresholdedRelu", dict(alpha=0.25)), ("Softmax", dict(axis=1)), ("LogSoftmax", dict(axis=0)), ("LeakyRelu", {})]:
    weights(op.lower(), unary(op, **attrs), 18)
weights("prelu", lambda m, w: m("PRelu", w, m.w(8, 1, 1, 1)))
weights("gelu", unary("Gelu", approximate="tanh"), 20)
weights("batchnorm", lambda m, w: m("BatchNormalization", w, m.w(3), m.w(3), m.w(3), m.c(np.abs(m.r.standard_normal(3)) + 0.5)))
weights("maxpool", lambda m, w: m("MaxPool", w, kernel_shape=[3, 3], strides=[1, 1]), w=(8, 3, 5, 5))
weights("avgpool", lambda m, w: m("AveragePool", w, kernel_shape=[2, 2]), w=(8, 3, 4, 4))
weights("globalpool", lambda m, w: m("Mul", w, m("GlobalMaxPool", w)))
weights("conv", lambda m, w: m("Conv", w, m.w(3, 3, 1, 1), m.w(3)))
weights("deconv", lambda m, w: m("ConvTranspose", w, m.w(3, 3, 2, 2)), w=(8, 3, 2, 2))
weights("gemm", lambda m, w: m("Reshape", m("Gemm", m("Reshape", w, m.i(8, 27)), m.w(27, 27), m.w(27), transB=1), m.i(8, 3, 3, 3)))
weights("matmul", lambda m, w: m("MatMul", w, m.w(8, 3, 3, 3)))
weights("matmul_2d", lambda m, w: m("Reshape", m("MatMul", m("Reshape", w, m.i(8, 27)), m.w(27, 27)), m.i(8, 3, 3, 3)))
weights("depth_to_space", lambda m, w: m("DepthToSpace", w, blocksize=3), w=(8, 27, 1, 1))
weights("resize", lambda m, w: m("Resize", w, "", m.c([1, 1, 3, 3])), w=(8, 3, 1, 1))
weights("standardized", lambda m, w: m("Reshape", m("BatchNormalization", m("Reshape", w, m.i(1, 8, 27)), m.w(8), m.w(8), m.c(np.zeros(8)), m.c(np.ones(8)), training_mode=0), m.i(8, 3, 3, 3)))
weights("layernorm", lambda m, w: m("LayerNormalization", w, m.w(3, 3, 3), m.w(3, 3, 3), axis=1))
weights("instancenorm", lambda m, w: m("InstanceNormalization", w, m.w(3), m.w(3)))
weights("einsum", lambda m, w: m("Einsum", m.w(8, 8), w, equation="oi,ichw->ochw"))
for op in ["ReduceL1", "ReduceL2", "ReduceSumSquare"]:
    weights(op.lower(), lambda m, w: m("Div", w, m(op, w, axes=[1, 2, 3], keepdims=1)))
    weights(op.lower() + "_all", lambda m, w: m("Div", w, m(op, w, keepdims=0)), 18)
    weights(op.lower() + "_drop", lambda m, w: m("Div", w, m("Unsqueeze", m(op, w, m.i(0, -1), keepdims=0), m.i(0, 3))), 18)


def codebook(op, keep):
    def make(m, w):
        book = m.c([-1, -0.5, -0.25, 0, 0.25, 0.5, 1])
        d = m("Abs", m("Sub", m("Unsqueeze", w, m.i(-1)), book))
        if op == "ArgMax":
            d = m("Neg", d)
        at = m(op, d, axis=-1, keepdims=keep)
        return m("Gather", book, m("Squeeze", at, m.i(-1)) if keep else at)
    return make


weights("argmin", codebook("ArgMin", 0))
weights("argmin_keep", codebook("ArgMin", 1))
weights("argmax", codebook("ArgMax", 0), 13)


def largest(m, w):
    rows = m("Abs", m("Reshape", w, m.i(8, 27)))
    v, at = m("TopK", rows, m.i(9), outs=2, axis=1)
    limit = m("Reshape", m("Slice", v, m.i(8), m.i(9), m.i(1)), m.i(8, 1, 1, 1))
    return m("Where", m("GreaterOrEqual", m("Abs", w), limit), m("Sign", w), m.c(0))


weights("topk", largest)
weights("topk_positions", lambda m, w: m("Mul", w, m("Cast", m("Reshape", m("TopK", m("Reshape", w, m.i(8, 27)), m.i(1), outs=2, axis=1, largest=0)[1], m.i(8, 1, 1, 1)), to=T.FLOAT)))
weights("chain", lambda m, w: m("Sign", m("Sub", m("Softplus", m("HardSigmoid", w)), m("ReduceMean", m("Elu", w), keepdims=0))))
weights("double", lambda m, w: m("Cast", m("Softmax", m("Cast", w, to=T.DOUBLE), axis=1), to=T.FLOAT))
weights("scalar", lambda m, w: m("Mul", w, m("Softplus", m("ReduceMax", w, keepdims=0))))
m = a.model("positions_of_integers", [1, 4], 17)
m.done(m("Add", m.x, m("Cast", m("ArgMax", m.c([[3, 9, 4, 1], [7, 7, 2, 0]], np.int32), axis=1, keepdims=1), to=T.FLOAT)))

# What is computed from an input.
for axis, shape, norm in [(-1, [2, 5, 16], [16]), (1, [2, 5, 16], [5, 16]), (2, [1, 3, 4, 5], [4, 5]), (1, [1, 3, 4, 5], [3, 4, 5]), (-1, [1, 8, 6, 6], [6])]:
    m = a.model("layernorm_%d_%d" % (axis % len(shape), len(shape)), shape, 17)
    m.done(m("LayerNormalization", m.x, m.w(*norm), m.w(*norm), axis=axis, epsilon=1e-4))
a.single("layernorm_plain", "LayerNormalization", [3, 8], lambda m: m.w(8))
m = a.model("layernorm_between", [1, 3, 6, 6], 21)
y = m("Transpose", m("Conv", m.x, m.w(8, 3, 3, 3)), perm=[0, 2, 3, 1])
m.done(m("Conv", m("Transpose", m("LayerNormalization", y, m.w(8), m.w(8)), perm=[0, 3, 1, 2]), m.w(4, 8, 1, 1)))
m = a.model("rmsnorm", [2, 5, 16], 23)
m.done(m("RMSNormalization", m.x, m.w(16)))
for shape in [[2, 6, 5], [2, 6, 4, 5]]:
    a.single("instancenorm_%d" % len(shape), "InstanceNormalization", shape, lambda m: m.w(6), lambda m: m.w(6), epsilon=1e-3)
m = a.model("groupnorm_18", [2, 6, 4, 4], 18)
m.done(m("GroupNormalization", m.x, m.w(3), m.w(3), num_groups=3))
m = a.model("groupnorm_21", [2, 6, 4, 4], 21)
m.done(m("GroupNormalization", m("Conv", m.x, m.w(6, 6, 1, 1)), m.w(6), m.w(6), num_groups=3))
m = a.model("groupnorm_torch", [1, 6, 4, 4], 17)
y = m("Conv", m.x, m.w(8, 6, 3, 3))
z = m("InstanceNormalization", m("Reshape", y, m.i(0, 4, -1)), m.c(np.ones(4)), m.c(np.zeros(4)))
m.done(m("Relu", m("Add", m("Mul", m("Reshape", z, m("Shape", y)), m.w(8, 1, 1)), m.w(8, 1, 1))))
for p in (1, 2):
    a.single("lpnorm_%d" % p, "LpNormalization", [2, 6, 4], p=p, axis=1)
a.single("meanvariance", "MeanVarianceNormalization", [2, 3, 4, 4])
for op in ["ReduceL1", "ReduceL2", "ReduceSumSquare"]:
    a.single(op.lower() + "_rows", op, [2, 5, 8], axes=[-1], keepdims=1)
    a.single(op.lower() + "_image", op, [2, 3, 4, 5], lambda m: m.i(1, 3), keepdims=0, opset=18)
m = a.model("normalize", [1, 5, 16], 17)
m.done(m("Div", m.x, m("Expand", m("Clip", m("ReduceL2", m.x, axes=[-1], keepdims=1), m.c(1e-12), ""), m("Shape", m.x))))

for k, (eq, x, w) in enumerate([("bij,bjk->bik", [2, 3, 4], [2, 4, 5]), ("bij,bkj->bik", [2, 3, 4], [2, 5, 4]), ("bhqd,bhkd->bhqk", [1, 2, 3, 4], [1, 2, 5, 4]),
                                ("bij,jk->bik", [2, 3, 4], [4, 5]), ("nchw,oc->nohw", [1, 3, 4, 4], [6, 3]), ("...ij,...jk", [2, 3, 4], [2, 4, 5]), ("ij,j->i", [3, 4], [4]),
                                ("bij,bij->bi", [2, 3, 4], [2, 3, 4]), ("bi,bj->bij", [2, 3], [2, 5]), ("bqhd,bkhd->bhqk", [1, 3, 2, 4], [1, 5, 2, 4])]):
    m = a.model("einsum_constant_%d" % k, x, 17)
    m.done(m("Einsum", m.x, m.w(*w), equation=eq))
    m = a.model("einsum_%d" % k, x, 17)
    m.done(m("Einsum", m.x, m.input("z", w), equation=eq))
a.single("einsum_transpose", "Einsum", [2, 3, 4], equation="bij->bji")
a.single("einsum_sum", "Einsum", [2, 3, 4], equation="bij->j")
m = a.model("einsum_left", [3, 4], 17)
m.done(m("Einsum", m.w(5, 3), m.x, equation="oi,ij->oj"))
m = a.model("einsum_three", [2, 3], 17)
m.done(m("Einsum", m.x, m.w(3, 4), m.w(4, 5), equation="ij,jk,kl->il"))
