package onnx

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/internal/golden"
)

// small adds integers of a type, given once and repeated.
func (f file) small(name string, dt dtype, v int32, dims ...int64) file {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	data := make([]int32, n)
	for i := range data {
		data[i] = v
	}
	f.Graph.Initializer = append(f.Graph.Initializer, &pb.TensorProto{Name: &name, DataType: proto.Int32(int32(dt)), Dims: dims, Int32Data: data})
	return f
}

// newIntegers is a file with an input x of uint8 and parameters: s, a scale, z, u and t, zero points of types uint8 (two of them) and int8, w, weights of int8.
func newIntegers() file {
	f := file{&pb.ModelProto{IrVersion: proto.Int64(8), Graph: &pb.GraphProto{},
		OpsetImport: []*pb.OperatorSetIdProto{{Version: proto.Int64(17)}, {Domain: proto.String("com.microsoft"), Version: proto.Int64(1)}}}}
	f.input("x", dtUint8, 1, 3, 8, 8)
	f.output("y")
	return f.floats("s").small("z", dtUint8, 100).small("u", dtUint8, 90).small("t", dtInt8, 0).small("w", dtInt8, 7, 4, 3, 3, 3)
}

// zeroPoints is a file whose weights of uint8 have a zero point for each output, less which they are no 8 bits.
func zeroPoints() file {
	f := newIntegers()
	f.Graph.Input = nil
	f.input("i", dtUint8, 1, 2)
	for name, t := range map[string]struct {
		dims []int64
		data []int32
	}{"m": {[]int64{2, 2}, []int32{0, 0, 255, 255}}, "p": {[]int64{2}, []int32{250, 5}}} {
		f.Graph.Initializer = append(f.Graph.Initializer, &pb.TensorProto{Name: proto.String(name), DataType: proto.Int32(int32(dtUint8)), Dims: t.dims, Int32Data: t.data})
	}
	return f.node("QLinearMatMul i s z m s p s z -> y")
}

// declaredOtherwise is a file that declares an output of int8, of which its nodes make uint8.
func declaredOtherwise() file {
	f := newIntegers()
	f.Graph.Output = []*pb.ValueInfoProto{value("y", dtInt8)}
	return f.node("QLinearConv x s z w s t s z -> y")
}

