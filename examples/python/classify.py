"""classify.py LIBRARY PICTURES.npy ANSWERS.npy [LOGITS.npy]: how many digits does a network recognize? Writes what it computes."""

import sys

import numpy

import ripc


def main(library, pictures, answers, *logits):
    net = ripc.Network(library, threads=2)
    got, = net.run(numpy.load(pictures))
    right = int((got.argmax(axis=1) == numpy.load(answers)).sum())
    print(f"{right} of {len(got)} right, {net.description['target']}")
    if logits:
        numpy.save(logits[0], got)


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except ripc.Error as e:
        sys.exit(f"classify.py: {e}")
