package ripc_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"ripc"
	"ripc/codegen/llvm/toolchain"
	"ripc/importer/ripcjson"
	"ripc/internal/need"
	tt "ripc/internal/tflitetest"
)

// peakModel and peakTask say to the test binary, as a child of TestPeakMemory, what to do before it prints its largest memory.
const peakModel, peakTask = "RIPC_PEAK_MODEL", "RIPC_PEAK_TASK"

// TestPeakMemory: inspect takes 3 times the memory of a network's weights at most, compile 4 times, beside what any network takes.
// Weights count as their file has them: as floats, bytes, or words of bits. Bytes of a float layer count as the floats that its code has.
func TestPeakMemory(t *testing.T) {
	if path := os.Getenv(peakModel); path != "" {
		peakChild(t, path, os.Getenv(peakTask))
		return
	}
	_, err := os.Stat("/proc/self/status")
	need.OK(t, err)
	_, err = toolchain.Find()
	need.OK(t, err)
	const units = 4096
	dir := t.TempDir()
	model := func(name string, units int, nodes string) string {
		path := filepath.Join(dir, name+".json")
		text := fmt.Sprintf(`{"format": "ripc.model/1", "name": "m", "inputs": [{"name": "x", "dtype": "f32", "shape": [1, %[1]d]}],
 "weights": {"init": "random", "seed": 1}, "nodes": [%[2]s], "outputs": ["y"]}`, units, fmt.Sprintf(nodes, units))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const floats = `{"name": "y", "op": "dense", "inputs": ["x"], "attrs": {"units": %d}}`
	const bits = `{"name": "q", "op": "quantize", "inputs": ["x"], "attrs": {"bits": 1, "encoding": "bipolar"}},
 {"name": "y", "op": "bitserial_dense", "inputs": ["q"], "attrs": {"units": %d}}`
	store := func(name, path string) string {
		g, err := ripc.Load(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		stored := filepath.Join(dir, name+".json")
		if err := ripcjson.Write(t.Context(), stored, g); err != nil {
			t.Fatal(err)
		}
		return stored
	}
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const channels, filters = 8192, 1024 // of packed bits, and of 3x3 convolutions
	const beside = 2 << 20               // bytes for more than weights, which layers of this size take and small ones do not
	limits, small := map[string]float64{"inspect": 3, "compile": 4}, map[string]int64{}
	for task := range limits {
		small[task] = beside + peak(t, model("small", 64, floats), task)
	}
	file := func(name string, data func() []byte) func() string {
		return func() string { return write(name, data()) }
	}
	takes := need.Part(t, 2)
	for i, c := range []struct {
		name    string
		weights int // bytes
		path    func() string
	}{
		{"packed bits of .tflite", channels * channels / 8, file("bits.tflite", func() []byte { return packedBits(channels) })},
		{"generated bits", units * units * 9 / 4 / 8, func() string { return model("bits", units*3/2, bits) }},
		{"bytes of .onnx", units * units, file("bytes.onnx", func() []byte { return onnxBytes(units, false) })},
		{"generated floats", 4 * units * units, func() string { return model("float", units, floats) }},
		{"few bits of .onnx", 4 * units * units, file("few.onnx", func() []byte { return onnxFewBits(units, 2) })},
		{"stored floats", 4 * units * units, func() string { return store("stored", model("float", units, floats)) }},
		{"bytes of .tflite", units * units, file("bytes.tflite", func() []byte { return fullBytes(units) })},
		{"bytes of .onnx in a float layer", 4 * units * units, file("hybrid.onnx", func() []byte { return onnxBytes(units, true) })},
		{"floats of .onnx", 4 * 9 * filters * filters, file("floats.onnx", func() []byte { return onnxConv(filters) })},
		{"stored bits", 0, func() string { return store("stored_bits", model("bits", units, bits)) }},
	} {
		if !takes(i) {
			continue
		}
		path := c.path()
		if c.weights == 0 {
			c.weights = fileSize(t, strings.TrimSuffix(path, ".json")+".safetensors")
		}
		for task, most := range limits {
			times := math.Inf(1)
			for range 3 { // Garbage is collected beside the task: on a busy machine late, and the peak is more than the task needs.
				times = min(times, float64(peak(t, path, task)-small[task])/float64(c.weights))
				t.Logf("%s of %s: %.2f times the weights", task, c.name, times)
				if times <= most {
					break
				}
			}
			if times > most {
				t.Errorf("%s of %s takes %.2f times the weights, more than %g", task, c.name, times, most)
			}
		}
	}
}

// randomBytes are so many bytes.
func randomBytes(n int) []byte {
	out := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(out) // has no error
	return out
}

// packedBits is a .tflite file of a binary 1x1 convolution of Larq, whose weights it has as words of bits.
func packedBits(channels int32) []byte {
	image := []int32{1, 1, 1, channels}
	return tt.Model{
		Tensors: []tt.Tensor{{Name: "x", Type: tt.F32, Shape: image}, {Name: "bits", Type: tt.I32, Shape: []int32{1, 1, 1, channels / 32}},
			{Name: "w", Type: tt.I32, Shape: []int32{channels, 1, 1, channels / 32}, Data: randomBytes(int(channels * channels / 8))}, {Name: "y", Type: tt.F32, Shape: image}},
		Ops: []tt.Op{{Custom: "LceQuantize", Inputs: []int32{0}, Outputs: []int32{1}},
			{Custom: "LceBconv2d", Inputs: []int32{1, 2, -1, -1, -1}, Outputs: []int32{3}, Flex: tt.Flex(map[string]int{"channels_in": int(channels), "padding": 1, "pad_values": 0,
				"stride_height": 1, "stride_width": 1, "dilation_height_factor": 1, "dilation_width_factor": 1, "fused_activation_function": 0}, 4)}},
		Inputs: []int32{0}, Outputs: []int32{3},
	}.Bytes()
}

// fullBytes is a .tflite file of an int8 dense layer.
func fullBytes(units int32) []byte {
	level := func(name string, scale float32) tt.Tensor {
		return tt.Tensor{Name: name, Type: tt.I8, Shape: []int32{1, units}, Scales: []float32{scale}, Zeros: []int64{0}}
	}
	return tt.Model{
		Tensors: []tt.Tensor{level("x", 0.5), {Name: "w", Type: tt.I8, Shape: []int32{units, units}, Scales: []float32{0.01}, Zeros: []int64{0}, Data: randomBytes(int(units * units))}, level("y", 8)},
		Ops:     []tt.Op{{Code: 9, OptionType: 8, Options: tt.Table{0: int8(0)}, Inputs: []int32{0, 1, -1}, Outputs: []int32{2}}},
		Inputs:  []int32{0}, Outputs: []int32{2},
	}.Bytes()
}

// onnxFile is a .onnx file that is being written.
type onnxFile struct{ nodes, constants []byte }

// Types of elements, as ONNX numbers them.
const onnxFloat, onnxUint8, onnxInt8 = 1, 2, 3

func protoNumber(field protowire.Number, v int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), uint64(v))
}

