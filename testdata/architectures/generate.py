"""Writes the networks of this folder: the architectures of the literature on binary networks, small, as PyTorch exports them.

    python3 -m venv v && v/bin/pip install -r requirements.txt && v/bin/python generate.py [NAME...]

Each network is NAME.onnx with an input, NAME.in.npy, and the output that onnxruntime (qonnx for QONNX's operators) computed,
NAME.out.npy. index.json says of each what its author means to be binary: the bits of activations and weights of its layers.
"""
import copy, io, json, os, sys, warnings
import numpy as np, onnx, torch
import torch.nn as nn

warnings.filterwarnings("ignore")  # of exporters
HERE = os.path.dirname(os.path.abspath(__file__))
import parts, networks, finn  # which fill REGISTER
from parts import MARGIN, REGISTER, Filter, Layer, snap


# --- writing -----------------------------------------------------------------------------------------------------------

def layers(model, x):
    """The multiply-accumulates of each layer, and the bits that it is meant to have; 32 are floats."""
    found, hooks = [], []

    def seen(m, args, out):
        if isinstance(m, Layer):
            shape, bits, transposed = m.w.shape, list(m.bits), m.transposed
        else:
            shape, bits, transposed = m.weight.shape, getattr(m, "bits",  [32, 32]), isinstance(m, nn.ConvTranspose2d)
        k = int(np.prod(shape[1:]))
        found.append(dict(activations=bits[0], weights=bits[1], macs=int((args[0] if transposed else out).numel()) * k))
    for m in model.modules():
        if isinstance(m, (Layer, Filter, nn.Conv2d, nn.Linear, nn.Conv1d, nn.ConvTranspose2d)):
            hooks.append(m.register_forward_hook(seen))
    with torch.no_grad():
        model(x)
    for h in hooks:
        h.remove()
    return found


def clean(m):
    """Without what differs between machines: doc strings, paths, and the exporter's notes."""
    def of(g):
        g.ClearField("doc_string")
        g.ClearField("metadata_props")
        for n in g.node:
            n.ClearField("doc_string")
            n.ClearField("metadata_props")
            for a in n.attribute:
                if a.type == onnx.AttributeProto.GRAPH:
                    of(a.g)
        for v in list(g.value_info) + list(g.input) + list(g.output):
            v.ClearField("doc_string")
            v.ClearField("metadata_props")
        for t in g.initializer:
            t.ClearField("doc_string")
            t.ClearField("metadata_props")
    of(m.graph)
    for f in m.functions:
        f.ClearField("doc_string")
        f.ClearField("metadata_props")
        for n in f.node:
            n.ClearField("doc_string")
            n.ClearField("metadata_props")
    m.ClearField("doc_string")
    m.ClearField("metadata_props")
    return m


def export(name, r, model, x):
    if r.get("export"):
        return r["export"](model, x)
    buf = io.BytesIO()
    if r["dynamo"]:
        program = torch.onnx.export(model, (x,), dynamo=True, opset_version=r["opset"], input_names=["x"], output_names=["y"], verbose=False)
        return program.model_proto
    torch.onnx.export(model, (x,), buf, opset_version=r["opset"], dynamo=False, do_constant_folding=r["fold"], input_names=["x"], output_names=["y"])
    return onnx.load_from_string(buf.getvalue())


def reference(m, x):
    if any(n.domain not in ("", "ai.onnx", "ai.onnx.ml") and not any(f.domain == n.domain for f in m.functions) for n in m.graph.node):
        from qonnx.core.modelwrapper import ModelWrapper
        from qonnx.core.onnx_exec import execute_onnx
        from qonnx.transformation.infer_shapes import InferShapes
        w = ModelWrapper(copy.deepcopy(m)).transform(InferShapes())
        out = execute_onnx(w, {m.graph.input[0].name: x.numpy()})
        return list(out.values())[0]
    import onnxruntime as ort
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.log_severity_level = 3
    return ort.InferenceSession(m.SerializeToString(), o, providers=["CPUExecutionProvider"]).run(None, {m.graph.input[0].name: x.numpy()})[0]


def image(r, n):
    """Odd multiples of 1/16: never 0."""
    return torch.tensor(parts.RNG.integers(-12, 12, (n,) + r["shape"][1:]) / 8 + 1 / 16, dtype=torch.float32)


def write(name):
    r = REGISTER[name]
    for seed in range(60):
        parts.RNG = np.random.default_rng([seed] + [ord(c) for c in r.get("like", name)])
        torch.manual_seed(seed)
        model = r["make"]()
        x = image(r, 1)
        if r.get("snap", True):
            snap(model, torch.cat([x, image(r, 8)]))
        model.eval()
        MARGIN.clear()
        with torch.no_grad():
            y = model(x)
            margin = min(MARGIN, default=1.0)
            try:
                exact = bool(torch.equal(copy.deepcopy(model).double()(x.double()).to(y.dtype), y))
            except Exception as e:
                print(name, "in f64:", e)
                exact = False
        if margin > (0 if exact else 1e-5):
            break
    else:
        raise SystemExit(name + ": no seed keeps away from the quantizers' steps (%g)" % margin)
    m = clean(export(name, r, model, x))
    want = reference(m, x)
    y = y.numpy()
    spread = float(np.abs(y).max())
    diff = float(np.abs(want - y).max())
    assert want.shape == y.shape and diff <= 1e-5 * max(1.0, spread), (name, want.shape, y.shape, diff)
    assert np.unique(y).size > 3, (name, "constant output")
    exact = exact and np.array_equal(want, y) and not r.get("rounds")
    onnx.save(m, os.path.join(HERE, name + ".onnx"))
    np.save(os.path.join(HERE, name + ".in.npy"), x.numpy())
    np.save(os.path.join(HERE, name + ".out.npy"), want)
    row = dict(name=name, paper=r["paper"], exact=exact)
    if not exact:
        row["atol"] = float("%.1g" % (1e-5 * max(1.0, spread)))
    if r["options"]:
        row["options"] = r["options"]
    row["layers"] = r["layers"](model, x) if r.get("layers") else layers(model, x)
    print("%-24s %6d B  seed %d margin %.2g %s %s" % (name, len(m.SerializeToString()), seed, margin, "exact" if exact else "atol %g" % row["atol"], "" if not diff else "diff %g" % diff), flush=True)
    return row


if __name__ == "__main__":
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    path = os.path.join(HERE, "index.json")
    rows, failed = {}, []
    if os.path.exists(path):
        rows = {r["name"]: r for r in json.load(open(path))["networks"]}
    for name in sys.argv[1:] or REGISTER:
        try:
            rows[name] = write(name)
        except (Exception, SystemExit) as e:
            failed.append(name)
            print(name, "FAILED:", type(e).__name__, str(e).strip()[-300:], flush=True)
    import onnxruntime, qonnx, brevitas
    with open(path, "w") as f:
        f.write('{"made_with": "torch %s, onnx %s, onnxruntime %s, qonnx 1.0.0, brevitas %s",\n"networks": [\n' % (torch.__version__.split("+")[0], onnx.__version__, onnxruntime.__version__, brevitas.__version__))
        f.write(",\n".join(json.dumps(rows[n]) for n in REGISTER if n in rows))
        f.write("\n]}\n")
    sys.exit(bool(failed))
