"""Turn the trained digits network (a Brevitas state dict, saved as data/w1a2_state.npz) into ripc's model format.

    python3 export_digits.py            writes digits.json and digits.safetensors
    python3 export_digits.py --check    also runs both in numpy and compares with the logits that PyTorch gave

The network: 8-bit input; conv1 with 8-bit weights; conv2 and conv3 with 1-bit weights and 2-bit activations; fc with
8-bit weights. Eight-bit weights are stored as the floats that they stand for, 1-bit weights as int8 -1 or +1.
"""
import json
import pathlib
import struct
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
F32 = np.float32


def fake_quantize8(w):
    """Brevitas Int8WeightPerTensorFloat: symmetric, -127..127, one scale = max|w|/127; returns the real values."""
    scale = F32(np.abs(w).max()) / F32(127)
    return np.clip(np.round(w / scale), -127, 127).astype(F32) * scale


def act_scale(state, layer, bits):
    """Brevitas Uint8ActPerTensorFloat: real value of one level."""
    value = state[layer + ".act_quant.fused_activation_quant_proxy.tensor_quant.scaling_impl.value"]
    return F32(value) / F32(2**bits - 1)


def tensors(state):
    """The weights by ripc's names. PyTorch's O,I,H,W becomes H,W,I,O; fc reads its input as H,W,C instead of C,H,W."""
    hwio = lambda w: np.ascontiguousarray(w.transpose(2, 3, 1, 0))
    sign = lambda w: np.where(w >= 0, 1, -1).astype(np.int8)
    out = {
        "conv1.w": hwio(fake_quantize8(state["c1.weight"])),
        "conv2.w": hwio(sign(state["c2.weight"])),
        "conv3.w": hwio(sign(state["c3.weight"])),
        "fc.w": np.ascontiguousarray(
            fake_quantize8(state["fc.weight"]).reshape(10, 64, 4, 4).transpose(2, 3, 1, 0).reshape(1024, 10)),
        "fc.b": state["fc.bias"],
    }
    for i in (1, 2, 3):
        for ours, theirs in (("gamma", "weight"), ("beta", "bias"), ("mean", "running_mean"), ("var", "running_var")):
            out[f"bn{i}.{ours}"] = state[f"b{i}.{theirs}"]
    return out


def model(state):
    """The network as ripc.model/1."""
    nodes = []

    def add(name, op, x, **attrs):
        nodes.append({"name": name, "op": op, "inputs": [x], **({"attrs": attrs} if attrs else {})})
        return name

    def quantize(name, x, bits, layer):
        return add(name, "quantize", x, bits=bits, encoding="unipolar", scale=float(act_scale(state, layer, bits)),
                   rounding="half_even")

    one = [1, 1, 1, 1]
    x = quantize("image8", "image", 8, "inq")
    x = add("pixels", "dequantize", x)
    x = add("conv1", "conv2d", x, padding=one)
    x = add("bn1", "batch_norm", x, epsilon=1e-5)
    x = quantize("act1", x, 2, "a1")  # the ReLU is the clip at 0
    for i in (2, 3):
        x = add(f"conv{i}", "bitserial_conv2d", x, padding=one, weight_scale="none")
        x = add(f"bn{i}", "batch_norm", x, epsilon=1e-5)
        x = quantize(f"act{i}", x, 2, f"a{i}")
        x = add(f"pool{i}", "max_pool", x, kernel=[2, 2], strides=[2, 2])
    x = add("features", "dequantize", x)
    x = add("flat", "flatten", x)
    add("fc", "dense", x)
    return {"format": "ripc.model/1", "name": "digits",
            "inputs": [{"name": "image", "dtype": "f32", "shape": [1, 16, 16, 1], "layout": "NHWC"}],
            "weights": "digits.safetensors", "nodes": nodes, "outputs": ["fc"]}


