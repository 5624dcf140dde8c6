package e2e_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc"
	"ripc/graph"
	"ripc/internal/need"
	"ripc/internal/safetensors"
	"ripc/ir"
	"ripc/runtime/npy"
	"ripc/targets"
)

// extreme is a layer whose sums come as near to the limit of its accumulator as the compiler admits.
type extreme struct {
	name             string
	input, weights   string  // JSON
	levels           [2]byte // of the two rows of the input
	activation       [2]int  // the integers that they stand for
	weight           [2]int  // of the two filters
	channels, kernel int     // kernel 0: a dense layer
	image            int     // height and width
}

func extremes() []extreme {
	limit, corrected := int(graph.MaxSpan(false)), int(graph.MaxSpan(true))
	words := func(planes int) int { return math.MaxInt32 / (255 * planes) / 32 * 32 } // of layers whose counts are the first to pass 32 bits
	affine := func(zero int) string {
		return fmt.Sprintf(`"encoding": "affine", "bits": 8, "zero_point": %d, "scale": 1`, zero)
	}
	weights := func(zero int) string {
		return fmt.Sprintf(`"weight_encoding": "affine", "weight_bits": 4, "weight_zero_point": %d`, zero)
	}
	const bipolar, bipolarWeights = `"encoding": "bipolar", "bits": 8, "scale": 1`, `"weight_encoding": "bipolar", "weight_bits": 4`
	return []extreme{
		{"both signs", bipolar, bipolarWeights, [2]byte{0, 255}, [2]int{-255, 255}, [2]int{-15, 15}, limit / (510 * 15), 0, 1},
		{"from zero up", affine(0), weights(0), [2]byte{0, 255}, [2]int{0, 255}, [2]int{0, 15}, words(4 * 8), 0, 1},
		{"from zero down", affine(255), weights(15), [2]byte{0, 255}, [2]int{-255, 0}, [2]int{-15, 0}, words(5 * 15), 0, 1},
		{"8 bits down", affine(255), `"weight_encoding": "affine", "weight_bits": 8, "weight_zero_point": 128`, [2]byte{0, 255}, [2]int{-255, 0}, [2]int{-128, 127}, limit / (255 * 128), 0, 1},
		{"padding", bipolar, bipolarWeights, [2]byte{0, 255}, [2]int{-255, 255}, [2]int{-15, 15}, corrected / (510 * 15 * 9), 3, 3},
	}
}

// write makes the model with channels channels in dir.
func (x extreme) write(t *testing.T, dir string, channels int) (model string) {
	t.Helper()
	shape, op, attrs, taps := []int{2, channels}, "bitserial_dense", `"units": 2`, 1
	wshape := []int{channels, 2}
	if x.kernel > 0 {
		shape = []int{2, x.image, x.image, channels}
		wshape = []int{x.kernel, x.kernel, channels, 2}
		op, taps = "bitserial_conv2d", x.kernel*x.kernel
		attrs = fmt.Sprintf(`"filters": 2, "kernel": [%d, %d], "padding": "same", "pad_value": "zero"`, x.kernel, x.kernel)
	}
	var w bytes.Buffer
	for range taps * channels {
		for _, v := range x.weight {
			_ = binary.Write(&w, binary.LittleEndian, float32(v))
		}
	}
	one := binary.LittleEndian.AppendUint32(nil, math.Float32bits(1))
	if err := safetensors.WriteFile(filepath.Join(dir, "w.safetensors"), map[string]safetensors.Tensor{
		"l.w": {DType: "f32", Shape: wshape, Data: w.Bytes()}, "l.scale": {DType: "f32", Shape: []int{2}, Data: append(one, one...)},
	}); err != nil {
		t.Fatal(err)
	}
	var rows []byte
	for _, l := range x.levels {
		rows = append(rows, bytes.Repeat([]byte{l}, x.image*x.image*channels)...)
	}
	if err := (&npy.Array{DType: "u8", Shape: shape, Data: rows}).WriteFile(filepath.Join(dir, "x.npy")); err != nil {
		t.Fatal(err)
	}
	model = filepath.Join(dir, "net.json")
	text := fmt.Sprintf(`{"format": "ripc.model/1", "name": "extreme", "weights": "w.safetensors", "outputs": ["l"],
 "inputs": [{"name": "x", "dtype": "u8", "shape": %s, %s}],
 "nodes": [{"name": "l", "op": %q, "inputs": ["x"], "attrs": {%s, %s, "weight_scale": "tensor"}}]}`,
		strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), x.input, op, attrs, x.weights)
	if err := os.WriteFile(model, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return model
}

