"""What all layers have in common. Each has two forwards. In training it is float, with straight-through gradients through what is a step; in
evaluation (net.eval()) it is the integer arithmetic that ripc compiles. Each writes itself as nodes of a ripc model."""
from dataclasses import dataclass

import torch
from torch import nn

from .arith import LevelType


@dataclass(frozen=True)
class Spec:
    """What a layer gets or makes: shape without the batch, (C, H, W) or (K,); type of levels; the layer whose sums it is."""

    shape: tuple[int, ...]
    levels: LevelType | None = None
    sums: "nn.Module | None" = None


def through(hard: torch.Tensor, soft: torch.Tensor) -> torch.Tensor:
    """hard, with the gradient of soft."""
    return soft + (hard - soft).detach()


def channels(t: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """t [C] as it meets x [N, C, ...]."""
    return t.view((1, -1) + (1,) * (x.dim() - 2))


def pair(v) -> tuple[int, int]:
    return (v, v) if isinstance(v, int) else tuple(v)


def want(ok: bool, layer: nn.Module, what: str):
    if not ok:
        raise TypeError(f"{type(layer).__name__} {what}")


class Layer(nn.Module):
    """A layer of a Network. connect is told once what the layer gets and says what it makes; write adds the layer's nodes to a model."""

    def connect(self, x: Spec) -> Spec:
        return x

    def write(self, w, x: str) -> str:
        raise NotImplementedError
