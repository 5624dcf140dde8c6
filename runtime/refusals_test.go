package runtime_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/runtime"
	"ripc/runtime/describe"
)

func TestRefusals(t *testing.T) {
	change := func(f func(d *describe.Artifact)) string {
		d := twoStage()
		f(d)
		return build(t, d, nil)
	}
	var format *runtime.FormatError
	_, err := runtime.Load(change(func(d *describe.Artifact) { d.Format, d.Compiler = "ripc.artifact/9", "7.1" }))
	if !errors.As(err, &format) || !strings.Contains(err.Error(), `"ripc.artifact/9" (written by ripc 7.1), this loader reads "ripc.artifact/1"`) {
		t.Errorf("format: %v", err)
	}
	var feature *runtime.FeatureError
	absent := "sm4"
	if runtime.HostArch() == "x86_64" {
		absent = "avxvnniint16"
	}
	for _, has := range runtime.HostFeatures() {
		if has == absent {
			absent = "made-up"
		}
	}
	_, err = runtime.Load(change(func(d *describe.Artifact) {
		d.Features = append(runtime.HostFeatures(), absent, "prefer-256-bit")
	}))
	if !errors.As(err, &feature) || len(feature.Missing)+len(feature.Unknown) != 1 || !strings.Contains(err.Error(), absent) {
		t.Errorf("features: %v", err)
	}
	lacks := &runtime.FeatureError{Path: "n.so", CPU: "spacemit-x60", Missing: []string{"zba", "zvl256b"}, VectorBits: 128}
	if got := lacks.Error(); !strings.HasSuffix(got, "lacks zba, vectors of 256 bits (zvl256b), since its own have 128") {
		t.Errorf("the length of vectors: %s", got)
	}
	for want, f := range map[string]func(*describe.Artifact){
		"no function other_run":             func(d *describe.Artifact) { d.Name = "other" },
		`name "a b" is not a C identifier`:  func(d *describe.Artifact) { d.Name = "a b" },
		`says arch "riscv64"`:               func(d *describe.Artifact) { d.Arch = "riscv64" },
		"arena_bytes is 100":                func(d *describe.Artifact) { d.ArenaBytes = 100 },
		"workspace_size(3) returns 4288":    func(d *describe.Artifact) { d.ArenaBytes = 8192 },
		`input 0: tensor "x": dtype "f16"`:  func(d *describe.Artifact) { d.Inputs[0].DType = "f16" },
		"output 0: tensor \"z\": extent -1": func(d *describe.Artifact) { d.Outputs[0].Shape[0] = -1 },
		"exceeds 1099511627776 bytes":       func(d *describe.Artifact) { d.Outputs[0].Shape = []int{1 << 30, 1 << 30, 1 << 30} },
		"0 inputs and 1 outputs":            func(d *describe.Artifact) { d.Inputs = nil },
		"workspace_size(1) returns 4160":    func(d *describe.Artifact) { d.ArenaBytes, d.ScratchBytes = 4096-192, 128 },
		`cpu is "a\x1b[2J"`:                 func(d *describe.Artifact) { d.CPU = "a\x1b[2J" },
		`features is "\u009b2J"`:            func(d *describe.Artifact) { d.Features = []string{"\u009b2J"} },
		`label is "a\rb"`:                   func(d *describe.Artifact) { d.Inputs[1].Label = "a\rb" },
		`where is "\a"`:                     func(d *describe.Artifact) { d.Stages[0].Layer = describe.Layer{Reason: describe.Reason{Where: "\a"}} },
		`"scale": -1 multiply-adds`:         func(d *describe.Artifact) { d.Stages[0].MACs = -1 },
		`kernel "k" has 1 blocks of -1 threads`: func(d *describe.Artifact) {
			d.Stages[0].Launches = []describe.Launch{{Kernel: "k", Blocks: 1, Threads: -1}}
		},
		"weight_bytes is -1": func(d *describe.Artifact) { d.WeightBytes = -1 },
		`is i32 [1 512] here, input 0 is i32 [1 1024]`: func(d *describe.Artifact) {
			d.Stages[0].Reads = []describe.Tensor{{Name: "x", DType: "i32", Shape: []int{1, 512}, Where: "input"}}
		},
		"is input 2 of 2": func(d *describe.Artifact) {
			d.Stages[0].Reads = []describe.Tensor{{Name: "x", DType: "i32", Shape: []int{1, 1024}, Where: "input", Offset: 2}}
		},
		"4096 bytes at 64 of the arena, which has 4096": func(d *describe.Artifact) {
			d.Stages[0].Writes = []describe.Tensor{{Name: "a", DType: "i32", Shape: []int{1, 1024}, Where: "arena", Offset: 64}}
		},
		"4 bytes at -64 of the arena": func(d *describe.Artifact) {
			d.Stages[0].Writes = []describe.Tensor{{Name: "a", DType: "i32", Shape: []int{1}, Where: "arena", Offset: -64}}
		},
		"4 bytes at 0 of the const, which has 0": func(d *describe.Artifact) {
			d.Stages[0].Reads = []describe.Tensor{{Name: "w", DType: "i32", Shape: []int{1}, Where: "const"}}
		},
		`tensor "x", written true, is in "input"`: func(d *describe.Artifact) {
			d.Stages[0].Writes = []describe.Tensor{{Name: "x", DType: "i32", Shape: []int{1, 1024}, Where: "input"}}
		},
	} {
		if _, err := runtime.Load(change(f)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	other := build(t, twoStage(), func(ll string) string {
		return strings.NewReplacer("ptr @json ;", "ptr @decoy ;", "@json = internal", "@json =").Replace(ll) +
			"@decoy = internal constant [2 x i8] c\"{\\00\"\n"
	})
	if _, err := runtime.Load(other); err == nil || !strings.Contains(err.Error(), "differs from section .ripc.describe at byte 1") {
		t.Errorf("decoy: %v", err)
	}
	plain := filepath.Join(t.TempDir(), "x.so")
	if err := os.WriteFile(plain, []byte("no ELF at all, just words"), 0o600); err != nil {
		t.Fatal(err)
	}
	var file *runtime.FileError
	if _, err := runtime.Load(plain); !errors.As(err, &file) || !strings.Contains(err.Error(), "neither an ELF file nor") {
		t.Errorf("plain: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runtime.ReadDescription(self); !errors.As(err, &file) || !strings.Contains(err.Error(), "no section .ripc.describe in this ELF file") {
		t.Errorf("other ELF: %v", err)
	}
}
