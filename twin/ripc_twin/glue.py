"""Trains one small network on MNIST with each way to make levels of sums, and writes what came out.

    python -m ripc_twin.glue --out docs/glue.json --page docs/shift-norm.md

The table stands in PAGE between the marks "glue: begin" and "glue: end". What OUT has already is not trained again.
"""
import argparse
import json
import pathlib
import time

from .digits import deterministic
from .mnist import data, right, train
from .moves import Flatten, MaxPool2d
from .network import Network
from .norms import BatchNorm, ShiftNorm
from .quantizers import Quantize
from .sweep import KINDS, write
from .weights import BitConv2d, IntLinear

IMAGES, EPOCHS, FILTERS = 12000, 8, 8

GLUE = {
    "batch_norm in floats": lambda *kind: (BatchNorm(FILTERS), Quantize(*kind)),
    "shift_norm, mode `riptide`": lambda *kind: (ShiftNorm(FILTERS, *kind, mode="riptide"),),
    "mode `exact_round`": lambda *kind: (ShiftNorm(FILTERS, *kind),),
    "the same with a learned spread": lambda *kind: (ShiftNorm(FILTERS, *kind, spread=2),),
}


def network(glue: str, bits: int, encoding: str) -> Network:
    """Three layers with weights of +1 and -1 behind pixels of four bits."""
    norm = lambda: GLUE[glue](bits, encoding)
    return Network(
        (1, 28, 28), Quantize(4),
        BitConv2d(1, FILTERS, 3, stride=2, padding=1), *norm(),
        BitConv2d(FILTERS, FILTERS, 3, padding=1), MaxPool2d(2), *norm(),
        BitConv2d(FILTERS, FILTERS, 3, padding=1), *norm(),
        Flatten(), IntLinear(FILTERS * 7 * 7, 10),
    )


def table(rows: list[dict], images: int) -> str:
    """The mean accuracies as Markdown: a line for each way."""
    lines = ["| | " + " | ".join(f"{e}, {b} bit{'s' * (b > 1)}" for e, b in KINDS) + " |", "|---" * (len(KINDS) + 1) + "|"]
    for glue in GLUE:
        cells = []
        for kind in KINDS:
            n = [r["right"] for r in rows if (r["glue"], r["encoding"], r["bits"]) == (glue, *kind)]
            cells.append(f"{sum(n) / len(n) / images:.2%}" if n else "")
        lines.append(f"| {glue} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--page", type=pathlib.Path)
    args = parser.parse_args()
    rows = json.loads(args.out.read_text()) if args.out.exists() else []
    done = {(r["glue"], r["encoding"], r["bits"], r["seed"]) for r in rows}
    x, y, x_test, y_test = data()
    for seed in args.seeds:
        for encoding, bits in KINDS:
            for glue in GLUE:
                if (glue, encoding, bits, seed) in done:
                    continue
                deterministic(seed)
                start = time.process_time()
                net = network(glue, bits, encoding)
                train(net, x[:IMAGES], y[:IMAGES], EPOCHS)
                rows.append({"glue": glue, "encoding": encoding, "bits": bits, "seed": seed, "right": right(net, x_test, y_test),
                             "seconds": round(time.process_time() - start, 1)})
                args.out.write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")
                print(rows[-1], flush=True)
    text = table(rows, len(y_test))
    print(text)
    if args.page:
        write(args.page, "glue", text)


if __name__ == "__main__":
    main()
