"""A row of layers, and its export as a ripc model: JSON, and weights in safetensors."""
import json
import pathlib
import struct

import torch
from torch import nn

from .layer import Layer, Spec
from .norms import ShiftNorm
from .tensors import Levels, Sums


class Network(nn.Sequential):
    """Layers, each of which reads what the one before makes. shape: (C, H, W) of the images, float32 [N, C, H, W].

    In training a call gives floats. In evaluation it gives Levels or Sums, and integers, int64, and real, float32, what these hold.
    """

    def __init__(self, shape, *layers: Layer):
        super().__init__(*layers)
        self.shape = tuple(shape)
        x = Spec(self.shape)
        for layer in layers:
            x = layer.connect(x)

    def forward(self, x):
        if self.training:
            return super().forward(x)
        with torch.no_grad():
            return super().forward(x)

    def _result(self, x) -> Levels | Sums:
        if self.training:
            raise RuntimeError("the network is in training; call eval() first")
        return self(x)

    def integers(self, x) -> torch.Tensor:
        """The integers that come out, int64."""
        return self._result(x).ints

    def real(self, x) -> torch.Tensor:
        """What the compiled network gives, float32: ripc's bits."""
        y = self._result(x)
        return y.real() if isinstance(y, Sums) else y.ints.float()

    def freeze_statistics(self, frozen=True):
        """From now on ShiftNorm trains with its running mean and variance: with what evaluation has."""
        for m in self.modules():
            if isinstance(m, ShiftNorm):
                m.frozen = frozen

    def export(self, path, name=None):
        """Write PATH.json and PATH.safetensors; a suffix of path is dropped."""
        path = pathlib.Path(path).with_suffix("")
        w = Writer()
        x = "image"
        for layer in self:
            x = layer.write(w, x)
        shape = [1, *self.shape[1:], self.shape[0]] if len(self.shape) == 3 else [1, *self.shape]
        lines = [
            '"format": "ripc.model/1"',
            f'"name": {json.dumps(name or path.name)}',
            '"inputs": ' + json.dumps([{"name": "image", "dtype": "f32", "shape": shape}]),
            f'"weights": {json.dumps(path.name + ".safetensors")}',
            '"nodes": [\n' + ",\n".join("    " + json.dumps(n) for n in w.nodes) + "\n  ]",
            f'"outputs": {json.dumps([x])}',
        ]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".json").write_text("{\n  " + ",\n  ".join(lines) + "\n}\n")
        path.with_suffix(".safetensors").write_bytes(safetensors(w.tensors))


class Writer:
    """Collects the nodes and the weights of a model."""

    def __init__(self):
        self.nodes, self.tensors, self._count = [], {}, {}

    def node(self, kind: str, op: str, inputs: list[str], attrs: dict, weights: dict[str, torch.Tensor]) -> str:
        """Add a node, called after its kind, and return the name of what it makes."""
        self._count[kind] = self._count.get(kind, 0) + 1
        name = f"{kind}{self._count[kind]}"
        self.nodes.append({"name": name, "op": op, "inputs": inputs, **({"attrs": attrs} if attrs else {})})
        self.tensors.update({f"{name}.{key}": t for key, t in weights.items()})
        return name


def safetensors(tensors: dict[str, torch.Tensor]) -> bytes:
    """The bytes of a safetensors file: a length, a JSON header, and the tensors in the order of their names."""
    kinds = {torch.float32: "F32", torch.int8: "I8"}
    header, blob = {}, b""
    for name in sorted(tensors):
        t = tensors[name].contiguous()
        data = t.numpy().tobytes()
        header[name] = {"dtype": kinds[t.dtype], "shape": list(t.shape), "data_offsets": [len(blob), len(blob) + len(data)]}
        blob += data
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + blob
