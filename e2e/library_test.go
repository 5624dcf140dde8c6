package e2e_test

import (
	"bytes"
	"path/filepath"
	"regexp"
	"testing"

	"ripc"
	"ripc/codegen"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/need"
)

// TestLLVMLibrary: LLVM's library makes the objects that opt and llc make, byte for byte, for all that ripc lets them compile.
func TestLLVMLibrary(t *testing.T) {
	t.Parallel()
	tools, err := toolchain.Find()
	need.OK(t, err)
	models := map[string][]string{ // all of some kinds of kernels are compared on each target, and of others on one
		"x86-64-v3":     {"digits/digits", "squeezenet/squeezenet", "convs/convA_n1_unipolar"},
		"x86-64-v4":     {"digits/digits", "squeezenet/squeezenet", "convs/convB_n2_unipolar"},
		"rpi3":          {"digits/digits", "squeezenet/squeezenet", "convs/convC_n3_unipolar"},
		"rpi3-armv7":    {"digits/digits", "squeezenet/squeezenet", "convs/convD_n1_unipolar"},
		"rpi4":          {"digits/digits", "squeezenet/squeezenet", "convs/convA_n3_unipolar"},
		"generic-arm64": {"digits/digits"},
	}
	for target, files := range models {
		t.Run(target, func(t *testing.T) {
			if !need.Thorough() {
				files = files[:1]
			}
			var jobs []toolchain.Job
			for _, f := range files {
				c, err := ripc.Compile(t.Context(), filepath.Join("../examples", f+".json"), ripc.Options{Target: target, Emit: []codegen.Kind{codegen.LL}})
				if err != nil {
					t.Fatal(err)
				}
				for _, ll := range regexp.MustCompile(`(?m)^; module .*$`).Split(string(c.Files[codegen.LL]), -1)[1:] {
					jobs = append(jobs, toolchain.Job{Name: f, LL: []byte(ll), Target: c.Target})
				}
			}
			if tools.Library(t.Context(), jobs[0].Target) == "" {
				t.Skip("skipped: opt and llc have no shared library that can be used")
			}
			got, err := tools.CompileAll(t.Context(), nil, jobs)
			if err != nil {
				t.Fatal(err)
			}
			want, err := tools.WithoutLibrary().CompileAll(t.Context(), nil, jobs)
			if err != nil {
				t.Fatal(err)
			}
			for i, j := range jobs {
				if !bytes.Equal(got[i], want[i]) {
					t.Errorf("%s: the %dth of %d objects differs", j.Name, i, len(jobs))
				}
			}
		})
	}
}
