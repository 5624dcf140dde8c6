package onnx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"ripc/graph"
	"ripc/importer"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/internal/golden"
	"ripc/ir"
)

// TestErrors compares the messages for faulty models with testdata/errors.txt.
func TestErrors(t *testing.T) {
	conv := func(attrs ...any) file { return newFile(13).floats("w", 4, 3, 3, 3).node("Conv x w -> y", attrs...) }
	local := newFile(13).node("my:Block x -> y")
	local.Functions = []*pb.FunctionProto{{Name: proto.String("Block"), Domain: proto.String("my")}}
	noOpset := newFile(13).node("Relu x -> y")
	noOpset.OpsetImport = nil
	sparse := newFile(13).node("Relu x -> y")
	sparse.Graph.SparseInitializer = []*pb.SparseTensorProto{{Values: floatTensor("s", nil)}}
	huge := newFile(13).node("Add x c -> y")
	huge.Graph.Initializer = []*pb.TensorProto{floatTensor("c", []float32{1}, 1<<20, 1<<20, 1<<20)}
	short := newFile(13).node("Add x c -> y")
	short.Graph.Initializer = []*pb.TensorProto{floatTensor("c", []float32{1}, 3, 1, 1)}
	text := newFile(13).node("Add x c -> y")
	text.Graph.Initializer = []*pb.TensorProto{{Name: proto.String("c"), DataType: proto.Int32(8), Dims: []int64{1}, StringData: [][]byte{[]byte("a")}}}
	passed := newFile(13).node("Relu x -> y")
	passed.output("x")
	doubles := file{&pb.ModelProto{OpsetImport: newFile(13).OpsetImport, Graph: &pb.GraphProto{}}}
	doubles.input("x", dtDouble, 2, 3)
	doubles.output("y")
	doubles.node("Relu x -> y")
	cases := []struct {
		name string
		f    file
	}{
		{"all at once", newFile(17).floats("w", 4, 3, 3, 3).node("LSTM x -> a").node("Conv x w -> b", "auto_pad", "SAME").node("Resize b -> c").node("custom.ops:Foo c -> d").node("Gelu x -> e").node("Relu e -> y")},
		{"opset 5", newFile(5).node("Relu x -> y")},
		{"no opset", noOpset},
		{"local function", local},
		{"dynamic height", newFile(13, "N", 3, "height", 8).node("Relu x -> y")},
		{"input and ops", newFile(13, "N", 3, "height", 8).node("Relu x -> a").node("NonZero a -> b").node("TopK b -> y")},
		{"empty axis", newFile(13, 1, 0).node("Relu x -> y")},
		{"double input", doubles},
		{"undefined input", newFile(13).node("Relu nothing -> y")},
		{"circle", newFile(13).node("Add x b -> a").node("Relu a -> b").node("Neg b -> y")},
		{"reads itself", newFile(13).node("Add x y -> y")},
		{"many of one op", newFile(13).node("LSTM x -> a").node("LSTM a -> b").node("GRU b -> c").node("LSTM c -> y")},
		{"hardware", newFile(13).node("finn.custom_op.fpgadataflow.hls:MVAU_hls x -> a").node("finn.custom_op.fpgadataflow.hls:MVAU_hls a -> y")},
		{"foreign domain", newFile(13).floats("c").node("my.ops:Quant x c c c -> a").node("my.ops:Conv a c -> y")},
		{"im2col", newFile(13, 1, 8, 8, 3).node("qonnx.custom_op.general:Im2Col x -> y", "kernel_size", []int64{9, 3}, "stride", []int64{1, 1})},
		{"xnor of numbers", newFile(13, 1, 2).floats("w", 2, 3).node("qonnx.custom_op.general:XnorPopcountMatMul x w -> y")},
		{"channels last", newFile(13, 1, 8).node("qonnx.custom_op.channels_last:MaxPool x -> y", "kernel_shape", []int64{2, 2})},
		{"made twice", newFile(13).node("Relu x -> y").node("Neg x -> y")},
		{"no such output", newFile(13).node("Relu x -> z")},
		{"output that is an input", passed},
		{"sparse", sparse},
		{"huge constant", huge},
		{"short constant", short},
		{"strings", text},
		{"unknown attribute", conv("padding", "same")},
		{"attribute type", conv("group", 1.5)},
		{"groups", conv("group", 2)},
		{"pads", conv("pads", []int64{1, 1})},
		{"kernel_shape", conv("kernel_shape", []int64{5, 5})},
		{"kernel too large", newFile(13, 1, 3, 2, 2).floats("w", 4, 3, 3, 3).node("Conv x w -> y")},
		{"conv of a volume", newFile(13, 1, 3, 8, 8, 8).floats("w", 4, 3, 3, 3, 3).node("Conv x w -> y")},
		{"pool of a volume", newFile(13, 1, 3, 8, 8, 8).node("MaxPool x -> y", "kernel_shape", []int64{2, 2, 2})},
		{"conv of a sequence with an image's kernel", newFile(13, 1, 3, 8).floats("w", 4, 3, 3, 3).node("Conv x w -> y")},
		{"pads of a sequence", newFile(13, 1, 3, 8).floats("w", 4, 3, 3).node("Conv x w -> y", "pads", []int64{1, 1, 1, 1})},
		{"resize cubic", newFile(13).floats("e", 0).floats("s", 4).node("Resize x e s -> y", "mode", "cubic")},
		{"resize antialias", newFile(18).floats("e", 0).ints("s", 1, 3, 4, 4).node("Resize x e e s -> y", "mode", "linear", "antialias", 1)},
		{"resize neighbours", newFile(13).floats("e", 0).ints("s", 1, 3, 16, 12).node("Resize x e e s -> y", "nearest_mode", "round")},
		{"resize of truths", newFile(13).floats("e", 0).ints("s", 1, 3, 16, 16).node("Greater x x -> t").node("Resize t e e s -> y", "mode", "linear")},
		{"resize crop", newFile(13).floats("e", 0).ints("s", 1, 3, 16, 16).node("Resize x e e s -> y", "coordinate_transformation_mode", "tf_crop_and_resize")},
		{"resize nothing", newFile(13).floats("e", 0).node("Resize x e e -> y")},
		{"resize ranks", newFile(13).floats("e", 0).ints("s", 16, 16).node("Resize x e e s -> y")},
		{"block", newFile(13).node("DepthToSpace x -> y", "blocksize", 2)},
		{"blocksize", newFile(13).node("SpaceToDepth x -> y", "blocksize", 3)},
		{"block mode", newFile(13).node("DepthToSpace x -> y", "blocksize", 2, "mode", "RCD")},
		{"transposed weights", newFile(13).floats("w", 4, 4, 3, 3).node("ConvTranspose x w -> y")},
		{"transposed output_padding", newFile(13).floats("w", 3, 4, 3, 3).node("ConvTranspose x w -> y", "output_padding", []int64{1, 1})},
		{"transposed output_shape", newFile(13).floats("w", 3, 4, 3, 3).node("ConvTranspose x w -> y", "output_shape", []int64{100, 100})},
		{"transposed volume", newFile(13, 1, 3, 8, 8, 8).floats("w", 3, 4, 3, 3, 3).node("ConvTranspose x w -> y")},
		{"product of shapes", newFile(13, 1, 4, 5).node("MatMul x x -> y")},
		{"product of many axes", newFile(13, 2, 2, 2, 4, 4).node("MatMul x x -> y")},
		{"computed weights", newFile(13).node("Relu x -> w").node("Conv x w -> y")},
		{"window of padding", newFile(13).node("MaxPool x -> y", "kernel_shape", []int64{2, 2}, "pads", []int64{0, 0, 0, 3})},
		{"first window of padding", newFile(13, 1, 3, 8).node("AveragePool x -> y", "kernel_shape", []int64{2}, "pads", []int64{2, 0})},
		{"pool dilations", newFile(13).node("MaxPool x -> y", "kernel_shape", []int64{2, 2}, "dilations", []int64{2, 2})},
		{"pool indices", newFile(13).node("MaxPool x -> a y", "kernel_shape", []int64{2, 2})},
		{"training in opset 6", newFile(6).floats("c", 3).node("BatchNormalization x c c c c -> y")},
		{"axis of opset 6", newFile(6).floats("c", 3).node("Add x c -> y", "broadcast", 1, "axis", 9)},
		{"training", newFile(15).floats("c", 3).node("BatchNormalization x c c c c -> y", "training_mode", 1)},
		{"reshape", newFile(13).ints("s", 2, 100).node("Reshape x s -> y")},
		{"reshape of zero", newFile(13).ints("s", 1, 3, 8, 8, 0).node("Reshape x s -> y")},
		{"where without truth values", newFile(13).floats("c").node("Relu x -> a").node("Where a x c -> y")},
		{"where of truth values", newFile(13).floats("c").node("Greater x c -> a").node("Where a a c -> y")},
		{"truth values into add", newFile(13).floats("c").node("Greater x c -> a").node("Add a c -> y")},
		{"softmax axis", newFile(13).node("Softmax x -> y", "axis", 4)},
		{"quant mode", newFile(13).floats("c").node("qonnx.custom_op.general:Quant x c c c -> y", "rounding_mode", "SOMEHOW")},
		{"quant scale", newFile(13).floats("c").node("Relu x -> s").node("qonnx.custom_op.general:Quant x s c c -> y")},
		{"slice of nothing", newFile(13).ints("a", 3).ints("b", 3).node("Slice x a b -> y")},
		{"pad mode", newFile(13).ints("p", 0, 0, 1, 1, 0, 0, 1, 1).node("Pad x p -> y", "mode", "mirror")},
		{"gather", newFile(13).ints("i", 9).node("Gather x i -> y", "axis", 1)},
		{"tile", newFile(13).ints("r", 1, 0, 1, 1).node("Tile x r -> y")},
		{"concat", newFile(13).floats("c", 1, 3, 8, 7).node("Concat x c -> y", "axis", 1)},
		{"add", newFile(13).floats("c", 7).node("Add x c -> y")},
		{"dequantize", newFile(13).floats("c").node("DequantizeLinear x c -> y")},
		{"if", newFile(13).node("If x -> y")},
	}
	var out bytes.Buffer
	for _, c := range cases {
		g, err := Parse("m.onnx", c.f.bytes(t), nil)
		if err == nil {
			t.Errorf("%s: no error, but\n%s", c.name, g)
			continue
		}
		fmt.Fprintf(&out, "%s\n%v\n\n", c.name, err)
	}
	good := conv().bytes(t)
	for _, data := range [][]byte{nil, []byte("{}"), []byte("ONNX is not this"), good[:len(good)-5], good[:40], bytes.Repeat([]byte{0x3A, 0x02, 0x0A, 0x00}, 4)} {
		_, err := Parse("m.onnx", data, nil)
		var e *ir.Error
		if !errors.As(err, &e) {
			t.Fatalf("%q: %v", data, err)
		}
		fmt.Fprintf(&out, "%d bytes\n%v\n\n", len(data), err)
	}
	golden.Check(t, "testdata/errors.txt", out.Bytes())
}

