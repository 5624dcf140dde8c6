package onnx

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "ripc/importer/internal/onnx/internal/onnxpb"
)

// file builds models for tests: an input x of shape [1, 3, 8, 8] unless said otherwise, and an output y.
type file struct{ *pb.ModelProto }

func newFile(opset int64, dims ...any) file {
	if dims == nil {
		dims = []any{1, 3, 8, 8}
	}
	m := &pb.ModelProto{IrVersion: proto.Int64(8), Graph: &pb.GraphProto{},
		OpsetImport: []*pb.OperatorSetIdProto{{Version: proto.Int64(opset)}, {Domain: proto.String("qonnx.custom_op.general"), Version: proto.Int64(1)}}}
	f := file{m}
	f.input("x", dtFloat, dims...)
	f.output("y")
	return f
}

func value(name string, dt dtype, dims ...any) *pb.ValueInfoProto {
	s := &pb.TensorShapeProto{}
	for _, d := range dims {
		switch d := d.(type) {
		case int:
			s.Dim = append(s.Dim, &pb.TensorShapeProto_Dimension{Value: &pb.TensorShapeProto_Dimension_DimValue{DimValue: int64(d)}})
		case string:
			s.Dim = append(s.Dim, &pb.TensorShapeProto_Dimension{Value: &pb.TensorShapeProto_Dimension_DimParam{DimParam: d}})
		}
	}
	return &pb.ValueInfoProto{Name: &name, Type: &pb.TypeProto{Value: &pb.TypeProto_TensorType{TensorType: &pb.TypeProto_Tensor{ElemType: proto.Int32(int32(dt)), Shape: s}}}}
}

func (f file) input(name string, dt dtype, dims ...any) {
	f.Graph.Input = append(f.Graph.Input, value(name, dt, dims...))
}

func (f file) output(name string) {
	f.Graph.Output = append(f.Graph.Output, &pb.ValueInfoProto{Name: &name})
}

// node adds "Op in1 in2 -> out1 out2"; a domain may stand before the op, with a colon. Attributes are name, value pairs.
func (f file) node(text string, attrs ...any) file {
	before, after, _ := strings.Cut(text, "->")
	words := strings.Fields(before)
	n := &pb.NodeProto{Output: strings.Fields(after)}
	domain, op, ok := strings.Cut(words[0], ":")
	if ok {
		n.Domain = &domain
	} else {
		op = words[0]
	}
	n.OpType = &op
	for _, w := range words[1:] {
		n.Input = append(n.Input, strings.TrimSuffix(w, "_"))
	}
	for i := 0; i < len(attrs); i += 2 {
		a := &pb.AttributeProto{Name: proto.String(attrs[i].(string))}
		switch v := attrs[i+1].(type) {
		case int:
			a.Type, a.I = pb.AttributeProto_INT.Enum(), proto.Int64(int64(v))
		case float64:
			a.Type, a.F = pb.AttributeProto_FLOAT.Enum(), proto.Float32(float32(v))
		case string:
			a.Type, a.S = pb.AttributeProto_STRING.Enum(), []byte(v)
		case []int64:
			a.Type, a.Ints = pb.AttributeProto_INTS.Enum(), v
		case *pb.TensorProto:
			a.Type, a.T = pb.AttributeProto_TENSOR.Enum(), v
		}
		n.Attribute = append(n.Attribute, a)
	}
	f.Graph.Node = append(f.Graph.Node, n)
	return f
}

func floatTensor(name string, v []float32, dims ...int64) *pb.TensorProto {
	var raw []byte
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return &pb.TensorProto{Name: &name, DataType: proto.Int32(int32(dtFloat)), Dims: dims, RawData: raw}
}

// floats adds an initializer that counts 1, 2, 3 ...
func (f file) floats(name string, dims ...int64) file {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i + 1)
	}
	f.Graph.Initializer = append(f.Graph.Initializer, floatTensor(name, v, dims...))
	return f
}

func (f file) ints(name string, v ...int64) file {
	f.Graph.Initializer = append(f.Graph.Initializer, &pb.TensorProto{Name: &name, DataType: proto.Int32(int32(dtInt64)), Dims: []int64{int64(len(v))}, Int64Data: v})
	return f
}

func (f file) bytes(t testing.TB) []byte {
	t.Helper()
	data, err := proto.Marshal(f.ModelProto)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
