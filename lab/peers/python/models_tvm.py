"""Builds TVM's bit-serial convolution (topi.nn.bitserial_conv2d_nhwc) for this machine:

    python models_tvm.py FOLDER [NAME...]

NAME.levels.tvm.so is the operator as it is: it packs its activations, one level in an int32, and its weights in every run.
NAME.packed.tvm.so is the same sum on operands that are packed already. Both are as TVM's default makes them, without a search for
better schedules, and compared with numpy here. What TVM does not find by itself, its search over schedules might.
"""
import json
import os
import sys

import numpy as np
import tvm
from tvm import te, topi

import networks

WORD = 64
SUMS = dict(levels="int32", packed="int16")


def levels(size, channels):
    a = te.placeholder((1, size, size, channels), "int32", name="a")
    b = te.placeholder((3, 3, channels, channels), "int32", name="b")
    # with words of 64 bits, or sums in 16, its results are wrong for some layers
    return a, b, topi.nn.bitserial_conv2d_nhwc(a, b, 1, 1, 1, 1, "uint32", SUMS["levels"], True)


def packed(size, channels):
    words = channels // WORD
    a = te.placeholder((1, size, size, words), f"uint{WORD}", name="a")
    b = te.placeholder((3, 3, words, channels), f"uint{WORD}", name="b")
    p = topi.nn.pad(a, [0, 1, 1, 0], [0, 1, 1, 0], name="p")
    rc, ry, rx = (te.reduce_axis((0, n), name=name) for n, name in ((words, "rc"), (3, "ry"), (3, "rx")))
    count = lambda e: tvm.tirx.popcount(e).astype(SUMS["packed"])

    def one(n, y, x, o):
        bits, weights = p[n, y + ry, x + rx, rc], b[ry, rx, rc, o]
        return te.sum(count(bits & weights) - count(bits & ~weights), axis=[rc, ry, rx])

    return a, b, te.compute((1, size, size, channels), one, name="o")


def pack(x, axis):
    x = np.moveaxis(x, axis, -1)
    x = x.reshape(*x.shape[:-1], -1, WORD).astype(np.uint64)
    return np.ascontiguousarray(np.moveaxis((x << np.arange(WORD, dtype=np.uint64)).sum(-1, dtype=np.uint64), -1, axis))


def main():
    folder, names = sys.argv[1], sys.argv[2:] or [*networks.CONVS]
    target = tvm.target.Target({"kind": "llvm", "mcpu": tvm.get_global_func("target.llvm_get_system_cpu")()})
    for name in names:
        if name not in networks.CONVS:
            continue
        size, channels = networks.CONVS[name]
        rng = np.random.default_rng(1)
        a, b = rng.integers(0, 2, (1, size, size, channels)), rng.integers(0, 2, (3, 3, channels, channels))
        padded = np.pad(a, ((0, 0), (1, 1), (1, 1), (0, 0)))
        want = sum(padded[:, i:i + size, j:j + size] @ (2 * b[i, j] - 1) for i in range(3) for j in range(3))
        for kind, function in dict(levels=levels, packed=packed).items():
            x, w, y = function(size, channels)
            module = tvm.IRModule({"main": te.create_prim_func([x, w, y]).with_attr("global_symbol", "main")})
            library = tvm.compile(module, target=target)
            arguments = [pack(a, 3), pack(b, 2)] if kind == "packed" else [a.astype(np.int32), b.astype(np.int32)]
            tensors = [tvm.runtime.tensor(v, tvm.cpu(0)) for v in [*arguments, np.zeros(want.shape, SUMS[kind])]]
            library["main"](*tensors)
            path = os.path.join(folder, f"{name}.{kind}.tvm.so")
            wrong = (tensors[-1].numpy() != want).mean()
            if wrong:
                with open(path + ".json", "w") as f:
                    json.dump(dict(error=f"{100 * wrong:.0f} % of the numbers that TVM's operator gives are wrong here"), f)
                continue
            library.export_library(path)
            with open(path + ".json", "w") as f:
                json.dump(dict(inputs=[list(arguments[0].shape)], outputs=[list(want.shape)], levels=kind == "levels",
                               macs=dict(fp32=0, int8=0, bits=int(want.size) * 9 * channels), arguments=[list(v.shape) for v in arguments],
                               dtypes=[str(v.dtype) for v in arguments], sums=SUMS[kind]), f)


main()
