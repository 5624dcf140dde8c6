"""Layers: gradients reach all parameters, evaluation is what was trained, and mistakes in the wiring have words."""
import pytest
import torch

from ripc_twin import (BatchNorm, BitConv2d, BitLinear, Flatten, IntLinear, Levels, MaxPool2d, Network, Quantize, RPReLU, RSign, ShiftNorm,
                       Sums, Threshold, Weights)
from ripc_twin import fixtures


def images(n=32):
    return torch.randint(0, 17, (n, 1, 16, 16), generator=torch.Generator().manual_seed(2)) / 16


@pytest.mark.parametrize("build", [fixtures.patterns, fixtures.reactnet, fixtures.quantizers])
def test_gradients_reach_all_parameters(build):
    torch.manual_seed(1)
    net = build()
    net(images()).square().sum().backward()
    for name, p in net.named_parameters():
        assert p.grad is not None and p.grad.isfinite().all() and p.grad.abs().sum() > 0, name


@pytest.mark.parametrize("build", [fixtures.patterns, fixtures.reactnet, fixtures.quantizers])
def test_evaluation_is_of_integers(build):
    torch.manual_seed(1)
    net = build()
    net(images())
    net.eval()
    seen = []

    def check(layer, _, y):
        if isinstance(y, (Levels, Sums)):
            seen.append(y.ints.dtype)

    for layer in net:
        layer.register_forward_hook(check)
    net(images())
    assert set(seen) == {torch.int64} and len(seen) == len(net)


@pytest.mark.parametrize("mode,spread", [("riptide", None), ("exact_round", None), ("exact_round", 1.7)])
@pytest.mark.parametrize("encoding", ["unipolar", "bipolar"])
@pytest.mark.parametrize("bits", [1, 2, 3])
def test_frozen_training_computes_what_evaluation_does(bits, encoding, mode, spread):
    torch.manual_seed(3)
    net = Network((1, 16, 16), Quantize(5, scale=1 / 16), BitConv2d(1, 32, 3, padding=1), ShiftNorm(32, bits, encoding, mode, spread),
                  BitConv2d(32, 16, 3, padding=1, weights=2, pad_value="one"), ShiftNorm(16, bits, encoding, mode, spread))
    x = images(8)
    for _ in range(15):
        net(x)
    net.freeze_statistics()
    trained = net(x) * (2**bits - 1)
    trained.square().sum().backward()
    assert all(p.grad.abs().sum() > 0 for p in net.parameters())
    net.eval()
    ints = net.integers(x)
    assert torch.equal(trained.detach().round().long(), ints)
    assert ints.unique().numel() == 2**bits


def test_looked_up_levels_are_those_of_the_floats():
    torch.manual_seed(4)
    bn, act, sign = BatchNorm(8), RPReLU(8), RSign(8)
    net = Network((1, 16, 16), Threshold(1), BitConv2d(1, 8, 3, scale="mean"), bn, act, sign)
    net(images())
    with torch.no_grad():
        bn.norm.weight[:4] *= -1
        act.left += torch.randn(8) / 2
        act.slope[2:5] = -0.5  # falls and rises: no threshold would do
        sign.thresholds += torch.randn(1, 8) / 2
    net.eval()
    x = images()
    floats = x
    for layer in list(net)[:-1]:
        floats = layer(floats)
    want = torch.where(floats.real() >= sign.thresholds.detach()[0][None, :, None, None], 1, -1)
    assert torch.equal(net.integers(x), want) and len(want.unique()) == 2


@pytest.mark.parametrize("kind,integers", [("binary", {-1, 1}), ("ternary", {-1, 0, 1}), (2, {-3, -1, 1, 3}), (3, set(range(-7, 8, 2)))])
@pytest.mark.parametrize("scale", ["ap2", "mean", "none"])
@pytest.mark.parametrize("shared", [False, True])
def test_weights(kind, integers, scale, shared):
    torch.manual_seed(5)
    w = Weights((16, 32, 3, 3), kind, scale, shared)
    with torch.no_grad():
        w.latent[0] *= 9
        w.latent *= 60 if scale == "none" else 1
    ints, alpha = w.integers()
    assert set(ints.unique().tolist()) == integers
    assert (alpha.unique().numel() == 1) == (shared or scale == "none")
    if scale == "ap2":
        assert torch.equal(torch.exp2(torch.log2(alpha).round()), alpha) and alpha.max() <= 1
    # what the file has becomes the same integers by the rules of ripc's schema
    file = w.tensors((0, 1, 2, 3))
    v = file["w"].double()
    if kind == "binary":
        again = torch.where(v >= 0, 1, -1)
    elif kind == "ternary":
        again = torch.where(v.abs() > 0.7 * v.abs().mean((1, 2, 3), keepdim=True), v.sign(), 0).long()
    else:
        top, s = 2**kind - 1, file["scale"].double().view(-1, 1, 1, 1)
        again = 2 * torch.round(((v / s).clamp(-top, top) + top) / 2).long() - top
    assert torch.equal(again, ints)


def test_filters_of_zeros():
    for kind in ("binary", "ternary", 2):
        w = Weights((2, 4), kind, "mean")
        with torch.no_grad():
            w.latent.zero_()
        assert w.integers()[1].tolist() == [0, 0] and w().tolist() == [[0] * 4] * 2


@pytest.mark.parametrize("layers,words", [
    (lambda: [BitConv2d(1, 8, 3)], "reads levels"),
    (lambda: [Threshold(1), BitConv2d(3, 8, 3)], "made for 3 channels and gets 1"),
    (lambda: [Threshold(1), ShiftNorm(1, 2)], "reads the sums"),
    (lambda: [Threshold(1), RSign(1)], "reads numbers, not levels"),
    (lambda: [Threshold(1), BitLinear(256, 10)], "put Flatten in front"),
    (lambda: [Threshold(1), Flatten(), IntLinear(255, 10)], "reads 255 levels"),
])
def test_wiring(layers, words):
    with pytest.raises(TypeError, match=words):
        Network((1, 16, 16), *layers())


def test_pools_of_floats_are_refused():
    net = Network((1, 16, 16), Threshold(1), BitConv2d(1, 8, 3), BatchNorm(8), MaxPool2d(2)).eval()
    with pytest.raises(TypeError, match="directly behind sums"):
        net(images())
    with pytest.raises(RuntimeError, match="in training"):
        Network((1, 16, 16), Threshold(1)).integers(images())


def test_values_that_there_are_not():
    for make in lambda: Weights((1, 1), "quaternary"), lambda: Weights((1, 1), scale="max"), lambda: ShiftNorm(1, 2, "tripolar"), lambda: ShiftNorm(1, 9):
        with pytest.raises(ValueError):
            make()
