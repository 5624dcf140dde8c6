// Package cudatest runs tests with a stub of NVIDIA's driver, which has no GPU.
package cudatest

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ripc/internal/need"
	"ripc/runtime/cuda"
)

// stub is the driver, in C.
//
//go:embed stub.txt
var stub string

// logFile names the file of the log that the stub writes.
const logFile = "RIPC_STUB_LOG"

// Run runs the test called TestStubbed in a process of its own with the stub, compiled with
// options, and returns the stub's log. It fails t unless that test passes.
func Run(t *testing.T, options ...string) string {
	t.Helper()
	dir := t.TempDir()
	compile := exec.CommandContext(t.Context(), need.Tool(t, "cc"), append(options, "-shared", "-fPIC", "-o",
		filepath.Join(dir, cuda.Library), "-x", "c", "-")...)
	compile.Stdin = strings.NewReader(stub)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	log := filepath.Join(dir, "log")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestStubbed$", "-test.v")
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir, logFile+"="+log)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestStubbed") {
		t.Fatalf("%v\n%s", err, out)
	}
	told, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(told)
}

// Require leaves out t where Run did not start this process.
func Require(t *testing.T) {
	t.Helper()
	if os.Getenv(logFile) == "" {
		t.Skip("skipped: TestStub runs it")
	}
}