// TestEncodings reads a constant in every encoding.
func TestEncodings(t *testing.T) {
	le := binary.LittleEndian
	raw := func(vs ...any) []byte {
		var b bytes.Buffer
		for _, v := range vs {
			if err := binary.Write(&b, le, v); err != nil {
				t.Fatal(err)
			}
		}
		return b.Bytes()
	}
	for _, c := range []struct {
		dt  dtype
		set func(p *pb.TensorProto)
	}{
		{dtFloat, func(p *pb.TensorProto) { p.FloatData = []float32{2, 3} }},
		{dtFloat, func(p *pb.TensorProto) { p.RawData = raw(float32(2), float32(3)) }},
		{dtFloat16, func(p *pb.TensorProto) { p.Int32Data = []int32{0x4000, 0x4200} }},
		{dtFloat16, func(p *pb.TensorProto) { p.RawData = raw(uint16(0x4000), uint16(0x4200)) }},
		{dtBfloat16, func(p *pb.TensorProto) { p.Int32Data = []int32{0x4000, 0x4040} }},
		{dtBfloat16, func(p *pb.TensorProto) { p.RawData = raw(uint16(0x4000), uint16(0x4040)) }},
		{dtDouble, func(p *pb.TensorProto) { p.DoubleData = []float64{2, 3} }},
		{dtDouble, func(p *pb.TensorProto) { p.RawData = raw(2.0, 3.0) }},
		{dtInt64, func(p *pb.TensorProto) { p.Int64Data = []int64{2, 3} }},
		{dtInt64, func(p *pb.TensorProto) { p.RawData = raw(int64(2), int64(3)) }},
		{dtInt32, func(p *pb.TensorProto) { p.Int32Data = []int32{2, 3} }},
		{dtInt32, func(p *pb.TensorProto) { p.RawData = raw(int32(2), int32(3)) }},
		{dtInt16, func(p *pb.TensorProto) { p.RawData = raw(int16(2), int16(3)) }},
		{dtInt8, func(p *pb.TensorProto) { p.Int32Data = []int32{2, 3} }},
		{dtInt8, func(p *pb.TensorProto) { p.RawData = []byte{2, 3} }},
		{dtUint8, func(p *pb.TensorProto) { p.RawData = []byte{2, 3} }},
		{dtUint16, func(p *pb.TensorProto) { p.RawData = raw(uint16(2), uint16(3)) }},
		{dtUint32, func(p *pb.TensorProto) { p.Uint64Data = []uint64{2, 3} }},
		{dtUint64, func(p *pb.TensorProto) { p.RawData = raw(uint64(2), uint64(3)) }},
		{dtInt4, func(p *pb.TensorProto) { p.RawData = []byte{0x32} }},
		{dtInt4, func(p *pb.TensorProto) { p.Int32Data = []int32{0x32} }},
		{dtUint4, func(p *pb.TensorProto) { p.RawData = []byte{0x32} }},
	} {
		p := &pb.TensorProto{Name: proto.String("c"), DataType: proto.Int32(int32(c.dt)), Dims: []int64{2}}
		c.set(p)
		f := newFile(13, 1, 2).node("Cast c -> f", "to", 1).node("Add x f -> y")
		f.Graph.Initializer = append(f.Graph.Initializer, p)
		g, err := Parse("m.onnx", f.bytes(t), nil)
		if err != nil {
			t.Errorf("%s: %v", c.dt, err)
			continue
		}
		if got := evaluate(g, map[string][]float32{"x": {10, 20}})["y"]; got[0] != 12 || got[1] != 23 {
			t.Errorf("%s: %v", c.dt, got)
		}
	}
	f := newFile(13, 1, 2).node("Cast c -> f", "to", 1).node("Add x f -> y")
	f.Graph.Initializer = append(f.Graph.Initializer, &pb.TensorProto{Name: proto.String("c"), DataType: proto.Int32(int32(dtBool)), Dims: []int64{2}, RawData: []byte{0, 7}})
	g, err := Parse("m.onnx", f.bytes(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := evaluate(g, map[string][]float32{"x": {10, 20}})["y"]; got[0] != 10 || got[1] != 21 {
		t.Errorf("bool: %v", got)
	}
}

// TestHalfBytes: integers of 4 bits have signs or none, an odd number of them leaves half a byte, and a byte too many is an error.
func TestHalfBytes(t *testing.T) {
	for _, c := range []struct {
		dt   dtype
		raw  []byte
		want []float32 // nil for an error
	}{
		{dtInt4, []byte{0x8f, 0x07}, []float32{-1, -8, 7}},
		{dtUint4, []byte{0x8f, 0x07}, []float32{15, 8, 7}},
		{dtUint4, []byte{0x8f, 0x07, 0}, nil},
		{dtInt4, []byte{0x8f}, nil},
	} {
		f := newFile(21, 1, 3).node("Cast c -> f", "to", 1).node("Add x f -> y")
		f.Graph.Initializer = append(f.Graph.Initializer, &pb.TensorProto{Name: proto.String("c"), DataType: proto.Int32(int32(c.dt)), Dims: []int64{3}, RawData: c.raw})
		g, err := Parse("m.onnx", f.bytes(t), nil)
		if c.want == nil || err != nil {
			if c.want != nil || err == nil || !strings.Contains(err.Error(), "has 2 bytes, the file holds") {
				t.Errorf("%s % x: %v", c.dt, c.raw, err)
			}
			continue
		}
		if got := evaluate(g, map[string][]float32{"x": {0, 0, 0}})["y"]; !slices.Equal(got, c.want) {
			t.Errorf("%s % x: %v, want %v", c.dt, c.raw, got, c.want)
		}
	}
}

// TestExternalData: it is found in the model's folder and below, and nowhere else.
func TestExternalData(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "model")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	data := floatTensor("", []float32{9, 2, 3}, 3).RawData
	for _, name := range []string{filepath.Join(dir, "w.bin"), filepath.Join(dir, "sub/w.bin"), filepath.Join(dir, "../outside.bin")} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../outside.bin", filepath.Join(dir, "link.bin")); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	read := func(pairs ...string) (*graph.Graph, error) {
		p := &pb.TensorProto{Name: proto.String("c"), DataType: proto.Int32(int32(dtFloat)), Dims: []int64{1, 2}, DataLocation: pb.TensorProto_EXTERNAL.Enum()}
		for i := 0; i < len(pairs); i += 2 {
			p.ExternalData = append(p.ExternalData, &pb.StringStringEntryProto{Key: &pairs[i], Value: &pairs[i+1]})
		}
		f := newFile(13, 1, 2).node("Add x c -> y")
		f.Graph.Initializer = append(f.Graph.Initializer, p)
		path := filepath.Join(dir, "m.onnx")
		if err := os.WriteFile(path, f.bytes(t), 0o600); err != nil {
			t.Fatal(err)
		}
		return Read(t.Context(), path, importer.Options{}, nil)
	}
	for _, pairs := range [][]string{{"location", "w.bin", "offset", "4", "length", "8"}, {"location", "sub/w.bin", "offset", "4"}} {
		g, err := read(pairs...)
		if err != nil {
			t.Fatal(err)
		}
		if got := evaluate(g, map[string][]float32{"x": {10, 20}})["y"]; got[0] != 12 || got[1] != 23 {
			t.Errorf("%v: %v", pairs, got)
		}
	}
	for want, pairs := range map[string][]string{
		"outside the model's folder": {"location", "../outside.bin"}, "escapes": {"location", "link.bin"},
		"lies outside": {"location", "/etc/passwd"}, "has 12 bytes": {"location", "w.bin", "offset", "8"}, "length 12": {"location", "w.bin", "length", "12"},
		"no number": {"location", "w.bin", "offset", "four"}, "want numbers from 0": {"location", "w.bin", "offset", "-4"}, "without a location": {},
		"want 8 at": {"location", "w.bin", "offset", "9223372036854775807"}, "is a directory": {"location", "sub"},
	} {
		_, err := read(pairs...)
		var e *ir.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `initializer "c"`) {
			t.Errorf("%v: %v, want %q", pairs, err, want)
		}
	}
}

