"""Numbers as ripc computes them: powers of two, Riptide's glue in integers, and float32 with one rounding for each operation.

docs/shift-norm.md and docs/ops.md are the definition. Parameters of a channel are computed in float64, what is done to activations in
int64.
"""
import math
from dataclasses import dataclass

import torch


def log2_ap2(x: float) -> int:
    """log2 of AP2(x) = 2^round(log2 |x|), the nearest power of two, halves to even (Riptide, equation 4)."""
    return round(math.log2(abs(x)))


def ap2(x: torch.Tensor) -> torch.Tensor:
    """AP2 of each number; 0 stays 0. float64."""
    x = x.double()
    return torch.where(x > 0, torch.exp2(torch.round(torch.log2(x.clamp(min=1e-300)))), torch.zeros_like(x))


def inverse(x: float) -> float:
    """1/x, the integer where it is one but for the rounding of x."""
    v = 1 / x
    i = round(v)
    return float(i) if i > 0 and 1 / i == x else v


@dataclass(frozen=True)
class LevelType:
    """What levels stand for: unipolar ones for 0 .. 2^bits-1, bipolar ones for the odd integers in +-(2^bits-1), times scale."""

    encoding: str
    bits: int
    scale: float

    def __post_init__(self):
        if self.encoding not in ("unipolar", "bipolar"):
            raise ValueError(f"encoding {self.encoding!r}; use unipolar or bipolar")
        if not 1 <= self.bits <= 8:
            raise ValueError(f"{self.bits} bits; use 1 to 8")

    @property
    def top(self) -> int:
        """The largest level, and the largest integer."""
        return 2**self.bits - 1

    @property
    def least(self) -> int:
        """The least integer."""
        return 0 if self.encoding == "unipolar" else -self.top

    def integer(self, level):
        """The integer that a level stands for."""
        return level if self.encoding == "unipolar" else 2 * level - self.top


def levels_of(bits: int, encoding: str) -> LevelType:
    """The levels that ShiftNorm and quantizers without a scale make."""
    return LevelType(encoding, bits, 1 / (2**bits - 1))


@dataclass(frozen=True)
class Shift:
    """level = clip(((a << left) + add) >> right, 0, top) with numbers of each channel, int64 [C]."""

    left: torch.Tensor
    add: torch.Tensor
    right: torch.Tensor
    top: int

    def __call__(self, a: torch.Tensor) -> torch.Tensor:
        """The levels of integers a [N, C, ...]."""
        shape = (1, -1) + (1,) * (a.dim() - 2)
        left, add, right = (t.view(shape) for t in (self.left, self.add, self.right))
        return (((a << left) + add) >> right).clamp(0, self.top)


def shift_norm(mean, var, alpha, source: LevelType, out: LevelType, mode: str, epsilon: float) -> Shift:
    """Riptide's glue between the sums of a layer that reads levels of type source, with weights of which 1 is alpha, and levels
    of type out. mean, var, alpha: sequences of float, one for each channel. ValueError names the channel whose numbers cannot be used."""
    if mode not in ("riptide", "exact_round"):
        raise ValueError(f"mode {mode!r}; use riptide or exact_round")
    lefts, adds, rights = [], [], []
    levels, top = inverse(source.scale), float(source.top)
    for c, (m, v, a) in enumerate(zip(mean, var, alpha)):
        if not a > 0:
            raise ValueError(f"channel {c}: the weight scale {a} is not above 0")
        wb = -log2_ap2(a)
        if wb < 0 or wb > 30:
            raise ValueError(f"channel {c}: the weight scale {a} rounds to 2^{-wb}, which is not between 2^-30 and 1")
        limit = top / levels + (1 - 2.0**-wb) / levels
        fixed = round(max(-limit, min(limit, m)) * levels * 2.0**wb)  # FPQ, the paper's Algorithm 4
        t = wb + log2_ap2(math.sqrt(v + epsilon) * (levels / out.top))
        if not -20 <= t <= 30:
            raise ValueError(f"channel {c}: a shift by {t} (variance {v}) leaves 32 bits")
        left, right, add = max(0, -t), max(0, t), -fixed
        if out.encoding == "unipolar":
            half = t if mode == "exact_round" else wb
            if half > 0:
                add += 1 << (half - 1)
            add <<= left
        else:  # half of a + 2^bits - 1 steps, rounded half up
            add = (add << left) + (1 << (out.bits + right))
            right += 1
        lefts.append(left)
        adds.append(add)
        rights.append(right)
    return Shift(*(torch.tensor(t, dtype=torch.int64) for t in (lefts, adds, rights)), out.top)


def flush(x: torch.Tensor) -> torch.Tensor:
    """Subnormal float32 count as 0."""
    return torch.where(x.abs() < 2.0**-126, torch.zeros_like(x), x)


def fma(x: torch.Tensor, s: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """x*s + b in float32 with one rounding. The sum is rounded to odd in float64 first, so that rounding it again is exact."""
    p = x.double() * s.double()  # exact: 48 bits
    q = b.double()
    t = p + q
    back = t - p
    lost = (p - (t - back)) + (q - back)
    bits = t.view(torch.int64)
    nearer = torch.where((lost > 0) == (t > 0), 1, -1)
    odd = bits + torch.where((lost != 0) & (bits % 2 == 0), nearer, 0)
    return flush(odd.view(torch.float64).float())


def round_by(x: torch.Tensor, rounding: str) -> torch.Tensor:
    """x rounded to integers, exactly."""
    if rounding == "half_even":
        return torch.round(x)
    if rounding == "half_up":
        low = torch.floor(x)
        return torch.where(x - low >= 0.5, low + 1, low)
    if rounding == "floor":
        return torch.floor(x)
    raise ValueError(f"rounding {rounding!r}; use half_even, half_up or floor")


def windows(x: torch.Tensor, kernel, stride, padding: int, outside: int) -> torch.Tensor:
    """The windows of integers x [N, C, H, W] -> [N, OH, OW, C, KH, KW]; positions outside the image are outside."""
    (kh, kw), (sh, sw) = kernel, stride
    if padding:
        n, c, h, w = x.shape
        wide = torch.full((n, c, h + 2 * padding, w + 2 * padding), outside, dtype=torch.int64)
        wide[:, :, padding : padding + h, padding : padding + w] = x
        x = wide
    return x.unfold(2, kh, sh).unfold(3, kw, sw).permute(0, 2, 3, 1, 4, 5)


def conv(x: torch.Tensor, w: torch.Tensor, stride, padding: int, outside: int) -> torch.Tensor:
    """Convolution of integers: x [N, C, H, W], w [O, C, KH, KW] -> [N, O, OH, OW], int64."""
    v = windows(x, w.shape[2:], stride, padding, outside)
    n, oh, ow = v.shape[:3]
    return (v.reshape(n * oh * ow, -1) @ w.reshape(len(w), -1).T).view(n, oh, ow, len(w)).permute(0, 3, 1, 2)
