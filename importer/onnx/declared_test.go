package onnx

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"ripc/importer"
	pb "ripc/importer/onnx/internal/onnxpb"
)

// TestDeclared: what a file says of an input's values is kept, and makes levels of them if it is trusted.
func TestDeclared(t *testing.T) {
	for name, want := range map[string]string{
		"BIPOLAR": "bipolar1", "BINARY": "unipolar1", "TERNARY": "affine2(zero=1)", "UINT1": "unipolar1", "UINT2": "unipolar2", "INT2": "affine2(zero=2)", "UINT8": "unipolar8", "INT8": "affine8(zero=128)",
		"FLOAT32": "", "INT1": "", "UINT9": "", "INT32": "", "UINT": "", "FIXED<8,4>": "", "SCALEDINT<8>": "",
	} {
		f := newFile(13).node("Relu x -> y")
		f.Graph.QuantizationAnnotation = []*pb.TensorAnnotation{
			{TensorName: proto.String("y"), QuantParameterTensorNames: []*pb.StringStringEntryProto{{Key: proto.String("finn_datatype"), Value: proto.String("UINT4")}}},
			{TensorName: proto.String("x"), QuantParameterTensorNames: []*pb.StringStringEntryProto{{Key: proto.String("SCALE_TENSOR"), Value: proto.String("s")}, {Key: proto.String("finn_datatype"), Value: proto.String(name)}}},
		}
		data, err := proto.Marshal(f.ModelProto)
		if err != nil {
			t.Fatal(err)
		}
		for _, trust := range []bool{false, true} {
			g, err := parse(t.Context(), "m.onnx", data, nil, importer.Options{TrustTypes: trust}, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if got := g.Value("x").Declared; got != name && want != "" || got != "" && want == "" {
				t.Errorf("%s: declared %q", name, got)
			}
			if has := strings.Contains(g.String(), want+"[1, 8, 8, 3] = quantize"); has != (trust && want != "") {
				t.Errorf("%s, trusted %v:\n%s", name, trust, g)
			}
		}
	}
}