// TestAbsentData: a file that is not there is one fault, whatever it holds.
func TestAbsentData(t *testing.T) {
	dir := t.TempDir()
	f := newFile(13, 1, 2).node("Add x a -> s").node("Add s b -> t").node("Add t c -> y")
	for name, location := range map[string]string{"a": "none.bin", "b": "none.bin", "c": "lfs.bin"} {
		f.Graph.Initializer = append(f.Graph.Initializer, &pb.TensorProto{Name: &name, DataType: proto.Int32(int32(dtFloat)), Dims: []int64{1, 2}, DataLocation: pb.TensorProto_EXTERNAL.Enum(),
			ExternalData: []*pb.StringStringEntryProto{{Key: proto.String("location"), Value: &location}}})
	}
	path := filepath.Join(dir, "m.onnx")
	pointer := []byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 8\n")
	if err := errors.Join(os.WriteFile(path, f.bytes(t), 0o600), os.WriteFile(filepath.Join(dir, "lfs.bin"), pointer, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err := Read(t.Context(), path, importer.Options{}, nil)
	if err == nil {
		t.Fatal("read without its data")
	}
	for _, want := range []string{`cannot read "none.bin", the file with the data of 2 constants: no such file or directory`, `cannot read "lfs.bin", the file with the data of a constant: it is a pointer of Git LFS`} {
		if strings.Count(err.Error(), want) != 1 {
			t.Errorf("%v\nwant once: %s", err, want)
		}
	}
	if n := strings.Count(err.Error(), "cannot read"); n != 2 {
		t.Errorf("%d faults, want 2: %v", n, err)
	}
}
