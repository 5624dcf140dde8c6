"""Runs one model with one engine when it is told to, and says how long each run took:

    python worker.py ENGINE MODEL THREADS [INPUTS.npy...]

The first line that it writes is a JSON object with what it has loaded, or with "error". For each line {"runs": N} that it reads,
it runs the model N times and writes {"ns": [time of each run]}. For {"inputs": [X.npy...], "outputs": Y.npy}, a file for each input of the
model, it writes the first output for each element as a row of Y, and answers {}. For {"count": true}, under qemu with engine/simulate's
counter, it runs the model once between two marks, and answers with Linux's list of its memory. INPUTS.npy calibrate an int8 engine.
It ends with its input.
Engines print to stderr.
"""
import ctypes
import json
import os
import sys
import time

import numpy as np

import networks

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def answer(**what):
    answers.write(json.dumps(what) + "\n")
    answers.flush()


def filled(shape, dtype):
    """The picture, as numbers of a type: whole numbers get all of their range, so that packed bits are random."""
    x = networks.picture(shape)
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return x.astype(dtype)
    info = np.iinfo(dtype)
    return (np.round((x.astype(np.float64) + 1) / 2 * (info.max - info.min)) + info.min).clip(info.min, info.max).astype(dtype)


class OnnxRuntime:
    def __init__(self, path, threads):
        import onnxruntime

        self.version = "onnxruntime " + onnxruntime.__version__
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        types = {"float": np.float32, "uint8": np.uint8, "int8": np.int8, "int32": np.int32, "uint32": np.uint32}
        self.feed = {}
        for x in self.session.get_inputs():
            dtype = types.get(x.type.removeprefix("tensor(").removesuffix(")"))
            if dtype is None:
                raise ValueError(f"input {x.name} is a {x.type}")
            self.feed[x.name] = self.pictured([n if isinstance(n, int) else 1 for n in x.shape], dtype)  # open ones are 1
        self.inputs = [list(x.shape) for x in self.feed.values()]

    def pictured(self, shape, dtype):
        if len(shape) != 4:
            return filled(shape, dtype)
        n, c, h, w = shape
        return np.ascontiguousarray(filled((n, h, w, c), dtype).transpose(0, 3, 1, 2))

    def given(self, xs):
        return {name: x.reshape(shape) for name, shape, x in zip(self.feed, self.inputs, xs, strict=True)}

    def apply(self, *xs):
        return self.session.run(None, self.given(xs))[0]

    def run(self):
        self.out = self.session.run(None, self.feed)

    def results(self):
        return [y.transpose(0, 2, 3, 1) if y.ndim == 4 else y for y in self.out], [list(y.shape) for y in self.out]


class OnnxRuntimeInt8(OnnxRuntime):
    """A float model, quantized by onnxruntime itself: QDQ, a scale for each channel, calibrated with the given inputs or the picture."""

    def __init__(self, path, threads):
        import tempfile

        from onnxruntime.quantization import quantize_static

        super().__init__(path, threads)
        with tempfile.TemporaryDirectory() as folder:
            quantized = os.path.join(folder, "int8.onnx")
            quantize_static(path, quantized, self.calibration(), per_channel=True)
            super().__init__(quantized, threads)

    def calibration(self):
        files = [np.load(f)[:100] for f in sys.argv[4:]]
        feeds = iter([self.given(xs) for xs in zip(*files)] or [self.feed])

        from onnxruntime.quantization import CalibrationDataReader

        class Reader(CalibrationDataReader):
            def get_next(self):
                return next(feeds, None)

        return Reader()


class LiteRT:
    def __init__(self, path, threads):
        import importlib.metadata

        from ai_edge_litert.interpreter import Interpreter

        self.version = "ai-edge-litert " + importlib.metadata.version("ai-edge-litert")
        self.interpreter = Interpreter(path, num_threads=threads)
        self.interpreter.allocate_tensors()
        self.places = self.interpreter.get_input_details()
        self.inputs = [x["shape"].tolist() for x in self.places]
        self.put(filled(shape, x["dtype"]) for shape, x in zip(self.inputs, self.places))

    def put(self, xs):
        for shape, place, x in zip(self.inputs, self.places, xs, strict=True):
            self.interpreter.set_tensor(place["index"], x.reshape(shape))

    def run(self):
        self.interpreter.invoke()

    def apply(self, *xs):
        self.put(xs)
        self.run()
        return self.interpreter.get_tensor(self.interpreter.get_output_details()[0]["index"])

    def results(self):
        details = self.interpreter.get_output_details()
        return [self.interpreter.get_tensor(d["index"]) for d in details], [d["shape"].tolist() for d in details]


