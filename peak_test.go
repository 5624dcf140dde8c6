package ripc_test

import (
	"fmt"
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

// TestPeakMemory: inspect takes 3 times the memory of a network's weights at most, compile 4 times, beside what any network takes, and a little more where weights are
// few. Weights
// count as their file has them: as floats, bytes, or words of bits.
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
	stored := filepath.Join(dir, "stored.json")
	g, err := ripc.Load(t.Context(), model("float", units, floats))
	if err != nil {
		t.Fatal(err)
	}
	if err := ripcjson.Write(t.Context(), stored, g); err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const channels, filters = 8192, 1024 // of packed bits, and of 3x3 convolutions
	for _, c := range []struct {
		name, path string
		weights    int // bytes
	}{
		{"generated floats", filepath.Join(dir, "float.json"), 4 * units * units},
		{"stored floats", stored, 4 * units * units},
		{"bits of generated floats", model("bits", units, bits), 4 * units * units},
		{"packed bits of .tflite", write("bits.tflite", packedBits(channels)), channels * channels / 8},
		{"bytes of .tflite", write("bytes.tflite", fullBytes(units)), units * units},
		{"floats of .onnx", write("floats.onnx", onnxConv(filters)), 4 * 9 * filters * filters},
	} {
		limits := map[string]float64{"inspect": 3, "compile": 4}
		if c.weights < 4*units*units/2 { // few MiB: memory that is not the weights' counts as well
			limits = map[string]float64{"inspect": 4, "compile": 4.5}
		}
		for task, most := range limits {
			small, large := peak(t, model("small", 64, floats), task), peak(t, c.path, task)
			times := float64(large-small) / float64(c.weights)
			t.Logf("%s of %s: %.2f times the weights", task, c.name, times)
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

// onnxConv is a .onnx file of a 3x3 convolution in floats.
func onnxConv(filters int) []byte {
	message := func(fields ...[]byte) []byte { return slices.Concat(fields...) }
	number := func(field protowire.Number, v int) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), uint64(v))
	}
	part := func(field protowire.Number, data []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), data)
	}
	value := func(name string, shape ...int) []byte {
		var dims []byte
		for _, d := range shape {
			dims = append(dims, part(1, number(1, d))...)
		}
		return message(part(1, []byte(name)), part(2, part(1, message(number(1, 1), part(2, dims)))))
	}
	weights := make([]float32, 9*filters*filters)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range weights {
		weights[i] = float32(r.NormFloat64())
	}
	w := message(number(1, filters), number(1, filters), number(1, 3), number(1, 3), number(2, 1), part(8, []byte("w")), part(9, tt.Data(weights)))
	node := message(part(1, []byte("x")), part(1, []byte("w")), part(2, []byte("y")), part(3, []byte("conv")), part(4, []byte("Conv")))
	g := message(part(1, node), part(2, []byte("g")), part(5, w), part(11, value("x", 1, filters, 3, 3)), part(12, value("y", 1, filters, 1, 1)))
	return message(number(1, 8), part(7, g), part(8, number(2, 17)))
}

// peak is the largest memory, in bytes, of a process that does a task.
func peak(t *testing.T, model, task string) int64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPeakMemory$", "-test.v")
	cmd.Env = append(os.Environ(), peakModel+"="+model, peakTask+"="+task)
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
