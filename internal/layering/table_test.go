package layering

// Row lists the packages that one package may import besides the standard library.
type Row struct {
	// Package is the path below the module ("codegen/llvm/driver"; "." is the root). A path that
	// ends in "/..." stands for every package below it.
	Package string
	// May lists packages of this module, written like Package.
	May []string
	// ThirdParty lists import paths of other modules; packages below them are included.
	ThirdParty []string
}

// Table lists every package of the module in the order of the pipeline. An import that is not
// listed fails the test of this package: either the code is in the wrong place, or the design
// changes and the row with it.
//
// The invariants of the rows: ir knows nothing but itself and the description of layers; schedule
// knows no target; only codegen/llvm/emit knows llir; runtime knows nothing of the compiler, so
// that a deployed program stays small; only the root sees importers and pipeline together.
func Table() []Row {
	return []Row{
		{".", []string{"accelerator", "autotune", "autotune/records", "autotune/runner", "autotune/search", "autotune/shipped", "codegen", "codegen/llvm/toolchain", "compile", "engine", "engine/simulate", "eval", "floattwin", "fusedglue", "graph", "graph/explain", "importer", "importer/ripcjson", "inspect", "internal/constants", "internal/container", "internal/f32", "internal/files", "internal/irdata", "internal/models", "internal/tensorio", "internal/tools", "ir", "ir/interp", "ir/irtext", "lower/layout", "measure", "measure/limits", "recognize", "runtime", "runtime/describe", "runtime/npy", "runtime/opencl", "schedule", "schedule/costmodel", "targets", "targets/boards", "targets/fpga", "targets/guests", "verify"}, nil},
		{"cmd/ripc", []string{".", "autotune", "autotune/hub", "autotune/records", "autotune/runner", "autotune/search", "autotune/shipped", "graph", "importer", "internal/files", "internal/human", "internal/suggest", "internal/svg", "internal/tensorio", "internal/terminal", "lower/layout", "measure", "report", "runtime", "runtime/describe", "runtime/npy", "schedule/costmodel", "targets", "targets/boards", "targets/fpga", "verify"},
			[]string{"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term"}},

		{"cmd/ripc-worker", []string{"autotune/runner"}, nil}, // for boards: static, without a loader

		{"ir", []string{"runtime/describe"}, nil},
		{"ir/arith", []string{"ir"}, nil},
		{"ir/deps", []string{"ir", "ir/arith", "runtime/describe"}, nil},
		{"ir/interp", []string{"internal/f32", "ir"}, nil},
		{"ir/irtext", []string{"ir"}, nil},
		{"ir/size", []string{"ir", "ir/arith"}, nil},
		{"graph", []string{"graph/scalar", "internal/enum", "internal/f32", "internal/human", "internal/lists", "internal/names", "internal/stop", "ir"}, nil},
		{"graph/scalar", []string{"internal/enum", "internal/f32", "internal/lists", "ir"}, nil},
		{"graph/explain", []string{"graph", "internal/human", "ir", "lower/layout", "runtime/describe"}, nil},

		{"importer", []string{"graph"}, nil},
		{"importer/internal/source", []string{"graph", "graph/scalar", "importer", "importer/internal/kit", "internal/files", "internal/lists", "internal/names", "internal/stop", "internal/suggest", "ir"}, nil},
		{"importer/internal/kit", []string{"graph", "graph/scalar", "internal/lists", "internal/stop"}, nil},
		{"importer/ripcjson", []string{"graph", "graph/scalar", "importer", "importer/internal/kit", "importer/internal/source", "internal/enum", "internal/f32", "internal/files", "internal/human", "internal/lists", "internal/safetensors", "internal/stop", "internal/suggest", "ir", "schemas"},
			[]string{"github.com/santhosh-tekuri/jsonschema/v6"}},
		{"importer/internal/readtest", []string{"graph"}, nil},
		{"importer/internal/onnx", []string{"graph", "graph/scalar", "importer", "importer/internal/kit", "importer/internal/onnx/internal/onnxpb", "importer/internal/source", "internal/f32", "internal/files", "internal/human", "internal/lists", "internal/names", "internal/stop", "ir"},
			[]string{"google.golang.org/protobuf"}},
		{"importer/internal/onnx/internal/onnxpb", nil, []string{"google.golang.org/protobuf"}}, // generated
		{"importer/onnx", []string{"graph", "importer", "importer/internal/onnx"}, nil},
		{"importer/pt2", []string{"graph", "graph/scalar", "importer", "importer/internal/kit", "importer/internal/onnx", "importer/internal/source", "internal/lists", "internal/stop", "ir"}, nil},
		{"importer/lce", []string{"graph", "graph/scalar", "importer", "importer/internal/kit", "importer/internal/source", "importer/lce/internal/flatbuf", "internal/f32", "internal/human", "internal/lists", "internal/names", "internal/stop", "ir"}, nil},
		{"importer/lce/internal/flatbuf", nil, nil},

		{"fusedglue", []string{"graph", "graph/scalar", "internal/f32", "internal/passorder", "ir"}, []string{"golang.org/x/sync"}},
		{"recognize", []string{"graph", "graph/scalar", "internal/f32", "internal/lists", "internal/passorder", "ir"}, nil},
		{"floattwin", []string{"graph", "graph/scalar", "ir"}, nil},
		{"targets", []string{"targets/cpu"}, []string{"github.com/klauspost/cpuid/v2"}},
		{"targets/cpu", nil, []string{"github.com/klauspost/cpuid/v2", "golang.org/x/sys"}},
		{"targets/guests", nil, nil},
		{"targets/isa", []string{"ir", "ir/irtext", "targets"}, nil},
		{"schedule", []string{"internal/files", "internal/lists", "internal/suggest", "ir", "ir/arith", "ir/deps", "ir/size"}, nil},
		{"schedule/steps", []string{"ir", "schedule"}, nil},
		{"schedule/strategy", []string{"internal/lists", "ir", "ir/arith", "ir/size", "schedule", "schedule/steps", "targets", "targets/isa"}, nil},
		{"schedule/features", []string{"ir", "ir/arith", "ir/deps", "ir/size", "targets", "targets/isa"}, nil},
		{"schedule/costmodel", nil, []string{"github.com/dmitryikh/leaves", "github.com/ebitengine/purego"}},
		{"schedule/machine", []string{"internal/lists", "ir", "schedule/costmodel", "schedule/features", "targets"}, []string{"golang.org/x/sync", "gonum.org/v1/gonum"}},
		{"lower", []string{"graph", "graph/scalar", "internal/f32", "internal/lists", "internal/names", "internal/passorder", "internal/suggest", "ir", "lower/inline", "lower/layout", "lower/ops", "lower/plan", "targets"}, nil},
		{"lower/layout", []string{"graph", "graph/scalar", "internal/enum", "internal/lists", "ir", "targets", "targets/isa"}, nil},
		{"lower/ops", []string{"graph", "graph/scalar", "internal/lists", "ir", "lower/layout"}, nil},
		{"lower/inline", []string{"graph", "ir", "ir/arith", "ir/deps", "targets"}, nil},
		{"lower/plan", []string{"internal/abi", "ir", "ir/deps"}, nil},

		{"codegen/clike", []string{"codegen", "ir", "ir/arith", "ir/deps", "runtime/describe", "targets/isa"}, nil},
		{"codegen/c99", []string{"codegen", "codegen/clike", "internal/abi", "internal/container", "internal/files", "ir", "runtime/describe", "targets"}, nil},
		{"codegen/opencl", []string{"codegen", "codegen/clike", "ir", "runtime/describe", "targets"}, nil},
		{"codegen/wgsl", []string{"codegen", "ir", "ir/arith", "ir/deps", "runtime/describe", "targets"}, nil},
		{"codegen/cuda", []string{"caches", "codegen", "codegen/llvm/emit", "codegen/llvm/toolchain", "ir", "targets"}, nil},
		{"codegen", []string{"internal/abi", "internal/container", "internal/f32", "ir", "ir/arith", "ir/deps", "runtime/describe", "targets"}, nil},
		{"codegen/board", []string{"codegen", "codegen/c99", "engine/bareboard", "ir", "targets", "targets/boards"}, nil},
		{"codegen/llvm", []string{"caches", "codegen", "codegen/llvm/driver", "codegen/llvm/emit", "codegen/llvm/link", "codegen/llvm/rows", "codegen/llvm/toolchain", "codegen/web", "internal/abi", "internal/container", "internal/files", "ir", "runtime/describe", "targets"}, nil},
		{"codegen/web", []string{"internal/abi", "internal/container", "runtime/describe", "runtime/webgpu"}, nil},
		{"codegen/llvm/rows", []string{"targets"}, nil},
		{"codegen/llvm/isa", []string{"ir", "targets/isa"}, nil},
		{"codegen/llvm/emit", []string{"codegen", "codegen/llvm/isa", "codegen/llvm/rows", "internal/f32", "ir", "ir/arith", "ir/deps", "ir/size", "runtime/describe", "targets"}, []string{"github.com/llir/llvm"}},
		{"codegen/llvm/driver", []string{"codegen/llvm/rows", "internal/abi", "ir", "targets"}, nil},
		{"codegen/llvm/link", []string{"codegen/llvm/rows", "codegen/llvm/toolchain", "internal/elfbytes", "targets"}, nil},
		{"codegen/llvm/library", nil, []string{"github.com/ebitengine/purego"}},
		{"codegen/llvm/toolchain", []string{"caches", "codegen/llvm/library", "codegen/llvm/rows", "internal/abi", "internal/elfbytes", "internal/files", "targets"}, []string{"golang.org/x/sync"}},
		{"compile", []string{"caches", "codegen", "codegen/board", "codegen/c99", "codegen/cuda", "codegen/llvm", "codegen/opencl", "codegen/wgsl", "engine", "fusedglue", "graph", "graph/explain", "importer", "internal/abi", "internal/files", "internal/irdata", "internal/memory", "internal/suggest", "ir", "ir/arith", "ir/interp", "ir/size", "lower", "lower/layout", "lower/plan", "measure", "recognize", "schedule", "schedule/machine", "schedule/strategy", "targets", "targets/isa"}, []string{"golang.org/x/sync"}},

		{"runtime", []string{"internal/abi", "internal/container", "internal/files", "internal/names", "runtime/describe", "runtime/npy", "targets/cpu"},
			[]string{"github.com/ebitengine/purego", "golang.org/x/sys"}},
		{"runtime/describe", nil, nil},
		{"runtime/device", []string{"internal/container", "runtime", "runtime/describe"}, []string{"github.com/ebitengine/purego"}},
		{"runtime/opencl", []string{"internal/container", "runtime", "runtime/describe", "runtime/device"}, []string{"github.com/ebitengine/purego"}},
		{"runtime/webgpu", []string{"internal/container", "runtime", "runtime/describe", "runtime/device"}, nil},
		{"runtime/cuda", []string{"internal/container", "runtime", "runtime/describe", "runtime/device"}, []string{"github.com/ebitengine/purego"}},
		{"runtime/npy", []string{"internal/files"}, nil},
		{"targets/boards", nil, nil}, // programs without an operating system
		{"engine/bareboard", []string{"engine/simulate", "internal/abi", "internal/files", "internal/human", "internal/tools", "runtime", "runtime/describe", "targets/boards"}, nil},
		{"engine/wasm", []string{"codegen/web", "internal/abi", "internal/tools", "runtime", "runtime/describe"}, []string{"github.com/tetratelabs/wazero"}},
		{"engine", []string{"engine/bareboard", "engine/estimate", "engine/simulate", "engine/wasm", "internal/abi", "internal/container", "ir", "ir/interp", "measure", "runtime", "runtime/cuda", "runtime/describe", "runtime/device", "runtime/opencl", "runtime/webgpu", "targets/boards"}, nil},
		{"engine/simulate", []string{"caches", "codegen/llvm/toolchain", "internal/abi", "internal/files", "internal/human", "internal/tools", "runtime", "runtime/describe", "targets/guests"}, []string{"golang.org/x/sys"}},
		{"engine/estimate", []string{"caches", "codegen/llvm/rows", "codegen/llvm/toolchain", "engine/simulate", "targets", "targets/boards"}, nil}, // the tools and the flags that the code was made with
		{"measure", nil, nil},

		{"targets/fpga", nil, nil},
		{"dataflow", []string{"graph", "graph/scalar", "ir"}, nil}, // knows no part and no language
		{"dataflow/fold", []string{"dataflow", "targets/fpga"}, nil},
		{"codegen/verilog", []string{"dataflow"}, nil},
		{"engine/verilator", []string{"caches", "codegen/verilog", "core", "dataflow", "internal/files", "internal/tools"}, nil},
		{"measure/yosys", []string{"caches", "internal/files", "internal/tools", "targets/fpga"}, nil},
		{"measure/nextpnr", []string{"internal/tools", "targets/fpga"}, nil},
		{"core", []string{"targets/fpga"}, nil}, // knows no network
		{"core/network", []string{"core", "dataflow", "graph", "graph/scalar", "ir", "ir/arith", "ir/irtext", "schedule", "schedule/steps", "targets/fpga"}, nil},
		{"accelerator", []string{"codegen", "codegen/verilog", "compile", "core", "core/network", "dataflow", "dataflow/fold", "engine", "engine/verilator", "graph", "graph/scalar", "internal/files", "ir", "measure/nextpnr", "measure/yosys", "runtime", "runtime/describe", "targets/fpga"}, nil},
		{"verify", []string{"codegen", "compile", "engine", "internal/constants", "internal/enum", "internal/f32", "internal/irdata", "ir", "ir/interp", "runtime", "runtime/describe"}, nil},

		{"inspect", []string{"codegen", "compile", "graph", "graph/explain", "internal/abi", "internal/human", "ir", "runtime", "runtime/describe", "schedule/strategy", "targets"}, nil},
		{"eval", []string{"internal/human", "internal/tensorio", "ir", "runtime/describe"}, nil},
		{"autotune", []string{"autotune/records", "autotune/runner", "autotune/search", "autotune/space", "codegen", "compile", "graph", "internal/files", "internal/lists", "ir", "ir/interp", "lower", "lower/layout", "lower/ops", "schedule", "schedule/strategy", "targets", "targets/isa"}, []string{"golang.org/x/sync"}},
		{"autotune/space", []string{"autotune/records", "compile", "ir", "schedule", "schedule/strategy", "targets"}, nil},
		{"autotune/search", []string{"autotune/space", "compile", "internal/lists", "schedule/costmodel", "schedule/features", "schedule/machine"}, []string{"gonum.org/v1/gonum"}},
		{"autotune/records", []string{"internal/files", "internal/lists"}, []string{"golang.org/x/sys"}},
		{"autotune/shipped", []string{"autotune/records"}, nil},
		{"autotune/runner", []string{"autotune/records", "engine", "engine/estimate", "engine/simulate", "internal/files", "internal/lists", "internal/terminal", "measure", "runtime", "runtime/describe", "targets", "targets/boards", "targets/cpu", "targets/guests"},
			[]string{"github.com/nats-io/nats.go", "github.com/nats-io/nkeys", "golang.org/x/sync"}}, // small, as workers on boards have all of it
		{"autotune/hub", []string{"autotune/runner", "internal/files", "internal/terminal"}, []string{"github.com/nats-io"}},

		{"report", []string{".", "internal/files", "internal/human", "internal/lists", "internal/svg", "internal/tensorio", "measure", "runtime", "runtime/describe"}, nil}, // pages of the root's results

		{"e2e", nil, nil}, // tests only
		{"measure/limits", []string{"caches", "codegen/llvm/toolchain", "measure", "targets"}, []string{"github.com/ebitengine/purego"}},
		{"lab/figures", []string{"internal/lists", "internal/stop", "measure"}, nil},
		{"lab/task", []string{"codegen/llvm/toolchain", "internal/section", "internal/stop", "internal/svg", "lab/figures", "measure"}, []string{"github.com/spf13/pflag"}},
		{"lab/numbers", []string{".", "codegen", "internal/lists", "internal/stop", "lab/figures", "lab/task", "targets"}, nil},
		{"lab/networks", []string{".", "caches", "codegen", "examples/networks/zoo", "internal/lists", "internal/stop", "lab/ablation", "lab/figures", "lab/ledger", "lab/task", "targets"}, []string{"github.com/spf13/pflag"}},
		{"lab/ablation", []string{".", "compile", "examples/networks/zoo", "graph", "internal/lists", "internal/stop", "ir", "ir/arith", "lab/figures", "lab/task", "lower/layout", "measure", "schedule", "schedule/strategy", "targets", "targets/isa"}, []string{"github.com/spf13/pflag"}},                            // leaves optimizations out
		{"lab/peers", []string{".", "caches", "codegen", "engine/estimate", "engine/simulate", "internal/lists", "internal/stop", "internal/tools", "lab/figures", "lab/task", "lower/layout", "measure", "measure/limits", "runtime", "runtime/describe", "runtime/npy", "targets"}, []string{"github.com/spf13/pflag"}}, // ripc beside other engines
		{"lab/tuner", []string{"autotune/search", "autotune/space", "graph", "graph/scalar", "internal/stop", "ir", "lab/figures", "lab/meter", "lab/task", "lower/layout", "lower/ops", "targets"}, []string{"github.com/spf13/pflag", "golang.org/x/sync"}},                                                             // searches beside each other
		{"lab/ledger", []string{".", "codegen", "codegen/llvm/rows", "codegen/llvm/toolchain", "examples/networks/zoo", "internal/stop", "lab/figures", "lab/fit", "lab/peers", "lab/task", "measure/limits", "runtime", "targets"}, []string{"github.com/spf13/pflag"}},
		{"lab/web", []string{".", "codegen", "codegen/web", "internal/stop", "internal/tools", "lab/figures", "lab/networks", "lab/task", "measure"}, nil}, // in Node
		{"lab/gpu", []string{".", "engine", "examples/networks/zoo", "internal/container", "internal/stop", "lab/figures", "lab/task", "runtime/cuda", "runtime/describe", "schedule", "schedule/strategy", "targets"}, []string{"github.com/spf13/pflag"}},
		{"lab/records", []string{".", "autotune/records", "examples/networks/zoo", "internal/stop", "lab/figures", "lab/task", "targets"}, nil}, // makes the records that ship
		{"lab/sass", nil, []string{"github.com/spf13/cobra"}},                                                                       // counts machine instructions of GPUs
		{"lab/meter", []string{".", "autotune/runner", "autotune/space", "codegen", "compile", "engine/bareboard", "targets"}, nil}, // kernels alone
		{"lab/fit", []string{".", "autotune/records", "autotune/space", "compile", "examples/networks/zoo", "fusedglue", "graph", "internal/stop", "ir", "lab/figures", "lab/meter", "lab/task", "lower", "lower/layout", "schedule/costmodel", "schedule/features", "schedule/machine", "schedule/strategy", "targets"}, []string{"github.com/spf13/cobra", "golang.org/x/sync", "gonum.org/v1/gonum"}}, // makes the models of machines
		{"lab/fpga", []string{".", "codegen/verilog", "compile", "core", "dataflow", "dataflow/fold", "graph", "internal/models", "lab/figures", "lab/task", "measure/yosys", "schedule/machine", "targets/fpga"}, []string{"github.com/spf13/cobra"}},                                                                                                                                                   // accelerators, and the models of their sizes
		{"lab", []string{"internal/stop", "lab/ablation", "lab/figures", "lab/fit", "lab/fpga", "lab/gpu", "lab/ledger", "lab/networks", "lab/numbers", "lab/peers", "lab/records", "lab/sass", "lab/task", "lab/tuner", "lab/web"}, []string{"github.com/spf13/cobra"}},                                                                                                                                 // measures, and writes the pages of measurements
		{"examples/networks", []string{"examples/networks/zoo"}, nil},
		{"examples/networks/zoo", []string{"graph", "importer", "importer/ripcjson", "internal/f32", "internal/refnet", "internal/safetensors", "internal/stop", "ir"}, nil},

		{"scripts/modulepath", []string{"internal/files"}, nil},                      // another path for the module
		{"scripts/release", []string{".", "autotune/runner", "targets/guests"}, nil}, // the shipped files

		{"schemas", nil, nil},

		{"internal/abi", nil, nil},
		{"internal/memory", nil, nil},
		{"internal/constants", []string{"internal/abi", "internal/container", "ir", "runtime", "runtime/describe"}, nil},
		{"internal/difftest", []string{"internal/irdata", "ir", "ir/interp"}, []string{"github.com/google/go-cmp"}},
		{"internal/elfbytes", nil, nil},
		{"internal/enum", nil, nil},
		{"internal/tools", []string{"internal/files"}, nil},
		{"internal/f32", nil, nil},
		{"internal/suggest", nil, nil},
		{"caches", []string{"internal/files"}, nil},
		{"internal/files", nil, nil},
		{"internal/golden", []string{"internal/section"}, []string{"github.com/rogpeppe/go-internal/diff"}},
		{"internal/irgen", []string{"ir"}, []string{"pgregory.net/rapid"}},
		{"internal/human", nil, nil},
		{"internal/irdata", []string{"ir"}, nil},
		{"internal/judge", nil, nil}, // tests only
		{"internal/layering", nil, nil},
		{"internal/models", []string{"codegen", "compile", "floattwin", "graph", "importer", "importer/lce", "importer/onnx", "importer/pt2", "importer/ripcjson", "internal/f32", "internal/memory", "ir", "ir/interp", "recognize"}, nil},
		{"internal/lists", nil, nil},
		{"internal/names", nil, nil},
		{"internal/stop", nil, nil},
		{"internal/need", nil, nil},
		{"internal/passorder", nil, nil},
		{"internal/testlayer", []string{"graph", "graph/scalar", "ir", "lower/layout", "lower/ops", "schedule/strategy", "targets"}, nil}, // fused layers for tests
		{"internal/randnet", []string{"graph", "graph/scalar", "ir"}, nil},                                                                // random networks for tests
		{"internal/refnet", []string{"graph", "internal/f32", "ir"}, nil},                                                                 // plain arithmetic for tests
		{"internal/section", nil, nil},
		{"internal/container", []string{"internal/abi", "runtime/describe", "targets/cpu"}, nil},
		{"internal/sshtest", []string{"internal/need"}, nil}, // a real sshd for tests
		{"internal/cudatest", []string{"internal/need", "runtime/cuda"}, nil},
		{"internal/safetensors", nil, nil},
		{"internal/tensorio", []string{"internal/files", "ir", "runtime", "runtime/describe", "runtime/npy"}, []string{"golang.org/x/image"}},
		{"internal/svg", nil, nil},
		{"internal/terminal", nil, nil},
		{"internal/tflitetest", nil, nil}, // writes .tflite files for tests
	}
}