func protoPart(field protowire.Number, parts ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), slices.Concat(parts...))
}

// constant adds a tensor and gives its name.
func (f *onnxFile) constant(name string, dtype int, data []byte, shape ...int) string {
	var t []byte
	for _, d := range shape {
		t = append(t, protoNumber(1, d)...)
	}
	f.constants = append(f.constants, protoPart(5, t, protoNumber(2, dtype), protoPart(8, []byte(name)), protoPart(9, data))...)
	return name
}

// number adds a constant f32 without axes.
func (f *onnxFile) number(name string, v float32) string {
	return f.constant(name, onnxFloat, tt.Data([]float32{v}))
}

// node adds a node of an op, DOMAIN:OP if it is not ONNX's own, with one result.
func (f *onnxFile) node(op, result string, inputs ...string) string {
	domain, op, ok := strings.Cut(op, ":")
	if !ok {
		domain, op = "", domain
	}
	var n []byte
	for _, in := range inputs {
		n = append(n, protoPart(1, []byte(in))...)
	}
	f.nodes = append(f.nodes, protoPart(1, n, protoPart(2, []byte(result)), protoPart(3, []byte(result)), protoPart(4, []byte(op)), protoPart(7, []byte(domain)))...)
	return result
}

// bytes is the file, with an input x and an output y in floats.
func (f *onnxFile) bytes(x, y []int) []byte {
	value := func(field protowire.Number, name string, shape []int) []byte {
		var dims []byte
		for _, d := range shape {
			dims = append(dims, protoPart(1, protoNumber(1, d))...)
		}
		return protoPart(field, protoPart(1, []byte(name)), protoPart(2, protoPart(1, protoNumber(1, onnxFloat), protoPart(2, dims))))
	}
	const version, opset = 8, 17
	graph := protoPart(7, f.nodes, protoPart(2, []byte("g")), f.constants, value(11, "x", x), value(12, "y", y))
	domain := protoPart(8, protoPart(1, []byte("qonnx.custom_op.general")), protoNumber(2, 1))
	return slices.Concat(protoNumber(1, version), graph, protoPart(8, protoNumber(2, opset)), domain)
}

