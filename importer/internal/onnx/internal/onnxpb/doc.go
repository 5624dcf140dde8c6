// Package onnxpb is the generated reader of ONNX's protocol buffers. onnx-ml.proto is the file of
// onnx 1.19.1 (Apache-2.0); with protoc 3.21.12 and protoc-gen-go v1.36.12 in PATH, go generate
// makes onnx-ml.pb.go from it again.
package onnxpb

//go:generate protoc --go_out=. --go_opt=paths=source_relative --go_opt=Monnx-ml.proto=ripc/importer/internal/onnx/internal/onnxpb onnx-ml.proto
