"""A network of one's own with ripc_twin: three layers of levels of 2 bits, weights of one bit and ternary ones.

    python examples/twin/train.py --out build/mine

It trains for half a minute on a CPU and writes model.json and model.safetensors, and logits.npy, the integers of its evaluation for the
test images of examples/digits. docs/twin.md goes on from there.
"""
import argparse
import pathlib

import numpy as np
import torch
from torch.nn import functional

from ripc_twin import BitConv2d, Flatten, IntLinear, MaxPool2d, Network, Quantize, ShiftNorm
from ripc_twin.digits import data, deterministic

net_bits, epochs, batch = 2, 30, 64


def network():
    return Network(
        (1, 16, 16),
        Quantize(5, scale=1 / 16),  # pixels 0 to 1 in sixteenths
        BitConv2d(1, 32, 4, stride=2, padding=1),
        ShiftNorm(32, net_bits, "bipolar"),
        BitConv2d(32, 32, 3, padding=1),
        ShiftNorm(32, net_bits, "bipolar"),
        MaxPool2d(2),
        BitConv2d(32, 64, 3, padding=1, weights="ternary"),
        ShiftNorm(64, net_bits, "bipolar"),
        MaxPool2d(2),
        Flatten(),
        IntLinear(64 * 2 * 2, 10),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/mine"))
    args = parser.parse_args()
    deterministic(seed=1)
    x, y, x_test, y_test = data()
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(epochs):
        if epoch == epochs * 3 // 4:
            net.freeze_statistics()  # from here on, what is trained is what is evaluated
        for part in torch.randperm(len(x)).split(batch):
            loss = functional.cross_entropy(net(x[part]), y[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    net.eval()  # integers from here on
    logits = net.real(x_test)
    print(f"{int((logits.argmax(1) == y_test).sum())} of {len(y_test)} digits right")
    net.export(args.out / "model.json", name="mine")
    np.save(args.out / "logits.npy", logits.numpy())


main()
