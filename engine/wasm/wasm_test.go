package wasm_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc/engine/wasm"
	"ripc/runtime"
)

// description is of a network without stages.
const description = `{"format":"ripc.artifact/1","compiler":"1","name":"net","target":"wasm32","arch":"wasm32","features":[],
"inputs":[{"name":"x","dtype":"f32","shape":[4]}],"outputs":[{"name":"y","dtype":"f32","shape":[4]}],
"arena_bytes":64,"scratch_bytes":0,"weight_bytes":0,"stages":[]}`

// section is a section of a module; its body has less than 1 << 14 bytes.
func section(id byte, body ...byte) []byte {
	return append([]byte{id, byte(len(body)) | 0x80, byte(len(body) >> 7)}, body...)
}

// export is an entry of the section of exports.
func export(name string, kind, index byte) string {
	return string(byte(len(name))) + name + string([]byte{kind, index})
}

// TestNoStatus: a module with functions of other types is refused when it is opened.
func TestNoStatus(t *testing.T) {
	const function, memory, global = 0, 2, 3
	exports := export("net_run", function, 0) + export("net_run_stages", function, 0) + export("net_cpu_ok", function, 0) +
		export("memory", memory, 0) + export("__heap_base", global, 0) + export("__stack_pointer", global, 0)
	custom := "\x0e.ripc.describe" + description + "\x00"
	module := slices.Concat([]byte("\x00asm\x01\x00\x00\x00"), section(1, 1, 0x60, 0, 0), section(3, 1, 0), section(5, 1, 0, 1),
		section(6, 1, 0x7f, 1, 0x41, 0, 0x0b), section(7, append([]byte{6}, exports...)...), section(10, 1, 2, 0, 0x0b), section(0, []byte(custom)...))
	path := filepath.Join(t.TempDir(), "net.wasm")
	if err := os.WriteFile(path, module, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := wasm.Open(path, 1, false)
	if file := (*runtime.FileError)(nil); !errors.As(err, &file) || !strings.Contains(err.Error(), "returns no status") {
		t.Error(err)
	}
}