class Larq:
    """Larq Compute Engine's interpreter by itself: without TensorFlow, whose start would take longer than all runs."""

    indirect = False

    def __init__(self, path, threads):
        import glob
        import importlib.metadata
        import importlib.util

        self.version = "larq-compute-engine " + importlib.metadata.version("larq-compute-engine")
        (package,) = importlib.util.find_spec("larq_compute_engine").submodule_search_locations
        (library,) = glob.glob(os.path.join(package, "tflite/python/interpreter_wrapper_lite*.so"))
        spec = importlib.util.spec_from_file_location("interpreter_wrapper_lite", library)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        with open(path, "rb") as f:
            self.interpreter = module.LiteInterpreter(f.read(), threads, False, self.indirect, True)
        self.inputs = [list(s) for s in self.interpreter.input_shapes]
        self.feed = [filled(s, np.dtype(t)) for s, t in zip(self.inputs, self.interpreter.input_types)]

    def apply(self, *xs):
        return self.interpreter.predict([x.reshape(shape) for shape, x in zip(self.inputs, xs, strict=True)])[0]

    def run(self):
        self.out = self.interpreter.predict(self.feed)

    def results(self):
        out = [np.array(y) for y in self.out]
        return out, [list(y.shape) for y in out]


class LarqIndirect(Larq):
    indirect = True


class TVM:
    def __init__(self, path, threads):
        os.environ["TVM_NUM_THREADS"] = str(threads)
        import tvm

        self.version = "apache-tvm " + tvm.__version__
        self.function = tvm.runtime.load_module(path)["main"]
        with open(path + ".json") as f:
            contents = json.load(f)
        array = lambda t: tvm.runtime.tensor(t, tvm.cpu(0))
        rng = np.random.default_rng(1)
        self.inputs, self.shapes = contents["inputs"], contents["outputs"]
        most = lambda dtype: 2 if contents["levels"] else np.iinfo(dtype).max
        arguments = [rng.integers(0, most(dtype), shape, dtype) for shape, dtype in zip(contents["arguments"], contents["dtypes"])]
        self.arguments = [array(a) for a in arguments]
        self.arguments.append(array(np.zeros(self.shapes[0], contents["sums"])))

    def run(self):
        self.function(*self.arguments)

    def results(self):
        return [self.arguments[-1].numpy()], self.shapes


class TVMOnnx(OnnxRuntime):
    """A file of the user's by TVM's Relax, with the schedules of its default pipeline: none is searched for."""

    def __init__(self, path, threads):
        os.environ["TVM_NUM_THREADS"] = str(threads)
        import onnx
        import tvm
        from tvm import relax
        from tvm.relax.frontend.onnx import from_onnx

        self.version = "apache-tvm " + tvm.__version__
        model = onnx.load(path)
        weights = {t.name for t in model.graph.initializer}
        self.feed = {}
        for x in model.graph.input:
            if x.name not in weights:
                t = x.type.tensor_type
                shape = [n.dim_value or 1 for n in t.shape.dim]  # open ones are 1
                self.feed[x.name] = self.pictured(shape, onnx.helper.tensor_dtype_to_np_dtype(t.elem_type))
        self.inputs = [list(x.shape) for x in self.feed.values()]
        module = from_onnx(model, dict(zip(self.feed, self.inputs)))
        target = tvm.target.Target({"kind": "llvm", "mcpu": tvm.get_global_func("target.llvm_get_system_cpu")()})
        self.main = relax.VirtualMachine(tvm.compile(module, target), tvm.cpu(0))["main"]
        self.tensors = lambda arrays: [tvm.runtime.tensor(x, tvm.cpu(0)) for x in arrays]
        self.arrays = lambda y: [y.numpy()] if isinstance(y, tvm.runtime.Tensor) else [t.numpy() for t in y]
        self.arguments = self.tensors(self.feed.values())

    def run(self):
        self.out = self.main(*self.arguments)

    def apply(self, *xs):
        return self.arrays(self.main(*self.tensors(self.given(xs).values())))[0]

    def results(self):
        self.out = self.arrays(self.out)
        return super().results()


ENGINES = dict(onnxruntime=OnnxRuntime, onnxruntime_int8=OnnxRuntimeInt8, litert=LiteRT, larq=Larq, larq_indirect=LarqIndirect, tvm=TVM, tvm_onnx=TVMOnnx)


def main():
    name, path, threads = sys.argv[1:4]
    try:
        engine = ENGINES[name](path, int(threads))
        engine.run()
        outputs, shapes = engine.results()
    except Exception as e:
        return answer(error=f"{type(e).__name__}: {e}")
    y = outputs[0].astype(np.float64).reshape(-1)
    at = np.linspace(0, len(y) - 1, 32).astype(int)
    answer(version=engine.version, inputs=engine.inputs, outputs=shapes, sample=[v if np.isfinite(v) else None for v in y[at].tolist()])
    for line in sys.stdin:
        order, ns = json.loads(line), []
        if "inputs" in order:
            try:
                rows = [engine.apply(*xs).reshape(-1) for xs in zip(*map(np.load, order["inputs"]))]
                np.save(order["outputs"], np.stack(rows).astype(np.float32))
                answer()
            except Exception as e:
                answer(error=f"{type(e).__name__}: {e}")
            continue
        if "count" in order:
            call, mark = ctypes.CDLL(None).syscall, ctypes.c_long(5555)  # of engine/simulate/guest/count.c
            call(mark, ctypes.c_long(0), ctypes.c_long(0))
            engine.run()
            call(mark, ctypes.c_long(1), ctypes.c_long(0))
            with open("/proc/self/maps") as f:
                answer(maps=f.read())
            continue
        for _ in range(order["runs"]):
            start = time.perf_counter_ns()
            engine.run()
            ns.append(time.perf_counter_ns() - start)
        answer(ns=ns)


main()
