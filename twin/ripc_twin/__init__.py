"""Layers for PyTorch whose evaluation is the integer arithmetic that ripc compiles. See docs/twin.md."""
from .arith import LevelType
from .layers import (LBP, BatchNorm, BitConv2d, BitLinear, Flatten, IntLinear, Layer, MaxPool2d, Quantize, RPReLU, RSign, ShiftNorm,
                     Threshold, Weights)
from .network import Network
from .tensors import Levels, Sums

__all__ = ["LBP", "BatchNorm", "BitConv2d", "BitLinear", "Flatten", "IntLinear", "Layer", "LevelType", "Levels", "MaxPool2d", "Network",
           "Quantize", "RPReLU", "RSign", "ShiftNorm", "Sums", "Threshold", "Weights"]
