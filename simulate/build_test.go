package simulate_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ripc/internal/describe"
	"ripc/internal/need"
)

// tool finds an LLVM program.
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

// needQemu wants the simulator itself.
func needQemu(t testing.TB) {
	t.Helper()
	need.Tool(t, "qemu-aarch64")
}

// twoStage describes the network of runtime/testdata/twostage.ll.in for AArch64.
func twoStage() *describe.Artifact {
	return &describe.Artifact{
		Format: describe.Format, Compiler: "test", Name: "twostage", Target: "rpi3", Arch: "aarch64", CPU: "cortex-a53", QemuCPU: "cortex-a53",
		Inputs: []describe.Tensor{
			{Name: "x", DType: "i32", Shape: []int{1, 1024}, Where: "input"},
			{Name: "y", DType: "u8", Shape: []int{1, 1024}, Where: "input", Offset: 1}},
		Outputs:    []describe.Tensor{{Name: "z", DType: "i32", Shape: []int{1, 1024}, Where: "output"}},
		ArenaBytes: 4096, ScratchBytes: 64,
		Stages: []describe.Stage{{Name: "scale", Op: "add", Kernel: "stage0"}, {Name: "mirror", Op: "xor", Kernel: "stage1"}},
	}
}

// text returns d as it lies in an artifact: JSON and a NUL.
func text(t testing.TB, d *describe.Artifact) []byte {
	t.Helper()
	desc, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return append(desc, 0)
}

// run calls build tools one after the other.
func run(t testing.TB, commands ...[]string) {
	t.Helper()
	for _, args := range commands {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// build compiles the network for AArch64 with the description d; edit, if not nil, changes the LLVM text first.
func build(t testing.TB, d *describe.Artifact, edit func(string) string) string {
	t.Helper()
	opt, llc, lld := tool(t, "opt"), tool(t, "llc"), tool(t, "ld.lld")
	ll, err := os.ReadFile("../runtime/testdata/twostage.ll.in")
	if err != nil {
		t.Fatal(err)
	}
	desc := text(t, d)
	var hex strings.Builder
	for _, c := range desc {
		fmt.Fprintf(&hex, "\\%02X", c)
	}
	s := strings.NewReplacer("{{JSON_SIZE}}", strconv.Itoa(len(desc)), "{{JSON}}", hex.String(), "{{NAME}}", "twostage",
		"{{YIELD}}", `call i64 asm sideeffect "svc #0", "={x0},{x8},~{memory}"(i64 124)`,
		"{{SCRATCH}}", "64", "{{SIZE_T}}", "i64").Replace(string(ll))
	if edit != nil {
		s = edit(s)
	}
	dir := t.TempDir()
	src, bc, obj, so := filepath.Join(dir, "a.ll"), filepath.Join(dir, "a.bc"), filepath.Join(dir, "a.o"), filepath.Join(dir, "a.so")
	if err := os.WriteFile(src, []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
	triple := "-mtriple=aarch64-linux-gnu"
	run(t, []string{opt, triple, "-passes=default<O2>", src, "-o", bc},
		[]string{llc, triple, "-O2", "-relocation-model=pic", "-filetype=obj", bc, "-o", obj},
		[]string{lld, "-shared", obj, "-o", so})
	return so
}

// assemble makes an artifact of the given description whose run_stages is AArch64 assembly text.
func assemble(t testing.TB, d *describe.Artifact, body string) string {
	t.Helper()
	mc, lld := tool(t, "llvm-mc"), tool(t, "ld.lld")
	var b strings.Builder
	fmt.Fprintf(&b, "\t.text\n\t.globl %s_run_stages\n%s_run_stages:\n%s\n", d.Name, d.Name, body)
	fmt.Fprintf(&b, "\t.section %s,\"a\"\n", describe.Section)
	for _, c := range text(t, d) {
		fmt.Fprintf(&b, "\t.byte %d\n", c)
	}
	dir := t.TempDir()
	src, obj, so := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o"), filepath.Join(dir, "a.so")
	if err := os.WriteFile(src, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, []string{mc, "-triple=aarch64-linux-gnu", "-mattr=+dotprod", "-filetype=obj", src, "-o", obj}, []string{lld, "-shared", obj, "-o", so})
	return so
}
