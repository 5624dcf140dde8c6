"""Runs networks that ripc has compiled, with ctypes and numpy:

    net = ripc.Network("digits.so", threads=2)
    logits, = net.run(picture)     # arrays in, arrays out

or, without copies:

    net.inputs[0][...] = picture   # numpy arrays in the memory that the network reads
    net.run()
    use(net.outputs[0])
"""

import ctypes
import json
import os
import platform
import threading

import numpy

ALIGN = 64  # bytes: inputs, outputs, workspace and the threads' meeting point
SYNC_BYTES = 1152
MAX_THREADS = 256
STATUS = {
    1: "bad number of threads",
    2: "a buffer is null or not aligned to 64 bytes",
}
DTYPES = {"f32": "<f4", "i32": "<i4", "u32": "<u4", "u8": "u1", "i8": "i1"}
MACHINES = {"aarch64": "aarch64", "arm64": "aarch64", "x86_64": "x86_64", "amd64": "x86_64"}


class Error(Exception):
    """Why a network cannot be loaded or run."""


def describe(path):
    """What the library at path says of itself, without running any of it: a dict (ripc/runtime/describe.Artifact)."""
    with open(path, "rb") as f:
        data = f.read()
    if not data.startswith(b"\x7fELF"):
        raise Error(f"{path}: no compiled network; `ripc compile` makes one of a model")
    at = data.find(b'{"format":"ripc.artifact/')
    if at < 0:
        raise Error(f"{path}: no network of ripc's, or compiled with --no-describe")
    d = json.loads(data[at : data.index(b"\0", at)])
    if d["format"] != "ripc.artifact/1":
        raise Error(f"{path}: format {d['format']}, this reads ripc.artifact/1")
    return d


def aligned(shape, dtype):
    """An array of zeros at an address that a network accepts."""
    dtype = numpy.dtype(dtype)
    size = int(numpy.prod(shape, dtype=numpy.int64)) * dtype.itemsize
    room = numpy.zeros(size + ALIGN, numpy.uint8)
    skip = -room.ctypes.data % ALIGN
    return room[skip : skip + size].view(dtype).reshape(shape)


class Network:
    """A loaded network with memory of its own. One Network runs one inference at a time, on the given number of threads."""

    def __init__(self, path, threads=1):
        if not isinstance(threads, int) or not 1 <= threads <= MAX_THREADS:
            raise Error(f"threads: {threads!r}, give 1 to {MAX_THREADS}")
        self.description = d = describe(path)
        machine = platform.machine().lower()
        if d["arch"] != MACHINES.get(machine, "arm" if machine.startswith("arm") else machine):
            raise Error(f"{path}: for {d['arch']}, this machine is {machine}: load it there, or compile it anew")
        try:
            lib = ctypes.CDLL(os.path.abspath(path))
        except OSError as e:
            raise Error(str(e)) from e
        if lib[d["name"] + "_cpu_ok"]() == 0:
            raise Error(f"{path}: compiled for {d['target']}, and this CPU lacks something of it")
        self._run = lib[d["name"] + "_run"]
        self._run.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_uint32] * 2 + [ctypes.c_void_p]
        size = lib[d["name"] + "_workspace_size"]
        size.argtypes, size.restype = [ctypes.c_uint32], ctypes.c_size_t
        self.threads = threads
        self.inputs = [aligned(t["shape"], DTYPES[t["dtype"]]) for t in d["inputs"]]
        self.outputs = [aligned(t["shape"], DTYPES[t["dtype"]]) for t in d["outputs"]]
        self._workspace = aligned([max(size(threads), 1)], "u1")
        self._sync = aligned([SYNC_BYTES], "u1")
        self._in = (ctypes.c_void_p * len(self.inputs))(*[a.ctypes.data for a in self.inputs])
        self._out = (ctypes.c_void_p * len(self.outputs))(*[a.ctypes.data for a in self.outputs])

    def run(self, *arrays):
        """Runs on arrays, one for each input, and returns a list of new arrays. Nothing is converted by itself.

        Arrays may hold K inputs along their first axis, for K runs: the outputs are stacked. Without arrays it runs on what self.inputs holds, and returns self.outputs. Other threads of Python run meanwhile."""
        if not arrays:
            self._compute()
            return self.outputs
        if len(arrays) != len(self.inputs):
            raise Error(f"{len(arrays)} inputs, there are {len(self.inputs)}")
        arrays = [numpy.asarray(a) for a in arrays]
        runs = max(arrays[0].size // self.inputs[0].size, 1)
        for mine, given in zip(self.inputs, arrays):
            if given.dtype != mine.dtype:
                raise Error(f"an input is {mine.dtype}, the array is {given.dtype}: give array.astype('{mine.dtype}')")
            if given.size != runs * mine.size or runs > 1 and (mine.ndim < 2 or given.shape != (runs * len(mine), *mine.shape[1:])):
                raise Error(f"an input is {list(mine.shape)}, the array is {list(given.shape)}: a run takes {mine.size} numbers")
        results = []
        for k in range(runs):
            for mine, given in zip(self.inputs, arrays):
                mine[...] = given.reshape(runs, *mine.shape)[k]
            self._compute()
            results.append([a.copy() for a in self.outputs])
        return [numpy.concatenate(stack) for stack in zip(*results)]

    __call__ = run

    def _compute(self):
        status = [0] * self.threads

        def call(tid):
            status[tid] = self._run(self._in, self._out, self._workspace.ctypes.data, tid, self.threads, self._sync.ctypes.data)

        others = [threading.Thread(target=call, args=(tid,)) for tid in range(1, self.threads)]
        for t in others:
            t.start()
        call(0)
        for t in others:
            t.join()
        for s in status:
            if s != 0:
                raise Error(f"{self.description['name']}_run returned {s}: {STATUS.get(s, 'unknown status')}")
