package e2e_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc"
	"ripc/internal/need"
	"ripc/recognize"
)

// TestSpellings: one network, with its activations written in the ways of public code, becomes the same kernels, and so costs the
// same, whether that is an option's doing or not.
func TestSpellings(t *testing.T) {
	takes := need.Part(t, 2)
	for what, names := range map[string][]string{
		"signs": {"where", "where_gt", "where_lt", "cast", "cast_gt", "cast_pair", "half", "where_scaled", "sign_sign", "round", "masked", "indexed", "equal", "sign_where", "logical_not",
			"sign", "torch", "symbolic", "hardtanh", "tanh", "add_eps", "detach", "detach_id", "approx", "detach_where", "dynamo_where", "dynamo_sign", "dynamo_cast", "opset11", "opset9_where", "unfolded"},
		"zeros and ones": {"unipolar", "unipolar_relu"},
		"three values":   {"ternary", "ternary_nested"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var first []string
			for i, name := range names {
				if i > 0 && !takes(i-1) {
					continue
				}
				kernels := kernelsOf(t, "spelled_"+name, ripc.Options{Recognize: recognize.Options{SignZero: 1}})
				if first == nil {
					first = kernels
				}
				if !slices.Equal(kernels, first) {
					t.Errorf("%s becomes\n%s\nand %s\n%s", names[0], strings.Join(first, "\n"), name, strings.Join(kernels, "\n"))
				}
			}
		})
	}
}

// kernelsOf are the kernels of one of testdata/architectures, in order, for rpi3.
func kernelsOf(t *testing.T, name string, o ripc.Options) []string {
	t.Helper()
	o.Target = "rpi3"
	in, err := ripc.Inspect(context.Background(), filepath.Join(architectures, name+".onnx"), o, "", false)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var kernels []string
	for _, l := range in.Layers {
		kernels = append(kernels, l.Kernel)
	}
	return kernels
}

// TestForms: the form that Brevitas exports and the one that FINN's flow makes of it become the same kernels.
func TestForms(t *testing.T) {
	t.Parallel()
	forms, err := filepath.Glob(filepath.Join(architectures, "finn_*.onnx"))
	if err != nil || len(forms) == 0 {
		t.Fatalf("%d files, %v", len(forms), err)
	}
	for _, f := range forms {
		name := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(f), ".onnx"), "finn_")
		if finn, qonnx := kernelsOf(t, "finn_"+name, ripc.Options{}), kernelsOf(t, "qonnx_"+name, ripc.Options{}); !slices.Equal(finn, qonnx) {
			t.Errorf("%s: FINN's form becomes\n%s\nand QONNX's\n%s", name, strings.Join(finn, "\n"), strings.Join(qonnx, "\n"))
		}
	}
}
