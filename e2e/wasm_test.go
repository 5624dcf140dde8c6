package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"

	"ripc"
	"ripc/codegen"
	"ripc/engine"
	"ripc/internal/need"
	"ripc/runtime"
)

// wasmModule compiles a model to a module, and stores it.
func wasmModule(t *testing.T, model string) (module []byte, path string) {
	t.Helper()
	c, err := ripc.Compile(t.Context(), model, ripc.Options{Target: "wasm32", Emit: []codegen.Kind{codegen.WASM}})
	need.OK(t, err)
	path = filepath.Join(t.TempDir(), "net.wasm")
	if err := os.WriteFile(path, c.Files[codegen.WASM], 0o600); err != nil {
		t.Fatal(err)
	}
	return c.Files[codegen.WASM], path
}

// TestWASM: a module equals the interpreter stage by stage, needs nothing from outside, and is the same each time.
func TestWASM(t *testing.T) {
	model := "../examples/digits/digits.json"
	module, path := wasmModule(t, model)
	again, _ := wasmModule(t, model)
	if !bytes.Equal(module, again) {
		t.Error("two builds differ")
	}
	if most := 90_000; len(module) > most {
		t.Errorf("%d bytes, more than %d", len(module), most)
	}
	m := wazero.NewRuntime(t.Context())
	defer m.Close(t.Context())
	code, err := m.CompileModule(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	if len(code.ImportedFunctions()) > 0 || len(code.ImportedMemories()) > 0 {
		t.Error("the module has imports")
	}
	for _, model := range []string{model, "../testdata/qonnx/digits_w1a2.onnx", "../testdata/lce/bconv_bn_relu_valid_c64.tflite"} {
		rep, err := ripc.Verify(t.Context(), ripc.VerifyRequest{Path: model, Options: ripc.Options{Target: "wasm32"}})
		if err != nil || !rep.OK {
			t.Errorf("%s: %v %+v", model, err, rep)
		}
	}
	rep, err := ripc.Verify(t.Context(), ripc.VerifyRequest{Path: model, SO: path, Options: ripc.Options{Target: "wasm32"}})
	if err != nil || !rep.OK {
		t.Errorf("the stored module: %v %+v", err, rep)
	}
}

// TestWASMFaults: damaged modules are refused, one thread is all there is, and a context that ends stops the code.
func TestWASMFaults(t *testing.T) {
	module, path := wasmModule(t, "../examples/digits/digits.json")
	for _, at := range []int{40, len(module) / 2, len(module) - 40, len(module) - 1} {
		module[at] ^= 1
		damaged := filepath.Join(t.TempDir(), "damaged.wasm")
		if err := os.WriteFile(damaged, module, 0o600); err != nil {
			t.Fatal(err)
		}
		var file *runtime.FileError
		if _, err := engine.Open(damaged, engine.Options{}); !errors.As(err, &file) {
			t.Errorf("byte %d: %v", at, err)
		}
		module[at] ^= 1
	}
	var threads *engine.ThreadsError
	if _, err := engine.Open(path, engine.Options{Threads: 2}); !errors.As(err, &threads) {
		t.Errorf("two threads: %v", err)
	}
	e, err := engine.Open(path, engine.Options{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	job := engine.Job{Inputs: [][]byte{make([]byte, 1024)}, Last: len(e.Describe().Stages)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Run(ctx, []engine.Job{job}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}
