"""Networks of all layers of the package, trained for a moment, with the twin's integers: what ripc's own tests compile and compare.

    python -m ripc_twin.fixtures --out testdata/twin
"""
import argparse
import pathlib

import numpy as np

from .digits import data, deterministic, train
from .moves import Flatten, MaxPool2d
from .network import Network
from .norms import BatchNorm, RPReLU, ShiftNorm
from .quantizers import LBP, Quantize, RSign, Threshold
from .shortcut import Shortcut
from .weights import BitConv2d, BitLinear, IntLinear


def patterns() -> Network:
    """Local binary patterns, ternary weights and weights of 2 bits, both modes of ShiftNorm, and padding with +1."""
    return Network(
        (1, 16, 16),
        LBP(range(8)),
        BitConv2d(8, 16, 3, padding=1, weights="ternary"),
        ShiftNorm(16, 2, "bipolar"),
        MaxPool2d(2),
        BitConv2d(16, 16, 3, padding=1, weights=2, pad_value="one"),
        MaxPool2d(2),
        ShiftNorm(16, 3, "unipolar", "riptide"),
        BitConv2d(16, 16, 3, stride=2, padding=1, pad_value="one"),
        ShiftNorm(16, 1, "unipolar", "exact_round"),
        Flatten(),
        BitLinear(16 * 2 * 2, 24),
        ShiftNorm(24, 2, "bipolar"),
        BitLinear(24, 10, weights=2),
    )


def reactnet() -> Network:
    """Thresholds on the input, and ReActNet's RSign and RPReLU."""
    return Network(
        (1, 16, 16),
        Threshold(1, 2, "unipolar"),
        BitConv2d(1, 16, 3, padding=1, scale="mean"),
        BatchNorm(16),
        RPReLU(16),
        RSign(16),
        MaxPool2d(2),
        BitConv2d(16, 16, 3, stride=2, padding=1, scale="mean"),
        BatchNorm(16),
        RPReLU(16),
        RSign(16),
        Flatten(),
        IntLinear(16 * 4 * 4, 10),
    )


def quantizers() -> Network:
    """Quantizers behind batch normalization, with and without a scale, and weights of 3 bits."""
    return Network(
        (1, 16, 16),
        Threshold(1),
        BitConv2d(1, 16, 3, padding=1, weights="ternary", scale="mean"),
        BatchNorm(16),
        Quantize(2, scale=0.7),
        MaxPool2d(2),
        BitConv2d(16, 16, 3, padding=1, weights=3),
        BatchNorm(16),
        Quantize(3, "bipolar", rounding="half_up"),
        MaxPool2d(2),
        BitConv2d(16, 16, 3, padding=1, weights=2, scale="mean"),
        BatchNorm(16),
        Quantize(2, "bipolar", scale=0.5, rounding="floor"),
        Flatten(),
        BitLinear(16 * 4 * 4, 10, weights="ternary", scale="none"),
    )


def shortcuts() -> Network:
    """Ways around batch normalization, ShiftNorm, and another way around."""
    return Network(
        (1, 16, 16),
        Quantize(3, scale=1 / 7),
        BitConv2d(1, 16, 3, stride=2, padding=1, scale="mean"),
        BatchNorm(16),
        Quantize(2, "bipolar"),
        Shortcut(BitConv2d(16, 16, 3, padding=1, scale="mean"), BatchNorm(16)),
        Quantize(2, "unipolar"),
        Shortcut(Shortcut(BitConv2d(16, 16, 3, padding=1), ShiftNorm(16, 2, "unipolar")), Quantize(2, "bipolar", scale=0.5)),
        Threshold(16),
        Flatten(),
        IntLinear(16 * 8 * 8, 10),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    x, y, x_test, _ = data()
    for build in (patterns, reactnet, quantizers, shortcuts):
        deterministic(1)
        net = build()
        train(net, x, y, epochs=2)
        net.export(args.out / build.__name__)
        np.save(args.out / f"{build.__name__}_logits.npy", net.real(x_test).numpy())


if __name__ == "__main__":
    main()
