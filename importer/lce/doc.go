// Package lce reads the .tflite files of Larq Compute Engine. These are binary networks: their
// convolutions are custom operators of TFLite, among builtin ones.
//
// The operators become plain ops of package graph, in the file's order and with the file's names.
// LceBconv2d is bitserial_conv2d at once, quantizers are threshold or quantize. 8-bit tensors are
// dequantized before an operator and quantized behind it. Callers see the tensors of the file:
// NHWC, int8 as it is, bits as int32 words.
//
// The bytes are read by internal/flatbuf, which explains why no library does it. Nothing of a file
// is trusted. Offsets and sizes are checked against its length, shapes against the results of
// operators, and constants against a limit. Operators that cannot be imported are reported all at
// once.
package lce
