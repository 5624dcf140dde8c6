"""FINN's networks, MLP-4 (TFC) and CNV-4, by Brevitas' own models made small: as QONNX, and as FINN's flow rewrites that."""
import copy
import numpy as np, torch
import torch.nn as nn
from brevitas.export import export_qonnx
from brevitas.nn import QuantConv2d, QuantIdentity, QuantLinear
from brevitas_examples.bnn_pynq.models import CNV as cnv_module, FC as fc_module
from onnx import helper, numpy_helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_node
from qonnx.custom_op.registry import getCustomOp
from qonnx.util.cleanup import cleanup_model
import parts
from parts import *


def watch(m, args):
    """Says how near the values come to the quantizer's steps."""
    q = m.act_quant
    if not torch.jit.is_tracing():
        bits, scale = int(q.bit_width()), float(q.scale())
        near(args[0], (0.0,) if bits == 1 else [(i + 0.5) * scale for i in range(1 - 2 ** (bits - 1) - (bits == 8), 2 ** (bits - 1) - 1)])


def finish(model, w, a, first):
    for m in model.modules():
        if isinstance(m, (QuantConv2d, QuantLinear)):
            m.weight.data = parts.latent(*m.weight.shape).data * (1 if w == 1 else 3)
            m.bits = (first, w)
            first = a
        if type(m).__name__ == "TensorNorm":
            m.momentum, m.eps, m.running_var = 0.0, 2.0 ** -8, torch.full_like(m.running_var, 4 - 2.0 ** -8)
        if isinstance(m, QuantIdentity):
            m.register_forward_pre_hook(watch)
    return model


def export(model, x):
    m = export_qonnx(model, x, opset_version=14, dynamo=False)
    return cleanup_model(ModelWrapper(m)).model


def finn_form(model, x):
    """What FINN's conversion from QONNX makes: weights are integers with a Mul behind their layer, quantizers are MultiThreshold,
    Add and Mul."""
    w = ModelWrapper(export(model, x))
    nodes, out = list(w.graph.node), []
    behind = {}
    for n in nodes:
        if n.op_type not in ("Quant", "BipolarQuant"):
            out.append(n)
            if n.input and any(i in behind for i in n.input):
                s = next(behind[i] for i in n.input if i in behind)
                if s != 1:
                    name = n.output[0] + "_scaled"
                    w.set_initializer(name + "_by", np.float32(s))
                    out.append(helper.make_node("Mul", [name, name + "_by"], [n.output[0]]))
                    n.output[0] = name
            continue
        scale = w.get_initializer(n.input[1]).item()
        bipolar = n.op_type == "BipolarQuant"
        if w.get_initializer(n.input[0]) is not None:
            env = {i: w.get_initializer(i) for i in n.input if i}
            execute_node(n, env, w.graph, 14)
            w.set_initializer(n.output[0], (env[n.output[0]] / scale).astype(np.float32))
            behind[n.output[0]] = scale
            continue
        if bipolar:
            low, steps, by = -1, np.array([0.0]), 2
        else:
            q = getCustomOp(n)
            bits, signed, narrow = int(w.get_initializer(n.input[3]).item()), q.get_nodeattr("signed"), q.get_nodeattr("narrow")
            low = (-(1 << (bits - 1)) + narrow) if signed else 0
            high = (1 << (bits - 1)) - 1 if signed else (1 << bits) - 1 - narrow
            steps, by = (np.arange(low, high) + 0.5) * scale, 1
        name = n.output[0]
        w.set_initializer(name + "_steps", steps.astype(np.float32).reshape(1, -1))
        at = n.input[0]
        out.append(helper.make_node("MultiThreshold", [at, name + "_steps"], [name + "_levels"], domain="qonnx.custom_op.general", out_dtype="BIPOLAR" if bipolar else "UINT%d" % bits,
                                    out_scale=float(by), out_bias=-1.0 if bipolar else 0.0))
        at = name + "_levels"
        if low and not bipolar:
            w.set_initializer(name + "_low", np.float32(low))
            out.append(helper.make_node("Add", [at, name + "_low"], [name + "_signed"]))
            at = name + "_signed"
        w.set_initializer(name + "_scale", np.float32(scale))
        out.append(helper.make_node("Mul", [at, name + "_scale"], [name]))
    del w.graph.node[:]
    w.graph.node.extend(out)
    used = {i for n in out for i in n.input}
    for t in list(w.graph.initializer):
        if t.name not in used:
            w.graph.initializer.remove(t)
    del w.graph.value_info[:]
    if not any(o.domain == "qonnx.custom_op.general" for o in w.model.opset_import):
        w.model.opset_import.append(helper.make_opsetid("qonnx.custom_op.general", 1))
    return w.model


def tfc(w, a):
    return finish(fc_module.FC(10, w, a, a, 1, [32, 32, 32], (8, 8)), w, a, a)


def cnv(w, a):
    cnv_module.CNV_OUT_CH_POOL = [(16, False), (16, True), (32, False), (32, True)]
    cnv_module.INTERMEDIATE_FC_FEATURES, cnv_module.LAST_FC_IN_FEATURES = [(128, 32)], 32
    return finish(cnv_module.CNV(10, w, a, 8, 3), w, a, 8)


for name, make, shape in (("mlp4", tfc, (1, 8, 8)), ("cnv4", cnv, (3, 20, 20))):
    for w, a in ((1, 1), (1, 2), (2, 2)):
        for form, how in (("qonnx", export), ("finn", finn_form)):
            @network("FINN's %s-%s, %d-bit weights, %d-bit activations, as %s" % (name[:3].upper(), name[3], w, a, "QONNX" if form == "qonnx" else "FINN writes it"), shape, like="%s_w%da%d" % (name, w, a), export=how)
            def make_one(make=make, w=w, a=a):
                return make(w, a)
            REGISTER["%s_%s_w%da%d" % (form, name, w, a)] = REGISTER.pop("make_one")
