"""Compiles neural networks with weights of few bits, and runs, checks and measures them:

    net = ripc.compile("digits.json", threads=2)
    logits, = net.run(picture)        # arrays in, arrays out
    ripc.verify("digits.json")        # every stage against the definition, bit for bit
    ripc.bench("digits.json", target="rpi3")["estimated_cycles"]

Flags of the command are keywords: float_twin=True is --float-twin, and a list repeats a flag. `ripc COMMAND --help` lists
them, and `ripc doctor` names missing tools.
"""

import json
import os
import subprocess
import tempfile

from ripc.network import Error, Network, aligned, describe

__all__ = ["Error", "Network", "aligned", "bench", "build", "command", "compile", "describe", "load", "verify"]

_WITHIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "ripc")
PROGRAM = _WITHIN if os.path.exists(_WITHIN) else "ripc"  # a wheel holds it; else it is on PATH


def command(name, *args, **flags):
    """Runs `ripc NAME ARGS --json`, and returns the printed object. Fails with Error and the command's own words."""
    line = [PROGRAM, name, *map(os.fspath, args), "--json"]
    for flag, values in flags.items():
        for value in values if isinstance(values, (list, tuple)) else [values]:
            line.append(f"--{flag.replace('_', '-')}={str(value).lower() if isinstance(value, bool) else value}")
    try:
        done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")
    except OSError as e:
        raise Error(f"cannot start ripc: {e}") from e
    if done.returncode != 0:
        raise Error(done.stderr.strip() or done.stdout.strip() or f"{line} returned {done.returncode}")
    return json.loads(done.stdout)


def build(model, output, **flags):
    """Compiles a model to OUTPUT.so and OUTPUT.h, or other files (emit="c,h"), also for other machines (target="rpi3")."""
    return command("compile", model, output=output, **flags)


def load(path, threads=1):
    """The Network of a compiled library."""
    return Network(path, threads)


def compile(model, threads=1, **flags):
    """The Network of a model, compiled for this machine. Files are gone when it is loaded; build keeps them, for others too."""
    with tempfile.TemporaryDirectory() as folder:
        build(model, os.path.join(folder, "network"), emit="so", **flags)
        try:
            return load(os.path.join(folder, "network.so"), threads)
        except Error as e:
            raise Error(f"compile loads the network here, build is for other machines: {e}") from e


def bench(model, **flags):
    """The times, or estimated cycles, of a model or library, layer by layer."""
    return command("bench", model, **flags)


def verify(model, **flags):
    """Compares every stage of the compiled code with the interpreter. Fails with Error if a bit differs."""
    return command("verify", model, **flags)