// randomFloats are so many normal numbers.
func randomFloats(n int) []byte {
	v := make([]float32, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return tt.Data(v)
}

// onnxConv is a .onnx file of a 3x3 convolution in floats.
func onnxConv(filters int) []byte {
	f := &onnxFile{}
	f.node("Conv", "y", "x", f.constant("w", onnxFloat, randomFloats(9*filters*filters), filters, filters, 3, 3))
	return f.bytes([]int{1, filters, 3, 3}, []int{1, filters, 1, 1})
}

// onnxBytes is a .onnx file of a dense layer with weights of int8 between QuantizeLinear and DequantizeLinear, or, if its input is real,
// without these on either side.
func onnxBytes(units int, isReal bool) []byte {
	f := &onnxFile{}
	zero := f.constant("zero", onnxInt8, []byte{0})
	w := f.node("DequantizeLinear", "w", f.constant("levels", onnxInt8, randomBytes(units*units), units, units), f.number("w_scale", 0.01), zero)
	ends := func(name, x string, scale float32) string {
		by := f.number(name+"_scale", scale)
		return f.node("DequantizeLinear", name, f.node("QuantizeLinear", name+"_levels", x, by, zero), by, zero)
	}
	shape := []int{1, units}
	if isReal {
		f.node("MatMul", "y", "x", w)
		return f.bytes(shape, shape)
	}
	ends("y", f.node("MatMul", "sums", ends("q", "x", 0.5), w), 8)
	return f.bytes(shape, shape)
}

// onnxFewBits is a .onnx file of QONNX: a dense layer of so many bits, whose weights it has as floats.
func onnxFewBits(units int, bits float32) []byte {
	f := &onnxFile{}
	zero, width := f.number("zero", 0), f.number("bits", bits)
	quantized := func(name, x string, scale float32) string {
		return f.node("qonnx.custom_op.general:Quant", name, x, f.number(name+"_scale", scale), zero, width)
	}
	w := quantized("w", f.constant("floats", onnxFloat, randomFloats(units*units), units, units), 0.5)
	f.node("MatMul", "y", quantized("q", "x", 0.25), w)
	return f.bytes([]int{1, units}, []int{1, units})
}

// fileSize is the number of bytes in a file.
func fileSize(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Stat(path)
	need.OK(t, err)
	return int(info.Size())
}

// peak is the largest memory, in bytes, of a process that does a task.
func peak(t *testing.T, model, task string) int64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPeakMemory$", "-test.v")
	cmd.Env = append(os.Environ(), peakModel+"="+model, peakTask+"="+task, "GOGC=100", "GOMEMLIMIT=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s of %s: %v\n%s", task, model, err, out)
	}
	_, rest, _ := strings.Cut(string(out), "peak=")
	text, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s of %s: %v\n%s", task, model, err, out)
	}
	return n
}

// peakChild does a task, and prints how much memory that took.
func peakChild(t *testing.T, path, task string) {
	o := ripc.Options{Target: "rpi3"}
	if task == "inspect" {
		if _, err := ripc.Inspect(t.Context(), path, o, "", false); err != nil {
			t.Fatal(err)
		}
	} else {
		kinds, err := ripc.ParseEmit("so,h")
		if err != nil {
			t.Fatal(err)
		}
		o.Emit = kinds
		c, err := ripc.Compile(t.Context(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Write(filepath.Join(t.TempDir(), "m")); err != nil {
			t.Fatal(err)
		}
	}
	status, err := os.ReadFile("/proc/self/status") // Rusage has that of the parent, too
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("peak=%d\n", kib<<10)
}
