package peers

import (
	"fmt"
	"path/filepath"
)

// Subject is a layer or a network that several engines run.
type Subject struct {
	Name    string
	What    string // for people
	MACs    int64  // that every engine's file must have
	Entries []Entry
}

// Entry is an engine with its model of a subject.
type Entry struct {
	Engine string // for people
	Env    string // the environment of the engine: scripts/setup-peers.sh makes it; "" for ripc itself
	Worker string // of lab/peers/python/worker.py; "" for ripc itself
	// Model is a file below the folder of models that the environments make, or, if Own, below the
	// top folder.
	Model string
	Own   bool
	// Agrees is a name that entries share if their results must be the same, but for roundings; ""
	// compares with none.
	Agrees string
	// OneThread says why the entry is for one thread only; "" if it is not.
	OneThread string
}

// file is where the entry's model is.
func (e Entry) file(models string) string {
	if e.Own {
		return filepath.FromSlash(e.Model)
	}
	return filepath.Join(models, e.Model)
}

// subjects lists all that is compared.
func subjects() []Subject {
	var all []Subject
	for _, c := range []struct{ name, input string }{{"A", "56x56x64"}, {"B", "28x28x128"}, {"C", "14x14x256"},
		{"D", "7x7x512"}} {
		own := func(bits string) string { return "examples/convs/conv" + c.name + "_n" + bits + "_unipolar.json" }
		name := "conv" + c.name
		es := []Entry{
			{Engine: "ripc, 1 bit", Model: own("1"), Own: true},
			{Engine: "ripc, 2 bits", Model: own("2"), Own: true},
			{Engine: "ripc, 3 bits", Model: own("3"), Own: true},
			{Engine: "ripc, 1 bit, Larq's file", Model: name + ".lce.tflite", Agrees: "lce"},
		}
		es = append(es, larq(name)...)
		const serial = "TVM's default schedule has no parallel loops"
		es = append(es,
			Entry{Engine: "TVM bitserial, 1 bit, operands packed before", Env: "tvm", Worker: "tvm", Model: name +
				".packed.tvm.so", OneThread: serial},
			Entry{Engine: "TVM bitserial, 1 bit, packs its operands", Env: "tvm", Worker: "tvm", Model: name +
				".levels.tvm.so", OneThread: serial},
		)
		es = append(es, dense(name)...)
		all = append(all, Subject{name, "3x3 convolution, " + c.input + ", as many filters", 115605504, es})
	}
	for _, n := range []int64{1, 8, 128} {
		name := fmt.Sprintf("rows%d", n)
		all = append(all, Subject{name, fmt.Sprintf("dense layer of bytes, %d x 2048 x 2048", n), n << 22, []Entry{
			{Engine: "ripc, int8", Model: name + ".int8.onnx", Agrees: "int8"},
			{Engine: "onnxruntime, int8", Env: "onnx", Worker: "onnxruntime", Model: name + ".int8.onnx",
				Agrees: "int8"},
			{Engine: "ripc, ternary weights", Model: name + ".ternary.onnx"},
			{Engine: "ripc, weights of two values", Model: name + ".binary.onnx"},
		}})
	}

	squeezenet := []Entry{
		{Engine: "ripc, 1 bit", Model: "examples/squeezenet/squeezenet.json", Own: true},
		{Engine: "ripc, 1 bit, first layer of bytes", Model: "examples/squeezenet/squeezenet_u8.json", Own: true},
		{Engine: "ripc, 2 bits", Model: "examples/squeezenet/squeezenet_a2.json", Own: true},
		{Engine: "ripc, 3 bits", Model: "examples/squeezenet/squeezenet_a3.json", Own: true},
		{Engine: "ripc, fp32, its own model", Model: "examples/squeezenet/squeezenet_float.json", Own: true},
	}
	all = append(all,
		Subject{"squeezenet", "SqueezeNet 1.1, 224x224", 349151936, append(squeezenet, dense("squeezenet")...)},
		// Bi-Real Net has the layers of ResNet-18, each convolution with a way around it.
		Subject{"resnet18", "ResNet-18, 224x224; of 1 bit: Bi-Real Net, which has the same convolutions", 1814073344,
			append(networkOf("birealnet"), dense("resnet18")...)},
		Subject{"mobilenet", "MobileNet v1, 224x224", 568740352, dense("mobilenet")},
		Subject{"binary_alexnet", "BinaryAlexNet of Larq Zoo, 224x224", 841367552, networkOf("binary_alexnet")},
		Subject{"quicknet_small", "QuickNetSmall of Larq Zoo, 224x224", 1171996160, networkOf("quicknet_small")},
		Subject{"quicknet", "QuickNet of Larq Zoo, 224x224", 1879339776, networkOf("quicknet")},
		Subject{"quicknet_large", "QuickNetLarge of Larq Zoo, 224x224", 3729027840, networkOf("quicknet_large")},
	)
	return all
}

// dense are the engines for f32 and for bytes, and ripc on the same files.
func dense(name string) []Entry {
	return []Entry{
		{Engine: "ripc, fp32", Model: name + ".f32.onnx", Agrees: "f32"},
		{Engine: "onnxruntime, fp32", Env: "onnx", Worker: "onnxruntime", Model: name + ".f32.onnx", Agrees: "f32"},
		{Engine: "LiteRT (XNNPACK), fp32", Env: "onnx", Worker: "litert", Model: name + ".f32.tflite", Agrees: "f32"},
		{Engine: "ripc, int8, the ONNX file", Model: name + ".int8.onnx"},
		{Engine: "ripc, int8, the TFLite file", Model: name + ".int8.tflite"},
		{Engine: "onnxruntime, int8", Env: "onnx", Worker: "onnxruntime", Model: name + ".int8.onnx"},
		{Engine: "LiteRT (XNNPACK), int8", Env: "onnx", Worker: "litert", Model: name + ".int8.tflite"},
	}
}

// larq are the two ways in which Larq Compute Engine computes binary convolutions; on some machines
// the second is many times faster.
func larq(name string) []Entry {
	return []Entry{
		{Engine: "Larq Compute Engine, 1 bit, bgemm", Env: "larq", Worker: "larq", Model: name + ".lce.tflite",
			Agrees: "lce"},
		{Engine: "Larq Compute Engine, 1 bit, indirect bgemm", Env: "larq", Worker: "larq_indirect", Model: name +
			".lce.tflite", Agrees: "lce"},
	}
}

// networkOf are the engines that run a .tflite file of Larq Compute Engine.
func networkOf(name string) []Entry {
	return append([]Entry{{Engine: "ripc, 1 bit", Model: name + ".lce.tflite", Agrees: "lce"}}, larq(name)...)
}
