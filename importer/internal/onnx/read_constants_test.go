package onnx

import (
	"testing"

	"google.golang.org/protobuf/proto"

	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/internal/stop"
)

// TestConstantLength: a constant holds as many elements as its shape has, in whatever field.
func TestConstantLength(t *testing.T) {
	for name, c := range map[string]*pb.TensorProto{
		"raw bytes of an empty tensor":   {Dims: []int64{2, 0}, RawData: make([]byte, 8)},
		"floats of an empty tensor":      {Dims: []int64{0}, FloatData: []float32{1}},
		"fewer floats than the shape":    {Dims: []int64{2}, FloatData: []float32{1}},
		"more raw bytes than the shape":  {Dims: []int64{1}, RawData: make([]byte, 8)},
		"no elements where two are said": {Dims: []int64{2}},
	} {
		c.DataType = proto.Int32(int32(dtFloat))
		b := &builder{mem: budget{left: 1 << 10}}
		if stop.Try(func() { b.constant(c) }) == nil {
			t.Errorf("%s is read", name)
		}
	}
}
