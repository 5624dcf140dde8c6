"""A binary network in plain PyTorch, from training to the files that ripc reads: handwritten digits, 8x8 pixels.

    python3 examples/pytorch/train.py --out build/mydigits

Needs torch, onnx, onnxscript and scikit-learn. It trains for some ten seconds on a CPU and writes model.onnx, with
PyTorch 2.9 or later model.pt2, and for `ripc eval` x.npy, y.npy (digits that it was not trained on) and logits.npy
(what PyTorch says of them).
"""
import argparse
import pathlib

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional


class Binary(torch.autograd.Function):
    """+1 or -1 by the sign; the gradient passes where |x| <= 1 (a straight-through estimator)."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x.abs() <= 1)


class BinaryConv(nn.Conv2d):
    """A convolution of binary activations with binary weights, each filter times the mean size of its weights."""

    def forward(self, x):
        scale = self.weight.abs().mean(dim=(1, 2, 3), keepdim=True)
        return functional.conv2d(x, Binary.apply(self.weight) * scale, None, self.stride, self.padding)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1, bias=False)  # the first layer stays float: it has one channel
        self.norm1 = nn.BatchNorm2d(32)
        self.conv2 = BinaryConv(32, 64, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(64)
        self.conv3 = BinaryConv(64, 64, 3, padding=1, bias=False)
        self.norm3 = nn.BatchNorm2d(64)
        self.out = nn.Linear(64 * 2 * 2, 10)

    def forward(self, x):
        x = Binary.apply(self.norm1(self.conv1(x)))
        x = Binary.apply(self.norm2(functional.max_pool2d(self.conv2(x), 2)))
        x = self.norm3(functional.max_pool2d(self.conv3(x), 2))
        return self.out(functional.hardtanh(x).flatten(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/mydigits"))
    parser.add_argument("--epochs", type=int, default=25)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    torch.set_num_threads(1)  # so that every run gives the same network

    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16
    y = torch.tensor(digits.target)
    order = torch.randperm(len(x))
    test, train = order[:360], order[360:]

    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    for epoch in range(args.epochs):
        net.train()
        for batch in torch.split(train[torch.randperm(len(train))], 64):
            loss = functional.cross_entropy(net(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    net.eval()
    with torch.no_grad():
        logits = net(x[test])
    right = int((logits.argmax(1) == y[test]).sum())
    print(f"{right} of {len(test)} digits right")

    torch.onnx.export(net, x[test[:1]], str(args.out / "model.onnx"), dynamo=False, opset_version=17, input_names=["digit"], output_names=["logits"])
    if torch.__version__ >= (2, 9):  # ripc reads the archives of these versions
        torch.export.save(torch.export.export(net, (x[test[:1]],)), args.out / "model.pt2")
    np.save(args.out / "x.npy", x[test].numpy())
    np.save(args.out / "y.npy", y[test].numpy())
    np.save(args.out / "logits.npy", logits.numpy())


main()
