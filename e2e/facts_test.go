package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"ripc"
	"ripc/internal/need"
	"ripc/targets"
)

// models lists the model files of examples and testdata; of those that write one network in many ways (TestSpellings), every eighth.
func models(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"../examples/*/*.json", "../testdata/*/*.onnx", "../testdata/*/*.tflite"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) < 10 {
			t.Fatalf("%s: %d files, want 10 or more (%v)", pattern, len(files), err)
		}
		for i, f := range files {
			if !strings.HasPrefix(filepath.Base(f), "spelled_") || i%8 == 0 {
				all = append(all, f)
			}
		}
	}
	return all
}

// facts is what inspect says of a model, without what is made for a target: algorithms, strategies, schedules and where and how
// things lie in memory.
func facts(in *ripc.Inspection) ripc.Inspection {
	out := *in
	out.Target, out.ClockMHz, out.WeightBytes, out.Workspace, out.Memory = "", 0, 0, ripc.Workspace{}, nil
	// The algorithm that reads bytes of the caller's decides whether they become planes, and whether a reshape moves bits. What loads
	// and stores take decides whether a stage moves elements. Products of bytes may need sums of windows. Levels are shifted or
	// compared, as the target has vectors or not (layout.Glue).
	made := []string{"bitpack", "transpose", "slice", "reshape", "unpack", "window_sum"}
	out.Layers = slices.DeleteFunc(slices.Clone(in.Layers), func(l ripc.Layer) bool { return slices.Contains(made, l.Op) })
	for i := range out.Layers {
		l := &out.Layers[i]
		l.Reads, l.Writes, l.WeightBytes, l.Kernel, l.Trace, l.Algorithm, l.Why = nil, nil, 0, "", nil, "", nil
		l.Strategy, l.LeftOut = nil, nil
		l.Glue = strings.ReplaceAll(l.Glue, "add, shift, clip(", "thresholds(")
	}
	return out
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// largeMACs is from where on a model is looked at on two targets only, which share neither architecture nor kinds of schedules:
// making schedules for large networks takes long, and their layers are those of small ones.
const largeMACs = 200_000

// TestFacts: what became of the layers, their bits, operations and size as floats are facts of the model, on each target. make test looks
// at every sixth model, on one of two targets that share nothing and one of all in turn; large models on these two alone.
func TestFacts(t *testing.T) {
	var all []string
	for _, target := range targets.All() {
		if !target.IsDevice() {
			all = append(all, target.Name)
		}
	}
	two := []string{"rpi3", "x86-64-v4"}
	if len(all) < 10 || !slices.Contains(all, two[0]) || !slices.Contains(all, two[1]) {
		t.Fatalf("targets %v", all)
	}
	var small atomic.Int32
	t.Run("models", func(t *testing.T) {
		takes := need.Part(t, 12)
		for i, file := range models(t) {
			if !takes(i) {
				continue
			}
			inspect := func(t *testing.T, target string) *ripc.Inspection {
				in, err := ripc.Inspect(t.Context(), file, ripc.Options{Target: target}, "", false)
				if err != nil {
					t.Fatal(err)
				}
				return in
			}
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				in := inspect(t, two[0])
				complete(t, in)
				others := two[1:]
				if in.MACs < largeMACs {
					small.Add(1)
					others = all
					if !need.Thorough() {
						others = []string{all[i/6%len(all)]}
					}
				}
				want := text(t, facts(in))
				for _, target := range others {
					if got := text(t, facts(inspect(t, target))); got != want {
						t.Errorf("on %s\n%s\non %s\n%s", two[0], want, target, got)
					}
				}
			})
		}
	})
	if n := small.Load(); n < 8 {
		t.Errorf("only %d models were looked at on all targets", n)
	}
}

// complete wants all facts of each layer.
func complete(t *testing.T, in *ripc.Inspection) {
	t.Helper()
	parts := map[string]bool{}
	for _, l := range in.Layers {
		conv := l.Kind == "binary" || l.Kind == "float"
		counts := conv && (l.Part == "" || !parts[l.Part]) // the first part of a layer stands for all
		parts[l.Part] = true
		if counts != (l.MACs > 0) || counts != (l.FloatBytes > 0) || conv != (l.ActivationBits > 0) || conv != (l.WeightBits > 0) {
			t.Errorf("%s: %s, %d MACs, %d bits by %d, %d bytes as floats", l.Name, l.Became, l.MACs, l.ActivationBits, l.WeightBits, l.FloatBytes)
		}
		if stays := l.Kind == "float" || l.Kind == "glue"; stays && (l.Reason == nil || l.Reason.Text == "") || !stays && l.Kind != "binary" && l.Kind != "bits" {
			t.Errorf("%s is %s and does not say why", l.Name, l.Became)
		}
	}
}