// TestIntegerErrors compares the messages for faulty networks of integers with testdata/integer_errors.txt.
func TestIntegerErrors(t *testing.T) {
	var out bytes.Buffer
	for _, c := range []struct {
		name string
		f    file
	}{
		{"other parameters", newIntegers().node("QLinearConv x s z w s t s z -> a").node("com.microsoft:QLinearGlobalAveragePool a s u s z -> y")},
		{"floats", newIntegers().node("DequantizeLinear x s z -> a").node("QLinearConv a s z w s t s z -> y")},
		{"float weights", newIntegers().floats("f", 4, 3, 3, 3).node("QLinearConv x s z f s t s z -> y")},
		{"computed weights", newIntegers().node("QLinearConv x s z x s t s z -> y")},
		{"float bias", newIntegers().floats("b", 4).node("QLinearConv x s z w s t s z b -> y")},
		{"scales", newIntegers().floats("c", 3).node("QLinearConv x s z w c t s z -> y")},
		{"sums leave", newIntegers().node("ConvInteger x w z t -> y")},
		{"sums are added", newIntegers().node("ConvInteger x w z t -> a").node("Add a s -> y")},
		{"zero point", newIntegers().node("DequantizeLinear x s z -> a").node("ConvInteger x w u t -> y")},
		{"no matrix", newIntegers().node("QLinearMatMul x s z w s t s z -> y")},
		{"a constant of another type", newIntegers().small("c", dtInt8, 3, 1, 3, 8, 8).node("com.microsoft:QLinearAdd x s z c s z s z -> y")},
		{"constants alone", newIntegers().small("c", dtUint8, 3, 1, 3, 8, 8).node("com.microsoft:QLinearMul c s z c s z s z -> a").node("com.microsoft:QLinearAdd a s z x s z s z -> y")},
		{"unsupported reader", newIntegers().node("com.microsoft:QLinearReduceMean x s z s z -> y")},
		{"a constant part of another type", newIntegers().small("c", dtInt8, 3, 1, 3, 8, 8).node("com.microsoft:QLinearConcat s z x s z c s z -> y", "axis", 1)},
		{"a softmax of other parameters", newIntegers().node("QLinearConv x s z w s t s z -> a").node("com.microsoft:QLinearSoftmax a s u s z -> y", "opset", 17)},
		{"an op of another domain", newIntegers().node("other:QLinearConv x s z w s t s z -> y")},
		{"half a part", newIntegers().node("com.microsoft:QLinearConcat s z x s z x s -> y", "axis", 1)},
		{"no axis", newIntegers().node("com.microsoft:QLinearConcat s z x s z x s z -> y")},
		{"other parameters of a part", newIntegers().node("com.microsoft:QLinearConcat s z x s z x s u -> y", "axis", 1)},
		{"zero points by output", zeroPoints()},
		{"a pool of channels last", newIntegers().node("com.microsoft:QLinearAveragePool x s z s z -> y", "kernel_shape", []int64{3, 3}, "channels_last", 1)},
		{"a pool of other parameters", newIntegers().node("QLinearConv x s z w s t s z -> a").node("com.microsoft:QLinearAveragePool a s u s z -> y", "kernel_shape", []int64{3, 3})},
		{"transposed", newIntegers().small("m", dtInt8, 3, 3, 3).node("com.microsoft:QGemm x s z m s t -> y", "transA", 1)},
		{"channels last", newIntegers().node("com.microsoft:QLinearGlobalAveragePool x s z s z -> y", "channels_last", 1)},
		{"a constant of another type beside integers", newIntegers().small("c", dtInt8, 3, 1, 3, 8, 8).node("QLinearConv x s z w s t s z -> a").node("Concat x c -> b", "axis", 1).node("DequantizeLinear b s z -> y")},
		{"a constant of integers beside numbers", newIntegers().small("c", dtUint8, 3, 1, 3, 8, 8).node("DequantizeLinear x s z -> a").node("Concat a c -> y", "axis", 1)},
		{"an input and a zero point of other types", newIntegers().node("QLinearConv x s t w s t s z -> y")},
		{"an output declared otherwise", declaredOtherwise()},
		{"a zero point of floats", newIntegers().node("ConvInteger x w s t -> a").node("Cast a -> y", "to", 1)},
		{"a zero point of weights of another type", newIntegers().node("QLinearConv x s z w s z s z -> y")},
		{"a zero point without a scale", newIntegers().small("m", dtInt8, 3, 8, 3).node("com.microsoft:QGemm x s z m s t _ _ z -> y")},
		{"an input in the middle", newIntegers().node("com.microsoft:QLinearAdd x s z x _ z s z -> y")},
		{"scale at run time", newFile(17).node("DynamicQuantizeLinear x -> a s z").node("DequantizeLinear a s z -> y")},
	} {
		g, err := Parse("m.onnx", c.f.bytes(t), nil)
		if err == nil {
			t.Errorf("%s: no error, but\n%s", c.name, g)
			continue
		}
		fmt.Fprintf(&out, "%s\n%v\n\n", c.name, err)
	}
	golden.Check(t, "testdata/integer_errors.txt", out.Bytes())
}

