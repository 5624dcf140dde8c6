"""Writes FOLDER/NAME.f32.tflite and FOLDER/NAME.int8.tflite, and FOLDER/NAME.lce.tflite for Larq Compute Engine, with what is in
them in files of the same names with .json behind:

    python models_larq.py FOLDER [NAME...]

The networks of Larq Zoo are made without their trained weights, which would have to be fetched; statistics of normalizations are
random, so that bits vary. A NAME.lce.tflite that is there already, with trained weights say, is kept.
"""
import json
import os
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import larq
import larq_compute_engine as lce
import larq_zoo
import numpy as np
import tensorflow as tf
from flatbuffers import flexbuffers
from larq_compute_engine.mlir.python import tflite_schema as schema
from larq_compute_engine.mlir.python import util

import networks

K = tf.keras
ZOO = dict(binary_alexnet=larq_zoo.literature.BinaryAlexNet, birealnet=larq_zoo.literature.BiRealNet,
           quicknet_small=larq_zoo.sota.QuickNetSmall, quicknet=larq_zoo.sota.QuickNet, quicknet_large=larq_zoo.sota.QuickNetLarge)


class Builder:
    """Makes a Keras model."""

    def __init__(self):
        self.weights = networks.Weights()

    def input(self, h, w, c):
        self.x = K.Input((h, w, c), batch_size=1)
        return self.x

    def layer(self, layer, x, *weights):
        y = layer(x)
        layer.set_weights(weights)
        return y

    def conv(self, x, filters, kernel, stride=1, padding="same", relu=True):
        w, bias = self.weights.conv(kernel, x.shape[-1], filters)
        return self.layer(K.layers.Conv2D(filters, kernel, stride, padding, activation="relu" if relu else None), x, w, bias)

    def depthwise(self, x, kernel, stride):
        w, bias = self.weights.conv(kernel, 1, x.shape[-1])
        return self.layer(K.layers.DepthwiseConv2D(kernel, stride, "same", activation="relu"), x, w.transpose(0, 1, 3, 2), bias)

    def max_pool(self, x, kernel, stride, padding="same"):
        return K.layers.MaxPool2D(kernel, stride, padding)(x)

    def concat(self, x, y):
        return K.layers.Concatenate()([x, y])

    def add(self, x, y):
        return K.layers.ReLU()(K.layers.Add()([x, y]))

    def mean(self, x):
        return K.layers.GlobalAvgPool2D()(x)

    def dense(self, x, filters):
        w, bias = self.weights.conv(1, x.shape[-1], filters)
        return self.layer(K.layers.Dense(filters), x, w[0, 0], bias)


def float_and_int8(name):
    b = Builder()
    y = networks.build(b, name)
    model = K.Model(b.x, y)
    f32 = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    c = tf.lite.TFLiteConverter.from_keras_model(model)
    rng = np.random.default_rng(2)
    c.optimizations = [tf.lite.Optimize.DEFAULT]
    c.representative_dataset = lambda: ([rng.uniform(-1, 1, b.x.shape).astype(np.float32)] for _ in range(4))
    c.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    c.inference_input_type = c.inference_output_type = tf.int8
    return f32, c.convert()


def binary_conv(name):
    """A binary convolution with normalization, from packed bits to packed bits."""
    size, channels = networks.CONVS[name]
    x = K.Input((size, size, channels), batch_size=1)
    y = larq.layers.QuantConv2D(channels, 3, padding="same", pad_values=1.0, input_quantizer="ste_sign", kernel_quantizer="ste_sign", use_bias=False)(x)
    y = K.layers.BatchNormalization()(y)
    y = K.layers.Lambda(larq.math.sign)(y)
    return without_quantize(util.strip_lcedequantize_ops(lce.convert_keras_model(K.Model(x, y))))


