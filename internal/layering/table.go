package layering

// Row says what one package may import besides the standard library.
type Row struct {
	// Package is the path below the module ("codegen/spmd"; "." is the root). A path that ends in "/..." stands
	// for every package below it.
	Package string
	// May lists packages of this module, written like Package.
	May []string
	// ThirdParty lists import paths of other modules; packages below them are included.
	ThirdParty []string
}

// Table lists every package of the module in the order of the pipeline. An import that is not listed fails the test
// of this package: either the code is in the wrong place, or the design changes and the row with it.
//
// What the rows keep true: ir knows nothing but itself; schedule knows no target; only codegen knows llir; runtime
// knows nothing of the compiler, so that a deployed program stays small; only the root sees the whole pipeline.
func Table() []Row {
	irAll := []string{"ir", "ir/arith", "ir/graph", "ir/interp", "ir/irtext", "ir/ops"}
	scheduleAll := []string{"schedule", "schedule/cost", "schedule/template"}
	middle := join(irAll, scheduleAll, []string{"targets", "targets/isa"})
	compiler := join(middle, []string{
		"codegen", "codegen/artifact", "codegen/spmd", "codegen/toolchain", "fusedglue", "internal/describe",
		"ir/importer/...", "lower", "lower/plan", "recognize", "runtime", "simulate", "verify",
	})
	autotune := []string{"autotune/costmodel", "autotune/measure", "autotune/records"}

	return []Row{
		{".", join(compiler, autotune, []string{"autotune", "internal/files", "internal/npy", "internal/safetensors", "schemas"}),
			[]string{"golang.org/x/image", "golang.org/x/sync"}},
		{"cmd/ripc", []string{".", "runtime", "targets", "codegen/toolchain", "internal/describe", "internal/files"},
			[]string{"github.com/spf13/cobra", "github.com/spf13/pflag"}},

		{"ir", nil, nil},
		{"ir/arith", []string{"internal/f32", "ir"}, nil},
		{"ir/graph", []string{"ir"}, nil},
		{"ir/interp", []string{"internal/f32", "ir"}, nil},
		{"ir/irtext", []string{"ir"}, nil},
		{"ir/ops", []string{"ir", "ir/graph"}, nil},
		{"ir/importer/internal/source", []string{"internal/files", "ir", "ir/graph"}, nil},
		{"ir/importer/model", []string{"internal/files", "internal/safetensors", "ir", "ir/graph", "ir/importer/internal/source", "schemas"},
			[]string{"github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text"}},
		{"ir/importer/onnx", []string{"internal/f32", "ir", "ir/graph", "ir/importer/internal/source", "ir/importer/onnx/internal/onnxpb"},
			[]string{"google.golang.org/protobuf"}},
		{"ir/importer/onnx/internal/onnxpb", nil, []string{"google.golang.org/protobuf"}}, // generated
		{"ir/importer/lce", []string{"ir", "ir/graph", "ir/importer/internal/source", "ir/importer/lce/internal/flatbuf"}, nil},
		{"ir/importer/lce/internal/flatbuf", nil, nil},

		{"fusedglue", []string{"internal/f32", "internal/passorder", "ir", "ir/arith", "ir/graph"}, nil},
		{"recognize", []string{"fusedglue", "internal/f32", "internal/passorder", "ir", "ir/graph"}, nil},
		{"targets", nil, []string{"github.com/klauspost/cpuid/v2", "golang.org/x/sys"}},
		{"targets/isa", []string{"ir"}, nil},
		{"schedule", []string{"ir", "ir/arith"}, nil},
		{"schedule/template", []string{"ir", "ir/arith", "schedule", "targets", "targets/isa"}, nil},
		{"schedule/cost", []string{"ir", "ir/arith", "schedule", "targets"}, nil},
		{"schedule/internal/primdoc", nil, nil}, // writes docs/primitives.md
		{"lower", join(middle, []string{"lower/plan"}), nil},
		{"lower/plan", []string{"ir"}, nil},

		{"codegen", []string{"internal/f32", "ir", "ir/arith", "targets"}, []string{"github.com/llir/llvm"}},
		{"codegen/spmd", []string{"ir", "targets"}, nil},
		{"codegen/toolchain", []string{"targets"}, []string{"golang.org/x/sync"}},
		{"codegen/artifact", []string{"codegen", "codegen/spmd", "codegen/toolchain", "internal/describe", "ir",
			"ir/interp", "targets"}, nil},

		{"runtime", []string{"internal/describe", "internal/npy"},
			[]string{"github.com/ebitengine/purego", "github.com/klauspost/cpuid/v2", "golang.org/x/sys"}},
		{"simulate", []string{"codegen/toolchain", "internal/describe", "runtime", "targets"}, nil},
		{"verify", []string{"codegen/artifact", "internal/describe", "ir", "ir/interp", "runtime", "simulate"}, nil},

		{"autotune", join(compiler, autotune), []string{"golang.org/x/sync"}},
		{"autotune/costmodel", compiler, []string{"github.com/ebitengine/purego"}},
		{"autotune/measure", compiler, []string{"github.com/nats-io/nats.go"}},
		{"autotune/records", compiler, nil},

		{"examples/digits/check", []string{"internal/npy"}, nil},
		{"examples/squeezenet/speed", []string{"."}, nil},
		{"examples/squeezenet/gen", []string{"ir", "ir/graph", "ir/importer/model", "internal/safetensors"}, nil},

		{"schemas", nil, nil},

		{"internal/describe", nil, nil},
		{"internal/difftest", []string{"ir", "ir/interp"}, []string{"github.com/google/go-cmp"}},
		{"internal/f32", nil, nil},
		{"internal/files", nil, nil},
		{"internal/golden", nil, []string{"github.com/rogpeppe/go-internal/diff"}},
		{"internal/irgen", []string{"ir"}, []string{"pgregory.net/rapid"}},
		{"internal/layering", nil, nil},
		{"internal/need", nil, nil},
		{"internal/npy", []string{"internal/files"}, nil},
		{"internal/passorder", nil, nil},
		{"internal/safetensors", []string{"internal/files"}, nil},
		{"internal/tflitetest", nil, nil}, // writes .tflite files for tests
	}
}

// join returns the elements of the lists in a new list.
func join(lists ...[]string) []string {
	var out []string
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}