// want is the output: sums of the taps that lie inside the image, all of them alike.
func (x extreme) want() []byte {
	var out []byte
	for _, a := range x.activation {
		for h := range x.image {
			for w := range x.image {
				taps := 1
				if x.kernel > 0 {
					inside := func(i int) int { return min(i+x.kernel/2, x.image-1) - max(i-x.kernel/2, 0) + 1 }
					taps = inside(h) * inside(w)
				}
				for _, v := range x.weight {
					out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(a*v*taps*x.channels)))
				}
			}
		}
	}
	return out
}

// TestLargestSums runs layers in which all levels and all weights are at one end of their range, with as many channels as
// are admitted. One more is refused.
func TestLargestSums(t *testing.T) {
	for _, x := range extremes() {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			model := x.write(t, t.TempDir(), x.channels+1)
			_, err := ripc.Compile(context.Background(), model, ripc.Options{})
			var e *ir.Error
			products := max(1, x.kernel*x.kernel) * (x.channels + 1)
			if want := fmt.Sprintf("sums of %d products of 8-bit activations", products); !errors.As(err, &e) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "could pass 32 bits") || e.Help == "" {
				t.Errorf("one channel more: %v, want %q that could pass 32 bits, and help", err, want)
			}
			model = x.write(t, t.TempDir(), x.channels)
			for _, target := range []string{"interp", "host", "x86-64", "rpi5", "rpi3-armv7"} {
				r := ripc.RunRequest{Path: model, Options: ripc.Options{Target: target}, Inputs: []string{filepath.Join(filepath.Dir(model), "x.npy")}, Threads: 2}
				if target == "interp" {
					r.Engine, r.Options.Target = ripc.EngineInterp, ""
				} else if tg, err := ripcTarget(target); err != nil || tg.Arch == "x86_64" && !tg.Native() {
					t.Logf("%s does not run here", target)
					continue
				} else if h, err := targets.Host(); err != nil || h.Arch != tg.Arch {
					need.Tool(t, "qemu-"+tg.Arch)
				}
				res, err := ripc.Run(context.Background(), r)
				if err != nil {
					t.Fatalf("%s: %v", target, err)
				}
				if got, want := res.Outputs[0].Data, x.want(); !bytes.Equal(got, want) {
					t.Errorf("%s: got %x, want %x", target, got, want)
				}
			}
		})
	}
}

// TestNinePlanes: weights of uint8 less a zero point have nine bits, whose sums are provably in 32 bits for as many products as those of their bytes say.
func TestNinePlanes(t *testing.T) {
	t.Parallel()
	for _, channels := range []int{4608, 32800, 33000} {
		w := make([]byte, 0, 4*channels)
		for i := range channels {
			w = binary.LittleEndian.AppendUint32(w, math.Float32bits(float32(i%256-121)))
		}
		path := filepath.Join(t.TempDir(), "net.json")
		if err := safetensors.WriteFile(filepath.Join(filepath.Dir(path), "w.safetensors"), map[string]safetensors.Tensor{"y.w": {DType: "f32", Shape: []int{channels, 1}, Data: w}}); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"format": "ripc.model/1", "name": "net", "weights": "w.safetensors", "outputs": ["y"],
			"inputs": [{"name": "x", "dtype": "u8", "shape": [1, %d], "encoding": "affine", "bits": 8, "zero_point": 3}],
			"nodes": [{"name": "y", "op": "int_dense", "inputs": ["x"]}]}`, channels)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ripc.Compile(context.Background(), path, ripc.Options{})
		var e *ir.Error
		if want := channels > 32896; (err != nil) != want || want && (!errors.As(err, &e) || !strings.Contains(err.Error(), "could pass 32 bits") || !strings.Contains(err.Error(), "quantize its weights to int8")) {
			t.Errorf("%d channels: %v", channels, err)
		}
	}
}
