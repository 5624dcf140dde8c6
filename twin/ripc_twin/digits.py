"""Trains a small network on scikit-learn's handwritten digits and exports it.

    python -m ripc_twin.digits --bits 2 --encoding unipolar --seed 1 --out build/twin/digits

It writes OUT.json and OUT.safetensors, the network; and for ripc eval OUT_x.npy and OUT_y.npy, 360 digits that it was not trained on, and
OUT_logits.npy, the twin's integers for them. The same seed gives the same bytes on the same PyTorch and CPU.
"""
import argparse
import pathlib
import time

import numpy as np
import torch
from torch.nn import functional

from .moves import Flatten, MaxPool2d
from .network import Network
from .norms import ShiftNorm
from .quantizers import Quantize
from .weights import BitConv2d, IntLinear


def deterministic(seed: int):
    """The same numbers in every run: one thread, and no operation whose result depends on the order of work."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)


def data():
    """Images, float32 [N, 1, 16, 16] in sixteenths, and digits: 1437 to train on, and the 360 of examples/digits to test with."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    train, test = train_test_split(np.arange(len(digits.target)), test_size=0.2, random_state=0, stratify=digits.target)
    x = torch.tensor(np.kron(digits.images, np.ones((2, 2))) / 16, dtype=torch.float32)[:, None]
    y = torch.tensor(digits.target)
    return x[train], y[train], x[test], y[test]


def network(bits: int, encoding: str) -> Network:
    """Three layers with weights of +1 and -1 behind pixels of five bits, and a last one of 8 bits: no float but the input."""
    return Network(
        (1, 16, 16),
        Quantize(5, scale=1 / 16),
        BitConv2d(1, 32, 3, padding=1),
        MaxPool2d(2),
        ShiftNorm(32, bits, encoding, "exact_round"),
        BitConv2d(32, 32, 3, padding=1),
        MaxPool2d(2),
        ShiftNorm(32, bits, encoding, "exact_round"),
        BitConv2d(32, 32, 3, padding=1),
        ShiftNorm(32, bits, encoding, "exact_round"),
        Flatten(),
        IntLinear(32 * 4 * 4, 10),
    )


def train(net: Network, x, y, epochs=30, rate=3e-3, batch=64):
    """Adam with a falling rate; for the last quarter statistics are frozen, so that what is trained is what is evaluated."""
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    steps = epochs * -(-len(x) // batch)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    net.train()
    for epoch in range(epochs):
        net.freeze_statistics(epoch >= epochs * 3 // 4)
        for part in torch.randperm(len(x)).split(batch):
            loss = functional.cross_entropy(net(moved(x[part])), y[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    net.eval()


def moved(x):
    """Each image by -1, 0 or 1 pixels in both directions."""
    wide = functional.pad(x, (1, 1, 1, 1))
    at = torch.randint(0, 3, (len(x), 2)).tolist()
    return torch.stack([wide[i, :, r : r + 16, c : c + 16] for i, (r, c) in enumerate(at)])


def right(net: Network, x, y) -> int:
    """How many images the evaluated network, its integers, is right about."""
    return int((net.integers(x).argmax(1) == y).sum())


def trained(images, bits: int, encoding: str, seed: int, epochs: int) -> tuple[Network, int]:
    """A network trained on data() from a seed, and how many test images it is right about."""
    x, y, x_test, y_test = images
    deterministic(seed)
    net = network(bits, encoding)
    train(net, x, y, epochs)
    return net, right(net, x_test, y_test)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=2, help="of activations")
    parser.add_argument("--encoding", choices=("unipolar", "bipolar"), default="unipolar")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/twin/digits"))
    args = parser.parse_args()
    images = data()
    start = time.process_time()
    net, n = trained(images, args.bits, args.encoding, args.seed, args.epochs)
    seconds = time.process_time() - start
    x, y = images[2:]
    print(f"{args.bits} bits {args.encoding}, seed {args.seed}: {n} of {len(y)} right ({n / len(y):.1%}), trained in {seconds:.0f} s of one core")
    net.export(args.out)
    save(args.out, net, x, y)


def save(out: pathlib.Path, net: Network, x, y):
    """What ripc eval compares with: images in ripc's order, classes, and logits."""
    for what, t in (("x", x.permute(0, 2, 3, 1)), ("y", y), ("logits", torch.cat([net.real(part) for part in x.split(500)]))):
        np.save(out.with_name(f"{out.name}_{what}.npy"), t.numpy())


if __name__ == "__main__":
    main()
