"""Runs the float network in whose place a ripc model stands, with random weights, by PyTorch on the GPU: in fp32 (without TF32) and in fp16,
channels last, as one CUDA graph. Prints the least times of a run in milliseconds, and as int8 those of products of bytes of the sizes of the
bitserial layers. Ends with 3 where there is no PyTorch, or no GPU for it."""
import json
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError as e:
    print(e, file=sys.stderr)
    sys.exit(3)
if not torch.cuda.is_available():
    print("PyTorch", torch.__version__, "finds no GPU", file=sys.stderr)
    sys.exit(3)

torch.backends.cudnn.benchmark = True
torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
torch.manual_seed(1)
model = json.load(open(sys.argv[1]))
image = model["inputs"][0]
products = []  # rows, inputs and outputs of each bitserial layer


def padding(attrs, h, w, kernel, strides):
    """Left, right, top and bottom."""
    p = attrs.get("padding", "valid")
    if p == "valid":
        return [0, 0, 0, 0]
    if p != "same":
        return [p[2], p[3], p[0], p[1]]
    out = []
    for size, k, s in zip((w, h), kernel[::-1], strides[::-1]):
        n = max(0, (-(-size // s) - 1) * s + k - size)
        out += [n // 2, n - n // 2]
    return out


def layers(dtype):
    """The network as functions: a list of the names of a layer's inputs, its name, and its function."""
    rows, shape = [], {}
    b, h, w, c = image["shape"]
    shape[image["name"]] = [b, c, h, w]
    random = lambda *dims: (torch.rand(dims, device="cuda") - 0.5).to(dtype)
    for n in model["nodes"]:
        op, a = n["op"], n.get("attrs", {})
        first = shape[n["inputs"][0]]
        b, c = first[:2]
        out = list(first)
        if op.endswith("conv2d"):
            k, st, g, o = a["kernel"], a.get("strides", [1, 1]), a.get("groups", 1), a["filters"]
            p = padding(a, first[2], first[3], k, st)
            weights = random(o, c // g, *k).to(memory_format=torch.channels_last)
            same = p[0] == p[1] and p[2] == p[3]
            f = lambda x, w=weights, st=st, p=p, g=g, same=same: F.conv2d(
                x if same else F.pad(x, p), w, stride=st, padding=(p[2], p[0]) if same else 0, groups=g)
            out = [b, o, (first[2] + p[2] + p[3] - k[0]) // st[0] + 1, (first[3] + p[0] + p[1] - k[1]) // st[1] + 1]
            if op.startswith("bitserial") and g == 1:
                products.append((b * out[2] * out[3], c * k[0] * k[1], o))
        elif op.endswith("dense"):
            f, out = (lambda x, w=random(a["units"], c): F.linear(x, w)), [b, a["units"]]
            if op.startswith("bitserial"):
                products.append((b, c, a["units"]))
        elif op == "batch_norm":
            v = [random(c), random(c).abs() + 1, random(c), random(c)]
            f = lambda x, v=v: F.batch_norm(x, *v)
        elif op in ("quantize", "threshold", "relu"):
            f = F.relu
        elif op == "dequantize":
            f = lambda x: x
        elif op in ("max_pool", "avg_pool"):
            k, st = a["kernel"], a.get("strides", a["kernel"])
            p = padding(a, first[2], first[3], k, st)
            pool = F.max_pool2d if op == "max_pool" else F.avg_pool2d
            f = lambda x, k=k, st=st, p=p, pool=pool: pool(F.pad(x, p), k, st)
            out = [b, c, (first[2] + p[2] + p[3] - k[0]) // st[0] + 1, (first[3] + p[0] + p[1] - k[1]) // st[1] + 1]
        elif op == "global_avg_pool":
            f, out = (lambda x: x.mean((2, 3))), [b, c]
        elif op == "flatten":
            size = 1
            for d in first[1:]:
                size *= d
            f, out = (lambda x: x.flatten(1)), [b, size]
        elif op == "add":
            f = torch.add
        elif op == "prelu":
            f = lambda x, v=random(c): F.prelu(x, v)
        elif op == "softmax":
            f = lambda x: F.softmax(x, -1)
        else:
            sys.exit(f"no float form of {op}")
        rows.append((n["inputs"], n["name"], f))
        shape[n["name"]] = out
    return rows


def fastest(run):
    """The least time of a run in milliseconds, of a graph of what it launches."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    best = float("inf")
    for _ in range(100):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        best = min(best, begin.elapsed_time(end))
    return best


times = {}
with torch.inference_mode():
    for name, dtype in (("fp32", torch.float32), ("fp16", torch.float16)):
        products.clear()
        rows = layers(dtype)
        b, h, w, c = image["shape"]
        picture = torch.rand((b, c, h, w), device="cuda").to(dtype).to(memory_format=torch.channels_last)

        def run():
            values = {image["name"]: picture}
            for ins, to, f in rows:
                values[to] = f(*(values[i] for i in ins))
            return values[model["outputs"][0]]

        times[name] = fastest(run)
    multiple = lambda n, least: max(least, -(-n // 8) * 8)  # _int_mm asks for more than 16 rows, and multiples of 8
    bytes_of = lambda *dims: torch.randint(-1, 2, dims, dtype=torch.int8, device="cuda")
    pairs = [(bytes_of(multiple(m, 24), multiple(k, 8)), bytes_of(multiple(o, 8), multiple(k, 8)).t()) for m, k, o in products]
    times["int8"] = fastest(lambda: [torch._int_mm(x, w) for x, w in pairs])
print(json.dumps(times))
