"""Trains the networks of ripc_twin.digits for 1, 2 and 3 bits, unipolar and bipolar, from five seeds, and writes what came out.

    python -m ripc_twin.sweep --out docs/twin.json --page docs/twin.md --networks testdata/twin

The table stands in PAGE between the marks "sweep: begin" and "sweep: end". The networks of the first seed, and their integers for the 360
test images, go into the folder of --networks. What OUT has already is not trained again: remove the file to begin anew.
"""
import argparse
import json
import pathlib
import time

import numpy as np

from .digits import data, trained

KINDS = [(encoding, bits) for encoding in ("unipolar", "bipolar") for bits in (1, 2, 3)]


def table(rows: list[dict], images: int) -> str:
    """The accuracies as Markdown: a line for each kind of network."""
    seeds = sorted({r["seed"] for r in rows})
    lines = ["| activations | " + " | ".join(f"seed {s}" for s in seeds) + " | mean | seconds each |", "|---" * (len(seeds) + 3) + "|"]
    for encoding, bits in KINDS:
        own = {r["seed"]: r for r in rows if (r["encoding"], r["bits"]) == (encoding, bits)}
        if own:
            share = [f"{own[s]['right'] / images:.1%}" if s in own else "" for s in seeds]
            mean = sum(r["right"] for r in own.values()) / len(own) / images
            seconds = sum(r["seconds"] for r in own.values()) / len(own)
            lines.append(f"| {bits} bit{'s' * (bits > 1)}, {encoding} | " + " | ".join(share) + f" | {mean:.2%} | {seconds:.0f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--networks", type=pathlib.Path)
    args = parser.parse_args()
    rows = json.loads(args.out.read_text()) if args.out.exists() else []
    done = {(r["encoding"], r["bits"], r["seed"]) for r in rows}
    images = data()
    for seed in args.seeds:
        for encoding, bits in KINDS:
            if (encoding, bits, seed) in done:
                continue
            start = time.process_time()
            net, n = trained(images, bits, encoding, seed, args.epochs)
            rows.append({"encoding": encoding, "bits": bits, "seed": seed, "right": n, "seconds": round(time.process_time() - start, 1)})
            args.out.write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")
            print(rows[-1], flush=True)
            if args.networks and seed == 1:
                path = args.networks / f"{encoding}{bits}"
                net.export(path)
                np.save(path.with_name(path.name + "_logits.npy"), net.real(images[2]).numpy())
    text = table(rows, len(images[3]))
    print(text)
    if args.page:
        write(args.page, "sweep", text)


def write(page: pathlib.Path, mark: str, text: str):
    """Put the table between its marks."""
    before, rest = page.read_text().split(f"<!-- {mark}: begin -->\n")
    end = f"<!-- {mark}: end -->"
    page.write_text(before + f"<!-- {mark}: begin -->\n" + text + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
