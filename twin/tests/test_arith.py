"""The arithmetic against its definition in exact fractions."""
import math
import random
from fractions import Fraction

import numpy as np
import pytest
import torch

from ripc_twin import arith
from ripc_twin.arith import LevelType, levels_of


def half_even(x: Fraction) -> int:
    return round(x)


def defined(a, mean, var, alpha, source, out, mode, epsilon):
    """docs/shift-norm.md, one channel, in fractions where float64 is not said to be."""
    ap2 = lambda x: round(math.log2(abs(x)))
    wb = -ap2(alpha)
    n = Fraction(round(1 / source.scale))  # scales of the tests are 1/n
    limit = (source.top + 1 - Fraction(1, 2**wb)) / n
    m = half_even(max(-limit, min(limit, Fraction(mean))) * n * 2**wb)
    t = wb + ap2(math.sqrt(var + epsilon) / (out.top * source.scale))
    shift = lambda v, by: v >> by if by >= 0 else v << -by
    if out.encoding == "unipolar":
        if mode == "exact_round":
            r = 2 ** (t - 1) if t > 0 else 0
        else:
            r = 2 ** (wb - 1) if wb > 0 else 0
        level = shift(a + r - m, t)
    else:
        level = math.floor((Fraction(a - m) / Fraction(2) ** t + out.top + 1) / 2)
    return out.integer(max(0, min(out.top, level)))


@pytest.mark.parametrize("mode", ["riptide", "exact_round"])
@pytest.mark.parametrize("encoding", ["unipolar", "bipolar"])
@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_shift_norm_is_its_formula(mode, encoding, bits):
    draw = random.Random(f"{mode}{encoding}{bits}")
    for _ in range(200):
        source = draw.choice([levels_of(draw.randint(1, 4), draw.choice(["unipolar", "bipolar"])), LevelType("unipolar", 5, 1 / 16)])
        out = levels_of(bits, encoding)
        mean, var = float(np.float32(draw.gauss(0, 1))), float(np.float32(math.exp(draw.gauss(-1, 3))))
        alpha = math.exp(-abs(draw.gauss(0, 3)))
        glue = arith.shift_norm([mean], [var], [alpha], source, out, mode, 1e-5)
        a = torch.arange(-900, 900, 7)
        got = out.integer(glue(a[:, None]))[:, 0].tolist()
        assert got == [defined(int(v), mean, var, alpha, source, out, mode, 1e-5) for v in a]


def test_shift_norm_names_the_channel():
    two = levels_of(2, "unipolar")
    for numbers in ([0.1, 0.1], [1, 1], [0.5, 3.0]), ([0.1, 0.1], [1, 1e30], [0.5, 0.5]), ([0.1, 0.1], [1, 1], [0.5, 0.0]):
        with pytest.raises(ValueError, match="channel 1"):
            arith.shift_norm(*numbers, two, two, "riptide", 1e-5)


def test_ap2_halves_to_even_and_zero():
    x = torch.tensor([0.0, 1.0, 1.41, 1.42, 0.3, 2.0**-20, 0.7], dtype=torch.float64)
    assert arith.ap2(x).tolist() == [0, 1, 1, 2, 0.25, 2.0**-20, 0.5]
    assert [arith.log2_ap2(float(v)) for v in x[1:]] == [0, 0, 1, -2, -20, -1]


def test_fma_rounds_once():
    draw = random.Random(1)
    number = lambda: np.float32(draw.gauss(0, 1) * 2.0 ** draw.randint(-20, 20))
    x, s, b = ([number() for _ in range(20000)] for _ in range(3))
    for i in range(0, 20000, 2):  # sums that all but cancel
        b[i] = -np.float32(x[i]) * np.float32(s[i])
    got = arith.fma(*(torch.tensor(np.array(v)) for v in (x, s, b))).numpy()
    for xi, si, bi, g in zip(x, s, b, got):
        exact = Fraction(float(xi)) * Fraction(float(si)) + Fraction(float(bi))
        assert np.float32(g) == nearest32(exact), (xi, si, bi)


def nearest32(x: Fraction) -> np.float32:
    """x rounded to float32 once, halves to even; subnormal numbers count as 0."""
    if x == 0:
        return np.float32(0)
    e = math.floor(math.log2(abs(x))) - 23
    while abs(x) >= Fraction(2) ** (e + 24):
        e += 1
    while abs(x) < Fraction(2) ** (e + 23):
        e -= 1
    v = round(x / Fraction(2) ** e) * Fraction(2) ** e
    return np.float32(0) if abs(v) < Fraction(2) ** -126 else np.float32(float(v))


@pytest.mark.parametrize("rounding,want", [("half_even", [0, 2, 2, 0, -2, 1]), ("half_up", [1, 2, 3, 0, -1, 1]), ("floor", [0, 1, 2, -1, -2, 0])])
def test_roundings(rounding, want):
    x = torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, 0.75])
    assert arith.round_by(x, rounding).tolist() == want


@pytest.mark.parametrize("stride,padding,outside", [(1, 0, 0), (1, 1, 0), (2, 1, 3), (3, 2, 1)])
def test_conv_of_integers(stride, padding, outside):
    g = torch.Generator().manual_seed(1)
    x, w = torch.randint(-3, 4, (2, 3, 7, 6), generator=g), torch.randint(-3, 4, (5, 3, 3, 2), generator=g)
    p = padding
    wide = torch.nn.functional.pad(x.double(), (p, p, p, p), value=outside)
    want = torch.nn.functional.conv2d(wide, w.double(), stride=stride)
    got = arith.conv(x, w, (stride, stride), padding, outside)
    assert got.dtype == torch.int64 and torch.equal(got.double(), want)
