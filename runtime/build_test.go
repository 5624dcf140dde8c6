package runtime_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"testing"

	"ripc/internal/need"
	"ripc/runtime/describe"
)

// tool finds an LLVM program. Without it the test is skipped, or fails where tools are promised.
func tool(t testing.TB, name string) string {
	t.Helper()
	for _, version := range []string{"-22", "-21", "-20", "-19", ""} {
		if p, err := exec.LookPath(name + version); err == nil {
			return p
		}
	}
	need.OK(t, fmt.Errorf("%s not found", name))
	return ""
}

// twoStage describes testdata/twostage.ll.in for this machine.
func twoStage() *describe.Artifact {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64", "arm": "arm"}[goruntime.GOARCH]
	return &describe.Artifact{
		Format: describe.Format, Compiler: "test", Name: "twostage", Target: "host", Arch: arch, CPU: "generic",
		Inputs: []describe.Tensor{
			{Name: "x", DType: "i32", Shape: []int{1, 1024}, Where: "input"},
			{Name: "y", DType: "u8", Shape: []int{1, 1024}, Where: "input", Offset: 1}},
		Outputs:    []describe.Tensor{{Name: "z", DType: "i32", Shape: []int{1, 1024}, Where: "output"}},
		ArenaBytes: 4096, ScratchBytes: 64,
		Stages: []describe.Stage{{Name: "scale", Op: "add", Kernel: "stage0"}, {Name: "mirror", Op: "xor", Kernel: "stage1"}},
	}
}

// build compiles the network with the description d in its section (and edit, if not nil, applied to the LLVM text).
func build(t testing.TB, d *describe.Artifact, edit func(string) string) string {
	t.Helper()
	opt, llc, lld := tool(t, "opt"), tool(t, "llc"), tool(t, "ld.lld")
	text, err := os.ReadFile("testdata/twostage.ll.in")
	if err != nil {
		t.Fatal(err)
	}
	desc, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var hex strings.Builder
	for _, c := range append(desc, 0) {
		fmt.Fprintf(&hex, "\\%02X", c)
	}
	yield := map[string]string{
		"amd64": `call i64 asm sideeffect "syscall", "={rax},{rax},~{rcx},~{r11},~{memory}"(i64 24)`,
		"arm64": `call i64 asm sideeffect "svc #0", "={x0},{x8},~{memory}"(i64 124)`,
		"arm":   `call i32 asm sideeffect "svc #0", "={r0},{r7},~{memory}"(i32 158)`,
	}[goruntime.GOARCH]
	triple := map[string]string{"amd64": "x86_64", "arm64": "aarch64", "arm": "armv7"}[goruntime.GOARCH] + "-linux-gnu"
	ll := strings.NewReplacer("{{JSON_SIZE}}", strconv.Itoa(len(desc)+1), "{{JSON}}", hex.String(), "{{NAME}}", "twostage",
		"{{YIELD}}", yield, "{{SCRATCH}}", "64", "{{SIZE_T}}", fmt.Sprintf("i%d", strconv.IntSize)).Replace(string(text))
	if edit != nil {
		ll = edit(ll)
	}
	dir := t.TempDir()
	src, bc, obj, so := filepath.Join(dir, "a.ll"), filepath.Join(dir, "a.bc"), filepath.Join(dir, "a.o"), filepath.Join(dir, "a.so")
	if err := os.WriteFile(src, []byte(ll), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{opt, "-mtriple=" + triple, "-passes=default<O2>", src, "-o", bc},
		{llc, "-mtriple=" + triple, "-O2", "-relocation-model=pic", "-filetype=obj", bc, "-o", obj},
		{lld, "-shared", "--no-undefined", obj, "-o", so},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return so
}
