"""Layers for PyTorch whose evaluation is the integer arithmetic that ripc compiles. See docs/twin.md."""
from .arith import LevelType
from .layer import Layer
from .moves import Flatten, MaxPool2d
from .network import Network
from .norms import BatchNorm, RPReLU, ShiftNorm
from .quantizers import LBP, Quantize, RSign, Threshold
from .shortcut import Shortcut
from .tensors import Levels, Sums
from .weights import BitConv2d, BitLinear, IntLinear, Weights

__all__ = ["LBP", "BatchNorm", "BitConv2d", "BitLinear", "Flatten", "IntLinear", "Layer", "LevelType", "Levels", "MaxPool2d", "Network",
           "Quantize", "RPReLU", "RSign", "ShiftNorm", "Shortcut", "Sums", "Threshold", "Weights"]