// TestFactsAsFloats: the size of a network's weights as floats is what its float twin stores.
func TestFactsAsFloats(t *testing.T) {
	t.Parallel()
	twin, err := ripc.Load(t.Context(), "../examples/squeezenet/squeezenet_float.json")
	if err != nil {
		t.Fatal(err)
	}
	want, sum := map[string]int64{}, int64(0)
	for _, n := range twin.Nodes {
		if w := n.Weights["w"]; w != nil {
			want[n.Name] = 4 * int64(w.Data.Len())
			sum += want[n.Name]
		}
	}
	for _, model := range []string{"squeezenet", "squeezenet_u8", "squeezenet_a2", "squeezenet_a3", "squeezenet_float"} {
		in, err := ripc.Inspect(t.Context(), "../examples/squeezenet/"+model+".json", ripc.Options{Target: "rpi3"}, "", false)
		if err != nil {
			t.Fatal(err)
		}
		if in.FloatBytes != sum || in.Convolutions != len(want) {
			t.Errorf("%s: %d bytes as floats in %d layers, want %d in %d", model, in.FloatBytes, in.Convolutions, sum, len(want))
		}
		for _, l := range in.Layers {
			if l.FloatBytes != want[l.Name] {
				t.Errorf("%s: %s: %d bytes as floats, want %d", model, l.Name, l.FloatBytes, want[l.Name])
			}
			if model == "squeezenet" && l.MACs > 0 && l.Name != "conv1" && l.Became != "binary 1x1" {
				t.Errorf("%s became %s", l.Name, l.Became)
			}
		}
	}
}

// TestFactsAndNotes: what the user writes about layers is shown, and changes nothing else, whatever it looks like.
func TestFactsAndNotes(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../examples/digits/digits.json")
	if err != nil {
		t.Fatal(err)
	}
	var model map[string]any
	if err := json.Unmarshal(data, &model); err != nil {
		t.Fatal(err)
	}
	const note = "float: because I say so: bitserial"
	for _, n := range model["nodes"].([]any) {
		n.(map[string]any)["note"] = note
	}
	dir := t.TempDir()
	weights, err := os.ReadFile("../examples/digits/digits.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"digits.json": []byte(text(t, model)), "digits.safetensors": weights} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in, err := ripc.Inspect(t.Context(), filepath.Join(dir, "digits.json"), ripc.Options{}, "", false)
	if err != nil {
		t.Fatal(err)
	}
	without, err := ripc.Inspect(t.Context(), "../examples/digits/digits.json", ripc.Options{}, "", false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range in.Layers {
		if in.Layers[i].Note != note {
			t.Errorf("%s: note %q", in.Layers[i].Name, in.Layers[i].Note)
		}
		in.Layers[i].Note = ""
	}
	if got, want := text(t, in), text(t, without); got != want {
		t.Errorf("with notes\n%s\nwithout\n%s", got, want)
	}
}

// TestIntegerTypes: the type that weights have in the file says that a layer is one of integers. That some of them have fewer bits does not.
func TestIntegerTypes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"twice_read_inner", "twice_read_norm"} {
		in, err := ripc.Inspect(t.Context(), filepath.Join("../testdata/tflite", name+".tflite"), ripc.Options{Target: "rpi3"}, "", false)
		if err != nil {
			t.Fatal(err)
		}
		if in.Bitserial != 0 || in.Integers == 0 {
			t.Errorf("%s: %d bitserial layers, %d of integers", name, in.Bitserial, in.Integers)
		}
	}
}

// TestPackedFloats: weights over real numbers lie in memory as bits where one scale makes them, which inspect says. Trained ternary ones of
// two scales, whose bits cost much more than floats do, are floats.
func TestPackedFloats(t *testing.T) {
	t.Parallel()
	in, err := ripc.Inspect(t.Context(), "../testdata/fewbits/ttq_floats.onnx", ripc.Options{Target: "rpi3"}, "", false)
	if err != nil {
		t.Fatal(err)
	}
	twin, err := ripc.Inspect(t.Context(), "../testdata/fewbits/ttq_floats.onnx", ripc.Options{Target: "rpi3", FloatTwin: true}, "", false)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range in.Layers {
		if l.Kernel != twin.Layers[i].Kernel {
			t.Errorf("%s has kernel %s, its twin %s", l.Name, l.Kernel, twin.Layers[i].Kernel)
		}
		if ternary := strings.HasPrefix(l.Name, "/Conv_3") || strings.HasPrefix(l.Name, "/Conv_6"); ternary && (l.Reason == nil || !strings.Contains(l.Reason.Text, "it has ternary weights, but its input is not quantized")) {
			t.Errorf("%s: %+v", l.Name, l.Reason)
		}
	}
}