// TestIntegerNote: a layer of integers whose bias is too large for their sums stays float, and says so.
func TestIntegerNote(t *testing.T) {
	f := newIntegers().floats("b", 4)
	f.Graph.Initializer = append(f.Graph.Initializer, floatTensor("d", []float32{0x1p-30})) // products are multiples of 2^-60
	f = f.node("DequantizeLinear x d z -> a").node("DequantizeLinear w d t -> v").
		node("Conv a v b -> c").node("QuantizeLinear c s z -> y")
	g, err := Parse("m.onnx", f.bytes(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := g.String(); !strings.Contains(text, "conv2d(") || strings.Contains(text, "int_conv2d") || !strings.Contains(text, "not computed in integers: bias 1 is too large") {
		t.Errorf("is\n%s", text)
	}
}

// TestIntegerTables: functions of one number, and concatenations of several scales, are tables of levels between DequantizeLinear and QuantizeLinear, and floats
// where channels differ.
func TestIntegerTables(t *testing.T) {
	for _, c := range []struct {
		name string
		f    file
		want int // tables
	}{
		{"tanh", newIntegers().node("DequantizeLinear x s z -> a").node("Tanh a -> b").node("QuantizeLinear b s z -> y"), 1},
		{"three functions", newIntegers().node("DequantizeLinear x s z -> a").node("Sigmoid a -> b").node("Neg b -> c").node("Relu c -> d").node("QuantizeLinear d s z -> y"), 1},
		{"another zero point", newIntegers().node("DequantizeLinear x s z -> a").node("QuantizeLinear a s u -> y"), 1},
		{"the same parameters", newIntegers().node("DequantizeLinear x s z -> a").node("QuantizeLinear a s z -> y"), 0},
		{"a clipped pool", newIntegers().node("DequantizeLinear x s z -> a").node("AveragePool a -> b", "kernel_shape", []int64{2, 2}).node("Relu b -> c").node("QuantizeLinear c s z -> y"), 1},
		{"a concatenation", newIntegers().node("DequantizeLinear x s z -> a").node("Sigmoid a -> b").node("QuantizeLinear b s u -> c").node("DequantizeLinear c s u -> d").
			node("Concat a d -> e", "axis", 1).node("Relu e -> f").node("QuantizeLinear f s u -> y"), 3},
	} {
		g, err := Parse("m.onnx", c.f.bytes(t), nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if text := g.String(); strings.Count(text, "int_map(") != c.want || strings.Contains(text, " quantize(") {
			t.Errorf("%s is\n%s", c.name, text)
		}
	}
	f := newIntegers().floats("p", 3, 1, 1)
	for i := range f.Graph.Initializer {
		if v := f.Graph.Initializer[i]; v.GetName() == "p" {
			f.Graph.Initializer[i] = floatTensor("p", []float32{1, 2, 3}, 3, 1, 1)
		}
	}
	g, err := Parse("m.onnx", f.node("DequantizeLinear x s z -> a").node("Mul a p -> b").node("QuantizeLinear b s z -> y").bytes(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := g.String(); strings.Contains(text, "int_map(") {
		t.Errorf("factors of channels: is\n%s", text)
	}
}

// TestIntegerOutputs: integers that leave the network are not made of floats, whatever moves them behind the layer that makes them.
func TestIntegerOutputs(t *testing.T) {
	for _, c := range []struct {
		name string
		f    file
	}{
		{"a product of three axes", newIntegers().small("m", dtInt8, 3, 8, 5).node("QLinearMatMul x s z m s t s z -> y")},
		{"a pool", newIntegers().node("QLinearConv x s z w s t s z -> a").node("MaxPool a -> y", "kernel_shape", []int64{2, 2})},
		{"rows", newIntegers().node("QLinearConv x s z w s t s z -> a").node("Flatten a -> y")},
		{"another order", newIntegers().node("QLinearConv x s z w s t s z -> a").node("Transpose a -> y", "perm", []int64{0, 2, 1, 3})},
	} {
		g, err := Parse("m.onnx", c.f.bytes(t), nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if text := g.String(); strings.Contains(text, "quantize(") {
			t.Errorf("%s is\n%s", c.name, text)
		}
	}
}