def zoo(name):
    model = ZOO[name](weights=None)
    rng = np.random.default_rng(1)
    for layer in model.layers:
        if isinstance(layer, K.layers.BatchNormalization):
            n = layer.moving_mean.shape
            layer.moving_mean.assign(rng.normal(0, 3, n).astype(np.float32))
            layer.moving_variance.assign(rng.uniform(20, 100, n).astype(np.float32))
    return lce.convert_keras_model(model)


def operators(model, graph):
    names = {v: k for k, v in vars(schema.BuiltinOperator).items() if not k.startswith("_")}
    for op in graph.operators:
        code = model.operatorCodes[op.opcodeIndex]
        yield op, code.customCode.decode() if code.customCode else names[max(code.builtinCode, code.deprecatedBuiltinCode)]


def without_quantize(data):
    """Takes the LceQuantize at the input away: the model's input becomes packed bits."""
    model = util._convert_model_from_bytearray_to_object(bytearray(data))
    graph = model.subgraphs[0]
    for op, name in list(operators(model, graph)):
        if name == "LceQuantize" and op.inputs[0] in graph.inputs:
            graph.inputs = [op.outputs[0]]
            graph.operators.remove(op)
            gone = op.inputs[0]
    at = lambda ids: [i - (i > gone) for i in ids]  # -1 stays
    graph.tensors = [t for i, t in enumerate(graph.tensors) if i != gone]
    graph.inputs, graph.outputs = at(graph.inputs), at(graph.outputs)
    for op in graph.operators:
        op.inputs, op.outputs = at(op.inputs), at(op.outputs)
    model.signatureDefs = []
    return bytes(util._convert_model_from_object_to_bytearray(model))


def contents(data):
    """What the file has: shapes, and multiply-adds by the type of their operands. It is counted from the file."""
    model = util._convert_model_from_bytearray_to_object(bytearray(data))
    graph = model.subgraphs[0]
    shape = lambda i: [int(n) for n in graph.tensors[i].shape]
    macs = dict(fp32=0, int8=0, bits=0)
    for op, name in operators(model, graph):
        if name in ("CONV_2D", "FULLY_CONNECTED"):
            one = int(np.prod(shape(op.inputs[1])[1:]))
        elif name == "DEPTHWISE_CONV_2D":
            one = int(np.prod(shape(op.inputs[1])[1:3]))
        elif name == "LceBconv2d":
            options = {k: v for k, v in flexbuffers.Loads(bytes(op.customOptions)).items()}
            one = int(np.prod(shape(op.inputs[1])[1:3])) * int(options["channels_in"])
            filters = shape(op.inputs[1])[0]
            macs["bits"] += int(np.prod(shape(op.outputs[0])[:3])) * filters * one
            continue
        else:
            continue
        kind = "int8" if graph.tensors[op.inputs[1]].type == schema.TensorType.INT8 else "fp32"
        macs[kind] += int(np.prod(shape(op.outputs[0]))) * one
    return dict(inputs=[shape(i) for i in graph.inputs], outputs=[shape(i) for i in graph.outputs], macs=macs)


def main():
    folder, names = sys.argv[1], sys.argv[2:] or [*networks.CONVS, *networks.NETWORKS, *ZOO]

    def write(name, kind, data):
        path = os.path.join(folder, f"{name}.{kind}.tflite")
        if kind == "lce" and os.path.exists(path):
            with open(path, "rb") as f:
                data = f.read()
        elif callable(data):
            data = data()
        with open(path, "wb") as f:
            f.write(data)
        with open(path + ".json", "w") as f:
            json.dump(contents(data), f)

    for name in names:
        K.backend.clear_session()
        if name in networks.CONVS or name in networks.NETWORKS:
            f32, int8 = float_and_int8(name)
            write(name, "f32", f32)
            write(name, "int8", int8)
        if name in networks.CONVS:
            write(name, "lce", lambda: binary_conv(name))
        if name in ZOO:
            write(name, "lce", lambda: zoo(name))


main()
