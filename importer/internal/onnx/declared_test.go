package onnx

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"ripc/graph"
	"ripc/importer"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
)

// declare notes that tensor name holds values of a type of FINN.
func (f file) declare(name, datatype string) file {
	f.Graph.QuantizationAnnotation = append(f.Graph.QuantizationAnnotation, &pb.TensorAnnotation{TensorName: &name, QuantParameterTensorNames: []*pb.StringStringEntryProto{
		{Key: proto.String("SCALE_TENSOR"), Value: proto.String("s")}, {Key: proto.String("finn_datatype"), Value: &datatype}}})
	return f
}

// TestDeclared: what a file says of an input's values is kept, and makes levels of them if it is trusted.
func TestDeclared(t *testing.T) {
	for name, want := range map[string]string{
		"BIPOLAR": "bipolar1", "BINARY": "unipolar1", "TERNARY": "affine2(zero=1)", "UINT1": "unipolar1", "UINT2": "unipolar2", "INT2": "affine2(zero=2)", "UINT8": "unipolar8", "INT8": "affine8(zero=128)",
		"FLOAT32": "", "INT1": "", "UINT9": "", "INT32": "", "UINT": "", "FIXED<8,4>": "", "SCALEDINT<8>": "",
	} {
		data := newFile(13).node("Relu x -> y").declare("y", "UINT4").declare("x", name).bytes(t)
		for _, trust := range []bool{false, true} {
			g, err := parse(t.Context(), "m.onnx", data, nil, importer.Options{TrustTypes: trust}, nil, 1<<20)
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

// TestDeclaredMoves: whatever moves the elements of an input with a declared type first, the graph is one that graph.Check accepts.
func TestDeclaredMoves(t *testing.T) {
	gray, colors := []any{1, 1, 8, 8}, []any{1, 3, 8, 8}
	files := map[string]func(dims []any) file{
		"conv": func(dims []any) file {
			return newFile(13, dims...).floats("w", 2, int64(dims[1].(int)), 3, 3).node("Conv x w -> y")
		},
		"flatten": func(dims []any) file { return newFile(13, dims...).node("Flatten x -> a").node("Relu a -> y") },
		"reshape": func(dims []any) file {
			return newFile(13, dims...).ints("s", 1, -1).node("Reshape x s -> a").node("Relu a -> y")
		},
		"transpose": func(dims []any) file {
			return newFile(13, dims...).node("Transpose x -> a", "perm", []int64{0, 2, 3, 1}).node("Relu a -> y")
		},
		"pool": func(dims []any) file {
			return newFile(13, dims...).node("MaxPool x -> y", "kernel_shape", []int64{2, 2})
		},
		"pad": func(dims []any) file {
			return newFile(13, dims...).ints("p", 0, 0, 1, 1, 0, 0, 1, 1).node("Pad x p -> a").node("Relu a -> y")
		},
		"slice": func(dims []any) file {
			return newFile(13, dims...).ints("a", 1).ints("b", 7).ints("d", 2).node("Slice x a b d -> c").node("Relu c -> y")
		},
		"two": func(dims []any) file {
			return newFile(13, dims...).node("Identity x -> a").node("Flatten a -> b").node("Neg b -> y")
		},
	}
	for name, make := range files {
		for _, dims := range [][]any{gray, colors} {
			for _, trust := range []bool{false, true} {
				g, err := parse(t.Context(), "m.onnx", make(dims).declare("x", "UINT8").bytes(t), nil, importer.Options{TrustTypes: trust}, nil, 1<<20)
				if err != nil {
					t.Fatalf("%s %v: %v", name, dims, err)
				}
				if err := graph.Check(g); err != nil {
					t.Errorf("%s %v, trusted %v: %v", name, dims, trust, err)
				}
				for _, v := range g.Values {
					if want := map[bool]string{true: "UINT8"}[v.Name == "x"]; v.Declared != want {
						t.Errorf("%s %v: %s is declared %q, want %q", name, dims, v.Name, v.Declared, want)
					}
				}
			}
		}
	}
}
