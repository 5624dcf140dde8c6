"""What flows between layers in evaluation: levels, and sums of integers that no quantizer has read yet."""
from dataclasses import dataclass, field, replace
from typing import Callable

import torch

from .arith import LevelType


@dataclass(frozen=True)
class Levels:
    """Integers of few bits, int64 [N, C, H, W] or [N, K], and what they stand for."""

    ints: torch.Tensor
    type: LevelType

    def real(self) -> torch.Tensor:
        """The values as dequantize gives them, float32."""
        return self.ints.float() * torch.tensor(self.type.scale, dtype=torch.float32)


@dataclass(frozen=True)
class Sums:
    """The sums of a layer, int64 [N, C, ...]. They stand for f32(sum) * unit of the channel, float32 [C], and then for what the float
    operations in steps make of that, each rounded: functions of float32 [C, K]."""

    ints: torch.Tensor
    unit: torch.Tensor
    bound: int  # no sum is larger
    source: LevelType | None = None  # the levels that the layer read
    alpha: torch.Tensor | None = None  # real value of the weight 1, float64 [C]
    steps: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = field(default=())

    def then(self, step) -> "Sums":
        """The sums with one more float operation behind them."""
        return replace(self, steps=self.steps + (step,))

    def _values(self, ints: torch.Tensor) -> torch.Tensor:
        y = ints.float() * self.unit[:, None]
        for step in self.steps:
            y = step(y)
        return y

    def real(self) -> torch.Tensor:
        """The values that the sums stand for, float32."""
        flat = self.ints.transpose(0, 1)
        return self._values(flat.reshape(len(flat), -1)).view(flat.shape).transpose(0, 1)

    def levels(self, level: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
        """What a quantizer makes of the sums, int64: its level (of float32 [C, K]) is tabulated over all sums that can be, and looked up.
        So, as in the compiled network, no float is computed for an activation."""
        every = torch.arange(-self.bound, self.bound + 1)
        table = level(self._values(every.expand(len(self.unit), -1)))
        flat = self.ints.transpose(0, 1)
        at = flat.reshape(len(flat), -1) + self.bound
        return table.gather(1, at).view(flat.shape).transpose(0, 1)