def write_model(path, m):
    lines = [f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in m.items() if k != "nodes"]
    nodes = ",\n".join("    " + json.dumps(n) for n in m["nodes"])
    lines.insert(-1, f'  "nodes": [\n{nodes}\n  ]')
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def write_safetensors(path, ts):
    dtypes = {np.dtype(F32): "F32", np.dtype(np.int8): "I8"}
    header, blob = {}, b""
    for name in sorted(ts):
        t = np.ascontiguousarray(ts[name])
        header[name] = {"dtype": dtypes[t.dtype], "shape": list(t.shape), "data_offsets": [len(blob), len(blob) + t.nbytes]}
        blob += t.tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + blob)


def read_safetensors(path):
    data = path.read_bytes()
    n = struct.unpack("<Q", data[:8])[0]
    kinds = {"F32": F32, "I8": np.int8}
    return {name: np.frombuffer(data[8 + n + t["data_offsets"][0]:8 + n + t["data_offsets"][1]], kinds[t["dtype"]])
            .reshape(t["shape"]) for name, t in json.loads(data[8:8 + n]).items()}


def forward(m, ts, image):
    """Run the written model, node by node, on images [N,16,16,1]. Levels are kept as integers beside their scale."""
    values, scales = {"image": image}, {}
    for n in m["nodes"]:
        x, name, a = values[n["inputs"][0]], n["name"], n.get("attrs", {})
        scale = scales.get(n["inputs"][0])
        w = {k.split(".")[1]: v for k, v in ts.items() if k.startswith(name + ".")}
        op = n["op"]
        if op == "quantize":
            scales[name] = F32(a["scale"])
            y = np.round(np.clip(x / scales[name], 0, 2 ** a["bits"] - 1)).astype(np.int32)
        elif op == "dequantize":
            y = x.astype(F32) * scale
        elif op in ("conv2d", "bitserial_conv2d"):
            binary = op == "bitserial_conv2d"
            p = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
            y = sum(p[:, i:i + x.shape[1], j:j + x.shape[2]] @ w["w"][i, j].astype(x.dtype)
                    for i in range(3) for j in range(3))
            y = y.astype(F32) * scale if binary else y
        elif op == "batch_norm":
            s = w["gamma"].astype(float) / np.sqrt(w["var"].astype(float) + a["epsilon"])
            y = x * s.astype(F32) + (w["beta"] - w["mean"] * s).astype(F32)
        elif op == "max_pool":
            y = np.maximum(np.maximum(x[:, ::2, ::2], x[:, 1::2, ::2]), np.maximum(x[:, ::2, 1::2], x[:, 1::2, 1::2]))
            scales[name] = scale
        elif op == "flatten":
            y = x.reshape(len(x), -1)
        elif op == "dense":
            y = x @ w["w"] + w["b"]
        values[name] = y
    return values


def check():
    load = lambda f: np.load(HERE / "data" / f)
    m = json.loads((HERE / "digits.json").read_text())
    values = forward(m, read_safetensors(HERE / "digits.safetensors"), load("x_test.npy"))
    got, y = values["fc"], load("y_test.npy")
    print(f"correct: {(got.argmax(1) == y).sum()} of {len(y)}")
    ok = (got.argmax(1) == y).sum() >= 355
    for name in ("torch", "qonnx"):
        want = load(f"w1a2_logits_{name}.npy")
        diff = np.abs(got - want).max(1)
        print(f"against {name}: {(diff <= 1e-3).sum()} of {len(y)} images within 1e-3, largest difference {diff.max():.3g}, "
              f"same class {(got.argmax(1) == want.argmax(1)).sum()}")
        ok = ok and (diff <= 1e-3).mean() >= 0.98
    for name in ("act1", "act2", "act3"):
        print(f"{name}: levels {np.bincount(values[name].ravel(), minlength=4) / values[name].size}")
    return ok


def main():
    state = np.load(HERE / "data" / "w1a2_state.npz")
    write_model(HERE / "digits.json", model(state))
    write_safetensors(HERE / "digits.safetensors", tensors(state))
    if "--check" in sys.argv[1:] and not check():
        sys.exit("the exported network does not reproduce the stored logits")


if __name__ == "__main__":
    main()
